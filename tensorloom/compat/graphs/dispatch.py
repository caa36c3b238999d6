"""`tensorflow.python.util.dispatch`: functions that other types can take over.

A library decorates a function with `add_dispatch_support`. Where the function fails for
its arguments, the handlers that were registered for it are asked.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from typing import Any, Final

from tensorloom.framework.decorators import make_decorator, unwrap

DISPATCH_ATTR: Final = "_tf_dispatchers"


class OpDispatcher:
    """Handles calls of one function."""

    NOT_SUPPORTED: Final = object()

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The result of a call, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op: Callable[..., Any]) -> None:
        """Handles calls of a function from here on.

        Raises:
          AssertionError: it was not decorated with `add_dispatch_support`.
        """
        if not hasattr(op, DISPATCH_ATTR):
            raise AssertionError(f"Dispatching not enabled for {op}")
        getattr(op, DISPATCH_ATTR).append(self)


def dispatch(op: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """The result of the first handler that supports the arguments, or NOT_SUPPORTED."""
    for handler in getattr(op, DISPATCH_ATTR):
        result = handler.handle(args, kwargs)
        if result is not OpDispatcher.NOT_SUPPORTED:
            return result
    return OpDispatcher.NOT_SUPPORTED


class _OfTypes(OpDispatcher):
    """Handles calls with an argument of some types, also in a list."""

    def __init__(self, function: Callable[..., Any], types: tuple[type, ...]) -> None:
        self._function = function
        self._types = types

    def handle(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The function's result, if one of the arguments is of the types."""
        if any(isinstance(value, self._types) for value in _flat(args, kwargs)):
            return self._function(*args, **kwargs)
        return self.NOT_SUPPORTED


def _flat(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Any]:
    for value in (*args, *kwargs.values()):
        if isinstance(value, list | tuple):
            yield from value
        else:
            yield value


def dispatch_for_types(
    op: Callable[..., Any], *types: type
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator of a function that handles `op` for arguments of some types.

    Raises (when it decorates):
      AssertionError: the parameters are not those of `op`, or `op` was not decorated
        with `add_dispatch_support`.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        wanted = inspect.getfullargspec(unwrap(op)[1])
        if inspect.getfullargspec(unwrap(function)[1]) != wanted:
            raise AssertionError(
                "The decorated function's signature must exactly match the signature "
                "of the overridden op."
            )
        _OfTypes(function, types).register(op)
        return function

    return decorate


def add_dispatch_list(target: Any) -> Any:
    """Gives a function a list of handlers, which the function itself has to ask."""
    setattr(target, DISPATCH_ATTR, [])
    return target


def add_dispatch_support(target: Callable[..., Any]) -> Any:
    """The function, which asks handlers where it raises TypeError or ValueError."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return target(*args, **kwargs)
        except (TypeError, ValueError):
            result = dispatch(wrapper, *args, **kwargs)
            if result is OpDispatcher.NOT_SUPPORTED:
                raise
            return result

    add_dispatch_list(wrapper)
    return make_decorator(target, wrapper)
