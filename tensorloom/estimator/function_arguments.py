"""Which arguments a program's function takes by name."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def argument_names(function: Any) -> tuple[str, ...]:
    """The arguments that a caller can still give, without `self` of a bound method.

    Arguments that a `functools.partial` has bound are left out. What takes `*args` or
    `**kwargs` alone has none.

    Raises:
      TypeError: it is not a function, or not one that Python can look into.
    """
    if not callable(function):
        kind = type(function).__name__
        raise TypeError(f"unsupported callable: expected a function, got {kind}")
    if isinstance(function, functools.partial):
        names = argument_names(function.func)[len(function.args) :]
        return tuple(name for name in names if name not in function.keywords)
    if not inspect.isroutine(function) and not inspect.isclass(function):
        function = type(function).__call__.__get__(function)
    names = tuple(inspect.getfullargspec(function).args)
    bound = getattr(function, "__self__", None) is not None
    return names[1:] if bound and names else names


def chosen_arguments(
    function: Callable[..., Any], available: dict[str, Any]
) -> dict[str, Any]:
    """Those of the available arguments that a function takes."""
    names = argument_names(function)
    return {name: value for name, value in available.items() if name in names}
