"""Where columns get features, and each other's results, from: each made once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.feature_column.earlier.interfaces import _FeatureColumn
from tensorloom.feature_column.interfaces import FeatureColumn
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.sparse.shape_builders import sparse_reshape


class FeatureTransformationCache:
    """Features, and what columns made of them, each made once.

    Args:
      features: tensors, SparseTensors or arrays by name; a column as a key stands for
        its result.
    """

    def __init__(self, features: Mapping[Any, Any]) -> None:
        self._features = dict(features)
        self._feature_tensors: dict[Any, Any] = {}

    def get(self, key: Any, state_manager: Any) -> Any:
        """The feature of a name, at least of rank 2, or the result of a column.

        Raises:
          ValueError: no such feature, one of rank 0, or a column without a result.
          TypeError: the key is neither a name nor a column.
        """
        known = self._raw(key)
        if known is not None:
            return known
        if not isinstance(key, FeatureColumn):
            raise _wrong_key(key, "FeatureColumn", self._features)
        return self._keep(key, key.transform_feature(self, state_manager))

    def _raw(self, key: Any) -> Any:
        """What is known already, or a feature; None for a column that is new."""
        if key in self._feature_tensors:
            return self._feature_tensors[key]
        if key not in self._features:
            return None
        tensor = _as_matrix(key, self._features[key])
        self._feature_tensors[key] = tensor
        return tensor

    def _keep(self, column: Any, result: Any) -> Any:
        if result is None:
            raise ValueError(
                f"Column {column.name} is not supported: {type(column).__name__} made "
                "nothing of its feature."
            )
        self._feature_tensors[column] = result
        return result


class _LazyBuilder(FeatureTransformationCache):
    """The same for columns of the earlier interface, which know no state manager."""

    def get(self, key: Any) -> Any:  # type: ignore[override]
        """See `FeatureTransformationCache.get`."""
        known = self._raw(key)
        if known is not None:
            return known
        if not isinstance(key, _FeatureColumn):
            raise _wrong_key(key, "_FeatureColumn", self._features)
        return self._keep(key, key._transform_feature(self))


def _wrong_key(key: Any, kind: str, features: Mapping[Any, Any]) -> Exception:
    if isinstance(key, str):
        names = sorted(str(name) for name in features)
        return ValueError(
            f"Feature {key} is not in features dictionary. The features are: {names}."
        )
    return TypeError(f'"key" must be either a "str" or "{kind}". Provided: {key}')


def _as_matrix(key: Any, feature: Any) -> Any:
    """The feature as a tensor or SparseTensor; a vector becomes a column [batch, 1]."""
    tensor = convert_to_tensor_or_sparse_tensor(feature)
    rank = tensor.get_shape().ndims
    problem = f"Feature (key: {key}) cannot have rank 0. Given: {tensor}"
    if rank == 0:
        raise ValueError(problem)
    if rank is not None:
        return _expand(tensor) if rank == 1 else tensor
    has_rank = check_ops.assert_positive(array_ops.rank(tensor), message=problem)
    with control_dependencies([has_rank]):
        return cond(
            math_ops.equal(1, array_ops.rank(tensor)),
            lambda: _expand(tensor),
            lambda: tensor,
        )


def _expand(tensor: Any) -> Any:
    if isinstance(tensor, SparseTensor):
        return sparse_reshape(tensor, [array_ops.shape(tensor)[0], 1])
    return array_ops.expand_dims(tensor, -1)


class CacheSource:
    """A cache and a state manager, as columns of this package read them."""

    def __init__(self, cache: Any, state_manager: Any) -> None:
        self._cache = cache
        self.state_manager = state_manager

    def get(self, key: Any) -> Any:
        """A feature, or the result of a column."""
        return self._cache.get(key, self.state_manager)

    def sparse_tensors(self, column: Any) -> Any:
        """The `IdWeightPair` of a categorical column."""
        return column.get_sparse_tensors(self._cache, self.state_manager)

    def transform(self, column: Any) -> Any:
        """The result of a column, made anew."""
        return column.transform_feature(self._cache, self.state_manager)


class BuilderSource:
    """The builder of the earlier interface, read in the same way as `CacheSource`."""

    state_manager = None

    def __init__(
        self, builder: Any, weight_collections: Any = None, trainable: Any = None
    ) -> None:
        self._builder = builder
        self._weight_collections = weight_collections
        self._trainable = trainable

    def get(self, key: Any) -> Any:
        """A feature, or the result of a column."""
        return self._builder.get(key)

    def sparse_tensors(self, column: Any) -> Any:
        """The `IdWeightPair` of a categorical column."""
        return column._get_sparse_tensors(
            self._builder,
            weight_collections=self._weight_collections,
            trainable=self._trainable,
        )

    def transform(self, column: Any) -> Any:
        """The result of a column, made anew."""
        return column._transform_feature(self._builder)


Source = CacheSource | BuilderSource
