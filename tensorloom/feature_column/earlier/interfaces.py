"""Base classes of the earlier interface of columns."""

from __future__ import annotations

import abc
from typing import Any

from tensorloom.feature_column.interfaces import IdWeightPair, TensorSequenceLengthPair


class _FeatureColumn(abc.ABC):
    """How one feature of the examples comes to a model."""

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

    @property
    def _var_scope_name(self) -> str:
        """The variable scope of what the column makes."""
        return self.name

    @abc.abstractmethod
    def _transform_feature(self, inputs: Any) -> Any:
        """The feature as this column wants it; `inputs` is a `_LazyBuilder`."""

    @property
    @abc.abstractmethod
    def _parse_example_spec(self) -> dict[str, Any]:
        """What `tf.io.parse_example` has to read: configurations by feature."""

    def _reset_config(self) -> None:  # noqa: B027  (need not)
        """Forgets what the column remembers of a graph."""


class _DenseColumn(_FeatureColumn):
    """A column that gives a dense tensor [batch, ...]."""

    @property
    @abc.abstractmethod
    def _variable_shape(self) -> Any:
        """The shape of `_get_dense_tensor` without its first dimension."""

    @abc.abstractmethod
    def _get_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        """The column's tensor [batch, ..._variable_shape]."""


class _CategoricalColumn(_FeatureColumn):
    """A column of ids, any number of them in an example."""

    IdWeightPair = IdWeightPair

    @property
    @abc.abstractmethod
    def _num_buckets(self) -> int:
        """How many different ids there are."""

    @abc.abstractmethod
    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        """An `IdWeightPair`: ids [batch, ...], and weights of equal places or None."""


class _SequenceDenseColumn(_FeatureColumn):
    """A column of sequences, as dense tensors."""

    TensorSequenceLengthPair = TensorSequenceLengthPair

    @abc.abstractmethod
    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        """A `TensorSequenceLengthPair`."""
