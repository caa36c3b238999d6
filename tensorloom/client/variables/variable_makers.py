"""The registry of the functions that make variables.

`tf.Variable(...)` calls the base class, which cannot import what derives from it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from tensorloom.framework.registry import late_modules

# "default" chooses between the two others by scope and settings.
VariableKind = Literal["default", "reference", "resource"]

_MAKERS: dict[VariableKind, Callable[..., Any]] = {}


def register_variable_maker(kind: VariableKind, maker: Callable[..., Any]) -> None:
    """Says who makes variables of a kind."""
    _MAKERS[kind] = maker


def make_variable(kind: VariableKind, **options: Any) -> Any:
    """A new variable, made by the maker of its kind."""
    late_modules.load_kind("variable")
    return _MAKERS[kind](**options)
