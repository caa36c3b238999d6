"""The attrs of an operation as C reads them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.capi.graphs import dims_of
from tensorloom.framework.errors import NotFoundError, invalid_argument
from tensorloom.framework.types import attr_value
from tensorloom.framework.types.attr_value import AttrPlaceholder, NameAttrList
from tensorloom.framework.types.dtypes import DType, as_dtype
from tensorloom.framework.types.message_tensor import MessageTensor
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.framework.graph.operation import Operation

#: TF_AttrType of each kind of attr.
ATTR_TYPES: Final = {
    "string": 0,
    "int": 1,
    "float": 2,
    "bool": 3,
    "type": 4,
    "shape": 5,
    "tensor": 6,
    "placeholder": 7,
    "func": 8,
}
_KINDS: Final[tuple[tuple[type, str], ...]] = (
    (bytes, "string"),
    (bool, "bool"),
    (int, "int"),
    (float, "float"),
    (DType, "type"),
    (TensorShape, "shape"),
    (np.ndarray, "tensor"),
    (MessageTensor, "tensor"),
    (AttrPlaceholder, "placeholder"),
    (NameAttrList, "func"),
)


def _kind_of(value: Any) -> str:
    for cls, kind in _KINDS:
        if isinstance(value, cls):
            return kind
    return "tensor"  # a constant that cannot be read


def _find(op: Operation, name: str) -> Any:
    value = op.attrs.get(name)
    if value is None:
        if name not in op.attrs:
            raise invalid_argument(f"Operation '{op.name}' has no attr named '{name}'.")
        raise invalid_argument(f"Attribute '{name}' has no value set")
    return value


def metadata(op: Operation, name: str) -> tuple[int, int, int, int]:
    """(whether it is a list, its length or -1, the kind's number, the total size).

    Raises:
      InvalidArgumentError: there is no such attr.
    """
    value = _find(op, name)
    if not isinstance(value, list):
        kind = _kind_of(value)
        return 0, -1, ATTR_TYPES[kind], _size(kind, value)
    if value:
        kind = _kind_of(value[0])
        sized = kind in ("string", "shape")
        total = sum(max(0, _size(kind, item)) for item in value) if sized else -1
        return 1, len(value), ATTR_TYPES[kind], total
    attr = op._op_def.attrs.get(name)
    kind = attr.type[5:-1] if attr is not None else "string"
    return 1, 0, ATTR_TYPES[kind], 0 if kind in ("string", "shape") else -1


def _size(kind: str, value: Any) -> int:
    if kind == "string":
        return len(value)
    if kind == "shape":
        dims = value.dims_tuple
        return -1 if dims is None else len(dims)
    return -1


def single(op: Operation, name: str, kind: str) -> Any:
    """The value of an attr that is no list, as C takes it.

    Raises:
      NotFoundError: there is no such attr.
      InvalidArgumentError: it is of another kind.
    """
    if name not in op.attrs:
        raise NotFoundError(
            None, None, f"No attr named '{name}' in NodeDef of '{op.name}'"
        )
    value = op.attrs[name]
    if isinstance(value, list) or value is None or _kind_of(value) != kind:
        raise invalid_argument(
            f"Attribute '{name}' of '{op.name}' is not a {kind}, but {_words(value)}"
        )
    return _for_c(kind, value)


def _words(value: Any) -> str:
    if isinstance(value, list):
        return f"a list({_kind_of(value[0])})" if value else "an empty list"
    return "not set" if value is None else f"a {_kind_of(value)}"


def string(op: Operation, name: str) -> bytes:
    """The value of a string.

    Raises:
      InvalidArgumentError: there is no such attr, or it is no string.
    """
    value = _find(op, name)
    if not isinstance(value, bytes):
        raise invalid_argument(f"Attribute '{name}' is not a string")
    return value


def elements(op: Operation, name: str, kind: str) -> list[Any]:
    """The elements of a list; none if they are of another kind, as in TensorFlow.

    Raises:
      InvalidArgumentError: there is no such attr, or it is no list.
    """
    values = _find(op, name)
    if not isinstance(values, list):
        raise invalid_argument(f"Value for '{name}' is not a list")
    return [_for_c(kind, value) for value in values if _kind_of(value) == kind]


def _for_c(kind: str, value: Any) -> Any:
    if kind == "type":
        return value.as_datatype_enum
    if kind == "shape":
        return dims_of(value)
    if kind == "tensor":
        return _tensor(value)
    return value


def _tensor(value: Any) -> tuple[int, Any]:
    """(the number of the dtype, the array)."""
    if not isinstance(value, np.ndarray):
        raise invalid_argument("the tensor has no value that can be read")
    return as_dtype(value.dtype).as_datatype_enum, value


def shape_message(op: Operation, name: str) -> bytes:
    """The serialized TensorShapeProto of a shape.

    Raises:
      InvalidArgumentError: there is no such attr, or it is no shape.
    """
    value = _find(op, name)
    if not isinstance(value, TensorShape):
        raise invalid_argument(f"Value for '{name}' is not a shape.")
    return attr_value.to_proto(value).shape.SerializeToString()


def shape_messages(op: Operation, name: str) -> list[bytes]:
    """The serialized TensorShapeProtos of a list of shapes.

    Raises:
      InvalidArgumentError: there is no such attr, or it is no list.
    """
    values = _find(op, name)
    if not isinstance(values, list):
        raise invalid_argument(f"Value for '{name}' is not a list")
    shapes = [value for value in values if isinstance(value, TensorShape)]
    return [attr_value.to_proto(s).shape.SerializeToString() for s in shapes]


def message(op: Operation, name: str) -> bytes:
    """The serialized AttrValue.

    Raises:
      InvalidArgumentError: there is no such attr.
    """
    if name not in op.attrs:
        _find(op, name)
    return attr_value.to_proto(op.attrs[name]).SerializeToString()


def names(op: Operation) -> list[str]:
    """The names of the attrs."""
    return sorted(op.attrs)
