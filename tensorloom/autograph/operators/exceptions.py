"""`assert`, of tensors too."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.ops.control_flow.builders import Assert


def assert_stmt(expression1: Any, expression2: Callable[[], Any]) -> Any:
    """`assert expression1, expression2()`.

    Returns:
      The operation that checks a tensor when the graph runs, else None.

    Raises:
      ValueError: the second is not a function without arguments.
      AssertionError: a Python value is false.
    """
    if not callable(expression2):
        raise ValueError(f"{expression2} must be a callable")
    if inspect.signature(expression2).parameters:
        raise ValueError(f"{expression2} may not have any arguments")
    if not is_tensor(expression1):
        assert expression1, expression2()
        return None
    told = expression2()
    return Assert(expression1, told if isinstance(told, list) else [told])
