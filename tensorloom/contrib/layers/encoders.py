"""Sequences of ids as embeddings, or as the mean of them."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.framework.model_variables import model_variable
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.debugging.check_type import assert_same_float_dtype
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import unique
from tensorloom.ops.nn.embedding import embedding_lookup, partition_list
from tensorloom.ops.nn.safe_embedding import (
    safe_embedding_lookup_sparse as safe_lookup,
)
from tensorloom.ops.reductions.reductions import reduce_mean
from tensorloom.ops.sparse.sparse_builders import from_dense


@export("contrib.layers.embedding_lookup_unique")
def embedding_lookup_unique(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None
) -> Any:
    """`tf.nn.embedding_lookup` that looks each id up once.

    Args:
      params: the embeddings, or a list of their parts.
      ids: integers of any shape.
      partition_strategy: "mod" or "div".
      name: of the operations.
    """
    with name_scope(name, "EmbeddingLookupUnique", [params, ids]):
        ids = convert_to_tensor(ids)
        given = shape(ids)
        rows, places = unique(reshape(ids, [-1]))
        found = embedding_lookup(params, rows, partition_strategy)
        spread = gather(found, places)
        result = reshape(spread, concat([given, shape(found)[1:]], 0))
        result.set_shape(ids.get_shape().concatenate(found.get_shape()[1:]))
        return result


@export("contrib.layers.safe_embedding_lookup_sparse")
def safe_embedding_lookup_sparse(
    embedding_weights: Any,
    sparse_ids: Any,
    sparse_weights: Any = None,
    combiner: str | None = None,
    default_id: Any = None,
    name: str | None = None,
    partition_strategy: str = "div",
    max_norm: float | None = None,
) -> Any:
    """`tf.nn.safe_embedding_lookup_sparse` with "mean" where no combiner is given.

    Raises:
      ValueError: no table, or parts or weights that are not of one floating dtype.
    """
    if embedding_weights is None or embedding_weights == []:
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    dtype = None if sparse_weights is None else sparse_weights.dtype
    parts = [
        convert_to_tensor(part, dtype=dtype)
        for part in partition_list(embedding_weights)
    ]
    assert_same_float_dtype([*parts, sparse_weights])
    return safe_lookup(
        parts,
        sparse_ids,
        sparse_weights=sparse_weights,
        combiner=combiner or "mean",
        default_id=default_id,
        name=name,
        partition_strategy=partition_strategy,
        max_norm=max_norm,
    )


@export("contrib.layers.bow_encoder")
def bow_encoder(
    ids: Any,
    vocab_size: int,
    embed_dim: int,
    sparse_lookup: bool = True,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The mean of the embeddings of each row of ids: `[batch, embed_dim]`.

    Args:
      ids: `[batch, length]`, dense or sparse.
      vocab_size: how many embeddings there are.
      embed_dim: the size of each.
      sparse_lookup: whether zeros of dense ids are left out.
      initializer, regularizer, trainable: of `embeddings`.
      scope, reuse: of the variable.

    Raises:
      ValueError: a size is missing.
      TypeError: sparse ids without `sparse_lookup`.
    """
    if not vocab_size or not embed_dim:
        raise ValueError("Must specify vocab size and embedding dimension")
    with variable_scope(scope, "bow_encoder", [ids], reuse=reuse):
        embeddings = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim],
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if sparse_lookup:
            sparse = ids if isinstance(ids, SparseTensor) else from_dense(ids)
            return safe_embedding_lookup_sparse(
                [embeddings], sparse, combiner="mean", default_id=0
            )
        if isinstance(ids, SparseTensor):
            raise TypeError(f"ids are expected to be dense Tensor, got: {ids}")
        return reduce_mean(embedding_lookup(embeddings, ids), axis=1)


@export("contrib.layers.embed_sequence")
def embed_sequence(
    ids: Any,
    vocab_size: int | None = None,
    embed_dim: int | None = None,
    unique: bool = False,
    initializer: Any = None,
    regularizer: Any = None,
    trainable: bool = True,
    scope: Any = None,
    reuse: Any = None,
) -> Any:
    """The embedding of each id: `[batch, length, embed_dim]`.

    Args:
      ids: integers `[batch, length]`.
      unique: whether each id is looked up once.
      vocab_size, embed_dim, ...: as of `bow_encoder`.

    Raises:
      ValueError: a size is missing, and the variable is not used again.
    """
    if not (reuse or (vocab_size and embed_dim)):
        raise ValueError(
            "Must specify vocab size and embedding dimension when not reusing. Got "
            f"vocab_size={vocab_size} and embed_dim={embed_dim}"
        )
    with variable_scope(scope, "EmbedSequence", [ids], reuse=reuse):
        is_known = vocab_size is not None and embed_dim is not None
        embeddings = model_variable(
            "embeddings",
            shape=[vocab_size, embed_dim] if is_known else None,
            initializer=initializer,
            regularizer=regularizer,
            trainable=trainable,
        )
        if unique:
            return embedding_lookup_unique(embeddings, ids)
        return embedding_lookup(embeddings, ids)
