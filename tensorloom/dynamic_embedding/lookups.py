"""Look-ups in embedding variables, under the names that other libraries have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.nn import embedding

if TYPE_CHECKING:
    from tensorloom.dynamic_embedding.variable import EmbeddingVariable


def embedding_lookup(
    params: EmbeddingVariable,
    ids: Any,
    name: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """The rows of keys, of shape ids + [dim].

    Args:
      ids: int64, any shape.
      max_norm: rows with a larger norm are scaled down to it.
    """
    return embedding.embedding_lookup(params, ids, name=name, max_norm=max_norm)


def embedding_lookup_unique(
    params: EmbeddingVariable, ids: Any, name: str | None = None
) -> Tensor:
    """As `embedding_lookup`, but each key is asked for once: less goes to servers."""
    with name_scope(name, "embedding_lookup_unique"):
        ids = convert_to_tensor(ids, name="ids")
        distinct, places = array_ops.unique(array_ops.reshape(ids, [-1]))
        rows = array_ops.gather(params.lookup(distinct), places)
        shape = array_ops.concat([array_ops.shape(ids), [params.dim]], 0)
        result: Tensor = array_ops.reshape(rows, shape)
        result.set_shape(ids.shape.concatenate(params.shape[1:]))
        return result


def embedding_lookup_sparse(
    params: EmbeddingVariable,
    sp_ids: Any,
    sp_weights: Any,
    name: str | None = None,
    combiner: str | None = None,
    max_norm: float | None = None,
) -> Tensor:
    """One combined row for each row of ids; see `tf.nn.embedding_lookup_sparse`."""
    return embedding.embedding_lookup_sparse(
        params, sp_ids, sp_weights, name=name, combiner=combiner, max_norm=max_norm
    )
