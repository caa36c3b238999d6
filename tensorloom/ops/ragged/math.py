"""Ranges, segment sums and reductions of ragged tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged import segment_ids as rows_of
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
)
from tensorloom.ops.reductions import segment as segments

_RANGE_TYPES = [dtypes.int32, dtypes.int64, dtypes.float32, dtypes.float64]


@export("ragged.range")
def ragged_range(
    starts: Any,
    limits: Any = None,
    deltas: Any = 1,
    dtype: Any = None,
    name: str | None = None,
    row_splits_dtype: Any = dtypes.int64,
) -> Any:
    """A row of numbers from each start towards each limit.

    Args:
      starts, limits, deltas: vectors of one length, or scalars for all rows; with
        limits left out, rows start at 0.
    """
    splits_type = dtypes.as_dtype(row_splits_dtype)
    if limits is None:
        starts, limits = 0, starts
    with name_scope(name, "RaggedRange", [starts, limits, deltas]) as scope:
        inputs = [
            convert_to_tensor(starts, dtype=dtype, name="starts"),
            convert_to_tensor(limits, dtype=dtype, name="limits"),
            convert_to_tensor(deltas, dtype=dtype, name="deltas"),
        ]
        if dtype is None:
            widest = max((t.dtype for t in inputs), key=_RANGE_TYPES.index)
            inputs = [math_ops.cast(t, widest) for t in inputs]
        splits, values = apply_op(
            "RaggedRange",
            starts=inputs[0],
            limits=inputs[1],
            deltas=inputs[2],
            Tsplits=splits_type,
            name=scope,
        )
        return RaggedTensor.from_row_splits(values, splits, validate=False)


# --- segments ----------------------------------------------------------------

_SegmentOp = Callable[..., Any]


def segment_aggregate(
    op: _SegmentOp, data: Any, ids: Any, count: Any, name: str | None = None
) -> Any:
    """Rows that share an id come together, position by position.

    Raises:
      ValueError: the ids are not a prefix of the data's shape, or of another dtype.
    """
    if not (is_ragged(data) or is_ragged(ids)):
        return op(data, ids, count, name=name)
    with name_scope(name, "RaggedSegment", [data, ids, count]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        ids = convert_to_tensor_or_ragged_tensor(ids, name="segment_ids")
        data, ids = match_row_splits_dtypes(data, ids)
        if ids.dtype not in rows_of.INDEX_TYPES:
            raise ValueError("segment_ids must have dtype int32 or int64.")
        if is_ragged(ids):
            if not is_ragged(data):
                raise ValueError(
                    "segment_ids.shape must be a prefix of data.shape, but segment_ids "
                    "is ragged and data is not."
                )
            check = check_ops.assert_equal(
                ids.row_splits,
                data.row_splits,
                message="segment_ids.shape must be a prefix of data.shape",
            )
            with control_dependencies([check]):
                return segment_aggregate(op, data.values, ids.values, count)
        lengths = rows_of.splits_to_lengths(data.row_splits)
        longest = segments.unsorted_segment_max(lengths, ids, count)
        out_lengths = math_ops.maximum(longest, 0)
        zero = array_ops.zeros([1], out_lengths.dtype)
        splits = array_ops.concat([zero, math_ops.cumsum(out_lengths)], axis=0)
        # Each value's place in the output: its row's start there, plus its column.
        starts = array_ops.gather(splits, ids)
        places = ragged_range(starts, starts + lengths).values
        values = segment_aggregate(op, data.values, places, splits[-1])
        return RaggedTensor.from_row_splits(values, splits, validate=False)


def _segment(op: _SegmentOp, scope: str) -> _SegmentOp:
    def build(
        data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
    ) -> Any:
        return segment_aggregate(op, data, segment_ids, num_segments, name or scope)

    build.__doc__ = f"{scope}: combines the rows with the same segment id."
    return build


segment_sum = _segment(segments.unsorted_segment_sum, "RaggedSegmentSum")
segment_prod = _segment(segments.unsorted_segment_prod, "RaggedSegmentProd")
segment_min = _segment(segments.unsorted_segment_min, "RaggedSegmentMin")
segment_max = _segment(segments.unsorted_segment_max, "RaggedSegmentMax")


def _total_and_count(data: Any, segment_ids: Any, num_segments: Any) -> tuple[Any, Any]:
    total = segment_sum(data, segment_ids, num_segments)
    count = segment_sum(_ones_like(data), segment_ids, num_segments)
    return total, count


def _ones_like(data: Any) -> Any:
    ones = array_ops.ones_like(data.flat_values)
    return RaggedTensor.from_nested_row_splits(
        ones, data.nested_row_splits, validate=False
    )


def _quotient(total: Any, count: Any, scale: Callable[[Any], Any] | None = None) -> Any:
    divisor = count.flat_values if is_ragged(count) else count
    divisor = divisor if scale is None else scale(divisor)
    if is_ragged(total):
        return total.with_flat_values(total.flat_values / divisor)
    return total / divisor


def segment_mean(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """The means of the rows with the same segment id, position by position."""
    with name_scope(name, "RaggedSegmentMean", [data, segment_ids, num_segments]):
        return _quotient(*_total_and_count(data, segment_ids, num_segments))


def segment_sqrt_n(
    data: Any, segment_ids: Any, num_segments: Any, name: str | None = None
) -> Any:
    """Sums of the rows with the same segment id, over the root of their number."""
    with name_scope(name, "RaggedSegmentSqrtN", [data, segment_ids, num_segments]):
        total, count = _total_and_count(data, segment_ids, num_segments)
        return _quotient(total, count, math_ops.sqrt)


# --- reductions --------------------------------------------------------------


def reduce_aggregate(
    reduce_op: Callable[..., Any],
    segment_op: _SegmentOp,
    ragged: Any,
    axis: Any,
    keepdims: Any,
    name: str | None = None,
) -> Any:
    """A reduction along axes: all of them, one, or several.

    Raises:
      ValueError: keepdims, or an axis that only a step would know.
    """
    if not is_ragged(ragged):
        return reduce_op(ragged, axis, name=name)
    if keepdims:
        raise ValueError("keepdims=True is not supported for RaggedTensors.")
    if isinstance(axis, Tensor):
        axis = constant_value(axis)
        if axis is None:
            raise ValueError("axis must be known at graph construction time.")
        axis = axis.tolist() if isinstance(axis, np.ndarray | np.generic) else axis
    if axis is None:
        return reduce_op(ragged.flat_values, None, name=name)
    with name_scope(name, "RaggedReduce", [ragged, axis]):
        if isinstance(axis, list | tuple):
            if not axis:
                return ragged
            if len(axis) > 1:
                ordered = sorted(
                    rows_of.positive_axis(a, ragged.shape.rank) for a in axis
                )
                inner = reduce_aggregate(
                    reduce_op, segment_op, ragged, ordered[-1], keepdims
                )
                return reduce_aggregate(
                    reduce_op, segment_op, inner, ordered[:-1], keepdims
                )
            axis = axis[0]
        ragged = convert_to_tensor_or_ragged_tensor(ragged, name="rt_input")
        axis = rows_of.positive_axis(axis, ragged.shape.rank)
        splits = ragged.row_splits
        if axis == 0:
            lengths = rows_of.splits_to_lengths(splits)
            count = math_ops.maximum(math_ops.reduce_max(lengths), 0)
            return segment_aggregate(
                segment_op, ragged.values, ragged_range(lengths).values, count
            )
        if axis == 1:
            count = array_ops.shape(splits)[0] - 1
            ids = rows_of.row_splits_to_segment_ids(splits)
            return segment_aggregate(segment_op, ragged.values, ids, count)
        inner = reduce_aggregate(
            reduce_op, segment_op, ragged.values, axis - 1, keepdims
        )
        return ragged.with_values(inner)


def _reduction(
    reduce_op: Callable[..., Any], segment_op: _SegmentOp, scope: str
) -> Callable[..., Any]:
    def build(
        input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Any = None
    ) -> Any:
        return reduce_aggregate(
            reduce_op, segment_op, input_tensor, axis, keepdims, name or scope
        )

    build.__doc__ = f"{scope}: reduces along axes, all by default."
    return build


reduce_sum = _reduction(
    math_ops.reduce_sum, segments.unsorted_segment_sum, "RaggedReduceSum"
)
reduce_prod = _reduction(
    math_ops.reduce_prod, segments.unsorted_segment_prod, "RaggedReduceProd"
)
reduce_min = _reduction(
    math_ops.reduce_min, segments.unsorted_segment_min, "RaggedReduceMin"
)
reduce_max = _reduction(
    math_ops.reduce_max, segments.unsorted_segment_max, "RaggedReduceMax"
)


def reduce_mean(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Any = None
) -> Any:
    """The means along axes, all by default."""
    with name_scope(name, "RaggedReduceMean", [input_tensor, axis]):
        total = reduce_sum(input_tensor, axis, keepdims)
        count = reduce_sum(_ones_like(input_tensor), axis, keepdims)
        return _quotient(total, count)


def cast(value: Any, dtype: Any) -> Any:
    """A tensor, ragged or not, in another dtype."""
    value = convert_to_tensor_or_ragged_tensor(value)
    if is_ragged(value):
        return value.with_flat_values(math_ops.cast(value.flat_values, dtype))
    return math_ops.cast(value, dtype)


def reduce_all(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Any = None
) -> Any:
    """Whether all are true along axes, all by default."""
    with name_scope(name, "RaggedReduceAll", [input_tensor, axis]):
        numbers = cast(input_tensor, dtypes.int32)
        return cast(reduce_prod(numbers, axis, keepdims), dtypes.bool)


def reduce_any(
    input_tensor: Any, axis: Any = None, keepdims: Any = None, name: Any = None
) -> Any:
    """Whether one is true along axes, all by default."""
    with name_scope(name, "RaggedReduceAny", [input_tensor, axis]):
        numbers = cast(input_tensor, dtypes.int32)
        return cast(reduce_sum(numbers, axis, keepdims), dtypes.bool)
