"""One table for several columns: `shared_embeddings` and `shared_embedding_columns`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn
from weakref import WeakKeyDictionary

from tensorloom.client.program.compat import executing_eagerly
from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.feature_column.crossed import WeightedLogic
from tensorloom.feature_column.earlier.interfaces import (
    _CategoricalColumn,
    _DenseColumn,
    _SequenceDenseColumn,
)
from tensorloom.feature_column.earlier.shared_embedding import _SharedEmbeddingColumn
from tensorloom.feature_column.embedding import (
    TableLogic,
    checked_initializer,
    load_from_checkpoint,
    look_up,
)
from tensorloom.feature_column.interfaces import (
    CategoricalColumn,
    DenseColumn,
    IdWeightPair,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from tensorloom.feature_column.one_logic import buckets_of
from tensorloom.feature_column.sequence_checks import (
    check_is_sequence,
    check_no_sequence,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, get_default_graph, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.framework.types.trackable import Trackable


def _refuse() -> NoReturn:
    raise ValueError(
        "SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. "
        "Please use `DenseFeatures` or `LinearModel` instead."
    )


class SharedEmbeddingColumnCreator(Trackable):
    """Makes columns that share a table, and the table itself, once in each graph."""

    def __init__(
        self,
        dimension: int,
        initializer: Any,
        ckpt_to_load_from: Any,
        tensor_name_in_ckpt: str | None,
        num_buckets: int,
        trainable: bool,
        name: str = "shared_embedding_column_creator",
    ) -> None:
        self._dimension = dimension
        self._initializer = initializer
        self._ckpt_to_load_from = ckpt_to_load_from
        self._tensor_name_in_ckpt = tensor_name_in_ckpt
        self._num_buckets = num_buckets
        self._trainable = trainable
        self._name = name
        self._tables: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()

    def __call__(
        self, categorical_column: Any, combiner: str, max_norm: float | None
    ) -> SharedEmbeddingColumn:
        """One of the columns."""
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm)

    @property
    def embedding_weights(self) -> Any:
        """The table in the default graph, [num_buckets, dimension]."""
        graph = get_default_graph()
        if graph not in self._tables:
            table = get_variable(
                name=self._name,
                shape=(self._num_buckets, self._dimension),
                dtype=dtypes.float32,
                initializer=self._initializer,
                trainable=self._trainable,
            )
            load_from_checkpoint(
                table, self._ckpt_to_load_from, self._tensor_name_in_ckpt
            )
            self._tables[graph] = table
        return self._tables[graph]

    @property
    def dimension(self) -> int:
        """Length of the table's rows."""
        return self._dimension


class SharedEmbeddingFields(NamedTuple):
    """What a column of a shared table is told."""

    categorical_column: Any
    shared_embedding_column_creator: Any
    combiner: str
    max_norm: float | None


class SharedEmbeddingColumn(
    TableLogic,
    DenseColumn,
    SequenceDenseColumn,
    _DenseColumn,
    _SequenceDenseColumn,
    SharedEmbeddingFields,
):
    """See `shared_embeddings`."""

    @property
    def _is_v2_column(self) -> bool:
        return True

    @property
    def name(self) -> str:
        """That of the column of ids, and what is done with it."""
        return f"{self.categorical_column.name}_shared_embedding"

    @property
    def variable_shape(self) -> TensorShape:
        """The length of a row."""
        return TensorShape([self.shared_embedding_column_creator.dimension])

    def _looked_up(
        self, transformation_cache: Any, state_manager: Any
    ) -> tuple[Tensor, IdWeightPair]:
        with name_scope(None, default_name=self.name):
            pair = self.categorical_column.get_sparse_tensors(
                transformation_cache, state_manager
            )
            table = self.shared_embedding_column_creator.embedding_weights
            return look_up(self, table, pair), pair

    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Tensor:
        """Combined rows [batch, dimension]. Raises ValueError: ids are sequences."""
        check_no_sequence(self, "embedding_column", is_earlier=False)
        return self._looked_up(transformation_cache, state_manager)[0]

    def get_sequence_dense_tensor(
        self, transformation_cache: Any, state_manager: Any
    ) -> TensorSequenceLengthPair:
        """Rows [batch, steps, dimension]. Raises ValueError: ids are no sequences."""
        check_is_sequence(self, "embedding_column", is_earlier=False)
        rows, _ = self._looked_up(transformation_cache, state_manager)
        pair = self.categorical_column.get_sparse_tensors(
            transformation_cache, state_manager
        )
        return self._with_lengths(rows, pair)

    def _get_config(self) -> dict[str, Any]:
        # As in TensorFlow: a configuration cannot tell which columns share the table.
        raise NotImplementedError(f"{self.name}: columns that share a table have none.")

    @classmethod
    def _from_config(
        cls,
        config: dict[str, Any],
        custom_objects: Any = None,
        columns_by_name: Any = None,
    ) -> Any:
        raise NotImplementedError("columns that share a table have no configuration.")

    # The earlier interface has a column of its own for this.

    @property
    def _parse_example_spec(self) -> dict[str, Any]:
        _refuse()

    def _transform_feature(self, inputs: Any) -> Any:
        _refuse()

    @property
    def _variable_shape(self) -> Any:
        _refuse()

    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        _refuse()

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        _refuse()


def _ids_of(column: Any) -> Any:
    is_weighted = isinstance(column, WeightedLogic)
    return column.categorical_column if is_weighted else column


def _check_alike(columns: Sequence[Any], kind: type) -> int:
    """The number of ids of each. Raises ValueError: they cannot share a table."""
    first = columns[0]
    if not isinstance(first, kind):
        raise ValueError(
            f"All categorical_columns must be subclasses of {kind.__name__}. "
            f"Given: {first}, of type: {type(first)}"
        )
    buckets = buckets_of(first)
    first = _ids_of(first)
    for column in columns[1:]:
        ids = _ids_of(column)
        if not isinstance(ids, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the "
                "same type, or be weighted_categorical_column of the same type. Given "
                f"column: {first} of type: {type(first)} does not match given column: "
                f"{ids} of type: {type(ids)}"
            )
        if buckets_of(ids) != buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the "
                f"same number of buckets. Given column: {first} with buckets: "
                f"{buckets} does  not match column: {ids} with buckets: "
                f"{buckets_of(ids)}"
            )
    return buckets


def _check_not_eager() -> None:
    if executing_eagerly():
        raise RuntimeError(
            "shared_embedding_columns are not supported when eager execution is "
            "enabled."
        )


def _shared_name(columns: Sequence[Any], name: str | None) -> str:
    return name or "_".join(c.name for c in columns) + "_shared_embedding"


@export("feature_column.shared_embedding_columns")
def shared_embedding_columns(
    categorical_columns: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[_SharedEmbeddingColumn]:
    """Embedding columns for `input_layer` that share one table.

    Args:
      categorical_columns: of one kind, with the same number of ids; some or all may be
        weighted.
      shared_embedding_collection_name: a collection that holds the table, and
        its scope.
      dimension, combiner, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
        max_norm, trainable: see `embedding_column`.

    Raises:
      ValueError: as `embedding_column`; columns that cannot share a table.
      RuntimeError: under eager execution.
    """
    _check_not_eager()
    initializer = checked_initializer(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt
    )
    # The name must not depend on the order of, say, a dict's values.
    by_name = sorted(categorical_columns, key=lambda column: column.name)
    _check_alike(by_name, _CategoricalColumn)
    return [
        _SharedEmbeddingColumn(
            categorical_column=column,
            initializer=initializer,
            dimension=dimension,
            combiner=combiner,
            shared_embedding_collection_name=_shared_name(
                by_name, shared_embedding_collection_name
            ),
            ckpt_to_load_from=ckpt_to_load_from,
            tensor_name_in_ckpt=tensor_name_in_ckpt,
            max_norm=max_norm,
            trainable=trainable,
        )
        for column in categorical_columns
    ]


def shared_embeddings(
    categorical_columns: Any,
    dimension: int,
    combiner: str = "mean",
    initializer: Any = None,
    shared_embedding_collection_name: str | None = None,
    ckpt_to_load_from: Any = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[SharedEmbeddingColumn]:
    """Embedding columns for `DenseFeatures` that share one table.

    Args are those of `shared_embedding_columns`; the collection's name is the table's.

    Raises:
      ValueError: as `embedding_column`; columns that cannot share a table.
      RuntimeError: under eager execution.
    """
    _check_not_eager()
    initializer = checked_initializer(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt
    )
    by_name = sorted(categorical_columns, key=lambda column: column.name)
    buckets = _check_alike(by_name, CategoricalColumn)
    creator = SharedEmbeddingColumnCreator(
        dimension,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        buckets,
        trainable,
        _shared_name(by_name, shared_embedding_collection_name),
    )
    return [creator(column, combiner, max_norm) for column in categorical_columns]
