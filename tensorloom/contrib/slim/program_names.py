"""Names of slim that are tools of programs rather than of networks."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from tensorloom.client.program import program_log
from tensorloom.client.program.arg_scope import scope_key
from tensorloom.compat.internals.deprecation import deprecated, deprecated_arg_values
from tensorloom.compat.internals.docstrings import make_all
from tensorloom.contrib.framework.remapped_values import zero_initializer
from tensorloom.framework.export import export, export_value

F = TypeVar("F", bound=Callable[..., Any])

export_value(scope_key, "contrib.slim.arg_scope_func_key")
export_value(deprecated, "contrib.slim.deprecated")
export_value(deprecated_arg_values, "contrib.slim.deprecated_arg_values")
export_value(make_all, "contrib.slim.make_all", "contrib.slim.nets.make_all")
export_value(zero_initializer, "contrib.slim.zero_initializer")


@export("contrib.slim.experimental", "contrib.layers.feature_column.experimental")
def experimental(func: F) -> F:
    """Decorator: warns at each call that the function may change or go.

    Raises:
      ValueError: it cannot be called.
    """
    if not callable(func):
        raise ValueError(
            f"{func} passed to experimental is not a function. If this is a property "
            "make sure @property appears *before* @experimental in your source code."
        )

    @functools.wraps(func)
    def warning(*args: Any, **kwargs: Any) -> Any:
        program_log.warning(
            "%s (from %s) is experimental and may change or be removed at any time, "
            "and without warning.",
            func.__qualname__,
            func.__module__,
        )
        return func(*args, **kwargs)

    first, _, rest = (func.__doc__ or "").partition("\n")
    warning.__doc__ = (
        f"{first or 'THIS FUNCTION'} (experimental)\n\nTHIS FUNCTION IS EXPERIMENTAL. "
        f"It may change or be removed at any time, and without warning.\n{rest}"
    )
    return warning  # type: ignore[return-value]
