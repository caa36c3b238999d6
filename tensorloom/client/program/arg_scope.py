"""`tf.contrib.framework.arg_scope`: default arguments for a block of calls."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from tensorloom.framework.export import export

_Function = TypeVar("_Function", bound=Callable[..., Any])
# Function key -> the keyword arguments that calls get by default.
Scope = dict[str, dict[str, Any]]

_DECORATED: dict[str, tuple[str, ...]] = {}


class _Stack(threading.local):
    """Each thread has its own scopes."""

    def __init__(self) -> None:
        self.scopes: list[Scope] = [{}]


_stack = _Stack()


def scope_key(op: Any) -> str:
    """What a function is known by in scopes."""
    found = getattr(op, "_key_op", None)
    if found is not None:
        return str(found)
    return f"{op.__module__}.{getattr(op, '__qualname__', op)}"


@export("contrib.framework.current_arg_scope")
def current_arg_scope() -> Scope:
    """The defaults that hold here, by function."""
    return _stack.scopes[-1]


@export("contrib.framework.add_arg_scope")
def add_arg_scope(func: _Function) -> _Function:
    """Decorator: lets `arg_scope` give the function's keyword arguments defaults."""
    key = scope_key(func)

    @functools.wraps(func)
    def with_scope(*args: Any, **kwargs: Any) -> Any:
        defaults = current_arg_scope().get(key)
        return func(*args, **({**defaults, **kwargs} if defaults else kwargs))

    with_scope._key_op = key  # type: ignore[attr-defined]
    _DECORATED[key] = tuple(_optional_arguments(func))
    return with_scope  # type: ignore[return-value]


def _optional_arguments(function: Callable[..., Any]) -> Iterator[str]:
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty:
            yield parameter.name


@export("contrib.framework.has_arg_scope")
def has_arg_scope(func: Any) -> bool:
    """Whether the function is decorated with `add_arg_scope`."""
    return scope_key(func) in _DECORATED


@export("contrib.framework.arg_scoped_arguments")
def arg_scoped_arguments(func: Any) -> tuple[str, ...]:
    """The keyword arguments that a scope can set.

    Raises:
      ValueError: the function is not decorated with `add_arg_scope`.
    """
    if not has_arg_scope(func):
        raise ValueError(f"{func} is not decorated with @add_arg_scope")
    return _DECORATED[scope_key(func)]


@export("contrib.framework.arg_scope")
@contextmanager
def arg_scope(list_ops_or_scope: Any, **kwargs: Any) -> Iterator[Scope]:
    """Context manager: calls of the functions get `kwargs` unless they say otherwise.

    Args:
      list_ops_or_scope: functions that are decorated with `add_arg_scope`; or a scope
        that an earlier `arg_scope` gave, which then holds again.
      **kwargs: the arguments.

    Raises:
      TypeError: it is neither a list nor a scope.
      ValueError: a function is not decorated, or a scope comes with arguments.
    """
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError(
                "When attempting to re-use a scope by suppling a dictionary, kwargs "
                "must be empty."
            )
        scope: Scope = {key: dict(value) for key, value in list_ops_or_scope.items()}
    else:
        scope = _nested_scope(list_ops_or_scope, kwargs)
    _stack.scopes.append(scope)
    try:
        yield scope
    finally:
        _stack.scopes.pop()


def _nested_scope(functions: Sequence[Any], kwargs: dict[str, Any]) -> Scope:
    if not isinstance(functions, list | tuple | set):
        raise TypeError(
            "list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)"
        )
    for function in functions:
        if not has_arg_scope(function):
            raise ValueError(
                f"{scope_key(function)} is not decorated with @add_arg_scope"
            )
    scope = dict(current_arg_scope())
    for function in functions:
        key = scope_key(function)
        scope[key] = {**scope.get(key, {}), **kwargs}
    return scope
