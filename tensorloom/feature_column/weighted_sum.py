"""A column's part of a linear model: the sum of the weights of its ids or numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from tensorloom.ops.sparse.shape_builders import sparse_reshape

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def dense_sum(tensor: Any, num_elements: int, weights: Any) -> Tensor:
    """[batch, ...] numbers times weights [num_elements, units]."""
    batch = array_ops.shape(tensor)[0]
    rows = array_ops.reshape(tensor, shape=(batch, num_elements))
    return math_ops.matmul(rows, weights, name="weighted_sum")


def sparse_sum(pair: Any, weights: Any, combiner: str) -> Tensor:
    """The combined weights [units] of the ids of each example."""
    ids = _as_matrix(pair.id_tensor)
    id_weights = pair.weight_tensor
    if id_weights is not None:
        id_weights = _as_matrix(id_weights)
    return safe_embedding_lookup_sparse(
        weights,
        ids,
        sparse_weights=id_weights,
        combiner=combiner,
        name="weighted_sum",
    )


def _as_matrix(sparse: Any) -> Any:
    return sparse_reshape(sparse, [array_ops.shape(sparse)[0], -1])
