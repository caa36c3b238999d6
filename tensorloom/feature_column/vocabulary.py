"""Ids of words and integers by their place in a list or a file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from tensorloom.client.program import program_log
from tensorloom.feature_column import checks
from tensorloom.feature_column.earlier.interfaces import _CategoricalColumn
from tensorloom.feature_column.hashed import KeyedLogic, check_input_dtype
from tensorloom.feature_column.interfaces import CategoricalColumn
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.ops.lookup.index_tables import (
    index_table_from_file,
    index_table_from_tensor,
)
from tensorloom.ops.math import math_ops
from tensorloom.storage.files import gfile
from tensorloom.storage.files.file_io import GFile

if TYPE_CHECKING:
    from tensorloom.feature_column.sources import Source
    from tensorloom.framework.types.sparse_tensor import SparseTensor


class VocabularyLogic(KeyedLogic):
    """What both kinds of columns with a vocabulary do."""

    num_oov_buckets: int
    default_value: int

    def _table(self, key_dtype: Any, name: str) -> Any:
        raise NotImplementedError(type(self).__name__)

    def _ids(self, values: SparseTensor, source: Source) -> SparseTensor:
        check_input_dtype(self.key, self.dtype, values)
        key_dtype = self.dtype
        if values.dtype.is_integer:
            key_dtype = dtypes.int64
            values = math_ops.cast(values, dtypes.int64)
        name = f"{self.key}_lookup"
        table = self._table(key_dtype, name)
        if source.state_manager is not None:
            source.state_manager.add_resource(self, name, table)
        return table.lookup(values)  # type: ignore[no-any-return]


class VocabularyFileFields(NamedTuple):
    """What a column with a vocabulary file is told."""

    key: str
    vocabulary_file: str
    vocabulary_size: int
    num_oov_buckets: int
    dtype: Any
    default_value: int


class VocabularyFileLogic(VocabularyLogic):
    """What a column with a vocabulary file does."""

    vocabulary_file: str
    vocabulary_size: int

    @property
    def num_buckets(self) -> int:
        """Words, and buckets for unknown ones."""
        return self.vocabulary_size + self.num_oov_buckets

    def _table(self, key_dtype: Any, name: str) -> Any:
        return index_table_from_file(
            vocabulary_file=self.vocabulary_file,
            num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size,
            default_value=self.default_value,
            key_dtype=key_dtype,
            name=name,
        )


class VocabularyFileCategoricalColumn(
    VocabularyFileLogic, CategoricalColumn, _CategoricalColumn, VocabularyFileFields
):
    """See `categorical_column_with_vocabulary_file`."""


def vocabulary_file_fields(
    key: Any,
    vocabulary_file: Any,
    vocabulary_size: int | None,
    dtype: Any,
    default_value: int | None,
    num_oov_buckets: int | None,
) -> VocabularyFileFields:
    """The checked arguments of a column with a vocabulary file.

    Raises:
      ValueError: see `categorical_column_with_vocabulary_file`.
    """
    if not vocabulary_file:
        raise ValueError(f"Missing vocabulary_file in {key}.")
    if vocabulary_size is None:
        vocabulary_size = _count_lines(key, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError(f"Invalid vocabulary_size in {key}: {vocabulary_size}.")
    _check_buckets(key, num_oov_buckets, default_value is not None, default_value)
    checks.assert_string_or_int(dtype, prefix=f"column_name: {key}")
    checks.assert_key_is_string(key)
    return VocabularyFileFields(
        key=key,
        vocabulary_file=vocabulary_file,
        vocabulary_size=vocabulary_size,
        num_oov_buckets=num_oov_buckets or 0,
        dtype=dtype,
        default_value=-1 if default_value is None else default_value,
    )


def _count_lines(key: Any, path: Any) -> int:
    if not gfile.exists(path):
        raise ValueError(f"vocabulary_file in {key} does not exist: {path}.")
    with GFile(path) as lines:
        count = sum(1 for _ in lines)
    program_log.info(
        "vocabulary_size = %d in %s is inferred from the number of elements "
        "in the vocabulary_file %s.",
        count,
        key,
        path,
    )
    return count


def _check_buckets(
    key: Any, buckets: int | None, has_default: bool, default_value: Any
) -> None:
    if not buckets:
        return
    if has_default:
        raise ValueError(
            f"Can't specify both num_oov_buckets and default_value in {key}. "
            f"Given: {buckets} and {default_value}."
        )
    if buckets < 0:
        raise ValueError(f"Invalid num_oov_buckets {buckets} in {key}.")


@export("feature_column.categorical_column_with_vocabulary_file")
def categorical_column_with_vocabulary_file(
    key: str,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    num_oov_buckets: int = 0,
    default_value: int | None = None,
    dtype: Any = dtypes.string,
) -> VocabularyFileCategoricalColumn:
    """Ids are line numbers of a file. In a dense feature "" and -1 are missing values.

    Args:
      key: name of the feature, a tensor or SparseTensor of strings or integers.
      vocabulary_file: one value a line.
      vocabulary_size: how many lines count; all of them when None.
      num_oov_buckets: ids after those of the file, for the hashes of unknown values.
      default_value: the id of unknown values; without either they are left out.
      dtype: of the feature.

    Raises:
      ValueError: no file, no words, buckets below 0, both buckets and a default,
        another dtype, or a key that is not a string.
    """
    fields = vocabulary_file_fields(
        key, vocabulary_file, vocabulary_size, dtype, default_value, num_oov_buckets
    )
    return VocabularyFileCategoricalColumn(*fields)


def vocabulary_file_column_v2(
    key: str,
    vocabulary_file: Any,
    vocabulary_size: int | None = None,
    dtype: Any = dtypes.string,
    default_value: int | None = None,
    num_oov_buckets: int = 0,
) -> VocabularyFileCategoricalColumn:
    """The same with the arguments in the order of TensorFlow 2."""
    return categorical_column_with_vocabulary_file(
        key, vocabulary_file, vocabulary_size, num_oov_buckets, default_value, dtype
    )


class VocabularyListFields(NamedTuple):
    """What a column with a vocabulary is told."""

    key: str
    vocabulary_list: tuple[Any, ...]
    dtype: Any
    default_value: int
    num_oov_buckets: int


class VocabularyListLogic(VocabularyLogic):
    """What a column with a vocabulary does."""

    vocabulary_list: tuple[Any, ...]

    @property
    def num_buckets(self) -> int:
        """Words, and buckets for unknown ones."""
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _table(self, key_dtype: Any, name: str) -> Any:
        return index_table_from_tensor(
            tuple(self.vocabulary_list),
            default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets,
            dtype=key_dtype,
            name=name,
        )


class VocabularyListCategoricalColumn(
    VocabularyListLogic, CategoricalColumn, _CategoricalColumn, VocabularyListFields
):
    """See `categorical_column_with_vocabulary_list`."""


def vocabulary_list_fields(
    key: Any,
    vocabulary_list: Sequence[Any] | None,
    dtype: Any,
    default_value: int,
    num_oov_buckets: int,
) -> VocabularyListFields:
    """The checked arguments of a column with a vocabulary.

    Raises:
      ValueError: see `categorical_column_with_vocabulary_list`.
    """
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError(
            f"vocabulary_list {vocabulary_list} must be non-empty, column_name: {key}"
        )
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError(
            f"Duplicate keys in vocabulary_list {vocabulary_list}, column_name: {key}"
        )
    found = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _check_buckets(key, num_oov_buckets, default_value != -1, default_value)
    checks.assert_string_or_int(found, prefix=f"column_name: {key} vocabulary")
    if dtype is None:
        dtype = found
    elif dtype.is_integer != found.is_integer:
        raise ValueError(
            f"dtype {dtype} and vocabulary dtype {found} do not match, "
            f"column_name: {key}"
        )
    checks.assert_string_or_int(dtype, prefix=f"column_name: {key}")
    checks.assert_key_is_string(key)
    return VocabularyListFields(
        key, tuple(vocabulary_list), dtype, default_value, num_oov_buckets
    )


@export("feature_column.categorical_column_with_vocabulary_list")
def categorical_column_with_vocabulary_list(
    key: str,
    vocabulary_list: Any,
    dtype: Any = None,
    default_value: int = -1,
    num_oov_buckets: int = 0,
) -> VocabularyListCategoricalColumn:
    """Ids are places in a list. In a dense feature "" and -1 are missing values.

    Args:
      key: name of the feature, a tensor or SparseTensor of strings or integers.
      vocabulary_list: the values, each once.
      dtype: of the feature; that of the list when None.
      default_value: the id of unknown values; -1 leaves them out.
      num_oov_buckets: ids after those of the list, for the hashes of unknown values.

    Raises:
      ValueError: an empty list, a value that is in it twice, buckets below 0, both
        buckets and a default, another dtype, or a key that is not a string.
    """
    fields = vocabulary_list_fields(
        key, vocabulary_list, dtype, default_value, num_oov_buckets
    )
    return VocabularyListCategoricalColumn(*fields)
