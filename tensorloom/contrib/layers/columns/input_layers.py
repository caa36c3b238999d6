"""The columns of examples, or of the steps of sequences, as one tensor."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator
from typing import Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.columns.crossed import _CrossedColumn
from tensorloom.contrib.layers.columns.embedding import (
    _EmbeddingColumn,
    _OneHotColumn,
    _ScatteredEmbeddingColumn,
)
from tensorloom.contrib.layers.columns.interfaces import (
    LazyTensors,
    check_feature_columns,
    in_order,
)
from tensorloom.contrib.layers.columns.real_valued import (
    _BucketizedColumn,
    _RealValuedColumn,
    _RealValuedVarLenColumn,
)
from tensorloom.contrib.layers.columns.tables import embeddings_of
from tensorloom.contrib.layers.shaping import inner_flatten
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys
from tensorloom.framework.types import nest
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.sparse.shape_builders import sparse_reshape

# Of which the steps of sequences can be made, and of what they cannot be made either.
_OF_SEQUENCES: Final = (
    _OneHotColumn,
    _EmbeddingColumn,
    _RealValuedColumn,
    _RealValuedVarLenColumn,
)
_NOT_BELOW: Final = (_ScatteredEmbeddingColumn, _BucketizedColumn, _CrossedColumn)


@export(
    "contrib.layers.input_from_feature_columns",
    "contrib.slim.input_from_feature_columns",
)
def input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Collection[Any],
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
    cols_to_outs: dict[Any, Any] | None = None,
) -> Any:
    """The columns side by side, by their keys: `[batch, ...]`.

    Args:
      columns_to_tensors: tensors by the features' names, or by columns.
      feature_columns: the columns.
      weight_collections: of the variables.
      trainable: whether they are trained.
      scope: of the variables.
      cols_to_outs: is filled with the part of each column.

    Raises:
      ValueError: columns that are the same, or of which there is no part.
    """
    return _input_layer(
        columns_to_tensors,
        feature_columns,
        (weight_collections, trainable),
        scope,
        2,
        "input_from_feature_columns",
        cols_to_outs,
    )


@export(
    "contrib.layers.sequence_input_from_feature_columns",
    "contrib.slim.sequence_input_from_feature_columns",
)
def sequence_input_from_feature_columns(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Collection[Any],
    weight_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """The columns of the steps of sequences side by side: `[batch, steps, ...]`.

    Arguments are as of `input_from_feature_columns`.

    Raises:
      ValueError: columns that are the same, or that sequences cannot have.
    """
    for column in feature_columns:
        if not isinstance(column, _OF_SEQUENCES):
            raise ValueError(
                f"FeatureColumn type {type(column).__name__} is not currently "
                "supported for sequence data."
            )
    for column in feature_columns:
        for below in _with_parents(column):
            if isinstance(below, _NOT_BELOW):
                raise ValueError(
                    f"Column {below.name} is of type {type(below).__name__}, which is "
                    "not currently supported for sequences."
                )
    return _input_layer(
        columns_to_tensors,
        feature_columns,
        (weight_collections, trainable),
        scope,
        3,
        "sequence_input_from_feature_columns",
        None,
    )


def _with_parents(column: Any) -> Iterator[Any]:
    yield column
    for name in ("sparse_id_column", "source_column"):
        if hasattr(column, name):
            yield from _with_parents(getattr(column, name))
    for part in getattr(column, "columns", ()):
        yield from _with_parents(part)


def _input_layer(
    columns_to_tensors: dict[Any, Any],
    feature_columns: Collection[Any],
    variables: tuple[Any, bool],
    scope: Any,
    rank: int,
    default_name: str,
    cols_to_outs: dict[Any, Any] | None,
) -> Any:
    tensors = columns_to_tensors.copy()
    check_feature_columns(feature_columns)
    if cols_to_outs is not None and not isinstance(cols_to_outs, dict):
        raise ValueError("cols_to_outs must be a dict unless None")
    collections, trainable = variables
    with variable_scope(scope, default_name=default_name, values=tensors.values()):
        builder = LazyTensors(tensors)
        collections = with_global(collections)
        parts = []
        for column in in_order(feature_columns):
            with variable_scope(
                None, default_name=column.name, values=tensors.values()
            ):
                tensor = builder.get(column)
                if rank == 3:
                    tensor = nest.map_structure(
                        functools.partial(of_rank, column_name=column.name, rank=rank),
                        tensor,
                    )
                parts.append(_part(column, tensor, collections, trainable, rank))
                if cols_to_outs is not None:
                    cols_to_outs[column] = parts[-1]
        return concat(parts, rank - 1)


def _part(
    column: Any, tensor: Any, collections: Any, trainable: bool, rank: int
) -> Any:
    try:
        arguments = column._deep_embedding_lookup_arguments(tensor)
    except NotImplementedError as no_embedding:
        try:
            return column._to_dnn_input_layer(
                tensor, collections, trainable, output_rank=rank
            )
        except ValueError as error:
            raise ValueError(
                f"Error creating input layer for column: {column.name}.\n{error}, "
                f"{no_embedding}"
            ) from None
    return embeddings_of(column, arguments, collections, trainable, output_rank=rank)


def with_global(collections: Any) -> Any:
    """The collections with GLOBAL_VARIABLES, if there are any."""
    if not collections:
        return collections
    return list(dict.fromkeys([*collections, GraphKeys.GLOBAL_VARIABLES]))


def of_rank(tensor: Any, column_name: str, rank: int) -> Any:
    """A tensor, sparse or dense, with its last axes made one, or with one more.

    Raises:
      ValueError: the rank is unknown, or more than one axis is missing.
    """
    is_sparse = isinstance(tensor, SparseTensor)
    given = tensor.get_shape().ndims
    if given is None and is_sparse:
        given = tensor.dense_shape.get_shape().as_list()[0]
    if given is None:
        raise ValueError(
            f"Error while processing column {column_name}. Rank of input Tensor can "
            "not be None."
        )
    if rank > given + 1:
        raise ValueError(
            f"Error while processing column {column_name}. Rank of input Tensor "
            f"({given}) should be the same as output_rank ({rank}). For example, "
            "sequence data should typically be 3 dimensional (rank 3) while "
            "non-sequence data is typically 2 dimensional (rank 2)."
        )
    if rank == given + 1:
        if is_sparse:
            return sparse_reshape(tensor, concat([tensor.dense_shape, [1]], 0))
        return expand_dims(tensor, -1)
    return inner_flatten(tensor, rank) if rank < given else tensor
