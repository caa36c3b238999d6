"""Columns of several features: crosses, and ids with weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from tensorloom.feature_column.earlier.interfaces import _CategoricalColumn
from tensorloom.feature_column.hashed import HashedLogic
from tensorloom.feature_column.interfaces import CategoricalColumn, IdWeightPair
from tensorloom.feature_column.one_logic import CategoricalLogic, buckets_of, spec_of
from tensorloom.feature_column.sparse_input import to_sparse_input
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.ops.math import math_ops
from tensorloom.ops.parsing.parsing_features import VarLenFeature
from tensorloom.ops.sparse.cross import sparse_cross_hashed

if TYPE_CHECKING:
    from tensorloom.feature_column.sources import Source


class WeightedFields(NamedTuple):
    """What a weighted column is told."""

    categorical_column: Any
    weight_feature_key: str
    dtype: Any


class WeightedLogic(CategoricalLogic):
    """What a weighted column does. Its result is a pair: ids and weights."""

    categorical_column: Any
    weight_feature_key: str
    dtype: Any

    @property
    def name(self) -> str:
        """Made of both features."""
        return f"{self.categorical_column.name}_weighted_by_{self.weight_feature_key}"

    @property
    def parents(self) -> list[Any]:
        """The column of ids and the feature of weights."""
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Both features, of any length."""
        spec = spec_of(self.categorical_column)
        if self.weight_feature_key in spec:
            raise ValueError(
                f"Parse config {spec[self.weight_feature_key]} already exists for "
                f"{self.weight_feature_key}."
            )
        spec[self.weight_feature_key] = VarLenFeature(self.dtype)
        return spec

    @property
    def num_buckets(self) -> int:
        """Those of the column of ids."""
        return buckets_of(self.categorical_column)

    def _transform(self, source: Source) -> Any:
        weights = self._weights(source.get(self.weight_feature_key))
        return source.get(self.categorical_column), weights

    def _weights(self, feature: Any) -> SparseTensor:
        if feature is None:
            raise ValueError(f"Missing weights {self.weight_feature_key}.")
        weights: Any = convert_to_tensor_or_sparse_tensor(feature)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError(
                f"Bad dtype, expected {self.dtype}, but got {weights.dtype}. "
                f"Feature: {self.weight_feature_key}."
            )
        if not isinstance(weights, SparseTensor):
            weights = to_sparse_input(weights, ignore_value=0.0)
        if not weights.dtype.is_floating:
            weights = math_ops.cast(weights, dtypes.float32)
        return weights  # type: ignore[no-any-return]

    def _id_weight_pair(self, source: Source) -> IdWeightPair:
        ids, weights = source.get(self)
        return IdWeightPair(ids, weights)


class WeightedCategoricalColumn(
    WeightedLogic, CategoricalColumn, _CategoricalColumn, WeightedFields
):
    """See `weighted_categorical_column`."""


@export("feature_column.weighted_categorical_column")
def weighted_categorical_column(
    categorical_column: Any, weight_feature_key: str, dtype: Any = dtypes.float32
) -> WeightedCategoricalColumn:
    """The ids of a column, each with a weight from another feature.

    Args:
      categorical_column: of either interface.
      weight_feature_key: name of a feature with a weight at the place of each id.
      dtype: of the weights, an integer or floating.

    Raises:
      ValueError: another dtype.
    """
    check_weight_dtype(dtype)
    return WeightedCategoricalColumn(categorical_column, weight_feature_key, dtype)


def check_weight_dtype(dtype: Any) -> None:
    """Raises ValueError: the dtype is not a number's."""
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError(f"dtype {dtype} is not convertible to float.")


class CrossedFields(NamedTuple):
    """What a crossed column is told."""

    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None


class CrossedLogic(CategoricalLogic):
    """What a crossed column does."""

    keys: tuple[Any, ...]
    hash_bucket_size: int
    hash_key: int | None

    def _leaves(self) -> list[Any]:
        """Features and columns in the cross; crosses in it are taken apart."""
        leaves: list[Any] = []
        for key in self.keys:
            leaves.extend(key._leaves() if isinstance(key, CrossedLogic) else [key])
        return leaves

    @property
    def name(self) -> str:
        """The names of all features, sorted."""
        names = (key if isinstance(key, str) else key.name for key in self._leaves())
        return "_X_".join(sorted(names))

    @property
    def parents(self) -> list[Any]:
        """Columns and features that are crossed."""
        return list(self.keys)

    @property
    def parse_example_spec(self) -> dict[str, Any]:
        """Features of any length of strings, and what the columns need."""
        spec: dict[str, Any] = {}
        for key in self.keys:
            if isinstance(key, str):
                spec[key] = VarLenFeature(dtypes.string)
            else:
                spec.update(spec_of(key))
        return spec

    @property
    def num_buckets(self) -> int:
        """The number of hashes."""
        return self.hash_bucket_size

    def _transform(self, source: Source) -> Any:
        return sparse_cross_hashed(
            inputs=[_crossed_input(key, source) for key in self._leaves()],
            num_buckets=self.hash_bucket_size,
            hash_key=self.hash_key,
        )


def _crossed_input(key: Any, source: Source) -> Any:
    if isinstance(key, str):
        return source.get(key)
    if not isinstance(key, CategoricalColumn | _CategoricalColumn):
        raise ValueError(f"Unsupported column type. Given: {key}")
    pair = source.sparse_tensors(key)
    if pair.weight_tensor is not None:
        raise ValueError(
            "crossed_column does not support weight_tensor, but the given column "
            f"populates weight_tensor. Given column: {key.name}"
        )
    return pair.id_tensor


class CrossedColumn(CrossedLogic, CategoricalColumn, _CategoricalColumn, CrossedFields):
    """See `crossed_column`."""


@export("feature_column.crossed_column")
def crossed_column(
    keys: Any, hash_bucket_size: int, hash_key: int | None = None
) -> CrossedColumn:
    """Ids are hashes of the combinations of several features' values.

    Args:
      keys: names of features, and categorical columns that are not hashed.
      hash_bucket_size: the number of ids.
      hash_key: of the hash function, TensorFlow's when None.

    Raises:
      ValueError: no size, fewer than two keys, or a key of another kind.
    """
    check_cross(keys, hash_bucket_size, (CategoricalColumn, _CategoricalColumn))
    return CrossedColumn(tuple(keys), hash_bucket_size, hash_key)


def check_cross(keys: Any, hash_bucket_size: Any, kinds: Any) -> None:
    """Raises ValueError: see `crossed_column`."""
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError(
            f"hash_bucket_size must be > 1. hash_bucket_size: {hash_bucket_size}"
        )
    if not keys or len(keys) < 2:
        raise ValueError(f"keys must be a list with length > 1. Given: {keys}")
    for key in keys:
        if not isinstance(key, str) and not isinstance(key, kinds):
            raise ValueError(
                "Unsupported key type. All keys must be either string, or categorical "
                f"column except HashedCategoricalColumn. Given: {key}"
            )
        if isinstance(key, HashedLogic):
            raise ValueError(
                "categorical_column_with_hash_bucket is not supported for crossing. "
                "Hashing before crossing will increase probability of collision. "
                f"Instead, use the feature name as a string. Given: {key}"
            )
