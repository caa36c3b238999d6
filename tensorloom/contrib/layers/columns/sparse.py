"""Columns of categories: ids, hashed values, known values, and these with weights."""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Iterable
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.layers.columns.interfaces import (
    LinearLookup,
    _FeatureColumn,
    reshape_to_rank,
)
from tensorloom.contrib.layers.columns.names import declared_column
from tensorloom.contrib.layers.embeddings.crosses import dense_to_sparse_tensor
from tensorloom.feature_column.earlier.interfaces import _CategoricalColumn
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.ops.lookup.index_tables import (
    index_table_from_file,
    index_table_from_tensor,
)
from tensorloom.ops.math.binary import mod
from tensorloom.ops.math.cast import cast
from tensorloom.ops.parsing.parsing_features import VarLenFeature
from tensorloom.ops.sparse.shape_builders import sparse_concat
from tensorloom.ops.state.initializers import Zeros
from tensorloom.ops.strings.codec import (
    string_to_hash_bucket_fast,
    string_to_hash_bucket_strong,
)
from tensorloom.ops.strings.string_ops import as_string

_SparseIdLookupConfig = namedtuple(
    "_SparseIdLookupConfig",
    ["vocabulary_file", "keys", "num_oov_buckets", "vocab_size", "default_value"],
    defaults=[None, None, 0, None, -1],
)


def _with_values(tensor: SparseTensor, values: Any) -> SparseTensor:
    return SparseTensor(tensor.indices, values, tensor.dense_shape)


class _Categories(_FeatureColumn, _CategoricalColumn):
    """What has ids, and perhaps weights of them."""

    length: Any
    combiner: Any

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids, of the column's tensor."""
        return input_tensor

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights, of the column's tensor; None where there are none."""
        return None

    @property
    def _num_buckets(self) -> int:
        return int(self.length)

    def _get_sparse_tensors(
        self, inputs: Any, weight_collections: Any = None, trainable: Any = None
    ) -> Any:
        tensor = inputs.get(self)
        return self.IdWeightPair(self.id_tensor(tensor), self.weight_tensor(tensor))

    def _wide_embedding_lookup_arguments(self, input_tensor: Any) -> LinearLookup:
        return LinearLookup(
            self.id_tensor(input_tensor),
            self.weight_tensor(input_tensor),
            self.length,
            Zeros(),
            self.combiner,
        )


class _SparseColumn(
    _Categories,
    namedtuple(
        "_SparseColumn",
        [
            "column_name",
            "is_integerized",
            "bucket_size",
            "lookup_config",
            "combiner",
            "dtype",
        ],
    ),
):
    """A feature of strings or integers, with an id for each value."""

    def __new__(
        cls,
        column_name: str,
        is_integerized: bool = False,
        bucket_size: int | None = None,
        lookup_config: Any = None,
        combiner: str = "sum",
        dtype: Any = dtypes.string,
    ) -> Any:
        """Raises ValueError for sizes and dtypes that do not fit."""
        where = f"column_name: {column_name}"
        if is_integerized and bucket_size is None:
            raise ValueError(
                f"bucket_size must be set if is_integerized is True. {where}"
            )
        if is_integerized and not dtype.is_integer:
            raise ValueError(
                "dtype must be an integer if is_integerized is True. "
                f"dtype: {dtype}, {where}."
            )
        if dtype != dtypes.string and not dtype.is_integer:
            raise ValueError(
                f"dtype must be string or integer. dtype: {dtype}, {where}"
            )
        if bucket_size is None and lookup_config is None:
            raise ValueError(
                f"one of bucket_size or lookup_config must be set. {where}"
            )
        if bucket_size is not None and bucket_size < 1:
            raise ValueError(
                f"bucket_size must be at least 1. bucket_size: {bucket_size}, {where}"
            )
        return super().__new__(
            cls,
            column_name,
            is_integerized,
            bucket_size,
            lookup_config,
            combiner,
            dtype,
        )

    @property
    def name(self) -> str:
        """The feature's name."""
        return str(self.column_name)

    @property
    def length(self) -> int:
        """How many ids there are."""
        if self.bucket_size is not None:
            return int(self.bucket_size)
        return int(self.lookup_config.vocab_size + self.lookup_config.num_oov_buckets)

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.parse_example` parses it from."""
        return {self.column_name: VarLenFeature(self.dtype)}

    def _to_dnn_input_layer(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            "SparseColumn is not supported in DNN. Please use embedding_column or "
            f"one_hot_column. column: {self}"
        )

    def is_compatible(self, other_column: Any) -> bool:
        """Whether two columns can share an embedding."""
        if self.lookup_config and other_column.lookup_config:
            return bool(self.lookup_config == other_column.lookup_config)
        is_same = self.length == other_column.length and (
            self.dtype == other_column.dtype
            or (self.dtype.is_integer and other_column.dtype.is_integer)
        )
        if is_same:
            program_log.warning(
                "Column %s and %s may not have the same vocabulary.",
                self.name,
                other_column.name,
            )
        return bool(is_same)

    def _transform_feature(self, inputs: Any) -> Any:
        tensor = inputs.get(self.name)
        if not isinstance(tensor, SparseTensor):
            ignored: Any = "" if tensor.dtype == dtypes.string else -1
            tensor = reshape_to_rank(tensor, 2, self.name)
            tensor = dense_to_sparse_tensor(tensor, ignore_value=ignored)
        return self._do_transform(tensor)

    def _do_transform(self, tensor: SparseTensor) -> SparseTensor:
        raise NotImplementedError(f"Transform is not implemented for {self}.")

    def _as_text(self, values: Any) -> Any:
        return as_string(values) if self.dtype.is_integer else values


class _SparseColumnIntegerized(_SparseColumn):
    def _do_transform(self, tensor: SparseTensor) -> SparseTensor:
        return _with_values(tensor, mod(tensor.values, self.bucket_size, name="mod"))


class _SparseColumnHashed(_SparseColumn):
    hash_keys: Any = None

    def _do_transform(self, tensor: SparseTensor) -> SparseTensor:
        values, size = self._as_text(tensor.values), self.bucket_size
        if not self.hash_keys:
            hashes = string_to_hash_bucket_fast(values, size, name="lookup")
            return _with_values(tensor, hashes)
        parts = [
            _with_values(tensor, string_to_hash_bucket_strong(values, size, key))
            for key in self.hash_keys
        ]
        found: SparseTensor = sparse_concat(axis=1, sp_inputs=parts, name="lookup")
        return found


class _SparseColumnKeys(_SparseColumn):
    def _do_transform(self, tensor: SparseTensor) -> SparseTensor:
        table = index_table_from_tensor(
            mapping=tuple(self.lookup_config.keys),
            default_value=self.lookup_config.default_value,
            dtype=self.dtype,
            name="lookup",
        )
        found: SparseTensor = table.lookup(tensor)
        return found


class _SparseColumnVocabulary(_SparseColumn):
    def _do_transform(self, tensor: SparseTensor) -> SparseTensor:
        config = self.lookup_config
        table = index_table_from_file(
            vocabulary_file=config.vocabulary_file,
            num_oov_buckets=config.num_oov_buckets,
            vocab_size=config.vocab_size,
            default_value=config.default_value,
            name=f"{self.name}_lookup",
        )
        text = _with_values(tensor, self._as_text(tensor.values))
        found: SparseTensor = table.lookup(text)
        return found


@declared_column("sparse_column_with_integerized_feature")
def sparse_column_with_integerized_feature(
    column_name: str, bucket_size: int, combiner: str = "sum", dtype: Any = dtypes.int64
) -> Any:
    """A column of integers that are ids themselves, modulo `bucket_size`.

    Args:
      column_name: the feature's name.
      combiner: "sum", "mean" or "sqrtn", of several values of an example.
      dtype: of the values.

    Raises:
      ValueError: the size is below 1, or the dtype is no integer.
    """
    return _SparseColumnIntegerized(
        column_name,
        is_integerized=True,
        bucket_size=bucket_size,
        combiner=combiner,
        dtype=dtype,
    )


@declared_column("sparse_column_with_hash_bucket")
def sparse_column_with_hash_bucket(
    column_name: str,
    hash_bucket_size: int,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
    hash_keys: list[list[int]] | None = None,
) -> Any:
    """A column whose ids are hashes of its values, below `hash_bucket_size`.

    Args:
      hash_keys: pairs of integers, with each of which values are hashed once.
      column_name, combiner, dtype: as of `sparse_column_with_integerized_feature`.

    Raises:
      ValueError: the size is below 1, or the keys are no pairs of integers.
    """
    if hash_keys is not None:
        if not isinstance(hash_keys, list) or not hash_keys:
            raise ValueError("hash_keys must be a non-empty list.")
        if not all(isinstance(pair, list) and len(pair) == 2 for pair in hash_keys) or (
            not all(isinstance(key, int) for key in nest.flatten(hash_keys))
        ):
            raise ValueError("Each element of hash_keys must be a pair of integers.")
    column = _SparseColumnHashed(
        column_name, bucket_size=hash_bucket_size, combiner=combiner, dtype=dtype
    )
    column.hash_keys = hash_keys
    return column


@declared_column("sparse_column_with_keys")
def sparse_column_with_keys(
    column_name: str,
    keys: Iterable[Any],
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> Any:
    """A column of known values, whose ids are their places in a list.

    Args:
      keys: the values.
      default_value: the id of values that are not in it.
      column_name, combiner, dtype: as of `sparse_column_with_integerized_feature`.
    """
    keys = tuple(keys)
    config = _SparseIdLookupConfig(
        keys=keys, vocab_size=len(keys), default_value=default_value
    )
    return _SparseColumnKeys(
        column_name, lookup_config=config, combiner=combiner, dtype=dtype
    )


@declared_column("sparse_column_with_vocabulary_file")
def sparse_column_with_vocabulary_file(
    column_name: str,
    vocabulary_file: str,
    num_oov_buckets: int = 0,
    vocab_size: int | None = None,
    default_value: int = -1,
    combiner: str = "sum",
    dtype: Any = dtypes.string,
) -> Any:
    """A column of known values, whose ids are their lines in a file.

    Args:
      num_oov_buckets: how many ids are for other values, by their hash.
      vocab_size: how many lines count.
      default_value, ...: as of `sparse_column_with_keys`.

    Raises:
      ValueError: the size is not given.
    """
    if vocab_size is None:
        raise ValueError(f"vocab_size should be defined. column_name: {column_name}")
    config = _SparseIdLookupConfig(
        vocabulary_file=vocabulary_file,
        num_oov_buckets=num_oov_buckets,
        vocab_size=vocab_size,
        default_value=default_value,
    )
    return _SparseColumnVocabulary(
        column_name, lookup_config=config, combiner=combiner, dtype=dtype
    )


class _WeightedSparseColumn(
    _Categories,
    namedtuple(
        "_WeightedSparseColumn", ["sparse_id_column", "weight_column_name", "dtype"]
    ),
):
    """Categories, with a second feature that has a weight for each value."""

    @property
    def name(self) -> str:
        """Of both features."""
        return f"{self.sparse_id_column.name}_weighted_by_{self.weight_column_name}"

    @property
    def length(self) -> int:
        """How many ids there are."""
        return int(self.sparse_id_column.length)

    @property
    def combiner(self) -> str:
        """Of the categories."""
        return str(self.sparse_id_column.combiner)

    @property
    def lookup_config(self) -> Any:
        """Of the categories."""
        return self.sparse_id_column.lookup_config

    @property
    def config(self) -> dict[str, Any]:
        """What `tf.parse_example` parses both features from."""
        weights = {self.weight_column_name: VarLenFeature(self.dtype)}
        return {**self.sparse_id_column.config, **weights}

    def id_tensor(self, input_tensor: Any) -> Any:
        """The ids."""
        return input_tensor[0]

    def weight_tensor(self, input_tensor: Any) -> Any:
        """The weights."""
        return input_tensor[1]

    def _to_dnn_input_layer(self, *args: Any, **kwargs: Any) -> Any:
        raise ValueError(
            "WeightedSparseColumn is not supported in DNN. Please use embedding_column "
            f"or one_hot_column. column: {self}"
        )

    def _transform_feature(self, inputs: Any) -> Any:
        ids = inputs.get(self.sparse_id_column)
        weights = inputs.get(self.weight_column_name)
        if not isinstance(weights, SparseTensor):
            weights = dense_to_sparse_tensor(weights)
        if not self.dtype.is_floating:
            weights = cast(weights, dtypes.float32)
        return ids, weights

    def is_compatible(self, other_column: Any) -> bool:
        """Whether two columns can share an embedding."""
        if isinstance(other_column, _WeightedSparseColumn):
            other_column = other_column.sparse_id_column
        return bool(self.sparse_id_column.is_compatible(other_column))


@declared_column("weighted_sparse_column")
def weighted_sparse_column(
    sparse_id_column: Any, weight_column_name: str, dtype: Any = dtypes.float32
) -> Any:
    """A column of categories with weights.

    Args:
      sparse_id_column: the categories.
      weight_column_name: the feature of the weights.
      dtype: of the weights.

    Raises:
      ValueError: the dtype is no number.
    """
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype is not convertible to float. Given {dtype}")
    return _WeightedSparseColumn(sparse_id_column, weight_column_name, dtype)
