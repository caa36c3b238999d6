"""Ids as rows of a table that is learned: `embedding_column`."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.feature_column.earlier.interfaces import (
    _DenseColumn,
    _SequenceDenseColumn,
)
from tensorloom.feature_column.interfaces import (
    DenseColumn,
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from tensorloom.feature_column.one_logic import ColumnLogic, buckets_of, spec_of
from tensorloom.feature_column.sequence_checks import (
    check_is_sequence,
    check_no_sequence,
)
from tensorloom.feature_column.sources import BuilderSource, Source
from tensorloom.feature_column.sparse_input import sequence_length_from_sparse_tensor
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, Tensor
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.nn.safe_embedding import safe_embedding_lookup_sparse
from tensorloom.ops.state import initializers as init_ops
from tensorloom.train.checkpoints.checkpoint_utils import init_from_checkpoint


class EmbeddingFields(NamedTuple):
    """What an embedding column is told."""

    categorical_column: Any
    dimension: int
    combiner: str
    initializer: Any
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: str | None
    max_norm: float | None
    trainable: bool


def load_from_checkpoint(table: Any, checkpoint: Any, name: str | None) -> None:
    """Makes a table start with a checkpoint's values, if one is given."""
    if checkpoint is None:
        return
    parts = (
        table._get_variable_list() if isinstance(table, PartitionedVariable) else table
    )
    init_from_checkpoint(checkpoint, {str(name): parts})


def look_up(column: Any, table: Any, pair: Any) -> Tensor:
    """The combined rows of the ids of each example, [batch, dimension]."""
    return safe_embedding_lookup_sparse(
        embedding_weights=table,
        sparse_ids=pair.id_tensor,
        sparse_weights=pair.weight_tensor,
        combiner=column.combiner,
        name=f"{column.name}_weights",
        max_norm=column.max_norm,
    )


class TableLogic(ColumnLogic):
    """What columns with a table have in common."""

    categorical_column: Any
    combiner: str
    max_norm: float | None

    @property
    def parents(self) -> list[Any]:
        """The column of ids."""
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the column of ids."""
        return spec_of(self.categorical_column)

    def _transform(self, source: Source) -> Any:
        return source.get(self.categorical_column)

    @staticmethod
    def _with_lengths(rows: Tensor, pair: IdWeightPair) -> TensorSequenceLengthPair:
        lengths = sequence_length_from_sparse_tensor(pair.id_tensor)
        return TensorSequenceLengthPair(rows, lengths)


class EmbeddingLogic(TableLogic):
    """What an embedding column does."""

    dimension: int
    initializer: Any
    ckpt_to_load_from: Any
    tensor_name_in_ckpt: str | None
    trainable: bool

    @property
    def name(self) -> str:
        """That of the column of ids, and what is done with it."""
        return f"{self.categorical_column.name}_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """The length of a row."""
        return TensorShape([self.dimension])

    @property
    def _variable_shape(self) -> TensorShape:
        return self.variable_shape

    def _rows(self, table: Any, pair: IdWeightPair) -> Tensor:
        load_from_checkpoint(table, self.ckpt_to_load_from, self.tensor_name_in_ckpt)
        return look_up(self, table, pair)

    def _scope_table(self, weight_collections: Any, trainable: Any) -> Any:
        """The table of the earlier interface: a variable of the open scope."""
        variables = GraphKeys.GLOBAL_VARIABLES
        if weight_collections and variables not in weight_collections:
            weight_collections.append(variables)
        return get_variable(
            name="embedding_weights",
            shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=dtypes.float32,
            initializer=self.initializer,
            trainable=self.trainable and trainable,
            collections=weight_collections,
        )

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Tensor:
        check_no_sequence(self, "embedding_column", is_earlier=True)
        source = BuilderSource(inputs, weight_collections, trainable)
        pair = source.sparse_tensors(self.categorical_column)
        return self._rows(self._scope_table(weight_collections, trainable), pair)

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> TensorSequenceLengthPair:
        check_is_sequence(self, "embedding_column", is_earlier=True)
        pair = BuilderSource(inputs).sparse_tensors(self.categorical_column)
        table = self._scope_table(weight_collections, trainable)
        return self._with_lengths(self._rows(table, pair), pair)


class EmbeddingColumn(
    EmbeddingLogic,
    DenseColumn,
    SequenceDenseColumn,
    _DenseColumn,
    _SequenceDenseColumn,
    EmbeddingFields,
):
    """See `embedding_column`."""

    def create_state(self, state_manager: Any) -> None:
        """Makes the table."""
        state_manager.create_variable(
            self,
            name="embedding_weights",
            shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=dtypes.float32,
            trainable=self.trainable,
            use_resource=True,
            initializer=self.initializer,
        )

    def _looked_up(
        self, transformation_cache: Any, state_manager: Any
    ) -> tuple[Tensor, IdWeightPair]:
        pair = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        table = state_manager.get_variable(self, name="embedding_weights")
        return self._rows(table, pair), pair

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """Combined rows [batch, dimension]. Raises ValueError: ids are sequences."""
        check_no_sequence(self, "embedding_column", is_earlier=False)
        return self._looked_up(transformation_cache, state_manager)[0]

    def get_sequence_dense_tensor(
        self, transformation_cache: Any, state_manager: Any
    ) -> TensorSequenceLengthPair:
        """Rows [batch, steps, dimension]. Raises ValueError: ids are no sequences."""
        check_is_sequence(self, "embedding_column", is_earlier=False)
        return self._with_lengths(*self._looked_up(transformation_cache, state_manager))


def checked_initializer(
    dimension: int | None,
    initializer: Any,
    ckpt_to_load_from: Any,
    tensor_name_in_ckpt: str | None,
    what: str = "",
) -> Any:
    """The given initializer of a table, or a truncated normal one.

    Raises:
      ValueError: no dimension, half a checkpoint's description, or something that
        cannot be called.
    """
    if dimension is None or dimension < 1:
        raise ValueError(f"Invalid dimension {dimension}.")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError(
            "Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none "
            f"of them. Given: {ckpt_to_load_from!r} and {tensor_name_in_ckpt!r}."
        )
    if initializer is None:
        return init_ops.TruncatedNormal(mean=0.0, stddev=1 / math.sqrt(dimension))
    if not callable(initializer):
        raise ValueError(f"initializer must be callable if specified.{what}")
    return initializer


@export("feature_column.embedding_column")
def embedding_column(
    categorical_column: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """Each id is a row of a table; an example gets the combination of its ids' rows.

    Args:
      categorical_column: of either interface.
      dimension: length of the rows.
      combiner: "mean", "sum" or "sqrtn" (the sum over the root of the squared weights'
        sum).
      initializer: of the table; truncated normal with deviation 1/sqrt(dimension) when
        None.
      ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint, and the name of a tensor in
        it, that the table starts with.
      max_norm: longer rows are scaled down to this norm before they are combined.
      trainable: whether the table is trained.

    Raises:
      ValueError: a dimension below 1, half a checkpoint's description, or an
        initializer that cannot be called.
    """
    initializer = checked_initializer(
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        f" Embedding of column_name: {categorical_column.name}",
    )
    return EmbeddingColumn(
        categorical_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        max_norm,
        trainable,
    )
