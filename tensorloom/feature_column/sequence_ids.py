"""Sequences of ids: `sequence_categorical_column_with_*`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.feature_column.earlier.interfaces import _CategoricalColumn
from tensorloom.feature_column.hashed import categorical_column_with_hash_bucket
from tensorloom.feature_column.identity import categorical_column_with_identity
from tensorloom.feature_column.interfaces import CategoricalColumn, IdWeightPair
from tensorloom.feature_column.one_logic import CategoricalLogic, buckets_of, spec_of
from tensorloom.feature_column.vocabulary import (
    categorical_column_with_vocabulary_file,
    categorical_column_with_vocabulary_list,
)
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.shape_builders import sparse_reshape

if TYPE_CHECKING:
    from tensorloom.feature_column.sources import Source


class SequenceFields(NamedTuple):
    """What a column of sequences is told."""

    categorical_column: Any


class SequenceLogic(CategoricalLogic):
    """What a column of sequences does: each step's ids stay apart."""

    categorical_column: Any

    @property
    def name(self) -> str:
        """That of the column of ids."""
        return self.categorical_column.name  # type: ignore[no-any-return]

    @property
    def parents(self) -> list[Any]:
        """The column of ids."""
        return [self.categorical_column]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """That of the column of ids."""
        return spec_of(self.categorical_column)

    @property
    def num_buckets(self) -> int:
        """Those of the column of ids."""
        return buckets_of(self.categorical_column)

    def _transform(self, source: Source) -> Any:
        return source.transform(self.categorical_column)

    def _id_weight_pair(self, source: Source) -> IdWeightPair:
        pair = source.sparse_tensors(self.categorical_column)
        ids, weights = pair.id_tensor, pair.weight_tensor
        shape = array_ops.shape(ids)
        # The third dimension is told, not -1: of an empty tensor it cannot be inferred.
        steps = [shape[0], shape[1], math_ops.reduce_prod(shape[2:])]
        ids = sparse_reshape(ids, steps)
        if weights is not None:
            weights = sparse_reshape(weights, steps)
        return IdWeightPair(ids, weights)


class _SequenceCategoricalColumn(SequenceLogic, _CategoricalColumn, SequenceFields):
    """A column of sequences of the earlier interface."""


class SequenceCategoricalColumn(_SequenceCategoricalColumn, CategoricalColumn):
    """See `sequence_categorical_column_with_identity` and its relatives."""


@export("feature_column.sequence_categorical_column_with_identity")
def sequence_categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> SequenceCategoricalColumn:
    """Sequences for `categorical_column_with_identity`."""
    return SequenceCategoricalColumn(
        categorical_column_with_identity(key, num_buckets, default_value)
    )


@export("feature_column.sequence_categorical_column_with_hash_bucket")
def sequence_categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> SequenceCategoricalColumn:
    """Sequences for `categorical_column_with_hash_bucket`."""
    return SequenceCategoricalColumn(
        categorical_column_with_hash_bucket(key, hash_bucket_size, dtype)
    )


@export("feature_column.sequence_categorical_column_with_vocabulary_file")
def sequence_categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> SequenceCategoricalColumn:
    """Sequences for `categorical_column_with_vocabulary_file`."""
    column = categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
    )
    return SequenceCategoricalColumn(column)


@export("feature_column.sequence_categorical_column_with_vocabulary_list")
def sequence_categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Any,
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> SequenceCategoricalColumn:
    """Sequences for `categorical_column_with_vocabulary_list`."""
    column = categorical_column_with_vocabulary_list(
        key, vocabulary_list, dtype, default_value, num_oov_buckets
    )
    return SequenceCategoricalColumn(column)
