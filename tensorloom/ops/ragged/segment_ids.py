"""Rows as splits, lengths or the row of each value, and the ways between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

INDEX_TYPES = (dtypes.int32, dtypes.int64)


def to_int_tensor(value: Any, name: str, dtype: DType = dtypes.int32) -> Tensor:
    """A tensor of an index dtype, cast if need be.

    Raises:
      TypeError: the value has no integer dtype.
    """
    tensor = convert_to_tensor(value, name=name)
    if not tensor.dtype.is_integer:
        raise TypeError(f"{name} must be an integer tensor; dtype={tensor.dtype}")
    return math_ops.cast(tensor, dtype)  # type: ignore[no-any-return]


def positive_axis(axis: int, rank: int | None) -> int:
    """An axis counted from the front.

    Raises:
      TypeError: the axis is no int.
      ValueError: it is out of range, or negative while the rank is unknown.
    """
    if not isinstance(axis, int):
        raise TypeError(f"axis must be an int; got {type(axis).__name__}")
    if rank is None:
        if axis < 0:
            raise ValueError("axis may only be negative if ndims is statically known.")
        return axis
    if -rank <= axis < rank:
        return axis % rank
    bounds = f"-{rank}<=axis<{rank}"
    raise ValueError(f"axis={axis} out of bounds: expected {bounds}")


def lengths_to_splits(lengths: Tensor) -> Tensor:
    """Row splits [n + 1] of row lengths [n]."""
    return array_ops.concat([[0], math_ops.cumsum(lengths)], axis=-1)


def splits_to_lengths(splits: Tensor) -> Tensor:
    """Row lengths [n] of row splits [n + 1]."""
    return splits[1:] - splits[:-1]


@export("ragged.row_splits_to_segment_ids")
def row_splits_to_segment_ids(
    splits: Any, name: str | None = None, out_type: Any = None
) -> Tensor:
    """The row of each value, [values], from row splits [rows + 1].

    Raises:
      ValueError: the splits are no index vector, or are empty.
    """
    with name_scope(name, "RaggedSplitsToSegmentIds", [splits]):
        splits = convert_to_tensor(splits, name="splits", preferred_dtype=dtypes.int64)
        if splits.dtype not in INDEX_TYPES:
            raise ValueError("splits must have dtype int32 or int64")
        splits.shape.assert_has_rank(1)
        if splits.shape.dims_tuple == (0,):
            raise ValueError("Invalid row_splits: []")
        out_type = splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        lengths = splits_to_lengths(splits)
        rows = array_ops.shape(splits, out_type=out_type)[-1] - 1
        return array_ops.repeat_with_axis(math_ops.range(rows), repeats=lengths, axis=0)


@export("ragged.segment_ids_to_row_splits")
def segment_ids_to_row_splits(
    segment_ids: Any,
    num_segments: Any = None,
    out_type: Any = None,
    name: str | None = None,
) -> Tensor:
    """Row splits [rows + 1] from the row of each value.

    Args:
      num_segments: the number of rows; one more than the largest id by default.
    """
    if out_type is not None:
        out_type = dtypes.as_dtype(out_type)
    else:
        given = [x for x in (segment_ids, num_segments) if isinstance(x, Tensor)]
        out_type = given[0].dtype if given else dtypes.int64
    with name_scope(name, "SegmentIdsToRaggedSplits", [segment_ids]):
        segment_ids = to_int_tensor(segment_ids, "segment_ids")
        segment_ids.shape.assert_has_rank(1)
        if num_segments is not None:
            num_segments = to_int_tensor(num_segments, "num_segments")
            num_segments.shape.assert_has_rank(0)
        lengths = math_ops.bincount(
            segment_ids,
            minlength=num_segments,
            maxlength=num_segments,
            dtype=out_type,
        )
        splits = array_ops.concat([[0], math_ops.cumsum(lengths)], axis=0)
        known = None if num_segments is None else constant_value(num_segments)
        if known is not None:
            splits.set_shape(TensorShape.of((int(known) + 1,)))
        return splits
