"""Values of calls as messages: what is fed from them, and what they are filled with."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.types import dtypes, tensor_proto
from tensorloom.framework.types.varint import encode_varint
from tensorloom.transport.wire import tensors

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.serving.manager.signature import Slot

_LENGTH_DELIMITED: Final = 2
# A message of a few bytes can stand for a tensor of equal elements of any size. This
# many bytes it may have; more it has to bring itself, each of its bytes at most eight.
_MOST_UNBROUGHT: Final = 1 << 28
_BYTES_OF_ONE: Final = 8
_LITTLE_ELEMENTS: Final = 1 << 14


def is_little(proto: Any) -> bool:
    """Whether the value in a message is soon decoded, whatever its shape claims."""
    count: int = math.prod(d.size for d in proto.tensor_shape.dim)
    return count <= _LITTLE_ELEMENTS


def decode(proto: Any, slot: Slot) -> Any:
    """The value of an input in a message.

    Raises:
      errors.InvalidArgumentError: the message is malformed, or of another dtype.
    """
    try:
        value = tensors.decode(proto)
    except errors.OpError as error:
        raise errors.InvalidArgumentError(
            None, None, f"tensor parsing error: {slot.alias}: {error.message}"
        ) from None
    check_dtype(dtypes.as_dtype(int(proto.dtype)), slot)
    size = getattr(value, "nbytes", 0)
    if size > _MOST_UNBROUGHT and size > _BYTES_OF_ONE * proto.ByteSize():
        raise errors.InvalidArgumentError(
            None,
            None,
            f"tensor parsing error: {slot.alias}: a message of {proto.ByteSize()} "
            f"bytes may not stand for {size}",
        )
    return value


def check_dtype(given: DType, slot: Slot) -> None:
    """Checks the dtype of an input.

    Raises:
      errors.InvalidArgumentError: the graph has another one.
    """
    if given is not slot.dtype:
        raise errors.InvalidArgumentError(
            None,
            None,
            f"Input '{slot.alias}': Expects arg to be {type_name(slot.dtype)} but "
            f"{type_name(given)} is provided",
        )


def type_name(dtype: DType) -> str:
    """TensorFlow's short name: `float`, `int32`, `string`."""
    return _SHORT_NAMES.get(dtype.name, dtype.name)


_SHORT_NAMES: Final = {"float32": "float", "float64": "double", "float16": "half"}


def encode(value: Any, dtype: DType, proto: Any, as_content: bool = False) -> None:
    """Fills a message with an output.

    Args:
      value: as a step gives it.
      dtype: the output's.
      proto: an empty `TensorProto`.
      as_content: as raw bytes, instead of the typed list that TensorFlow Serving
        fills and that many clients read.
    """
    array = value if isinstance(value, np.ndarray) else np.asarray(value)
    if isinstance(value, bytes):
        array = np.array(value, dtype=object)
    write = None if as_content else _LISTS.get(dtype.name)
    if write is None or array.dtype.isbuiltin != 1:
        # Also what is no value at all: its error says so.
        _encode_otherwise(value, array, dtype, proto)
        return
    proto.dtype = dtype.as_datatype_enum
    proto.tensor_shape.SetInParent()
    for size in array.shape:
        proto.tensor_shape.dim.add().size = size
    write(np.ascontiguousarray(array).ravel(), proto)


def _encode_otherwise(value: Any, array: Any, dtype: DType, proto: Any) -> None:
    if dtype.name != "string":
        tensors.encode(value, proto, dtype)
        return
    tensor_proto.encode_tensor(array, dtype, proto)


def _raw(field_number: int) -> Callable[[Any, Any], None]:
    """Appends a packed list whose bytes are those of the array."""
    tag = encode_varint(field_number << 3 | _LENGTH_DELIMITED)

    def write(flat: Any, proto: Any) -> None:
        if flat.size:
            content = flat.tobytes()
            proto.MergeFromString(tag + encode_varint(len(content)) + content)

    return write


def _each(field_name: str) -> Callable[[Any, Any], None]:
    def write(flat: Any, proto: Any) -> None:
        getattr(proto, field_name).extend(flat.tolist())

    return write


def _complex(
    parts: Callable[[Any, Any], None], part: type
) -> Callable[[Any, Any], None]:
    return lambda flat, proto: parts(flat.view(part), proto)


# The typed list of each dtype, with its field's number in `TensorProto`.
_LISTS: Final[dict[str, Callable[[Any, Any], None]]] = {
    "float32": _raw(5),
    "float64": _raw(6),
    "bool": _raw(11),
    "complex64": _complex(_raw(9), np.float32),
    "complex128": _complex(_raw(12), np.float64),
    **dict.fromkeys(("int8", "int16", "int32", "uint8", "uint16"), _each("int_val")),
    "int64": _each("int64_val"),
    "uint32": _each("uint32_val"),
    "uint64": _each("uint64_val"),
    "float16": lambda flat, proto: _each("half_val")(flat.view(np.uint16), proto),
}
