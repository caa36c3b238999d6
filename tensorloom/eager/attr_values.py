"""Attrs as Python programs give them: converted, and as a part of a key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_registry import AttrDef
from tensorloom.framework.types.attr_conversion import convert_attr

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
        key += (name, kind, value)
    return tuple(key)


def _item(item: Any) -> Any:
    return (item.__class__, repr(item) if item.__class__ is float else item)


def decoded_key(attrs: Mapping[str, Any]) -> Hashable:
    """A key of decoded attrs, whatever their order."""
    return tuple([(name, _decoded(attrs[name])) for name in sorted(attrs)])


def _decoded(value: Any) -> Any:
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, list):
        return tuple(map(_decoded, value))
    if isinstance(value, np.ndarray):
        if value.dtype == object:
            return "strings", value.shape, tuple(value.ravel().tolist())
        return value.dtype.str, value.shape, value.tobytes()
    return value
