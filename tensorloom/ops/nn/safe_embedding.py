"""Embedding look-ups that tolerate bad ids and empty rows."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.embedding import embedding_lookup_sparse
from tensorloom.ops.sparse.shape_builders import sparse_reshape
from tensorloom.ops.sparse.sparse_builders import sparse_fill_empty_rows, sparse_retain


@export("nn.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str = "mean",
    default_id: int | None = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Tensor:
    """As `embedding_lookup_sparse`; negative ids, and ids without weight, are left out.

    Args:
      sparse_ids, sparse_weights: [d0, ..., dn] of ids, and of floats.
      default_id: the id that an empty row gets; a row of zeros without it.

    Raises:
      ValueError: no weights.
    """
    if embedding_weights is None:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if hasattr(embedding_weights, "_get_partitions"):
        embedding_weights = list(embedding_weights)
    if not isinstance(embedding_weights, list):
        embedding_weights = [embedding_weights]
    if not embedding_weights:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = sparse_weights.dtype if sparse_weights is not None else None
    tables = [
        table
        if hasattr(table, "handle") and dtype in (None, table.dtype)
        else convert_to_tensor(table, dtype=dtype)
        for table in embedding_weights
    ]
    scope_inputs = [*tables, sparse_ids, sparse_weights]
    with name_scope(name, "embedding_lookup", scope_inputs) as scope:
        shape = sparse_ids.dense_shape
        static_rank = dimension_value(shape.shape[0])
        rank: Any = array_ops.size(shape) if static_rank is None else static_rank
        ids, weights = _as_matrix(sparse_ids, sparse_weights, shape, rank)
        ids, weights = _pruned(ids, weights, combiner)
        ids, is_empty = sparse_fill_empty_rows(ids, default_id or 0)
        if weights is not None:
            weights, _ = sparse_fill_empty_rows(weights, 1.0)
        result = embedding_lookup_sparse(
            tables,
            ids,
            weights,
            combiner=combiner,
            partition_strategy=partition_strategy,
            name=None if default_id is None else scope,
            max_norm=max_norm,
        )
        if default_id is None:
            result = _zeroed(result, is_empty, scope)
        leading = array_ops.slice(math_ops.cast(shape, dtypes.int32), [0], [rank - 1])
        width = array_ops.slice(array_ops.shape(result), [1], [-1])
        final = array_ops.reshape(result, array_ops.concat([leading, width], 0))
        if static_rank is not None:
            outer = TensorShape.of((None,) * (static_rank - 1))
            final.set_shape(outer.concatenate(result.shape[1:]))
        return final


def _as_matrix(ids: Any, weights: Any, shape: Tensor, rank: Any) -> tuple[Any, Any]:
    """Ids and weights with all dimensions but the last in one."""
    rows = math_ops.reduce_prod(array_ops.slice(shape, [0], [rank - 1]))
    ids = sparse_reshape(ids, [rows, array_ops.gather(shape, rank - 1)])
    if weights is not None:
        weights = SparseTensor(ids.indices, weights.values, ids.dense_shape)
    return ids, weights


def _pruned(ids: Any, weights: Any, combiner: str) -> tuple[Any, Any]:
    """Without negative ids; without ids of no weight, unless they are summed."""
    is_valid = math_ops.greater_equal(ids.values, 0)
    if weights is None:
        return sparse_retain(ids, is_valid), None
    ones = array_ops.ones_like(weights.values, dtype=dtypes.bool)
    is_valid = math_ops.logical_and(is_valid, ones)
    ids, weights = sparse_retain(ids, is_valid), sparse_retain(weights, is_valid)
    if combiner != "sum":
        is_valid = math_ops.greater(weights.values, 0)
        ids, weights = sparse_retain(ids, is_valid), sparse_retain(weights, is_valid)
    return ids, weights


def _zeroed(result: Tensor, is_empty: Tensor, name: str) -> Tensor:
    column = array_ops.reshape(is_empty, [-1, 1])
    repeats = array_ops.stack([1, array_ops.shape(result)[1]])
    mask = array_ops.tile(column, repeats)
    return array_ops.where(mask, array_ops.zeros_like(result), result, name=name)
