"""Signatures and sources of functions, below their decorators (`tf_inspect`)."""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from typing import Any

from tensorloom.framework.decorators import TFDecorator, signature_of, unwrap

ArgSpec = namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
FullArgSpec = inspect.FullArgSpec

# What needs no unwrapping.
currentframe = inspect.currentframe
getframeinfo = inspect.getframeinfo
getmro = inspect.getmro
stack = inspect.stack


def _target(value: Any) -> Any:
    return unwrap(value)[1]


def getfullargspec(obj: Any) -> inspect.FullArgSpec:
    """`inspect.getfullargspec`, as the outermost decorator that says one has it."""
    decorators, target = unwrap(obj)
    for decorator in decorators:
        if decorator.decorator_argspec is not None:
            found: inspect.FullArgSpec = decorator.decorator_argspec
            return found
    return _argspec_of(target)


def _argspec_of(target: Any) -> inspect.FullArgSpec:
    """The FullArgSpec of a function, with `self` for methods, as Python 2 had it."""
    if isinstance(target, functools.partial):
        return _partial_argspec(target)
    if _is_ours(target):
        # Our decorators and annotations are no part of TensorFlow's signatures:
        # programs compare these with those of functions of their own.
        spec = inspect.getfullargspec(inspect.unwrap(target))
        return spec._replace(annotations={})
    try:
        return inspect.getfullargspec(target)
    except TypeError:
        call = getattr(target, "__call__", None)  # noqa: B004 - its signature is asked
        if call is None or not callable(target):
            raise
        return inspect.getfullargspec(call)


def _is_ours(target: Any) -> bool:
    """Whether a function is one of this package."""
    module = getattr(target, "__module__", None) or ""
    return inspect.isfunction(target) and module.partition(".")[0] == "tensorloom"


def _partial_argspec(partial: functools.partial[Any]) -> inspect.FullArgSpec:
    """What may still be given to a partial: what is set has that as its default."""
    spec = getfullargspec(partial.func)
    args = list(spec.args[len(partial.args) :])
    values = dict(
        zip(spec.args[len(spec.args) - len(spec.defaults or ()) :], spec.defaults or (),
            strict=True)
    )  # fmt: skip
    values |= partial.keywords
    given = [name in values for name in args]
    first = given.index(True) if True in given else len(args)
    if not all(given[first:]):
        missing = [name for name in args[first:] if name not in values]
        raise ValueError(
            f"Some arguments {missing} do not have default value, but they are "
            "positioned after those with default values. This can not be expressed "
            "with ArgSpec."
        )
    return spec._replace(
        args=args, defaults=tuple(values[name] for name in args[first:]) or None
    )


def getargspec(obj: Any) -> Any:
    """The arguments of a function as `inspect.getargspec` of Python 2 gave them.

    Raises:
      ValueError: it has arguments by keyword only, or a partial sets one before others
        that have to be given.
    """
    spec: Any = getfullargspec(obj)
    if isinstance(spec, ArgSpec):
        return spec
    if spec.kwonlyargs:
        raise ValueError(
            f"{obj} has keyword-only arguments {spec.kwonlyargs}: use getfullargspec"
        )
    return ArgSpec(spec.args, spec.varargs, spec.varkw, spec.defaults)


def getcallargs(*func_and_positional: Any, **named: Any) -> dict[str, Any]:
    """Which parameter gets which value in `func(*positional, **named)`."""
    func, *positional = func_and_positional
    signature = signature_of(getfullargspec(func))
    owner = getattr(func, "__self__", None)
    if inspect.ismethod(func) and owner is not None:
        positional.insert(0, owner)
    bound = signature.bind(*positional, **named)
    bound.apply_defaults()
    return dict(bound.arguments)


def getdoc(object: Any) -> str | None:
    """`inspect.getdoc`."""
    return inspect.getdoc(object)


def getfile(object: Any) -> str:
    """`inspect.getfile` of what is decorated."""
    target = _target(object)
    return inspect.getfile(getattr(target, "__code__", target))


def getmembers(object: Any, predicate: Any = None) -> list[tuple[str, Any]]:
    """`inspect.getmembers`."""
    return inspect.getmembers(object, predicate)


def getmodule(object: Any) -> Any:
    """`inspect.getmodule`."""
    return inspect.getmodule(object)


def getsource(object: Any) -> str:
    """`inspect.getsource` of what is decorated."""
    return inspect.getsource(_target(object))


def getsourcefile(object: Any) -> str | None:
    """`inspect.getsourcefile` of what is decorated."""
    return inspect.getsourcefile(_target(object))


def getsourcelines(object: Any) -> tuple[list[str], int]:
    """`inspect.getsourcelines` of what is decorated."""
    return inspect.getsourcelines(_target(object))


def isanytargetmethod(object: Any) -> bool:
    """Whether what is decorated, or a decorator's result, is a bound method."""
    decorators, target = unwrap(object)
    return any(
        map(inspect.ismethod, [*(d.decorated_target for d in decorators), target])
    )


def isbuiltin(object: Any) -> bool:
    """`inspect.isbuiltin` of what is decorated."""
    return inspect.isbuiltin(_target(object))


def isclass(object: Any) -> bool:
    """`inspect.isclass` of what is decorated."""
    return inspect.isclass(_target(object))


def isfunction(object: Any) -> bool:
    """`inspect.isfunction` of what is decorated."""
    return inspect.isfunction(_target(object))


def isframe(object: Any) -> bool:
    """`inspect.isframe` of what is decorated."""
    return inspect.isframe(_target(object))


def isgenerator(object: Any) -> bool:
    """`inspect.isgenerator` of what is decorated."""
    return inspect.isgenerator(_target(object))


def isgeneratorfunction(object: Any) -> bool:
    """`inspect.isgeneratorfunction` of what is decorated."""
    return inspect.isgeneratorfunction(_target(object))


def ismethod(object: Any) -> bool:
    """`inspect.ismethod` of what is decorated."""
    return inspect.ismethod(_target(object))


def ismodule(object: Any) -> bool:
    """`inspect.ismodule` of what is decorated."""
    return inspect.ismodule(_target(object))


def isroutine(object: Any) -> bool:
    """`inspect.isroutine` of what is decorated."""
    return inspect.isroutine(_target(object))


def fn_args(fn: Any) -> tuple[str, ...]:
    """The names of a function's arguments, without `self` and what a partial sets."""
    if isinstance(fn, functools.partial):
        inner = fn_args(fn.func)[len(fn.args) :]
        return tuple(name for name in inner if name not in fn.keywords)
    if not inspect.isroutine(_target(fn)) and not inspect.isclass(fn):
        fn = fn.__call__ if not isinstance(fn, TFDecorator) else fn
    args = getfullargspec(fn).args
    bound = inspect.isclass(fn) or isanytargetmethod(fn)
    return tuple(args[1:] if bound and args else args)


def has_kwargs(fn: Any) -> bool:
    """Whether a function takes arguments of any name.

    Raises:
      TypeError: it is no function.
    """
    if isinstance(fn, functools.partial):
        return has_kwargs(fn.func)
    if not callable(fn):
        raise TypeError(
            f"fn should be a function-like object, but is of type {type(fn)}."
        )
    return getfullargspec(fn).varkw is not None


def get_func_name(func: Any) -> str:
    """The name of a function, of a partial's function, or of a callable's class.

    Raises:
      ValueError: it cannot be called.
    """
    target = _target(func)
    if not callable(target):
        raise ValueError("Argument must be callable")
    if isinstance(target, functools.partial):
        return get_func_name(target.func)
    return getattr(target, "__name__", None) or str(type(target))


def get_func_code(func: Any) -> Any:
    """The code of a function; None where it has none.

    Raises:
      ValueError: it cannot be called.
    """
    target = _target(func)
    if not callable(target):
        raise ValueError("Argument must be callable")
    return getattr(target, "__code__", getattr(type(target).__call__, "__code__", None))
