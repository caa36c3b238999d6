"""Attrs as Python programs give them: converted, and as a part of a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_registry import AttrDef
from tensorloom.framework.types.attr_conversion import convert_attr
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.dtypes import DType
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from collections.abc import Hashable

    from tensorloom.eager.operation import EagerOperation


def set_converted(op: EagerOperation, name: str, value: Any) -> None:
    """Sets an attr to a Python value: dtypes, shapes and functions by name, too.

    Raises:
      errors.InvalidArgumentError: the op has no such attr, or it is of another kind.
    """
    kind, is_list = op.attr_type(name)
    attr = AttrDef(name, f"list({kind})" if is_list else kind)
    try:
        op.set_attr(name, convert_attr(attr, value))
    except (TypeError, ValueError) as error:
        raise invalid_argument(
            f"Expecting {attr.type} value for attr {name}, got "
            f"{type(value).__name__}: {error}"
        ) from None


def given_key(attrs: Mapping[str, Any]) -> Hashable:
    """A key of values as a program gives them; it tells 1 from True and -0.0 from 0.0.

    Raises:
      TypeError: one of them has no hash, an array for example.
    """
    key: list[Any] = []
    for name, value in attrs.items():
        kind = value.__class__
        if kind is list or kind is tuple:
            value = tuple([_item(item) for item in value])
        elif kind is float:
            value = repr(value)
        elif kind is TensorShape:
            value = value.dims_tuple
        key += (name, kind, value)
    return tuple(key)


def _item(item: Any) -> Any:
    if item.__class__ is float:
        return float, repr(item)
    if item.__class__ is TensorShape:
        return TensorShape, item.dims_tuple
    if item.__class__ is list:
        return list, tuple(item)
    return item.__class__, item


def decoded_key(attrs: Mapping[str, Any]) -> Hashable:
    """A key of decoded attrs, whatever their order; as exact as `given_key`."""
    key: list[Any] = []
    for name in sorted(attrs) if len(attrs) > 1 else attrs:
        value = attrs[name]
        kind = value.__class__
        key += (name, kind, value if kind in _PLAIN else _decoded(value))
    return tuple(key)


# What is equal only if it is the same, among values of one class.
_PLAIN: Final = frozenset({DType, bool, int, bytes})


def _decoded(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, TensorShape):
        return value.dims_tuple  # shapes with unknown sizes are never equal
    if isinstance(value, NameAttrList):
        return value.name, decoded_key(value.attrs)
    if isinstance(value, list):
        return tuple([(item.__class__, _decoded(item)) for item in value])
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return "strings", value.shape, tuple(value.ravel().tolist())
        return value.dtype.str, value.shape, value.tobytes()
    return value
