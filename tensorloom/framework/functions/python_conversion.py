"""Python functions as AutoGraph converts them, for what traces them.

AutoGraph stands on what traces functions; so it is imported when one is traced.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tensorloom.framework.runtime.conversion_status import (
    ControlStatusCtx,
    Status,
    control_status_ctx,
)

_API = "tensorloom.autograph.conversion.api"


def tf_convert(
    function: Callable[..., Any], convert_by_default: bool = True
) -> Callable[..., Any]:
    """A function of the program, converted unless the program says otherwise.

    Args:
      convert_by_default: whether it is where the program says nothing.
    """
    context = control_status_ctx()
    if context.status == Status.UNSPECIFIED and not convert_by_default:
        return function
    api: Any = importlib.import_module(_API)
    return api.tf_convert(function, context)  # type: ignore[no-any-return]


def traced_function(
    function: Callable[..., Any], autograph: bool, optional_features: Any = None
) -> Callable[..., Any]:
    """What is called to trace a function: with `autograph`, its converted form.

    Args:
      optional_features: None, or features of `tf.autograph.experimental.Feature`.
    """
    status = Status.ENABLED if autograph else Status.DISABLED

    def traced(*args: Any, **kwargs: Any) -> Any:
        with ControlStatusCtx(status, optional_features):
            if not autograph:
                return function(*args, **kwargs)
            api: Any = importlib.import_module(_API)
            options = api.ConversionOptions(
                recursive=True,
                user_requested=True,
                optional_features=optional_features,
            )
            return api.converting(function, options)(*args, **kwargs)

    return traced
