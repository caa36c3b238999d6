"""Embeddings of categories."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.nn.embedding import embedding_lookup as lookup
from tensorloom.ops.reductions.reductions import reduce_prod


@export("contrib.learn.ops.embedding_lookup")
def embedding_lookup(params: Any, ids: Any, name: str = "embedding_lookup") -> Any:
    """The rows of `params` [n, ...] at `ids` of any shape: [*ids.shape, ...]."""
    with name_scope(name, "embedding_lookup", [params, ids]):
        params = convert_to_tensor(params)
        ids = convert_to_tensor(ids)
        sizes = shape(ids)
        flat = reshape(ids, reduce_prod(sizes, keepdims=True))
        rows = lookup(params, flat, name)
        found = reshape(rows, concat([sizes, [-1]], 0))
        found.set_shape(ids.get_shape().concatenate(params.get_shape()[1:]))
        return found


@export("contrib.learn.ops.categorical_variable")
def categorical_variable(
    tensor_in: Any, n_classes: int, embedding_size: int, name: str
) -> Any:
    """Embeddings [*tensor_in.shape, embedding_size] of categories, by a new variable.

    Args:
      tensor_in: numbers of categories.
      n_classes: how many there are.
      embedding_size: how long an embedding is.
      name: of the variable scope; the variable is `NAME_embeddings` in it.
    """
    with variable_scope(name):
        embeddings = get_variable(f"{name}_embeddings", [n_classes, embedding_size])
        return embedding_lookup(embeddings, tensor_in)
