"""`convert`, `to_graph`, `to_code`: what programs and the framework call."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.autograph import logs
from tensorloom.autograph.conversion.calls import converted_call
from tensorloom.autograph.conversion.classes import convert_class
from tensorloom.autograph.conversion.compiled import convert_entity
from tensorloom.autograph.conversion.marks import (
    call_with_unspecified_conversion_status,
    do_not_convert,
    do_not_convert_internal,
    is_marked,
)
from tensorloom.autograph.errors import ConversionError, rewritten
from tensorloom.autograph.options import ConversionOptions
from tensorloom.framework.decorators import make_decorator, rewrap, unwrap
from tensorloom.framework.export import export
from tensorloom.framework.runtime.conversion_status import ControlStatusCtx, Status


def convert(
    recursive: bool = False, optional_features: Any = None, user_requested: bool = True
) -> Callable[[Any], Any]:
    """A decorator of functions that are converted when they are called.

    Args:
      recursive: whether the functions that it calls are converted, too.
      optional_features: None, a `Feature` or a tuple of them.
      user_requested: whether functions of libraries are converted, too.
    """
    options = ConversionOptions(
        recursive=recursive,
        user_requested=user_requested,
        optional_features=optional_features,
    )

    def decorator(f: Any) -> Any:
        wrapper = converting(f, options)
        if inspect.isfunction(f) or inspect.ismethod(f):
            wrapper = functools.update_wrapper(wrapper, f)
        return do_not_convert_internal(make_decorator(f, wrapper))

    return decorator


def converting(f: Any, options: ConversionOptions) -> Callable[..., Any]:
    """A function that calls the converted `f`; its errors name the program's lines."""

    def wrapper(*args: Any, **kwargs: Any) -> Any:
        try:
            return converted_call(f, options, args, kwargs)
        except Exception as error:
            told = rewritten(error)
            if told is None:
                raise
            raise told from error

    return wrapper


def tf_convert(
    f: Any,
    ctx: ControlStatusCtx,
    convert_by_default: bool = True,
    user_requested: bool = False,
) -> Any:
    """A function of the program as the framework calls it: converted, if it is to be.

    Args:
      f: the function; its TFDecorators are kept.
      ctx: what was said of conversion where `f` was given.
      convert_by_default: what to do where nothing was said.
      user_requested: as in `convert`.
    """
    if is_marked(f):
        return f
    decorators, target = unwrap(f)
    if ctx.status == Status.DISABLED:
        wrapper = do_not_convert(target)
    elif ctx.status == Status.ENABLED or convert_by_default:
        wrapper = convert(recursive=True, user_requested=user_requested)(target)
    else:
        wrapper = call_with_unspecified_conversion_status(target)
    if decorators:
        wrapper = rewrap(f, target, wrapper)
    return do_not_convert_internal(wrapper)


def to_graph(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> Any:
    """The converted form of a function, method or class.

    Args:
      entity: a function; a method, which becomes a function of `self` and the rest; or
        a class, whose methods are converted.
      recursive: whether the functions that it calls are converted, too.
      experimental_optional_features: None, a `Feature` or a tuple of them.

    Raises:
      ConversionError: it cannot be converted.
      NotImplementedError: it has something that AutoGraph does not convert.
    """
    options = ConversionOptions(
        recursive=recursive,
        user_requested=True,
        optional_features=experimental_optional_features,
    )
    try:
        if inspect.isclass(entity):
            return convert_class(entity, options)
        if inspect.isfunction(entity) or inspect.ismethod(entity):
            return convert_entity(entity, options)
    except (ValueError, AttributeError, KeyError, NameError, AssertionError) as error:
        logs.error(1, "Error converting %s", entity, exc_info=True)
        raise ConversionError(
            f"converting {entity}: {type(error).__name__}: {error}"
        ) from error
    raise NotImplementedError(
        f'cannot convert entity "{entity}": object conversion is not yet supported.'
    )


def to_code(
    entity: Any, recursive: bool = True, experimental_optional_features: Any = None
) -> str:
    """The converted form of a function, method or class, as text.

    Args:
      entity, recursive, experimental_optional_features: those of `to_graph`.
    """
    converted = to_graph(entity, recursive, experimental_optional_features)
    source: str = converted.ag_compiled.source
    return source


@export("autograph.to_graph")
def to_graph_v1(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    experimental_optional_features: Any = None,
) -> Any:
    """The converted form of a function, method or class.

    Args:
      entity: a function; a method, which becomes a function of `self` and the rest; or
        a class, whose methods are converted.
      recursive: whether the functions that it calls are converted, too.
      arg_values, arg_types: without effect.
      experimental_optional_features: None, a `Feature` or a tuple of them.

    Raises:
      ConversionError: it cannot be converted.
      NotImplementedError: it has something that AutoGraph does not convert.
    """
    del arg_values, arg_types
    return to_graph(entity, recursive, experimental_optional_features)


@export("autograph.to_code")
def to_code_v1(
    entity: Any,
    recursive: bool = True,
    arg_values: Any = None,
    arg_types: Any = None,
    indentation: str = "  ",
    experimental_optional_features: Any = None,
) -> str:
    """The converted form of a function, method or class, as text.

    Args:
      arg_values, arg_types, indentation: without effect.
      entity, recursive, experimental_optional_features: those of `to_graph`.
    """
    del arg_values, arg_types, indentation
    return to_code(entity, recursive, experimental_optional_features)
