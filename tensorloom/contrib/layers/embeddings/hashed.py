"""Embeddings without a vocabulary: each number is found by a hash of value and place.

The idea is that of https://arxiv.org/abs/1504.04788.
"""

from __future__ import annotations

from typing import Any, Final

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.contrib.layers.embeddings.crosses import sparse_feature_cross
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.pad import tile
from tensorloom.ops.array.reshape import expand_dims, reshape
from tensorloom.ops.array.shape import rank, shape
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import unique
from tensorloom.ops.math.binary import multiply
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal
from tensorloom.ops.math.sequence import range as numbers
from tensorloom.ops.nn.embedding import embedding_lookup
from tensorloom.ops.reductions.reductions import reduce_all
from tensorloom.ops.reductions.segment import (
    sparse_segment_mean,
    sparse_segment_sqrt_n,
    sparse_segment_sum,
    unsorted_segment_sum,
)
from tensorloom.ops.sparse.sparse_builders import (
    sparse_fill_empty_rows,
    sparse_tensor_to_dense,
)

# What stands for a row without values.
_NO_TEXT: Final = "6ZxWzWOHxZ"
_NO_NUMBER: Final = 1288896567
COMBINERS: Final = {
    "sum": sparse_segment_sum,
    "mean": sparse_segment_mean,
    "sqrtn": sparse_segment_sqrt_n,
}


@export("contrib.slim.scattered_embedding_lookup")
def scattered_embedding_lookup(
    params: Any,
    values: Any,
    dimension: int,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The embedding of each value: `[..., dimension]`.

    Args:
      params: a vector of weights, or its parts.
      values: strings or integers, of any shape.
      dimension: the size of an embedding.
      name: of the operations.
      hash_key: of the hash, as of `sparse_feature_cross`.

    Raises:
      ValueError: no dimension, or parts of other sizes than expected.
    """
    if dimension is None:
        raise ValueError("You must specify dimension.")
    return sampled_lookup(
        params, values, dimension=dimension, hash_key=hash_key, name=name
    )


def sampled_lookup(
    params: Any,
    values: Any,
    dimension: Any = None,
    sampled_candidates: Any = None,
    hash_key: int | None = None,
    name: str | None = None,
) -> Any:
    """Embeddings, or the places of them that are asked for.

    Args:
      params, values, ...: as of `scattered_embedding_lookup`.
      sampled_candidates: `[..., n]`, the places for each value; all when None.

    Raises:
      ValueError: neither dimension nor places; or parts of other sizes than expected.
    """
    params = partition_list(params)
    with name_scope(name, "scattered_embedding_lookup", [*params, dimension, values]):
        values_shape = shape(values)
        values = reshape(values, [-1, 1])
        if sampled_candidates is None:
            places = _all_places(dimension, values)
        else:
            last = rank(sampled_candidates) - 1
            dimension = shape(sampled_candidates)[last]
            places = _checked_places(sampled_candidates, values_shape, dimension)
        ids = sparse_feature_cross(
            [places, values],
            hashed_output=True,
            num_buckets=_total_size(params),
            hash_key=hash_key,
        )
        found = embedding_lookup(
            params, sparse_tensor_to_dense(ids), partition_strategy="div"
        )
        return reshape(found, concat([values_shape, [dimension]], 0))


def partition_list(params: Any) -> list[Any]:
    """The parts of a variable, or of what is one part."""
    if isinstance(params, (PartitionedVariable, list)):
        return list(params)
    return [params]


def _all_places(dimension: Any, values: Any) -> Any:
    if dimension is None:
        raise ValueError("You must specify either dimension or sampled_candidates.")
    if dimension <= 0:
        raise ValueError(f"Dimension must be >0. Given is {dimension}")
    return tile(expand_dims(numbers(0, dimension), 0), shape(values))


def _checked_places(places: Any, values_shape: Any, dimension: Any) -> Any:
    found = shape(places)
    expected = concat([values_shape, reshape(dimension, shape=[1])], 0)
    check = Assert(
        reduce_all(equal(found, expected)),
        [
            "The shape of sampled_candidates: ",
            found,
            " does not match the shape of values: ",
            values_shape,
        ],
    )
    with control_dependencies([check]):
        return reshape(places, [-1, dimension])


def _total_size(params: list[Any]) -> int:
    sizes: list[int] = []
    for param in params:
        known = param.get_shape()
        known.assert_has_rank(1)
        known.assert_is_fully_defined()
        sizes.append(known.as_list()[0])
    total = sum(sizes)
    for number, size in enumerate(sizes):
        expected = (total - number - 1) // len(sizes) + 1
        if size != expected:
            raise ValueError(
                f"Tensor {number} in params has size {size}, expected {expected}."
            )
    return total


@export("contrib.slim.scattered_embedding_lookup_sparse")
def scattered_embedding_lookup_sparse(
    params: Any,
    sparse_values: SparseTensor,
    dimension: int,
    combiner: str | None = None,
    default_value: Any = None,
    name: str | None = None,
    hash_key: int | None = None,
) -> Any:
    """The embeddings of each row's values as one: `[rows, dimension]`.

    Args:
      sparse_values: `[rows, values]`, strings or integers.
      combiner: "sum", "mean" (when None) or "sqrtn".
      default_value: stands for a row without values.
      params, dimension, name, hash_key: as of `scattered_embedding_lookup`.

    Raises:
      TypeError: the values are not sparse.
      ValueError: another combiner.
    """
    combiner = combiner or "mean"
    params = partition_list(params)
    if not isinstance(sparse_values, SparseTensor):
        raise TypeError("sparse_values must be SparseTensor")
    with name_scope(
        name, "scattered_embedding_lookup_sparse", [*params, sparse_values]
    ) as scope:
        if default_value is None:
            is_text = sparse_values.dtype == dtypes.string
            default_value = _NO_TEXT if is_text else _NO_NUMBER
        sparse_values, _ = sparse_fill_empty_rows(sparse_values, default_value)
        segments = cast(sparse_values.indices[:, 0], dtypes.int32)
        values, index = unique(sparse_values.values)
        embeddings = scattered_embedding_lookup(
            params, values, dimension, hash_key=hash_key
        )
        if combiner not in COMBINERS:
            raise ValueError("Combiner must be one of 'mean', 'sqrtn' or 'sum'.")
        return COMBINERS[combiner](embeddings, index, segments, name=scope)


def sampled_lookup_sparse(
    params: Any,
    sp_values: SparseTensor,
    dimension: Any = None,
    sampled_candidates: Any = None,
    hash_key: int | None = None,
    with_sign_hash: bool = False,
    name: str | None = None,
) -> Any:
    """The sum of the embeddings of each row's values, or of places of them.

    Args:
      sp_values: `[rows, values]`.
      sampled_candidates: `[rows, n]`, the places for each row; all when None.
      with_sign_hash: whether a second hash says the sign of each number.
      params, dimension, hash_key: as of `sampled_lookup`.

    Raises:
      TypeError: the values are not sparse.
      ValueError: neither dimension nor places.
    """
    if not isinstance(sp_values, SparseTensor):
        raise TypeError("sp_values must be SparseTensor")
    with name_scope(
        name,
        "sampled_scattered_embedding_lookup_sparse",
        [sp_values, params, dimension, sampled_candidates],
    ) as scope:
        rows = sp_values.indices[:, 0]
        if sampled_candidates is not None:
            sampled_candidates = gather(sampled_candidates, rows)
        found = sampled_lookup(
            params,
            sp_values.values,
            dimension,
            sampled_candidates,
            hash_key,
            name="values_lookup",
        )
        if with_sign_hash:
            signs = sampled_lookup(
                constant([-1.0, 1.0]),
                sp_values.values,
                dimension,
                sampled_candidates,
                hash_key,
                name="signs_lookup",
            )
            found = multiply(signs, found, name="signs_hash")
        return unsorted_segment_sum(
            found,
            cast(rows, dtypes.int32),
            num_segments=shape(sp_values)[0],
            name=scope,
        )
