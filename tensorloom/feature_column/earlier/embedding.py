"""The earlier embedding column, whose table is made by a layer."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_scope import get_variable_scope
from tensorloom.feature_column.earlier.interfaces import (
    _DenseColumn,
    _SequenceDenseColumn,
)
from tensorloom.feature_column.embedding import (
    TableLogic,
    checked_initializer,
    load_from_checkpoint,
    look_up,
)
from tensorloom.feature_column.one_logic import buckets_of
from tensorloom.feature_column.sequence_checks import (
    check_is_sequence,
    check_no_sequence,
)
from tensorloom.feature_column.sources import BuilderSource
from tensorloom.framework.graph.graph import GraphKeys, Tensor, add_to_collection
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.layers.base import Layer

if TYPE_CHECKING:
    from tensorloom.feature_column.interfaces import TensorSequenceLengthPair


class _EmbeddingFields(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    layer_creator: Callable[..., Any]
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class _EmbeddingColumn(
    TableLogic, _DenseColumn, _SequenceDenseColumn, _EmbeddingFields
):
    """See `_embedding_column`."""

    @property
    def name(self) -> str:
        """That of the column of ids, and what is done with it."""
        return f"{self.categorical_column.name}_embedding"

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _rows(self, inputs: Any, weight_collections: Any, trainable: Any) -> Tensor:
        source = BuilderSource(inputs, weight_collections, trainable)
        pair = source.sparse_tensors(self.categorical_column)
        table = self.layer_creator(
            weight_collections=weight_collections, scope=get_variable_scope()
        )
        load_from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return look_up(self, table, pair)

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        check_no_sequence(self, "embedding_column", is_earlier=True)
        return self._rows(inputs, weight_collections, trainable)

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> TensorSequenceLengthPair:
        check_is_sequence(self, "embedding_column", is_earlier=True)
        rows = self._rows(inputs, weight_collections, trainable)
        pair = BuilderSource(inputs).sparse_tensors(self.categorical_column)
        return self._with_lengths(rows, pair)


class _EmbeddingColumnLayer(Layer):
    """Makes a table [ids, dimension]."""

    def __init__(
        self,
        embedding_shape: tuple[int, int],
        initializer: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._embedding_shape = embedding_shape
        self._initializer = initializer
        self._weight_collections = weight_collections

    def set_weight_collections(self, weight_collections: Any) -> None:
        """Sets the names of further collections for the table."""
        self._weight_collections = weight_collections

    def build(self, input_shape: Any) -> None:
        """Makes the table."""
        table = self.add_variable(
            name="embedding_weights",
            shape=self._embedding_shape,
            dtype=dtypes.float32,
            initializer=self._initializer,
            trainable=self.trainable,
        )
        self._embedding_weight_var = table
        parts = list(table) if isinstance(table, PartitionedVariable) else [table]
        for collection in self._weight_collections or []:
            if collection != GraphKeys.GLOBAL_VARIABLES:
                for part in parts:
                    add_to_collection(collection, part)
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """The table."""
        return self._embedding_weight_var


def _embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> _EmbeddingColumn:
    """See `tf.feature_column.embedding_column`."""
    initializer = checked_initializer(
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        f" Embedding of column_name: {categorical_column.name}",
    )
    shape = (buckets_of(categorical_column), dimension)

    def create(weight_collections: Any, scope: Any) -> Any:
        layer = _EmbeddingColumnLayer(
            shape,
            initializer,
            weight_collections,
            trainable,
            name="embedding_column_layer",
        )
        return layer(None, scope=scope)

    return _EmbeddingColumn(
        categorical_column,
        dimension,
        combiner,
        create,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
