"""What a feature column is: the base classes that programs may derive from."""

from __future__ import annotations

import abc
from collections.abc import Iterable
from typing import Any, NamedTuple


class IdWeightPair(NamedTuple):
    """Ids of a categorical column, a SparseTensor of int64, with weights or None."""

    id_tensor: Any
    weight_tensor: Any


class TensorSequenceLengthPair(NamedTuple):
    """A sequence as a tensor [batch, steps, ...], with its lengths, int64 [batch]."""

    dense_tensor: Any
    sequence_length: Any


class FeatureColumn(abc.ABC):
    """How one feature of the examples comes to a model.

    Columns are values without state: variables and tables that they need are kept by a
    `StateManager`.
    """

    @property
    @abc.abstractmethod
    def name(self) -> str:
        """Name of the column, and of its scopes and variables."""

    def __lt__(self, other: Any) -> bool:
        """Columns are sorted by their text, to be in the same order in every run."""
        return str(self) < str(other)

    def __gt__(self, other: Any) -> bool:
        """See `__lt__`."""
        return str(self) > str(other)

    @abc.abstractmethod
    def transform_feature(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The feature as this column wants it, in the end a tensor or SparseTensor.

        Args:
          transformation_cache: a `FeatureTransformationCache` to get features and other
            columns from.
          state_manager: keeps resources such as tables.
        """

    @property
    @abc.abstractmethod
    def parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` has to read: configurations by feature."""

    def create_state(self, state_manager: Any) -> None:  # noqa: B027  (need not)
        """Makes the variables of the column, through `state_manager`."""

    @property
    @abc.abstractmethod
    def _is_v2_column(self) -> bool:
        """Whether it, and the columns that it stands on, are of this interface."""

    @property
    @abc.abstractmethod
    def parents(self) -> list[Any]:
        """Columns and names of features that it stands on directly."""

    @abc.abstractmethod
    def _get_config(self) -> dict[str, Any]:
        """The arguments that make an equal column, as plain values."""

    @classmethod  # noqa: B027  (need not)
    def _from_config(
        cls,
        config: dict[str, Any],
        custom_objects: Any = None,
        columns_by_name: Any = None,
    ) -> Any:
        """The reverse of `_get_config`."""


class DenseColumn(FeatureColumn):
    """A column that gives a dense tensor [batch, ...]."""

    @property
    @abc.abstractmethod
    def variable_shape(self) -> Any:
        """The shape of `get_dense_tensor` without its first dimension."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache: Any, state_manager: Any) -> Any:
        """The column's tensor [batch, ...variable_shape]."""


class CategoricalColumn(FeatureColumn):
    """A column of ids, any number of them in an example."""

    IdWeightPair = IdWeightPair

    @property
    @abc.abstractmethod
    def num_buckets(self) -> int:
        """How many different ids there are."""

    @abc.abstractmethod
    def get_sparse_tensors(self, transformation_cache: Any, state_manager: Any) -> Any:
        """An `IdWeightPair`: ids [batch, ...], and weights of equal places or None."""


class SequenceDenseColumn(FeatureColumn):
    """A column of sequences, as dense tensors."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    @abc.abstractmethod
    def get_sequence_dense_tensor(
        self, transformation_cache: Any, state_manager: Any
    ) -> Any:
        """A `TensorSequenceLengthPair`."""


def is_feature_column_v2(feature_columns: Iterable[Any]) -> bool:
    """Whether all columns are `FeatureColumn`s down to their last parents."""
    return all(
        isinstance(column, FeatureColumn) and column._is_v2_column
        for column in feature_columns
    )
