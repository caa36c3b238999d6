"""Sparse lookups whose partial sums are made where the parts of the table are."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import colocate_with, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import fill, ones_like
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import rank, shape
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.partition import dynamic_partition
from tensorloom.ops.indexing.selection import unique
from tensorloom.ops.math.binary import div
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.clip import clip_by_norm
from tensorloom.ops.math.elementwise import sqrt, square
from tensorloom.ops.nn.embedding import (
    as_tensors,
    assign_partitions,
    check_weights,
    partition_list,
)
from tensorloom.ops.reductions.reductions import reduce_max
from tensorloom.ops.reductions.segment import segment_sum, unsorted_segment_sum


@export("contrib.slim.embedding_lookup_sparse_with_distributed_aggregation")
def embedding_lookup_sparse_with_distributed_aggregation(
    params: Any,
    sp_ids: SparseTensor,
    sp_weights: SparseTensor | None,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Any:
    """`tf.nn.embedding_lookup_sparse`, adding up beside each part of the table.

    Args:
      params: the table `[rows, ...]`, or its parts.
      sp_ids: ids `[batch, n]`.
      sp_weights: of the ids, of the same shape; all 1 when None.
      partition_strategy: "mod" or "div".
      name: of the operations.
      combiner: "mean" (when None), "sqrtn" or "sum".
      max_norm: rows with a larger norm are scaled down to it.

    Raises:
      TypeError: ids or weights are not sparse.
      ValueError: another combiner or strategy.
    """
    combiner = combiner or "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    params = partition_list(params)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        check_weights(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]) as name:
        params = as_tensors(params)
        ids = convert_to_tensor(sp_ids.values, name="ids")
        segments = cast(sp_ids.indices[:, 0], dtypes.int32)
        dtype = params[0].dtype.base_dtype
        if sp_weights is None:
            weights = ones_like(segments, dtype=dtype)
        else:
            weights = cast(sp_weights.values, dtype)
        is_sum = combiner == "sum"
        total = _sums(
            params,
            (ids, segments, weights),
            partition_strategy,
            max_norm,
            name if is_sum else None,
        )
        if is_sum:
            return total
        if combiner == "mean":
            divisor = segment_sum(weights, segments)
        else:
            divisor = sqrt(segment_sum(square(weights), segments))
        return div(total, _like_rows(divisor, total), name=name)


def _like_rows(numbers: Any, rows: Any) -> Any:
    """One number for each row, with as many axes as the rows have."""
    ones = fill([rank(rows) - 1], 1)
    result = reshape(numbers, concat([shape(numbers), ones], 0))
    known = rows.get_shape().ndims
    if known is not None:
        result.set_shape(numbers.get_shape().concatenate([1] * (known - 1)))
    return result


def _sums(
    params: list[Any],
    elements: tuple[Any, Any, Any],
    strategy: str,
    max_norm: float | None,
    name: str | None,
) -> Any:
    """The weighted sum of the rows of each segment.

    Args:
      elements: id, segment and weight of each; segments in order.
    """
    if len(params) == 1:
        with colocate_with(params[0]):
            return segment_sum(
                _weighted(params[0], elements, max_norm), elements[1], name=name
            )
    ids, segments, weights = elements
    parts, places = assign_partitions(params, ids, strategy)
    parts = cast(parts, dtypes.int32)
    split = [
        dynamic_partition(each, parts, len(params))
        for each in (places, segments, weights)
    ]
    sums, segments_of_sums = [], []
    for param, *of_part in zip(params, *split, strict=True):
        present, numbers = unique(of_part[1])
        segments_of_sums.append(present)
        with colocate_with(param):
            rows = _weighted(param, tuple(of_part), max_norm)
            sums.append(segment_sum(rows, numbers))
    present = concat(segments_of_sums, 0)
    return unsorted_segment_sum(
        concat(sums, 0), present, reduce_max(present) + 1, name=name
    )


def _weighted(param: Any, elements: tuple[Any, ...], max_norm: float | None) -> Any:
    ids, _, weights = elements
    rows = gather(param, ids)
    if max_norm is not None:
        axes = list(range(1, param.get_shape().ndims))
        rows = clip_by_norm(rows, max_norm, axes=axes)
    return rows * _like_rows(weights, rows)
