"""Functions that check the types of their arguments, by their own annotations."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Callable, Collection, Mapping
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Error(TypeError):
    """An argument is not of the type that the function is annotated with."""


def checked(function: Function) -> Function:
    """Checks positional arguments against the annotations, as TensorFlow does.

    Arguments by name are not checked there, so they are not here.

    Raises:
      Error: by the returned function.
    """
    names = function.__code__.co_varnames[: function.__code__.co_argcount]

    @functools.cache
    def expected() -> list[tuple[str, Any]]:
        hints = typing.get_type_hints(function)
        return [(name, hints.get(name, Any)) for name in names]

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for value, (name, annotation) in zip(args, expected(), strict=False):
            if not matches(value, annotation):
                raise Error(
                    f"{value!r} of type {type(value)!r} is not an instance of the "
                    f"allowed type {annotation} of argument {name!r} of "
                    f"{function.__name__}"
                )
        return function(*args, **kwargs)

    return typing.cast("Function", call)


def matches(value: Any, annotation: Any) -> bool:
    """Whether a value is of an annotated type, its elements included."""
    origin, inner = typing.get_origin(annotation), typing.get_args(annotation)
    if annotation is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(matches(value, choice) for choice in inner)
    if not isinstance(value, origin or annotation):
        return False
    if origin is tuple and Ellipsis not in inner:
        return len(value) == len(inner) and all(map(matches, value, inner))
    if origin in (Mapping, dict):
        return all(
            matches(key, inner[0]) and matches(item, inner[1])
            for key, item in value.items()
        )
    if origin in (Collection, list):
        return all(matches(item, inner[0]) for item in value)
    return True
