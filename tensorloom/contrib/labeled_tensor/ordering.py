"""The order in which axes are wanted: scopes, checks, and what two orders share."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from typing import Any, Final

from tensorloom.contrib.labeled_tensor.labeled import (
    LabeledTensorLike,
    convert_to_labeled_tensor,
)
from tensorloom.contrib.labeled_tensor.type_checks import checked
from tensorloom.framework.export import export
from tensorloom.framework.runtime.scopes import get_collection_ref

# A collection of the graph, as in TensorFlow: scopes of two threads do not mix.
_AXIS_ORDER: Final[Any] = ("__axis_order",)


@export("contrib.labeled_tensor.AxisOrderError")
class AxisOrderError(ValueError):
    """There is no valid order of axes."""


def get_axis_order() -> list[str] | None:
    """The order that the innermost `axis_order_scope` asks for, or None."""
    kept: list[Any] = get_collection_ref(_AXIS_ORDER)
    return kept[0] if kept else None


@export("contrib.labeled_tensor.axis_order_scope")
@contextlib.contextmanager
def axis_order_scope(
    axis_order: list[str] | None = None,
) -> Iterator[list[str] | None]:
    """Inside, results of operations that broadcast have their axes in this order.

    Args:
      axis_order: names of axes; None for no order.
    """
    before = get_axis_order()
    get_collection_ref(_AXIS_ORDER)[:] = [axis_order]
    try:
        yield axis_order
    finally:
        get_collection_ref(_AXIS_ORDER)[:] = [before]


def valid_axis_order(axis_order: Collection[str] | None) -> Collection[str]:
    """The order given, or the scope's. Raises AxisOrderError if there is neither."""
    if axis_order is None:
        axis_order = get_axis_order()
    if axis_order is None:
        raise AxisOrderError(
            "an explicit axis order must be provided with the axis_order argument or "
            "by using an axis_order_scope"
        )
    return axis_order


@export("contrib.labeled_tensor.check_axis_order")
@checked
def check_axis_order(
    labeled_tensor: LabeledTensorLike, axis_order: Collection[str] | None = None
) -> None:
    """Checks that a tensor's axes are in an order.

    Args:
      labeled_tensor: what to look at.
      axis_order: names of all of its axes, and perhaps of others; by default that of
        the `axis_order_scope`.

    Raises:
      AxisOrderError: there is no order, an axis is not in it, or they stand otherwise.
    """
    labeled_tensor = convert_to_labeled_tensor(labeled_tensor)
    axis_order = valid_axis_order(axis_order)
    relevant = [name for name in axis_order if name in labeled_tensor.axes]
    if len(relevant) < len(labeled_tensor.axes):
        raise AxisOrderError(
            "not all axis names appear in the required axis order "
            f"{axis_order!r}: {labeled_tensor!r}"
        )
    if relevant != list(labeled_tensor.axes):
        raise AxisOrderError(
            "axes on a labeled tensor do not appear in the same order as the required "
            f"axis order {axis_order!r}: {labeled_tensor!r}"
        )


def consistent_ordering(first: list[str], second: list[str]) -> list[str] | None:
    """The names of both lists in an order that both agree with, or None.

    Where both would do, a name of the first list goes before one of the second.
    """
    left, right = list(first), list(second)
    ordering = []
    while left and right:
        if left[0] not in second:
            ordering.append(left.pop(0))
        elif right[0] not in first:
            ordering.append(right.pop(0))
        elif left[0] == right[0]:
            ordering.append(left.pop(0))
            right.pop(0)
        else:
            return None
    return ordering + left + right
