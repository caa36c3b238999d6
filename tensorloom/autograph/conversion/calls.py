"""`converted_call`: a call of anything, converted where it can be and should be."""

from __future__ import annotations

import contextlib
import functools
import inspect
import os
import sys
import weakref
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from tensorloom.autograph import logs
from tensorloom.autograph.conversion.allowed import described, is_allowed
from tensorloom.autograph.conversion.compiled import convert_entity
from tensorloom.autograph.conversion.frame_functions import call_in_original_frame
from tensorloom.autograph.conversion.marks import is_marked
from tensorloom.autograph.conversion.runtime_names import RUNTIME_MODULE
from tensorloom.autograph.errors import attach_metadata
from tensorloom.autograph.operators.python_builtins import overload_of

if TYPE_CHECKING:
    from tensorloom.autograph.options import ConversionOptions

# Functions of these modules are called as they are, under whatever name.
_PLAIN_MODULES: Final = ("collections", "pdb", "copy", "inspect", "re")

# What was found not to need conversion, with the options that it was called with.
_unconverted: weakref.WeakKeyDictionary[Any, set[ConversionOptions]] = (
    weakref.WeakKeyDictionary()
)


def converted_call(
    f: Any,
    options: ConversionOptions,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    caller_fn_scope: Any = None,
) -> Any:
    """`f(*args, **kwargs)` of the converted function.

    What needs no conversion is called as it is: builtins, classes, the framework,
    libraries, what is marked with `do_not_convert`. So is, with a warning, what cannot
    be converted.

    Args:
      f: anything that can be called.
      options: of the conversion.
      args: the positional arguments.
      kwargs: the arguments by keyword, or None.
      caller_fn_scope: the FunctionScope of the calling function, which `eval` and
        `super` look into.
    """
    if logs.has_verbosity(1):
        logs.log(
            1, "Converted call: %s\n    args: %s\n    kwargs: %s\n", f, args, kwargs
        )
    if _is_remembered(f, options):
        return _call_unconverted(f, args, kwargs)
    overload = overload_of(f)
    if overload is not f or inspect.isbuiltin(f) or f is super:
        if f in (eval, super) and caller_fn_scope is not None:
            return call_in_original_frame(f, args, caller_fn_scope)
        return overload(*args, **(kwargs or {}))
    if not _is_to_be_converted(f, options):
        _remember(f, options)
        return _call_unconverted(f, args, kwargs)
    target, all_args, all_kwargs = _target(f, args, kwargs)
    code: CodeType | None = getattr(target, "__code__", None)
    if code is None or code.co_filename == "<string>":  # native, or made by `exec`
        _remember(f, options)
        return _call_unconverted(f, args, kwargs)
    try:
        converted = convert_entity(target, options)
    except Exception as error:
        _warn_not_converted(error, target)
        _remember(f, options)
        return _call_unconverted(f, args, kwargs)
    try:
        return converted(*all_args, **(all_kwargs or {}))
    except Exception as error:
        attach_metadata(error, converted.__code__)
        raise


vars(RUNTIME_MODULE)["converted_call"] = converted_call


def _is_to_be_converted(f: Any, options: ConversionOptions) -> bool:
    if is_marked(f) or inspect.isclass(f):
        return False
    if _is_loaded_type(f, "wrapt", ("FunctionWrapper", "BoundFunctionWrapper")):
        logs.warn(
            "Entity %s appears to be decorated by wrapt, which is not yet supported by "
            "AutoGraph. The function will be called without transformation. You may "
            "however apply AutoGraph before the decorator.",
            described(f),
        )
        return False
    if _is_loaded_type(f, "functools", ("_lru_cache_wrapper",)):
        return False
    name = getattr(f, "__name__", None)
    if isinstance(name, str) and any(
        getattr(sys.modules.get(module), name, None) is f for module in _PLAIN_MODULES
    ):
        return False
    if not options.user_requested and is_allowed(f):
        return False
    return options.internal_convert_user_code


def _is_loaded_type(f: Any, module: str, names: tuple[str, ...]) -> bool:
    """Whether it is of one of these types, or a method of such a function."""
    found = (getattr(sys.modules.get(module), name, None) for name in names)
    kinds = tuple(kind for kind in found if isinstance(kind, type))
    return isinstance(f, kinds) or (
        inspect.ismethod(f) and isinstance(f.__func__, kinds)
    )


def _target(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> tuple[Any, tuple[Any, ...], dict[str, Any] | None]:
    """The function to convert, and its arguments with those of partials and `self`."""
    while isinstance(f, functools.partial):
        args = (*f.args, *args)
        kwargs = {**f.keywords, **(kwargs or {})}
        f = f.func
    if inspect.isfunction(f):
        return f, args, kwargs
    if inspect.ismethod(f):
        return f, (f.__self__, *args), kwargs
    return f.__call__, (f, *args), kwargs


def _call_unconverted(
    f: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None
) -> Any:
    try:
        return f(*args, **(kwargs or {}))
    except Exception as error:
        attach_metadata(error, None)
        raise


def _warn_not_converted(error: Exception, target: Any) -> None:
    logs.log(1, "Error transforming entity %s", target, exc_info=True)
    if int(os.environ.get("AUTOGRAPH_STRICT_CONVERSION", "0")):
        raise error
    logs.warn(
        "Entity %s could not be transformed and will be executed as-is. Please report "
        "this to the AutoGraph team. When filing the bug, set the verbosity to 10 (on "
        "Linux, `export AUTOGRAPH_VERBOSITY=10`) and attach the full output. Cause: %s",
        described(target),
        error,
    )


def _is_remembered(f: Any, options: ConversionOptions) -> bool:
    try:
        return options in _unconverted.get(f, ())
    except TypeError:  # cannot be hashed, or referred to weakly
        return False


def _remember(f: Any, options: ConversionOptions) -> None:
    with contextlib.suppress(TypeError):
        _unconverted.setdefault(f, set()).add(options)
