"""Functions that are not converted when converted code calls them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.runtime.conversion_status import ControlStatusCtx, Status

_MARK: Final = "__ag_compiled"


def do_not_convert_internal(function: Any) -> Any:
    """Marks a function as converted, or as one that does not need it."""
    setattr(function, _MARK, True)
    return function


def is_marked(function: Any) -> bool:
    """Whether it is called as it is: a mark, or the result of `to_graph`."""
    return hasattr(function, _MARK) or hasattr(function, "autograph_info__")


@export("autograph.experimental.do_not_convert")
def do_not_convert(func: Any = None) -> Any:
    """A decorator of functions that AutoGraph leaves alone, with all that they call.

    Args:
      func: the function; without it the decorator is returned.
    """
    if func is None:
        return do_not_convert
    return _with_status(func, Status.DISABLED)


def call_with_unspecified_conversion_status(func: Any) -> Any:
    """A function that is called as if nobody had said whether to convert."""
    return _with_status(func, Status.UNSPECIFIED)


def _with_status(func: Any, status: Status) -> Callable[..., Any]:
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(status):
            return func(*args, **kwargs)

    if inspect.isfunction(func) or inspect.ismethod(func):
        wrapper = functools.update_wrapper(wrapper, func)
    return do_not_convert_internal(wrapper)  # type: ignore[no-any-return]
