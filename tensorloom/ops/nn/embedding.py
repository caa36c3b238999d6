"""Embedding look-ups: rows of a table, which may be cut into partitions."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, colocate_with, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import Dimension, dimension_value
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.indexing import partition as partition_ops
from tensorloom.ops.math import math_ops


@export("nn.embedding_lookup")
def embedding_lookup(
    params: Any,
    ids: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    validate_indices: bool = True,
    max_norm: float | None = None,
) -> Tensor:
    """Rows of a table (or of a list of partitions of one), of shape ids + row.

    Args:
      params: one tensor or variable, or a list of partitions.
      ids: int32 or int64, any shape.
      partition_strategy: "mod" (id i is in partition i % n) or "div" (contiguous).
      max_norm: rows with a larger norm are scaled down to it.

    Raises:
      ValueError: no params, or an unknown strategy.
    """
    params = partition_list(params)
    with name_scope(name, "embedding_lookup", [*params, ids]) as name:
        params = as_tensors(params)
        ids = convert_to_tensor(ids, name="ids")
        if len(params) == 1:
            with colocate_with(params[0]):
                rows = _clip(array_ops.gather(params[0], ids, name=name), ids, max_norm)
            return array_ops.identity(rows)
        return _partitioned_lookup(params, ids, partition_strategy, name, max_norm)


def partition_list(params: Any) -> list[Any]:
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Need at least one param")
    if isinstance(params, (list, tuple)):
        return list(params)
    # A partitioned variable iterates over its parts; a tensor or variable does not.
    if hasattr(params, "_get_partitions"):
        return list(params)
    return [params]


def as_tensors(params: list[Any]) -> list[Any]:
    """Tensors, except for resource variables, which are gathered from as they are."""
    if any(hasattr(param, "handle") for param in params):
        return params
    return [
        convert_to_tensor(param, name="params" if len(params) == 1 else f"params_{i}")
        for i, param in enumerate(params)
    ]


def _clip(rows: Tensor, ids: Tensor, max_norm: float | None) -> Tensor:
    if max_norm is None:
        return rows
    from tensorloom.ops.math import clip as clip_ops

    ids_rank, rows_rank = ids.shape.rank, rows.shape.rank
    if ids_rank and rows_rank:
        axes: Any = list(range(ids_rank, rows_rank))
    else:
        axes = math_ops.range(
            ids_rank or array_ops.rank(ids), rows_rank or array_ops.rank(rows)
        )
    return clip_ops.clip_by_norm(rows, max_norm, axes=axes)  # type: ignore[no-any-return]


def _partitioned_lookup(
    params: list[Any],
    ids: Tensor,
    strategy: str,
    name: str | None,
    max_norm: float | None,
) -> Tensor:
    flat_ids = array_ops.reshape(ids, [-1])
    positions = math_ops.range(array_ops.size(flat_ids))
    assignments, new_ids = assign_partitions(params, flat_ids, strategy)
    assignments = math_ops.cast(assignments, dtypes.int32)
    count = len(params)
    ids_of = partition_ops.dynamic_partition(new_ids, assignments, count)
    positions_of = partition_ops.dynamic_partition(positions, assignments, count)
    rows = []
    for param, part_ids in zip(params, ids_of, strict=True):
        with colocate_with(param):
            rows.append(array_ops.gather(param, part_ids))
    result = apply_op(
        "ParallelDynamicStitch", indices=positions_of, data=rows, name=name
    )
    row_shape = params[0].get_shape()[1:]
    for param in params[1:]:
        row_shape = row_shape.merge_with(param.get_shape()[1:])
    dynamic_row_shape: Any = row_shape
    if not row_shape.is_fully_defined():
        with colocate_with(params[0]):
            dynamic_row_shape = array_ops.shape(params[0])[1:]
    result = array_ops.reshape(
        result, array_ops.concat([array_ops.shape(ids), dynamic_row_shape], 0)
    )
    result.set_shape(ids.get_shape().concatenate(row_shape))
    return _clip(result, ids, max_norm)


def assign_partitions(
    params: list[Any], flat_ids: Tensor, strategy: str
) -> tuple[Tensor, Tensor]:
    """(partition, id within the partition) of each id."""
    count = len(params)
    if strategy == "mod":
        return flat_ids % count, flat_ids // count
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: " + strategy)
    total = _total_rows(params, flat_ids)
    # The first `extras` partitions have one row more than the others.
    size = total // count
    extras = total % count
    assignments = math_ops.maximum(flat_ids // (size + 1), (flat_ids - extras) // size)
    new_ids = array_ops.where(
        assignments < extras, flat_ids % (size + 1), (flat_ids - extras) % size
    )
    return assignments, new_ids


def _total_rows(params: list[Any], flat_ids: Tensor) -> Tensor:
    static = Dimension(0)
    for param in params:
        static += Dimension(dimension_value(param.get_shape()[0]))
    if static.value:
        return constant(static.value, flat_ids.dtype)
    sizes = []
    for param in params:
        rows = dimension_value(param.get_shape()[0])
        if rows is None:
            with colocate_with(param):
                rows = array_ops.shape(param)[0]
        sizes.append(rows)
    return math_ops.reduce_sum(math_ops.cast(array_ops.stack(sizes), flat_ids.dtype))


@export("nn.embedding_lookup_sparse")
def embedding_lookup_sparse(
    params: Any,
    sp_ids: Any,
    sp_weights: Any,
    partition_strategy: str = "mod",
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """One combined row for each row of ids: their (weighted) sum, mean or sum/sqrt(n).

    Raises:
      ValueError: an unknown combiner, or shapes of ids and weights that differ.
      TypeError: ids or weights are not SparseTensors.
    """
    if combiner is None:
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    params = partition_list(params)
    if not isinstance(sp_ids, SparseTensor):
        raise TypeError("sp_ids must be SparseTensor")
    if sp_weights is not None:
        check_weights(sp_ids, sp_weights)
    with name_scope(name, "embedding_lookup_sparse", [*params, sp_ids]) as name:
        segment_ids = sp_ids.indices[:, 0]
        if segment_ids.dtype != dtypes.int32:
            segment_ids = math_ops.cast(segment_ids, dtypes.int32)
        ids, index = array_ops.unique(sp_ids.values)
        rows = embedding_lookup(
            params, ids, partition_strategy=partition_strategy, max_norm=max_norm
        )
        if rows.dtype in (dtypes.float16, dtypes.bfloat16):
            rows = math_ops.cast(rows, dtypes.float32)
        if sp_weights is None:
            combine = {
                "sum": math_ops.sparse_segment_sum,
                "mean": math_ops.sparse_segment_mean,
                "sqrtn": math_ops.sparse_segment_sqrt_n,
            }[combiner]
            return combine(rows, index, segment_ids, name=name)
        return _weighted_rows(
            rows, index, segment_ids, sp_weights.values, combiner, name
        )


def check_weights(sp_ids: SparseTensor, sp_weights: Any) -> None:
    if not isinstance(sp_weights, SparseTensor):
        raise TypeError("sp_weights must be either None or SparseTensor")
    for part in ("values", "indices", "dense_shape"):
        getattr(sp_ids, part).get_shape().assert_is_compatible_with(
            getattr(sp_weights, part).get_shape()
        )


def _weighted_rows(
    rows: Tensor,
    index: Tensor,
    segment_ids: Tensor,
    weights: Tensor,
    combiner: str,
    name: str | None,
) -> Tensor:
    if weights.dtype != rows.dtype:
        weights = math_ops.cast(weights, rows.dtype)
    rows = array_ops.gather(rows, index)
    # Weights get a dimension of one for each dimension of a row.
    ones = array_ops.fill(array_ops.expand_dims(array_ops.rank(rows) - 1, 0), 1)
    weights_shape = weights.get_shape()
    weights = array_ops.reshape(
        weights, array_ops.concat([array_ops.shape(weights), ones], 0)
    )
    if rows.shape.rank is not None:
        weights.set_shape(weights_shape.concatenate([1] * (rows.shape.rank - 1)))
    rows *= weights
    if combiner == "sum":
        return math_ops.segment_sum(rows, segment_ids, name=name)
    total = math_ops.segment_sum(rows, segment_ids)
    if combiner == "mean":
        return math_ops.div(
            total, math_ops.segment_sum(weights, segment_ids), name=name
        )
    squares = math_ops.segment_sum(math_ops.pow(weights, 2), segment_ids)
    return math_ops.div(total, math_ops.sqrt(squares), name=name)
