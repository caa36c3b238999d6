"""Decorators that say what they decorate (`tensorflow.python.util.tf_decorator`)."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable
from typing import Any

_MARK = "_tf_decorator"


class TFDecorator:
    """A decorated function, which can be unwrapped.

    Args:
      decorator_name: of the decorator.
      target: what is decorated.
      decorator_doc: what the decorator does, in words.
      decorator_argspec: the FullArgSpec of the result, where it is not the target's.
    """

    def __init__(
        self,
        decorator_name: str,
        target: Any,
        decorator_doc: str = "",
        decorator_argspec: Any = None,
    ) -> None:
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec
        self.__name__ = getattr(target, "__name__", "")
        if hasattr(target, "__qualname__"):
            self.__qualname__ = target.__qualname__
        if self._decorator_doc:
            self.__doc__ = self._decorator_doc
        else:
            self.__doc__ = getattr(target, "__doc__", "")
        if decorator_argspec is not None:
            self.__signature__ = signature_of(decorator_argspec)
        elif callable(target):
            # A builtin may tell nothing of its arguments.
            with contextlib.suppress(TypeError, ValueError):
                self.__signature__ = inspect.signature(target)

    def __get__(self, instance: Any, owner: Any) -> Any:
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self) -> Any:
        """What is decorated."""
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target: Any) -> None:
        self._decorated_target = target

    @property
    def decorator_name(self) -> str:
        """The decorator's name."""
        return self._decorator_name

    @property
    def decorator_doc(self) -> str:
        """What the decorator does."""
        return self._decorator_doc

    @property
    def decorator_argspec(self) -> Any:
        """The FullArgSpec of the result; None where it is the target's."""
        return self._decorator_argspec


def signature_of(argspec: Any) -> inspect.Signature:
    """The Signature that a FullArgSpec describes."""
    kinds = inspect.Parameter
    defaults = list(argspec.defaults or ())
    # The named tuple of Python 2 has fewer fields.
    by_keyword = getattr(argspec, "kwonlyargs", ())
    varkw = argspec[2]
    required = len(argspec.args) - len(defaults)
    values = [kinds.empty] * required + defaults
    parameters = [
        kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=value)
        for name, value in zip(argspec.args, values, strict=True)
    ]
    if argspec.varargs:
        parameters.append(kinds(argspec.varargs, kinds.VAR_POSITIONAL))
    for name in by_keyword:
        value = (argspec.kwonlydefaults or {}).get(name, kinds.empty)
        parameters.append(kinds(name, kinds.KEYWORD_ONLY, default=value))
    if varkw:
        parameters.append(kinds(varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def make_decorator(
    target: Any,
    decorator_func: Any,
    decorator_name: str | None = None,
    decorator_doc: str = "",
    decorator_argspec: Any = None,
) -> Any:
    """Marks a function as the decorated form of another.

    Args:
      target: what is decorated.
      decorator_func: the function to be called in its place.
      decorator_name: of the decorator; that of the calling function if None.
      decorator_doc: what the decorator does.
      decorator_argspec: FullArgSpec of the result, where it is not the target's.

    Returns:
      `decorator_func`, with the target's name, module, doc and signature.
    """
    if decorator_name is None:
        frame = inspect.currentframe()
        caller = frame.f_back if frame else None
        decorator_name = caller.f_code.co_name if caller else ""
    made = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    setattr(decorator_func, _MARK, made)
    for name in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, name):
            setattr(decorator_func, name, getattr(target, name))
    decorator_func.__dict__.update(
        (name, value)
        for name, value in getattr(target, "__dict__", {}).items()
        if name not in decorator_func.__dict__
    )
    decorator_func.__doc__ = made.__doc__
    if hasattr(made, "__signature__"):
        decorator_func.__signature__ = made.__signature__
    decorator_func.__wrapped__ = target
    return decorator_func


def unwrap(maybe_tf_decorator: Any) -> tuple[list[TFDecorator], Any]:
    """The decorators of a function, the outermost first, and what they decorate."""
    found: list[TFDecorator] = []
    value = maybe_tf_decorator
    while True:
        mark = value if isinstance(value, TFDecorator) else None
        mark = mark or getattr(value, "__dict__", {}).get(_MARK)
        if mark is None:
            return found, value
        found.append(mark)
        value = mark.decorated_target


def rewrap(decorator_func: Any, previous_target: Any, new_target: Any) -> Any:
    """Puts another function below the decorators of one.

    Returns:
      what is called now: `new_target` if there is no decorator.
    """
    inner: Any = None
    value = decorator_func
    while value is not previous_target:
        mark = getattr(value, "__dict__", {}).get(_MARK)
        if mark is None:
            break
        inner, value = mark, mark.decorated_target
    if inner is None:
        return new_target
    inner.decorated_target = new_target
    if hasattr(decorator_func, "__wrapped__"):
        decorator_func.__wrapped__ = new_target
    return decorator_func


def contextmanager(target: Callable[..., Any]) -> Callable[..., Any]:
    """`contextlib.contextmanager` whose result can be unwrapped."""
    made: Callable[..., Any] = make_decorator(
        target, contextlib.contextmanager(target), "contextmanager"
    )
    return made


def keyword_args_only(func: Callable[..., Any]) -> Callable[..., Any]:
    """A function that takes no positional arguments.

    Raises (when called):
      ValueError: a positional argument is given.
    """

    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        if args:
            raise ValueError(
                f"Must use keyword args to call {getattr(func, '__name__', func)}."
            )
        return func(**kwargs)

    return decorated
