"""`and`, `or`, `not`, `==` and `!=`, of tensors too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.graph.tensor import is_tensor
from tensorloom.ops.math.comparison import equal, logical_not


def not_(a: Any) -> Any:
    """`not a`."""
    return logical_not(a) if is_tensor(a) else not a


def and_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() and b()`: the second is computed if the first is true."""
    first = a()
    if is_tensor(first):
        return cond(first, b, lambda: first)
    return first and b()


def or_(a: Callable[[], Any], b: Callable[[], Any]) -> Any:
    """`a() or b()`: the second is computed if the first is false."""
    first = a()
    if is_tensor(first):
        return cond(first, lambda: first, b)
    return first or b()


def eq(a: Any, b: Any) -> Any:
    """`a == b`; elementwise if one of them is a tensor."""
    return equal(a, b) if is_tensor(a) or is_tensor(b) else a == b


def not_eq(a: Any, b: Any) -> Any:
    """`a != b`; elementwise if one of them is a tensor."""
    return not_(eq(a, b))
