"""Ids of words and integers by hashing; integers that are ids as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.feature_column import checks
from tensorloom.feature_column.earlier.interfaces import _CategoricalColumn
from tensorloom.feature_column.interfaces import CategoricalColumn
from tensorloom.feature_column.one_logic import CategoricalLogic
from tensorloom.feature_column.sparse_input import to_sparse_input
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.parsing.parsing_features import VarLenFeature
from tensorloom.ops.strings import codec as string_codec_ops
from tensorloom.ops.strings import string_ops

if TYPE_CHECKING:
    from tensorloom.feature_column.sources import Source


def check_input_dtype(key: str, dtype: Any, tensor: Any) -> None:
    """Raises ValueError: the column is of strings and the feature not, or reversely."""
    checks.assert_string_or_int(tensor.dtype, prefix=f"column_name: {key} input_tensor")
    if dtype.is_integer != tensor.dtype.is_integer:
        raise ValueError(
            "Column dtype and SparseTensors dtype must be compatible. "
            f"key: {key}, column dtype: {dtype}, tensor dtype: {tensor.dtype}"
        )


class KeyedLogic(CategoricalLogic):
    """A categorical column that is called like the feature it reads."""

    key: str
    dtype: Any

    @property
    def name(self) -> str:
        """The feature's."""
        return self.key

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """A feature of any length."""
        return {self.key: VarLenFeature(self.dtype)}

    def _transform(self, source: Source) -> Any:
        return self._ids(to_sparse_input(source.get(self.key)), source)

    def _ids(self, values: SparseTensor, source: Source) -> SparseTensor:
        raise NotImplementedError(type(self).__name__)


class HashedFields(NamedTuple):
    """What a hashed column is told."""

    key: str
    hash_bucket_size: int
    dtype: Any


class HashedLogic(KeyedLogic):
    """What a hashed column does."""

    hash_bucket_size: int

    @property
    def num_buckets(self) -> int:
        """The number of hashes."""
        return self.hash_bucket_size

    def _ids(self, values: SparseTensor, source: Source) -> SparseTensor:
        check_input_dtype(self.key, self.dtype, values)
        words: Any = values.values
        if self.dtype != dtypes.string:
            words = string_ops.as_string(words)
        ids = string_codec_ops.string_to_hash_bucket_fast(
            words, self.hash_bucket_size, name="lookup"
        )
        return SparseTensor(values.indices, ids, values.dense_shape)


class HashedCategoricalColumn(
    HashedLogic, CategoricalColumn, _CategoricalColumn, HashedFields
):
    """See `categorical_column_with_hash_bucket`."""


def check_hash_arguments(key: Any, hash_bucket_size: Any, dtype: Any) -> None:
    """Raises ValueError: see `categorical_column_with_hash_bucket`."""
    if hash_bucket_size is None:
        raise ValueError(f"hash_bucket_size must be set. key: {key}")
    if hash_bucket_size < 1:
        raise ValueError(
            "hash_bucket_size must be at least 1. "
            f"hash_bucket_size: {hash_bucket_size}, key: {key}"
        )
    checks.assert_key_is_string(key)
    checks.assert_string_or_int(dtype, prefix=f"column_name: {key}")


@export("feature_column.categorical_column_with_hash_bucket")
def categorical_column_with_hash_bucket(
    key: str, hash_bucket_size: int, dtype: Any = dtypes.string
) -> HashedCategoricalColumn:
    """Ids are hashes of the feature's values, modulo `hash_bucket_size`.

    Integers are hashed as their text. In a dense feature "" and -1 are missing values.

    Args:
      key: name of the feature, a tensor or SparseTensor of strings or integers.
      hash_bucket_size: the number of ids, at least 1.
      dtype: of the feature.

    Raises:
      ValueError: a size below 1, another dtype, or a key that is not a string.
    """
    check_hash_arguments(key, hash_bucket_size, dtype)
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)
