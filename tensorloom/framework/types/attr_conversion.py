"""Checking and decoding the attr values that a builder passes."""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList, attrs_from_proto
from tensorloom.framework.types.tensor_shape import MAX_RANK, TensorShape, as_shape

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import AttrDef
    from tensorloom.framework.types.dtypes import DType

# A TensorShapeProto has 64 bits for each.
_LARGEST_DIM: Final = 2**63 - 1


def convert_attr(attr: AttrDef, value: Any) -> Any:
    """A builder's value in the decoded form of its attr.

    Raises:
      TypeError: it is not of the attr's kind.
      ValueError: a shape that is none.
    """
    kind = attr.type
    if value is None and attr.has_default:
        return attr.default
    if not kind.startswith("list("):
        return _DECODERS[kind](value, attr)
    if not isinstance(value, list | tuple):
        raise TypeError(f"Expected list for attr {attr.name}")
    decode = _DECODERS[kind[5:-1]]
    return [decode(item, attr) for item in value]


def check_attr(attr: AttrDef, value: Any, op_name: str) -> None:
    """Refuses a converted value that the op does not allow.

    Raises:
      TypeError: a dtype that is not allowed.
      ValueError: a string that is not allowed, or too small or too short a value.
    """
    if not attr.type.startswith("list("):
        _check(attr, value, op_name)
        return
    if attr.minimum is not None and len(value) < attr.minimum:
        raise ValueError(
            f"Attr '{attr.name}' of '{op_name}' Op passed list of length {len(value)} "
            f"less than minimum {attr.minimum}."
        )
    for item in value:
        if attr.type == "list(string)":
            _check_string(attr, item, op_name)
        elif attr.type == "list(type)":
            check_allowed_type(item, attr, attr.name)


def _check(attr: AttrDef, value: Any, op_name: str) -> None:
    if attr.type == "string":
        _check_string(attr, value, op_name)
    elif attr.type == "type":
        check_allowed_type(value, attr, attr.name)
    elif attr.type == "int" and attr.minimum is not None and value < attr.minimum:
        raise ValueError(
            f"Attr '{attr.name}' of '{op_name}' Op passed {value} less than minimum "
            f"{attr.minimum}."
        )


def _check_string(attr: AttrDef, value: bytes, op_name: str) -> None:
    if attr.allowed is not None and value not in attr.allowed:
        choices = '", "'.join(a.decode() for a in attr.allowed)
        raise ValueError(
            f"Attr '{attr.name}' of '{op_name}' Op passed string "
            f"'{value.decode(errors='replace')}' not in: \"{choices}\"."
        )


def check_allowed_type(dtype: DType, attr: AttrDef, parameter: str) -> None:
    """Raises TypeError when a type attr does not allow `dtype`."""
    if attr.allowed is not None and dtype not in attr.allowed:
        names = ", ".join(t.name for t in attr.allowed)
        raise TypeError(
            f"Value passed to parameter '{parameter}' has DataType {dtype.name} not in "
            f"list of allowed values: {names}"
        )


def _wrong(kind: str, attr: AttrDef, value: Any) -> TypeError:
    return TypeError(f"Expected {kind} for argument '{attr.name}' not {value!r}.")


def _int(value: Any, attr: AttrDef) -> int:
    if isinstance(value, str | bytes):
        raise _wrong("int", attr, value)
    try:
        return int(value)
    except (ValueError, TypeError):
        raise _wrong("int", attr, value) from None


def _float(value: Any, attr: AttrDef) -> float:
    if not isinstance(value, numbers.Real | np.floating):
        raise _wrong("float", attr, value)
    # As the proto stores it.
    return float(np.float32(value))


def _bool(value: Any, attr: AttrDef) -> bool:
    if not isinstance(value, bool):
        raise _wrong("bool", attr, value)
    return value


def _string(value: Any, attr: AttrDef) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise _wrong("string", attr, value)


def _type(value: Any, attr: AttrDef) -> DType:
    try:
        return dtypes.as_dtype(value).base_dtype
    except TypeError:
        raise _wrong("DataType", attr, value) from None


def _shape(value: Any, attr: AttrDef) -> TensorShape:
    try:
        shape = as_shape(value)
        if (shape.rank or 0) > MAX_RANK:
            raise ValueError(
                f"Shape {shape} has {shape.rank} dimensions, more than {MAX_RANK}"
            )
        for dim in shape.dims_tuple or ():
            if dim is not None and dim > _LARGEST_DIM:
                raise ValueError(f"Value out of range: {dim}")
        return shape
    except TypeError as error:
        raise TypeError(
            f"Error converting {attr.name} to a TensorShape: {error}"
        ) from None
    except ValueError as error:
        raise ValueError(
            f"Error converting {attr.name} to a TensorShape: {error}"
        ) from None


def _tensor(value: Any, attr: AttrDef) -> np.ndarray[Any, Any]:
    if isinstance(value, np.ndarray):
        return value
    if hasattr(value, "tensor_shape"):
        from tensorloom.framework.types import tensor_proto

        return tensor_proto.make_ndarray(value)
    raise TypeError(
        f"Don't know how to convert {value!r} to a TensorProto for argument "
        f"'{attr.name}'"
    )


def _func(value: Any, attr: AttrDef) -> NameAttrList:
    if isinstance(value, NameAttrList):
        return value
    if isinstance(value, str):
        return NameAttrList(value, {})
    if hasattr(value, "SerializeToString"):  # the message of one
        return NameAttrList(value.name, attrs_from_proto(value.attr))
    if hasattr(value, "add_to_graph"):
        from tensorloom.framework.graph.default_graph import get_default_graph

        value.add_to_graph(get_default_graph())
        name = value.name  # bytes, of a concrete function
        return NameAttrList(name.decode() if isinstance(name, bytes) else name, {})
    raise TypeError(
        f"Don't know how to convert {value} to a func for argument {attr.name}"
    )


_DECODERS: dict[str, Callable[[Any, AttrDef], Any]] = {
    "int": _int,
    "float": _float,
    "bool": _bool,
    "string": _string,
    "type": _type,
    "shape": _shape,
    "tensor": _tensor,
    "func": _func,
}
