"""Sums, products, maxima and minima of slices along an axis."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op


@export("contrib.reduce_slice_ops.reduce_slice_sum")
def reduce_slice_sum(
    data: Any, indices: Any, axis: Any, name: str | None = None
) -> Any:
    """The sum of each slice; of an empty one 0.

    Args:
      data: what slices are taken of.
      indices: [n, 2], where each slice begins and ends, or [n + 1], where they meet.
      axis: along which, an int64 scalar.
      name: of the operation.

    Returns:
      Like `data`, with one element of the axis for each slice.
    """
    return apply_op("ReduceSliceSum", data=data, indices=indices, axis=axis, name=name)


@export("contrib.reduce_slice_ops.reduce_slice_prod")
def reduce_slice_prod(
    data: Any, indices: Any, axis: Any, name: str | None = None
) -> Any:
    """The product of each slice, of an empty one 1; see `reduce_slice_sum`."""
    return apply_op("ReduceSliceProd", data=data, indices=indices, axis=axis, name=name)


@export("contrib.reduce_slice_ops.reduce_slice_max")
def reduce_slice_max(
    data: Any, indices: Any, axis: Any, name: str | None = None
) -> Any:
    """The largest of each slice, of an empty one the least number of the dtype."""
    return apply_op("ReduceSliceMax", data=data, indices=indices, axis=axis, name=name)


@export("contrib.reduce_slice_ops.reduce_slice_min")
def reduce_slice_min(
    data: Any, indices: Any, axis: Any, name: str | None = None
) -> Any:
    """The least of each slice, of an empty one the largest number of the dtype."""
    return apply_op("ReduceSliceMin", data=data, indices=indices, axis=axis, name=name)
