"""Tables between words and ids: `index_table_from_tensor` and its relatives."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.lookup.bucket_tables import FastHashSpec, IdTableWithHashBuckets
from tensorloom.ops.lookup.tables import (
    KeyValueTensorInitializer,
    StaticHashTable,
    TextFileIdTableInitializer,
    TextFileIndex,
    TextFileStringTableInitializer,
)
from tensorloom.ops.math import math_ops


def _check_buckets(num_oov_buckets: int) -> None:
    if num_oov_buckets < 0:
        raise ValueError(
            f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}."
        )


def _check_vocabulary_size(vocab_size: int | None, vocabulary_file: Any) -> None:
    if vocab_size is not None and vocab_size < 1:
        is_tensor = isinstance(vocabulary_file, Tensor)
        file = constant_value(vocabulary_file) if is_tensor else vocabulary_file
        raise ValueError(
            f"vocab_size must be greater than 0, got {vocab_size}. "
            f"vocabulary_file: {file}"
        )


def _with_buckets(table: Any, buckets: int, hasher_spec: Any, key_dtype: Any) -> Any:
    if not buckets:
        return table
    return IdTableWithHashBuckets(
        table, num_oov_buckets=buckets, hasher_spec=hasher_spec, key_dtype=key_dtype
    )


def _check_keys(dtype: Any) -> None:
    kind = dtypes.as_dtype(dtype)
    if not kind.is_integer and kind != dtypes.string:
        raise TypeError(f"Only integer and string keys are supported, not {kind.name}.")


@export("contrib.lookup.index_table_from_tensor")
def index_table_from_tensor(
    mapping: Any,
    num_oov_buckets: int = 0,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    dtype: Any = dtypes.string,
    name: str | None = None,
) -> Any:
    """A table from the elements of `mapping` [n] to their positions.

    Raises:
      ValueError: no mapping, a negative number of buckets, or elements that are no
        keys of this dtype.
      TypeError: keys of this dtype are not supported.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    _check_buckets(num_oov_buckets)
    _check_keys(dtype)
    is_integer = dtypes.as_dtype(dtype).is_integer
    with name_scope(name, "string_to_index"):
        keys = convert_to_tensor(mapping)
        if is_integer != keys.dtype.is_integer:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        if not is_integer and keys.dtype != dtypes.string:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        count = array_ops.size(keys)
        values = math_ops.cast(math_ops.range(count), dtypes.int64)
        with name_scope(None, "hash_table"):
            key_dtype = dtypes.int64 if is_integer else dtypes.string
            keys = math_ops.cast(keys, dtypes.int64) if is_integer else keys
            initializer = KeyValueTensorInitializer(
                keys, values, key_dtype, dtypes.int64, name="table_init"
            )
            table = StaticHashTable(initializer, default_value)
            return _with_buckets(table, num_oov_buckets, hasher_spec, dtype)


@export("contrib.lookup.index_table_from_file")
def index_table_from_file(
    vocabulary_file: Any = None,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    hasher_spec: Any = FastHashSpec,
    key_dtype: Any = dtypes.string,
    name: str | None = None,
    key_column_index: int = TextFileIndex.WHOLE_LINE,
    value_column_index: int = TextFileIndex.LINE_NUMBER,
    delimiter: str = "\t",
) -> Any:
    """A table from the lines of a file to their numbers.

    Raises:
      ValueError: no file, a vocabulary of no word, or a negative number of buckets.
      TypeError: keys of this dtype are not supported.
    """
    if vocabulary_file is None or vocabulary_file == "":
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    _check_buckets(num_oov_buckets)
    _check_vocabulary_size(vocab_size, vocabulary_file)
    _check_keys(key_dtype)
    is_integer = dtypes.as_dtype(key_dtype).is_integer
    with name_scope(name, "string_to_index"), name_scope(None, "hash_table"):
        initializer = TextFileIdTableInitializer(
            filename=vocabulary_file,
            key_column_index=key_column_index,
            value_column_index=value_column_index,
            vocab_size=vocab_size,
            delimiter=delimiter,
            name="table_init",
            key_dtype=dtypes.int64 if is_integer else key_dtype,
        )
        table = StaticHashTable(initializer, default_value)
        return _with_buckets(table, num_oov_buckets, hasher_spec, key_dtype)


@export("contrib.lookup.index_to_string_table_from_tensor")
def index_to_string_table_from_tensor(
    mapping: Any, default_value: str = "UNK", name: str | None = None
) -> StaticHashTable:
    """A table from positions in `mapping` [n] to its strings.

    Raises:
      ValueError: no mapping.
    """
    if mapping is None:
        raise ValueError("mapping must be specified.")
    with name_scope(name, "index_to_string"):
        values = convert_to_tensor(mapping, dtype=dtypes.string)
        count = array_ops.size(values)
        keys = math_ops.cast(math_ops.range(count), dtypes.int64)
        initializer = KeyValueTensorInitializer(
            keys, values, dtypes.int64, dtypes.string, name="table_init"
        )
        return StaticHashTable(initializer, default_value)


@export("contrib.lookup.index_to_string_table_from_file")
def index_to_string_table_from_file(
    vocabulary_file: Any,
    vocab_size: int | None = None,
    default_value: str = "UNK",
    name: str | None = None,
    key_column_index: int = TextFileIndex.LINE_NUMBER,
    value_column_index: int = TextFileIndex.WHOLE_LINE,
    delimiter: str = "\t",
) -> StaticHashTable:
    """A table from line numbers of a file to lines.

    Raises:
      ValueError: no file, or a vocabulary of no word.
    """
    if vocabulary_file is None or (
        isinstance(vocabulary_file, str) and not vocabulary_file
    ):
        raise ValueError("vocabulary_file must be specified.")
    _check_vocabulary_size(vocab_size, vocabulary_file)
    with name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            filename=vocabulary_file,
            key_column_index=key_column_index,
            value_column_index=value_column_index,
            vocab_size=vocab_size,
            delimiter=delimiter,
            name="table_init",
        )
        return StaticHashTable(initializer, default_value)
