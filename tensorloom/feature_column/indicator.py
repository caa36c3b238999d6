"""Ids as a row of ones and zeros."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.feature_column.earlier.interfaces import (
    _DenseColumn,
    _SequenceDenseColumn,
)
from tensorloom.feature_column.interfaces import (
    DenseColumn,
    SequenceDenseColumn,
    TensorSequenceLengthPair,
)
from tensorloom.feature_column.one_logic import DenseLogic, buckets_of, spec_of
from tensorloom.feature_column.sequence_checks import (
    check_is_sequence,
    check_no_sequence,
)
from tensorloom.feature_column.sources import BuilderSource, CacheSource, Source
from tensorloom.feature_column.sparse_input import sequence_length_from_sparse_tensor
from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.shape_builders import sparse_slice
from tensorloom.ops.sparse.sparse_builders import sparse_merge, sparse_tensor_to_dense


class IndicatorFields(NamedTuple):
    """What an indicator column is told."""

    categorical_column: Any


class IndicatorLogic(DenseLogic):
    """What an indicator column does."""

    categorical_column: Any

    @property
    def name(self) -> str:
        """That of the column of ids, and what is done with it."""
        return f"{self.categorical_column.name}_indicator"

    @property
    def parents(self) -> list[Any]:
        """The column of ids."""
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the column of ids."""
        return spec_of(self.categorical_column)

    @property
    def variable_shape(self) -> TensorShape:
        """One element for each id."""
        return TensorShape([1, buckets_of(self.categorical_column)])

    def _transform(self, source: Source) -> Any:
        ids, weights = source.sparse_tensors(self.categorical_column)
        depth = self.variable_shape[-1]
        if weights is not None:
            rows = sparse_merge(sp_ids=ids, sp_values=weights, vocab_size=int(depth))
            # Ids of -1 are cut off.
            rows = sparse_slice(rows, [0, 0], rows.dense_shape)
            return array_ops.scatter_nd(rows.indices, rows.values, rows.dense_shape)
        dense_ids = sparse_tensor_to_dense(ids, default_value=-1)
        ones = array_ops.one_hot(dense_ids, depth=depth, on_value=1.0, off_value=0.0)
        return math_ops.reduce_sum(ones, axis=[-2])

    def _dense(self, source: Source, is_earlier: bool) -> Any:
        check_no_sequence(self, "indicator_column", is_earlier)
        return source.get(self)

    def _sequence(self, source: Source, is_earlier: bool) -> TensorSequenceLengthPair:
        check_is_sequence(self, "indicator_column", is_earlier)
        dense = source.get(self)
        ids = source.sparse_tensors(self.categorical_column).id_tensor
        return TensorSequenceLengthPair(dense, sequence_length_from_sparse_tensor(ids))

    def get_sequence_dense_tensor(
        self, transformation_cache: Any, state_manager: Any
    ) -> Any:
        """See `SequenceDenseColumn`."""
        return self._sequence(CacheSource(transformation_cache, state_manager), False)

    def _get_sequence_dense_tensor(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        return self._sequence(BuilderSource(inputs), True)


class IndicatorColumn(
    IndicatorLogic,
    DenseColumn,
    SequenceDenseColumn,
    _DenseColumn,
    _SequenceDenseColumn,
    IndicatorFields,
):
    """See `indicator_column`."""


@export("feature_column.indicator_column")
def indicator_column(categorical_column: Any) -> IndicatorColumn:
    """How often each id is in an example, as a row of floats (their weights, summed).

    Args:
      categorical_column: of either interface.
    """
    return IndicatorColumn(categorical_column)
