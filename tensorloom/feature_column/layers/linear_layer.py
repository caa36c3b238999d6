"""`LinearModel`: a `linear_model` that keeps its variables."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.feature_column import checks, serialization
from tensorloom.feature_column.interfaces import (
    CategoricalColumn,
    DenseColumn,
    FeatureColumn,
)
from tensorloom.feature_column.layers.features_layer import check_is_dict, named_scope
from tensorloom.feature_column.layers.state_manager import _StateManagerImpl
from tensorloom.feature_column.sources import FeatureTransformationCache
from tensorloom.feature_column.weighted_sum import dense_sum, sparse_sum
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


class _LinearModelLayer(Layer):
    """Weights of all columns' ids and numbers, summed, with a bias."""

    _feature_columns: list[Any]

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, trainable=trainable, **kwargs)
        columns = checks.normalize_feature_columns(feature_columns, FeatureColumn)
        for column in columns:
            if not isinstance(column, DenseColumn | CategoricalColumn):
                raise ValueError(
                    "Items of feature_columns must be either a DenseColumn or "
                    f"CategoricalColumn. Given: {column}"
                )
        self.__dict__["_feature_columns"] = columns
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._state_manager = _StateManagerImpl(self, self.trainable)
        self.bias: Any = None

    def build(self, input_shape: Any) -> None:
        """Makes the weights of the columns, and the bias."""
        with named_scope(self.name):
            for column in self._feature_columns:
                with named_scope(column.name):
                    self._make_weights(column)
            self.bias = self.add_variable(
                name="bias_weights",
                dtype=dtypes.float32,
                shape=[self._units],
                initializer=init_ops.Zeros(),
                trainable=self.trainable,
                use_resource=True,
                getter=get_variable,
            )
        super().build(None)

    def _make_weights(self, column: Any) -> None:
        column.create_state(self._state_manager)
        if isinstance(column, CategoricalColumn):
            rows = column.num_buckets
        else:
            rows = column.variable_shape.num_elements()
        self._state_manager.create_variable(
            column,
            name="weights",
            dtype=dtypes.float32,
            shape=(rows, self._units),
            initializer=init_ops.Zeros(),
            trainable=self.trainable,
        )

    def call(self, features: dict[Any, Any]) -> Tensor:  # type: ignore[override]
        """The prediction [batch, units]. Raises ValueError: features not in a dict."""
        check_is_dict(features)
        with name_scope(self.name):
            cache = FeatureTransformationCache(features)
            sums = []
            for column in self._feature_columns:
                with name_scope(column.name):
                    sums.append(self._weighted_sum(column, cache))
            checks.check_batch_sizes(sums, self._feature_columns)
            total = math_ops.add_n(sums, name="weighted_sum_no_bias")
            return nn_ops.bias_add(total, self.bias, name="weighted_sum")

    def _weighted_sum(self, column: Any, cache: FeatureTransformationCache) -> Tensor:
        weights = self._state_manager.get_variable(column, "weights")
        if isinstance(column, CategoricalColumn):
            pair = column.get_sparse_tensors(cache, self._state_manager)
            return sparse_sum(pair, weights, self._sparse_combiner)
        tensor = column.get_dense_tensor(cache, self._state_manager)
        return dense_sum(tensor, column.variable_shape.num_elements(), weights)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal layer."""
        return {
            **super().get_config(),
            "feature_columns": serialization.serialize_feature_columns(
                self._feature_columns
            ),
            "units": self._units,
            "sparse_combiner": self._sparse_combiner,
        }

    @classmethod
    def from_config(cls, config: dict[str, Any], custom_objects: Any = None) -> Any:
        """The layer that `get_config` described."""
        columns = serialization.deserialize_feature_columns(
            config["feature_columns"], custom_objects=custom_objects
        )
        return cls(**{**config, "feature_columns": columns})


class LinearModel(Layer):
    """A linear prediction from columns. All weights start with zero.

    Args:
      feature_columns: dense and categorical columns.
      units: number of outputs.
      sparse_combiner: how the weights of an example's ids are combined: "sum", "mean"
        or "sqrtn".
      trainable: whether the variables are.
      name: of the layer, and of the scope of its variables.

    Raises:
      ValueError: something that is neither a dense nor a categorical column, or columns
        of one name.
    """

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        self.layer = _LinearModelLayer(
            feature_columns,
            units,
            sparse_combiner,
            trainable,
            name=self.name,
            **kwargs,
        )

    def call(self, features: dict[Any, Any]) -> Tensor:  # type: ignore[override]
        """The prediction [batch, units]. Raises ValueError: features not in a dict."""
        return self.layer(features)  # type: ignore[no-any-return]

    @property
    def bias(self) -> Any:
        """The bias [units]; there is one after the first call."""
        return self.layer.bias
