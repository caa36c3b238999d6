"""Decoded attr values, and their way to and from the `AttrValue` proto.

proto                  decoded
s                      bytes
i, f, b                int, float (of float32 precision), bool
type                   DType
shape                  TensorShape
tensor                 read-only np.ndarray; MessageTensor of resources and variants
func                   NameAttrList
placeholder            AttrPlaceholder
list                   list of these; an empty one is [], whatever its type
nothing set            None
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.errors import InvalidArgumentError, invalid_argument
from tensorloom.framework.types import message_tensor
from tensorloom.framework.types.dtypes import DType, as_dtype
from tensorloom.framework.types.message_tensor import MessageTensor
from tensorloom.framework.types.tensor_proto import decode_tensor, encode_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, dims_from_proto
from tensorloom.framework.types.unreadable_tensor import UnreadableTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from tensorloom.protos import attr_value_pb2


@dataclass(frozen=True, slots=True)
class NameAttrList:
    """A function with attrs: the value of an attr of type `func`."""

    #: The function's name.
    name: str
    #: Decoded attrs that the function is instantiated with.
    attrs: dict[str, Any] = field(default_factory=dict)

    def __hash__(self) -> int:
        return hash(self.name)


@dataclass(frozen=True, slots=True)
class AttrPlaceholder:
    """An attr that stands for an attr of the function around it."""

    #: Name of the function's attr.
    name: str


# Decoding -------------------------------------------------------------------------


def from_proto(proto: attr_value_pb2.AttrValue) -> Any:
    """The decoded value; None if no value is set.

    Raises:
        InvalidArgumentError: a dtype, shape or tensor in it is malformed, or a list
            has elements of several types.
    """
    kind = proto.WhichOneof("value")
    if kind is None:
        return None
    if kind == "list":
        return _decode_list(proto.list)
    return _DECODERS[kind](getattr(proto, kind))


def attrs_from_proto(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """The decoded values of a map of attrs.

    Raises:
        InvalidArgumentError: as `from_proto`; the message names the attr.
    """
    decoded = {}
    for name, proto in attrs.items():
        try:
            decoded[name] = from_proto(proto)
        except InvalidArgumentError as error:
            if _may_have_symbols(name, proto):
                decoded[name] = _symbols_as_unknown(proto)
                continue
            raise InvalidArgumentError(
                None, None, f"Attr '{name}': {error.message}"
            ) from None
    return decoded


def _may_have_symbols(name: str, proto: attr_value_pb2.AttrValue) -> bool:
    """Whether an attr is a note, of no op's signature, that holds shapes.

    Grappler leaves `_input_shapes` in the graphs that it optimized, where equal sizes
    below -1 stand for the same unknown size.
    """
    if not name.startswith("_") or name == "_output_shapes":
        return False
    return proto.WhichOneof("value") == "shape" or bool(proto.list.shape)


def _symbols_as_unknown(proto: attr_value_pb2.AttrValue) -> Any:
    known = type(proto)()
    known.CopyFrom(proto)
    for shape in [known.shape] if known.HasField("shape") else known.list.shape:
        for dim in shape.dim:
            dim.size = max(dim.size, -1)
    return from_proto(known)


def _decode_list(proto: Any) -> list[Any]:
    fields = proto.ListFields()
    if not fields:
        return []
    if len(fields) > 1:
        raise invalid_argument("A list has elements of more than one type")
    descriptor, values = fields[0]
    decode = _DECODERS[descriptor.name]
    return [decode(value) for value in values]


def _same(value: Any) -> Any:
    return value


def _decode_type(number: int) -> DType:
    try:
        return as_dtype(int(number))
    except TypeError:
        raise invalid_argument(f"Unknown data type {number}") from None


def _decode_shape(proto: Any) -> TensorShape:
    try:
        return TensorShape.of(dims_from_proto(proto))
    except ValueError as error:
        raise invalid_argument(str(error)) from None


def _decode_tensor(proto: Any) -> Any:
    if message_tensor.is_message_tensor(proto):
        return message_tensor.from_proto(proto)
    return decode_tensor(proto)


def _decode_func(proto: Any) -> NameAttrList:
    return NameAttrList(proto.name, attrs_from_proto(proto.attr))


_DECODERS: Final[dict[str, Callable[[Any], Any]]] = {
    "s": _same,
    "i": _same,
    "f": _same,
    "b": _same,
    "type": _decode_type,
    "shape": _decode_shape,
    "tensor": _decode_tensor,
    "func": _decode_func,
    "placeholder": AttrPlaceholder,
}


# Encoding -------------------------------------------------------------------------


def to_proto(value: Any) -> attr_value_pb2.AttrValue:
    """The message of a decoded value.

    Raises:
        TypeError: the value is of no attr type.
        ValueError: an int is beyond 64 bits, or a tensor beyond 2 GiB.
    """
    from tensorloom.protos.attr_value_pb2 import AttrValue

    proto = AttrValue()
    encode_into(proto, value)
    return proto


def encode_into(proto: attr_value_pb2.AttrValue, value: Any) -> None:
    """Fills an empty message with a decoded value.

    Raises:
        TypeError, ValueError: as `to_proto`.
    """
    if value is None:
        return
    if isinstance(value, list | tuple):
        proto.list.SetInParent()
        if value:
            _, encode_all = _encoders(value[0])
            encode_all(proto.list, value)
        return
    encode, _ = _encoders(value)
    encode(proto, value)


def _encoders(value: Any) -> tuple[Callable[[Any, Any], None], ...]:
    found = _ENCODERS.get(type(value))
    if found is not None:
        return found
    for cls, candidate in _ENCODERS.items():
        if isinstance(value, cls):
            return candidate
    raise TypeError(f"{value!r} of type {type(value).__name__} is not an attr value")


def _scalar_field(
    name: str, convert: Callable[[Any], Any]
) -> tuple[Callable[[Any, Any], None], ...]:
    def encode(proto: Any, value: Any) -> None:
        setattr(proto, name, convert(value))

    def encode_all(proto: Any, values: Any) -> None:
        getattr(proto, name).extend([convert(value) for value in values])

    return encode, encode_all


def _message_field(
    name: str, fill: Callable[[Any, Any], None]
) -> tuple[Callable[[Any, Any], None], ...]:
    def encode(proto: Any, value: Any) -> None:
        message = getattr(proto, name)
        message.SetInParent()
        fill(message, value)

    def encode_all(proto: Any, values: Any) -> None:
        field = getattr(proto, name)
        for value in values:
            fill(field.add(), value)

    return encode, encode_all


def _as_bytes(value: Any) -> bytes:
    return value.encode("utf-8") if isinstance(value, str) else bytes(value)


def _type_number(value: DType) -> int:
    return value.as_datatype_enum


def _fill_shape(proto: Any, value: TensorShape) -> None:
    dims = value.dims_tuple
    if dims is None:
        proto.unknown_rank = True
        return
    for size in dims:
        proto.dim.add().size = -1 if size is None else size


def _fill_tensor(proto: Any, value: np.ndarray[Any, Any]) -> None:
    encode_tensor(value, proto=proto)


def _copy_tensor(proto: Any, value: UnreadableTensor | MessageTensor) -> None:
    proto.CopyFrom(value.definition)


def _fill_func(proto: Any, value: NameAttrList) -> None:
    proto.name = value.name
    for name, attr in value.attrs.items():
        encode_into(proto.attr[name], attr)


def _placeholder_name(value: AttrPlaceholder) -> str:
    return value.name


# bool stands before int, of which it is a subclass.
_ENCODERS: Final[dict[type, tuple[Callable[[Any, Any], None], ...]]] = {
    bytes: _scalar_field("s", _as_bytes),
    str: _scalar_field("s", _as_bytes),
    bool: _scalar_field("b", bool),
    int: _scalar_field("i", int),
    float: _scalar_field("f", float),
    DType: _scalar_field("type", _type_number),
    TensorShape: _message_field("shape", _fill_shape),
    np.ndarray: _message_field("tensor", _fill_tensor),
    UnreadableTensor: _message_field("tensor", _copy_tensor),
    MessageTensor: _message_field("tensor", _copy_tensor),
    NameAttrList: _message_field("func", _fill_func),
    AttrPlaceholder: _scalar_field("placeholder", _placeholder_name),
    np.bool_: _scalar_field("b", bool),
    np.integer: _scalar_field("i", int),
    np.floating: _scalar_field("f", float),
}


def functions_in(proto: attr_value_pb2.AttrValue) -> Iterable[Any]:
    """The `NameAttrList` messages of an attr, without those in their own attrs."""
    # Not the empty `func` of other kinds: to change that would add it to the message.
    return (proto.func,) if proto.HasField("func") else proto.list.func


def decoded(value: Any) -> Any:
    """An attr as a caller gave it, decoded if it is an `AttrValue` message."""
    return from_proto(value) if hasattr(value, "WhichOneof") else value
