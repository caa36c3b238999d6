"""A table that several columns of `input_layer` share, found through a collection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.feature_column.earlier.interfaces import (
    _DenseColumn,
    _SequenceDenseColumn,
)
from tensorloom.feature_column.embedding import (
    TableLogic,
    load_from_checkpoint,
    look_up,
)
from tensorloom.feature_column.one_logic import buckets_of
from tensorloom.feature_column.sequence_checks import (
    check_is_sequence,
    check_no_sequence,
)
from tensorloom.feature_column.sources import BuilderSource
from tensorloom.framework.graph.graph import (
    Tensor,
    add_to_collection,
    get_collection,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape

if TYPE_CHECKING:
    from tensorloom.feature_column.interfaces import TensorSequenceLengthPair

_FIXES = (
    "Suggested fix A: Choose a unique name for this collection. "
    "Suggested fix B: Do not add any variables to this collection. "
    "The feature_column library already adds a variable under the hood."
)


class _SharedEmbeddingFields(NamedTuple):
    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    shared_embedding_collection_name: str
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


class _SharedEmbeddingColumn(
    TableLogic, _DenseColumn, _SequenceDenseColumn, _SharedEmbeddingFields
):
    """See `shared_embedding_columns`."""

    @property
    def name(self) -> str:
        """That of the column of ids, and what is done with it."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def _var_scope_name(self) -> str:
        return self.shared_embedding_collection_name

    @property
    def _variable_shape(self) -> TensorShape:
        return TensorShape([self.dimension])

    def _rows(self, inputs: Any, weight_collections: Any, trainable: Any) -> Tensor:
        source = BuilderSource(inputs, weight_collections, trainable)
        with name_scope(None, default_name=self.name):
            pair = source.sparse_tensors(self.categorical_column)
            table = self._table(weight_collections, trainable)
            load_from_checkpoint(
                table, self.ckpt_to_load_from, self.tensor_name_in_ckpt
            )
            return look_up(self, table, pair)

    def _table(self, weight_collections: Any, trainable: Any) -> Any:
        collection = self.shared_embedding_collection_name
        shape = (buckets_of(self.categorical_column), self.dimension)
        known = get_collection(collection)
        if not known:
            table = get_variable(
                name="embedding_weights",
                shape=shape,
                dtype=dtypes.float32,
                initializer=self.initializer,
                trainable=self.trainable and trainable,
                collections=weight_collections,
            )
            add_to_collection(collection, table)
            return table
        if len(known) > 1:
            raise ValueError(
                f"Collection {known} can only contain one variable. {_FIXES}"
            )
        table = known[0]
        if table.get_shape() != shape:
            raise ValueError(
                f"Shared embedding collection {collection} contains variable "
                f"{table.name} of unexpected shape {table.get_shape()}. Expected shape "
                f"is {shape}. {_FIXES}"
            )
        return table

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
