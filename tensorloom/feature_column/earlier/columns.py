"""Columns of the earlier interface alone, of every kind.

Programs import them from `tensorflow.python.feature_column.feature_column`. They do
what the columns of `tf.feature_column` do.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.feature_column import checks
from tensorloom.feature_column.crossed import (
    CrossedFields,
    CrossedLogic,
    WeightedFields,
    WeightedLogic,
    check_cross,
    check_weight_dtype,
)
from tensorloom.feature_column.earlier.interfaces import (
    _CategoricalColumn,
    _DenseColumn,
    _SequenceDenseColumn,
)
from tensorloom.feature_column.hashed import (
    HashedFields,
    HashedLogic,
    check_hash_arguments,
)
from tensorloom.feature_column.identity import (
    IdentityLogic,
    check_identity_arguments,
)
from tensorloom.feature_column.indicator import IndicatorFields, IndicatorLogic
from tensorloom.feature_column.numeric import (
    BucketizedFields,
    BucketizedLogic,
    NumericFields,
    NumericLogic,
    check_source_column,
    sorted_boundaries,
)
from tensorloom.feature_column.vocabulary import (
    VocabularyFileFields,
    VocabularyFileLogic,
    VocabularyListFields,
    VocabularyListLogic,
    vocabulary_file_fields,
    vocabulary_list_fields,
)
from tensorloom.framework.types import dtypes
from tensorloom.ops.indexing.selection import where


class _NumericColumn(NumericLogic, _DenseColumn, NumericFields):
    """See `_numeric_column`."""


class _BucketizedColumn(
    BucketizedLogic, _DenseColumn, _CategoricalColumn, BucketizedFields
):
    """See `_bucketized_column`."""


class _HashedCategoricalColumn(HashedLogic, _CategoricalColumn, HashedFields):
    """See `_categorical_column_with_hash_bucket`."""


class _VocabularyFileCategoricalColumn(
    VocabularyFileLogic, _CategoricalColumn, VocabularyFileFields
):
    """See `_categorical_column_with_vocabulary_file`."""


class _VocabularyListCategoricalColumn(
    VocabularyListLogic, _CategoricalColumn, VocabularyListFields
):
    """See `_categorical_column_with_vocabulary_list`."""


class _IdentityFields(NamedTuple):
    key: str
    num_buckets: int
    default_value: int | None


class _IdentityCategoricalColumn(IdentityLogic, _CategoricalColumn, _IdentityFields):
    """See `_categorical_column_with_identity`."""

    _select = staticmethod(where)


class _WeightedCategoricalColumn(WeightedLogic, _CategoricalColumn, WeightedFields):
    """See `_weighted_categorical_column`."""


class _CrossedColumn(CrossedLogic, _CategoricalColumn, CrossedFields):
    """See `_crossed_column`."""


class _IndicatorColumn(
    IndicatorLogic, _DenseColumn, _SequenceDenseColumn, IndicatorFields
):
    """See `_indicator_column`."""


def _numeric_column(
    key: str,
    shape: Any = (1,),
    default_value: Any = None,
    dtype: Any = dtypes.float32,
    normalizer_fn: Any = None,
) -> _NumericColumn:
    """See `tf.feature_column.numeric_column`."""
    shape = checks.check_shape(shape, key)
    checks.check_numeric_dtype(dtype, key)
    default_value = checks.check_default_value(shape, default_value, dtype, key)
    checks.check_normalizer(normalizer_fn)
    checks.assert_key_is_string(key)
    return _NumericColumn(key, shape, default_value, dtype, normalizer_fn)


def _bucketized_column(source_column: Any, boundaries: Any) -> _BucketizedColumn:
    """See `tf.feature_column.bucketized_column`."""
    check_source_column(source_column, _NumericColumn)
    if not boundaries:
        raise ValueError("boundaries must be a sorted list. Given: an empty one.")
    return _BucketizedColumn(source_column, sorted_boundaries(boundaries))


def _categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> _HashedCategoricalColumn:
    """See `tf.feature_column.categorical_column_with_hash_bucket`."""
    check_hash_arguments(key, hash_bucket_size, dtype)
    return _HashedCategoricalColumn(key, hash_bucket_size, dtype)


def _categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> _VocabularyFileCategoricalColumn:
    """See `tf.feature_column.categorical_column_with_vocabulary_file`."""
    fields = vocabulary_file_fields(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    )
    return _VocabularyFileCategoricalColumn(*fields)


def _categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Any,
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> _VocabularyListCategoricalColumn:
    """See `tf.feature_column.categorical_column_with_vocabulary_list`."""
    fields = vocabulary_list_fields(
        key, vocabulary_list, dtype, default_value, num_oov_buckets
    )
    return _VocabularyListCategoricalColumn(*fields)


def _categorical_column_with_identity(
    key: str, num_buckets: int, default_value: int | None = None
) -> _IdentityCategoricalColumn:
    """See `tf.feature_column.categorical_column_with_identity`."""
    check_identity_arguments(key, num_buckets, default_value)
    return _IdentityCategoricalColumn(key, num_buckets, default_value)


def _weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: Any = dtypes.float32
) -> _WeightedCategoricalColumn:
    """See `tf.feature_column.weighted_categorical_column`."""
    check_weight_dtype(dtype)
    return _WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


def _crossed_column(
    keys: Any, hash_bucket_size: int, hash_key: int | None = None
) -> _CrossedColumn:
    """See `tf.feature_column.crossed_column`."""
    check_cross(keys, hash_bucket_size, _CategoricalColumn)
    return _CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def _indicator_column(categorical_column: Any) -> _IndicatorColumn:
    """See `tf.feature_column.indicator_column`."""
    return _IndicatorColumn(categorical_column)
