"""Columns that are embeddings of categories, and their marks."""

from __future__ import annotations

import math
from collections import namedtuple
from collections.abc import Sequence
from typing import Any

from tensorloom.contrib.layers.columns.interfaces import DeepLookup, _FeatureColumn
from tensorloom.contrib.layers.columns.names import declared_column
from tensorloom.contrib.layers.columns.sparse import (
    _SparseColumn,
    _WeightedSparseColumn,
)
from tensorloom.contrib.layers.columns.tables import embeddings_of
from tensorloom.contrib.layers.shaping import inner_flatten
from tensorloom.feature_column.earlier.interfaces import _DenseColumn
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.fill import zeros_like
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.parsing.parsing_features import VarLenFeature
from tensorloom.ops.reductions.reductions import reduce_sum
from tensorloom.ops.sparse.shape_builders import sparse_slice
from tensorloom.ops.sparse.sparse_builders import sparse_merge, sparse_tensor_to_dense
from tensorloom.ops.state.initializers import TruncatedNormal


class _OneHotColumn(
    _FeatureColumn, _DenseColumn, namedtuple("_OneHotColumn", ["sparse_id_column"])
):
    """A number for each category: how often an example has it."""

    @property
    def name(self) -> str:
        """Of the categories, with a mark."""
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def length(self) -> int:
        """How many categories there are."""
        return int(self.sparse_id_column.length)

    @property
    def config(self) -> Any:
        """What `tf.parse_example` parses the categories from."""
        return self.sparse_id_column.config

    def insert_transformed_feature(self, columns_to_tensors: dict[Any, Any]) -> None:
        """Adds the tensor of the categories."""
        _insert_as(self, self.sparse_id_column, columns_to_tensors)

    def _to_dnn_input_layer(
        self,
        input_tensor: Any,
        weight_collections: Any = None,
        trainable: bool = False,
        output_rank: int = 2,
    ) -> Any:
        ids = self.sparse_id_column.id_tensor(input_tensor)
        ids = inner_flatten(ids, output_rank)
        weights = self.sparse_id_column.weight_tensor(input_tensor)
        if weights is not None:
            merged = sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=self.length)
            # Ids of unknown values are below zero.
            merged = sparse_slice(
                merged, zeros_like(merged.dense_shape), merged.dense_shape
            )
            dense = sparse_tensor_to_dense(merged)
            return reshape(dense, concat([shape(dense)[:-1], [self.length]], axis=0))
        dense = sparse_tensor_to_dense(ids, default_value=-1)
        marks = one_hot(dense, depth=self.length, on_value=1.0, off_value=0.0)
        return reduce_sum(marks, axis=[output_rank - 1])

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.length])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return inputs.get(self)

    def _transform_feature(self, inputs: Any) -> Any:
        return self._to_dnn_input_layer(inputs.get(self.sparse_id_column))


def _insert_as(column: Any, other: Any, columns_to_tensors: dict[Any, Any]) -> None:
    """Makes the tensor of one column that of another too."""
    if other not in columns_to_tensors:
        other.insert_transformed_feature(columns_to_tensors)
    columns_to_tensors[column] = columns_to_tensors[other]


class _EmbeddingColumn(
    _FeatureColumn,
    _DenseColumn,
    namedtuple(
        "_EmbeddingColumn",
        [
            "sparse_id_column",
            "dimension",
            "combiner",
            "initializer",
            "ckpt_to_load_from",
            "tensor_name_in_ckpt",
            "shared_embedding_name",
            "shared_vocab_size",
            "max_norm",
            "trainable",
        ],
    ),
):
    """The embeddings of an example's categories as one."""

    def __new__(
        cls,
        sparse_id_column: Any,
        dimension: int,
        combiner: str = "mean",
        initializer: Any = None,
        ckpt_to_load_from: str | None = None,
        tensor_name_in_ckpt: str | None = None,
        shared_embedding_name: str | None = None,
        shared_vocab_size: int | None = None,
        max_norm: float | None = None,
        trainable: bool = True,
    ) -> Any:
        """Raises ValueError for wrong initializers, or half a place in a checkpoint."""
        if initializer is not None and not callable(initializer):
            raise ValueError(
                "initializer must be callable if specified. Embedding of column_name: "
                f"{sparse_id_column.name}"
            )
        if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
            raise ValueError(
                "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or "
                "none of them."
            )
        if initializer is None:
            stddev = 1 / math.sqrt(sparse_id_column.length)
            initializer = TruncatedNormal(mean=0.0, stddev=stddev)
        return super().__new__(
            cls,
            sparse_id_column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            shared_vocab_size,
            max_norm,
            trainable,
        )

    @property
    def name(self) -> str:
        """Of the categories, with a mark."""
        mark = "" if self.shared_embedding_name is None else "shared_"
        return f"{self.sparse_id_column.name}_{mark}embedding"

    @property
    def length(self) -> int:
        """How many embeddings there are."""
        if self.shared_vocab_size is None:
            return int(self.sparse_id_column.length)
        return int(self.shared_vocab_size)

    @property
    def config(self) -> Any:
        """What `tf.parse_example` parses the categories from."""
        return self.sparse_id_column.config

    @property
    def key(self) -> str:
        """The column as a text."""
        return self._key_without("initializer")

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        return DeepLookup(
            self.sparse_id_column.id_tensor(input_tensor),
            self.sparse_id_column.weight_tensor(input_tensor),
            self.length,
            self.initializer,
            self.combiner,
            self.dimension,
            self.shared_embedding_name,
            None,
            self.max_norm,
            self.trainable,
        )

    def _checkpoint_path(self) -> tuple[str, str] | None:
        if self.ckpt_to_load_from is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> Any:
        raise ValueError(
            f"Column {self} is not supported in linear models. Please use "
            "sparse_column."
        )

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        arguments = self._deep_embedding_lookup_arguments(inputs.get(self))
        return embeddings_of(self, arguments, weight_collections, trainable)

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.sparse_id_column)


class _ScatteredEmbeddingColumn(
    _FeatureColumn,
    _DenseColumn,
    namedtuple(
        "_ScatteredEmbeddingColumn",
        ["column_name", "size", "dimension", "hash_key", "combiner", "initializer"],
    ),
):
    """Embeddings of strings whose numbers are found by hashes."""

    @property
    def name(self) -> str:
        """The feature's name, with a mark."""
        return f"{self.column_name}_scattered_embedding"

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.parse_example` parses the strings from."""
        return {self.column_name: VarLenFeature(dtypes.string)}

    @property
    def key(self) -> str:
        """The column as a text."""
        return self._key_without("initializer")

    def _deep_embedding_lookup_arguments(self, input_tensor: Any) -> DeepLookup:
        return DeepLookup(
            input_tensor,
            None,
            self.size,
            self.initializer,
            self.combiner,
            self.dimension,
            None,
            self.hash_key,
            None,
            True,
        )

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        arguments = self._deep_embedding_lookup_arguments(inputs.get(self))
        return embeddings_of(self, arguments, weight_collections, trainable)

    def _transform_feature(self, inputs: Any) -> Any:
        return inputs.get(self.column_name)


@declared_column("one_hot_column")
def one_hot_column(sparse_id_column: Any) -> Any:
    """A column of a number for each category: how often an example has it."""
    return _OneHotColumn(sparse_id_column)


@declared_column("embedding_column")
def embedding_column(
    sparse_id_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """A column of embeddings of categories.

    Args:
      sparse_id_column: the categories.
      dimension: the size of an embedding.
      combiner: "mean", "sqrtn" or "sum", of several categories of an example.
      initializer: of the embeddings; a normal one when None.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint, and the name in it of what
        the embeddings begin with.
      max_norm: larger embeddings are scaled down to it.
      trainable: whether they are trained.

    Raises:
      ValueError: a wrong initializer, or half a place in a checkpoint.
    """
    return _EmbeddingColumn(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm=max_norm,
        trainable=trainable,
    )


@declared_column("shared_embedding_columns")
def shared_embedding_columns(
    sparse_id_columns: Sequence[Any],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Any = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> Any:
    """Columns of embeddings that are in one table.

    Args:
      sparse_id_columns: the categories, of the same values each.
      shared_embedding_name: of the table; made of the columns' names when None.
      dimension, ...: as of `embedding_column`.

    Raises:
      TypeError: no sequence of categories.
      ValueError: none, or of different values.
    """
    if not isinstance(sparse_id_columns, Sequence) or isinstance(
        sparse_id_columns, str
    ):
        raise TypeError(
            "sparse_id_columns must be a non-string sequence (ex: list or tuple) "
            f"instead of type {type(sparse_id_columns)}."
        )
    if not sparse_id_columns:
        raise ValueError(
            "The input sparse_id_columns should have at least one element."
        )
    for column in sparse_id_columns:
        if not isinstance(column, (_SparseColumn, _WeightedSparseColumn)):
            raise TypeError(
                "Elements of sparse_id_columns must be _SparseColumn or "
                f"_WeightedSparseColumn, but {column} is not."
            )
    size = None
    if len(sparse_id_columns) > 1:
        size = sparse_id_columns[0].length
        _check_compatible(sparse_id_columns)
        shared_embedding_name = shared_embedding_name or _name_of(sparse_id_columns)
    made = [
        _EmbeddingColumn(
            column,
            dimension,
            combiner,
            initializer,
            ckpt_to_load_from,
            tensor_name_in_ckpt,
            shared_embedding_name,
            size,
            max_norm,
            trainable,
        )
        for column in sparse_id_columns
    ]
    return made if size is None else tuple(made)


def _check_compatible(columns: Sequence[Any]) -> None:
    first = columns[0]
    for column in columns[1:]:
        one, other = (
            (first, column)
            if isinstance(first, _WeightedSparseColumn)
            else (column, first)
        )
        if not one.is_compatible(other):
            raise ValueError("The input sparse id columns are not compatible.")


def _name_of(columns: Sequence[Any]) -> str:
    plain = sorted(column for column in columns if isinstance(column, _SparseColumn))
    weighted = [column for column in columns if not isinstance(column, _SparseColumn)]
    weighted.sort(key=lambda column: str(column.name))
    names = [column.name for column in (*plain, *weighted)]
    more = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return "_".join(names[:3]) + more + "_shared_embedding"


@declared_column("scattered_embedding_column")
def scattered_embedding_column(
    column_name: str,
    size: int,
    dimension: int,
    hash_key: int,
    combiner: str = "mean",
    initializer: Any = None,
) -> Any:
    """A column of embeddings of strings whose numbers are found by hashes.

    Args:
      column_name: the feature's name.
      size: how many numbers there are.
      dimension: the size of an embedding.
      hash_key: of the hashes.
      combiner: "mean", "sqrtn" or "sum".
      initializer: of the numbers; a normal one when None.

    Raises:
      ValueError: a size below 1, another combiner, or a wrong initializer.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: "
            f"{size}, column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(
            "Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: "
            f"{combiner}, column_name: {column_name}"
        )
    if initializer is not None and not callable(initializer):
        raise ValueError(
            f"initializer must be callable if specified. column_name: {column_name}"
        )
    initializer = initializer or TruncatedNormal(mean=0.0, stddev=0.1)
    return _ScatteredEmbeddingColumn(
        column_name, size, dimension, hash_key, combiner, initializer
    )
