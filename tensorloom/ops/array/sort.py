"""Sorting along an axis: `tf.sort` and `tf.argsort`, over TopKV2."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import top_k as nn_ops_top_k


@export("sort", "contrib.framework.sort")
def sort(
    values: Any, axis: Any = -1, direction: str = "ASCENDING", name: str | None = None
) -> Tensor:
    """`values` sorted along an axis; of the same shape.

    Args:
      values: numbers of rank 1 or more.
      axis: a constant.
      direction: "ASCENDING" or "DESCENDING".
      name: of the scope.

    Raises:
      ValueError: the axis is not a constant scalar, or the direction is another word.
    """
    with name_scope(name, "sort"):
        return _sort_or_argsort(values, axis, direction, 0)


@export("argsort", "contrib.framework.argsort")
def argsort(
    values: Any,
    axis: Any = -1,
    direction: str = "ASCENDING",
    stable: bool = False,
    name: str | None = None,
) -> Tensor:
    """The int32 indices that sort `values` along an axis. Always stable.

    Raises:
      ValueError: the axis is not a constant scalar, or the direction is another word.
    """
    with name_scope(name, "argsort"):
        return _sort_or_argsort(values, axis, direction, 1)


def _sort_or_argsort(values: Any, axis: Any, direction: str, output: int) -> Tensor:
    if direction not in _DIRECTIONS:
        raise ValueError(f"{direction} should be one of {', '.join(_DIRECTIONS)}")
    axis = convert_to_tensor(axis, name="axis")
    known = constant_value(axis)
    if axis.shape.rank != 0 or known is None:
        raise ValueError("axis must be a constant scalar")
    values = convert_to_tensor(values, name="values")
    return _DIRECTIONS[direction](values, int(known), output)


def _descending(values: Tensor, axis: int, output: int) -> Tensor:
    """Output 0 or 1, the values or the indices, of TopKV2 over the whole axis."""
    k = array_ops.shape(values)[axis]
    rank = array_ops.rank(values)
    static_rank = values.shape.rank
    if axis == -1 or axis + 1 == static_rank:
        return nn_ops_top_k.top_k(values, k)[output]  # type: ignore[no-any-return]
    swap = _swap_with_last(axis, rank, static_rank)
    top = nn_ops_top_k.top_k(array_ops.transpose(values, swap), k)
    return array_ops.transpose(top[output], swap)


def _swap_with_last(axis: int, rank: Tensor, static_rank: int | None) -> Tensor:
    """The permutation that exchanges an axis with the last one: its own inverse."""
    if static_rank is None:
        start: Any = axis if axis >= 0 else axis + rank
        parts = [
            math_ops.range(start),
            [rank - 1],
            math_ops.range(start + 1, rank - 1),
            [start],
        ]
        return array_ops.concat(parts, axis=0)
    order = list(range(static_rank))
    order[axis], order[-1] = order[-1], order[axis]
    return constant_op.constant(order, name="transposition", dtype="int64")


def _ascending(values: Tensor, axis: int, output: int) -> Tensor:
    result = _descending(-values, axis, output)
    return result if output else -result


_DIRECTIONS: dict[str, Callable[[Tensor, int, int], Tensor]] = {
    "ASCENDING": _ascending,
    "DESCENDING": _descending,
}
