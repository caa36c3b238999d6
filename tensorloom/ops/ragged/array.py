"""Masks, one-hot vectors, choices and partitions of ragged tensors."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import internal_convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import sort as sort_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.indexing import one_hot as one_hot_ops
from tensorloom.ops.indexing import selection as selection_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.ragged.concat import concat
from tensorloom.ops.ragged.functional import assert_splits_match, map_flat_values
from tensorloom.ops.ragged.gather import gather
from tensorloom.ops.ragged.math import cast, reduce_sum
from tensorloom.ops.ragged.ragged_tensor import (
    RaggedTensor,
    convert_to_tensor_or_ragged_tensor,
    is_ragged,
    match_row_splits_dtypes,
    row_splits_dtype,
)
from tensorloom.ops.ragged.segment_ids import (
    lengths_to_splits,
    positive_axis,
    row_splits_to_segment_ids,
)

# --- masks -------------------------------------------------------------------


@export("ragged.boolean_mask")
def boolean_mask(data: Any, mask: Any, name: str | None = None) -> Any:
    """The elements at which the mask is true, in rows as the mask's.

    Args:
      mask: bool; its shape is a prefix of the data's, ragged where that is.

    Raises:
      ValueError: the mask is a scalar, or of unknown rank.
    """
    with name_scope(name, "RaggedMask", [data, mask]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        mask = convert_to_tensor_or_ragged_tensor(mask, dtypes.bool, name="mask")
        kind = row_splits_dtype(data, mask)
        rank = mask.shape.rank
        if rank is None:
            raise ValueError("mask.shape.ndims must be known statically.")
        if rank == 0:
            raise ValueError("mask cannot be scalar.")
        if is_ragged(mask):
            return _ragged_mask(data, mask, kind)
        if is_ragged(data) and rank == 1:
            return _mask_rows(data, mask)
        if is_ragged(data):
            depth = min(data.ragged_rank, rank - 1)
            ragged_mask = RaggedTensor.from_tensor(
                mask, ragged_rank=depth, row_splits_dtype=data.row_splits.dtype
            )
            return boolean_mask(data, ragged_mask)
        return _dense_mask(data, mask, rank, kind)


def _ragged_mask(data: Any, mask: Any, kind: Any) -> Any:
    if not is_ragged(data):
        data = RaggedTensor.from_tensor(
            data,
            ragged_rank=mask.ragged_rank,
            row_splits_dtype=mask.row_splits.dtype,
        )
    outer = data.nested_row_splits[: mask.ragged_rank]
    with control_dependencies(assert_splits_match([mask.nested_row_splits, outer])):
        splits = []
        while is_ragged(mask):
            if mask.shape.rank > 2:
                splits.append(mask.row_splits)
            else:
                numbers = map_flat_values(math_ops.cast, mask, dtype=kind)
                splits.append(lengths_to_splits(reduce_sum(numbers, axis=1)))
            mask, data = mask.values, data.values
        values = boolean_mask(data, mask)
        return RaggedTensor.from_nested_row_splits(values, splits, validate=False)


def _mask_rows(data: RaggedTensor, mask: Tensor) -> RaggedTensor:
    lengths = selection_ops.boolean_mask(data.row_lengths(), mask)
    splits = lengths_to_splits(lengths)
    ids = row_splits_to_segment_ids(data.row_splits)
    values = boolean_mask(data.values, array_ops.gather(mask, ids))
    return RaggedTensor.from_row_splits(values, splits, validate=False)


def _dense_mask(data: Tensor, mask: Tensor, rank: int, kind: Any) -> Any:
    values: Any = selection_ops.boolean_mask(data, mask)
    if rank < 2:
        return values
    lengths = math_ops.count_nonzero(mask, axis=-1, dtype=kind)
    lengths = array_ops.reshape(lengths, [-1])
    values = RaggedTensor.from_row_lengths(values, lengths, validate=False)
    if rank > 2:
        shape = array_ops.shape(mask, out_type=kind)
        ends = math_ops.cumprod(shape) + 1
        for dim in range(rank - 3, -1, -1):
            splits = math_ops.range(ends[dim]) * shape[dim + 1]
            values = RaggedTensor.from_row_splits(values, splits, validate=False)
    return values


# --- choice ---------------------------------------------------------------------


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: Any = None,
    dtype: Any = None,
    name: str | None = None,
) -> RaggedTensor:
    """One-hot vectors of ragged indices.

    Raises:
      ValueError: `axis` is a ragged dimension's.
    """
    with name_scope(name, "RaggedOneHot", [indices]):
        indices = convert_to_tensor_or_ragged_tensor(indices, name="indices")
        if axis is not None:
            axis = positive_axis(axis, indices.shape.rank)
            if axis < indices.ragged_rank:
                raise ValueError("axis may not be less than indices.ragged_rank.")
        vectors = one_hot_ops.one_hot(
            indices.flat_values, depth, on_value, off_value, axis, dtype, name
        )
        return indices.with_flat_values(vectors)  # type: ignore[no-any-return]


# --- where -------------------------------------------------------------------


def where(condition: Any, x: Any = None, y: Any = None, name: str | None = None) -> Any:
    """The places where a condition holds; or x there and y elsewhere.

    Raises:
      ValueError: one of x and y is missing, or the shapes do not fit.
    """
    if (x is None) != (y is None):
        raise ValueError("x and y must be either both None or both non-None")
    with name_scope("RaggedWhere", name, [condition, x, y]):
        condition = convert_to_tensor_or_ragged_tensor(condition, name="condition")
        if x is None:
            return _places(condition)
        x = convert_to_tensor_or_ragged_tensor(x, name="x")
        y = convert_to_tensor_or_ragged_tensor(y, name="y")
        condition, x, y = match_row_splits_dtypes(condition, x, y)
        if all(map(is_ragged, (condition, x, y))):
            return map_flat_values(selection_ops.where, condition, x, y)
        if is_ragged(condition):
            raise ValueError("Input shapes do not match.")
        # Rows of x and y one after another, of which the condition chooses.
        condition.shape.assert_has_rank(1)
        both = concat([x, y], axis=0)
        kind = both.row_splits.dtype
        x_rows, y_rows = _rows(x, kind), _rows(y, kind)
        chosen = selection_ops.where(
            condition, math_ops.range(x_rows), x_rows + math_ops.range(y_rows)
        )
        return gather(both, chosen)


def _rows(value: Any, kind: Any) -> Tensor:
    if is_ragged(value):
        return value.nrows(out_type=kind)  # type: ignore[no-any-return]
    return array_ops.shape(value, out_type=kind)[0]


def _places(condition: Any) -> Tensor:
    if not is_ragged(condition):
        return selection_ops.where(condition)
    inner = _places(condition.values)
    condition = condition.with_row_splits_dtype(inner.dtype)
    first = inner[:, 0]
    chosen_rows = array_ops.gather(condition.value_rowids(), first)
    columns = first - array_ops.gather(condition.row_splits, chosen_rows)
    return array_ops.concat(
        [
            array_ops.expand_dims(chosen_rows, 1),
            array_ops.expand_dims(columns, 1),
            inner[:, 1:],
        ],
        axis=1,
    )


# --- partitions --------------------------------------------------------------


@export("ragged.stack_dynamic_partitions")
def stack_dynamic_partitions(
    data: Any, partitions: Any, num_partitions: Any, name: str | None = None
) -> RaggedTensor:
    """The elements of each partition as a row.

    Args:
      partitions: the partition of each element; its shape is a prefix of the data's.

    Raises:
      ValueError: partitions of unknown rank.
    """
    with name_scope(name, "SegmentStack", [data, partitions, num_partitions]):
        data = convert_to_tensor_or_ragged_tensor(data, name="data")
        kind = data.row_splits.dtype if is_ragged(data) else None
        partitions = convert_to_tensor_or_ragged_tensor(
            partitions, name="partitions", preferred_dtype=kind
        )
        num_partitions = internal_convert_to_tensor(
            num_partitions, None, "num_partitions", preferred_dtype=partitions.dtype
        )
        if kind is not None:
            partitions = cast(partitions, kind)
        num_partitions = math_ops.cast(num_partitions, partitions.dtype)
        depth = partitions.shape.rank
        if depth is None:
            raise ValueError("partitions must have known rank.")
        num_partitions.shape.assert_has_rank(0)
        partitions.shape.assert_is_compatible_with(data.shape[:depth])
        if depth == 0:
            return RaggedTensor.from_value_rowids(
                array_ops.stack([data]),
                array_ops.stack([partitions]),
                nrows=num_partitions,
                validate=False,
            )
        if depth == 1:
            return _stack_rows(data, partitions, num_partitions)
        return _stack_flat(data, partitions, num_partitions, depth)


def _stack_rows(data: Any, partitions: Tensor, count: Tensor) -> RaggedTensor:
    order = sort_ops.argsort(partitions, stable=True)
    rowids = array_ops.gather(partitions, order)
    values = gather(data, order) if is_ragged(data) else array_ops.gather(data, order)
    check = check_ops.assert_less(
        rowids[-1:], count, message="partitions must be less than num_partitions"
    )
    with control_dependencies([check]):
        return RaggedTensor.from_value_rowids(
            values, rowids, nrows=count, validate=False
        )


def _stack_flat(data: Any, partitions: Any, count: Tensor, depth: int) -> RaggedTensor:
    if not is_ragged(data):
        data = RaggedTensor.from_tensor(
            data, row_splits_dtype=partitions.dtype, ragged_rank=1
        )
    if not is_ragged(partitions):
        partitions = RaggedTensor.from_tensor(
            partitions,
            row_splits_dtype=partitions.dtype,
            ragged_rank=max(data.ragged_rank, depth - 1),
        )
    check = check_ops.assert_equal(
        data.row_splits,
        partitions.row_splits,
        message="data and partitions have incompatible ragged shapes",
    )
    with control_dependencies([check]):
        return stack_dynamic_partitions(data.values, partitions.values, count)
