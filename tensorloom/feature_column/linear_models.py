"""`linear_model`: weights of all columns' ids and numbers, summed, with a bias."""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import Any

from tensorloom.client.variables.partitioned_variable import PartitionedVariable
from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.feature_column import checks
from tensorloom.feature_column.earlier.interfaces import (
    _CategoricalColumn,
    _DenseColumn,
    _FeatureColumn,
)
from tensorloom.feature_column.input_layers import all_collections
from tensorloom.feature_column.sources import BuilderSource, _LazyBuilder
from tensorloom.feature_column.weighted_sum import dense_sum, sparse_sum
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    get_collection,
)
from tensorloom.keras.engine.base_layer import Layer as KerasLayer
from tensorloom.layers.base import Layer
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


@export("feature_column.linear_model")
def linear_model(
    features: Mapping[Any, Any],
    feature_columns: Any,
    units: int = 1,
    sparse_combiner: str = "sum",
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: MutableMapping[Any, Any] | None = None,
) -> Tensor:
    """A linear prediction from the columns. All weights start with zero.

    Args:
      features: tensors and SparseTensors by name.
      feature_columns: dense and categorical columns.
      units: number of outputs.
      sparse_combiner: how the weights of an example's ids are combined: "sum", "mean"
        or "sqrtn".
      weight_collections: names of further collections for the variables.
      trainable: whether the variables are.
      cols_to_vars: gets a list of variables for each column, and for "bias".

    Returns:
      float32 [batch, units].

    Raises:
      ValueError: something that is neither a dense nor a categorical column, columns of
        one name, or batch sizes that differ.
    """
    with variable_scope(None, "linear_model") as scope:
        name = _last_part(scope.name)
    model = _LinearModel(
        feature_columns=feature_columns,
        units=units,
        sparse_combiner=sparse_combiner,
        weight_collections=weight_collections,
        trainable=trainable,
        name=name,
    )
    prediction: Tensor = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return prediction


def _last_part(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def _parts_of(variable: Any) -> list[Any]:
    is_partitioned = isinstance(variable, PartitionedVariable)
    return list(variable) if is_partitioned else [variable]


class _WeightLayer(Layer):
    """A layer with one variable, of zeros."""

    def __init__(
        self, trainable: bool, weight_collections: list[str], name: str
    ) -> None:
        super().__init__(trainable=trainable, name=name)
        self._weight_collections = weight_collections

    def _zeros(self, name: str, shape: list[int]) -> Any:
        variable = self.add_variable(
            name,
            shape=shape,
            initializer=init_ops.Zeros(),
            trainable=self.trainable,
        )
        for collection in self._weight_collections:
            if collection != GraphKeys.GLOBAL_VARIABLES:
                for part in _parts_of(variable):
                    add_to_collection(collection, part)
        return variable


class _ColumnLayer(_WeightLayer):
    """One column's part of the sum."""

    def __init__(
        self,
        column: Any,
        units: int,
        sparse_combiner: str,
        weight_collections: list[str],
        trainable: bool,
        name: str,
    ) -> None:
        super().__init__(trainable, weight_collections, name)
        self._feature_column = column
        self._units = units
        self._sparse_combiner = sparse_combiner

    def build(self, input_shape: Any) -> None:
        """Makes the weights [ids or numbers, units]."""
        column = self._feature_column
        if isinstance(column, _CategoricalColumn):
            rows = column._num_buckets
        else:
            rows = column._variable_shape.num_elements()
        self._weights_variable = self._zeros("weights", [rows, self._units])
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Tensor:
        """The sum for the features of a builder."""
        column = self._feature_column
        collections = self._weight_collections
        if isinstance(column, _CategoricalColumn):
            source = BuilderSource(inputs, collections, self.trainable)
            return sparse_sum(
                source.sparse_tensors(column),
                self._weights_variable,
                self._sparse_combiner,
            )
        tensor = column._get_dense_tensor(
            inputs, weight_collections=collections, trainable=self.trainable
        )
        size = column._variable_shape.num_elements()
        return dense_sum(tensor, size, self._weights_variable)


class _BiasLayer(_WeightLayer):
    """The bias."""

    def __init__(
        self, units: int, trainable: bool, weight_collections: list[str], name: str
    ) -> None:
        super().__init__(trainable, weight_collections, name)
        self._units = units

    def build(self, input_shape: Any) -> None:
        """Makes the bias [units]."""
        self._bias_variable = self._zeros("bias_weights", [self._units])
        self.built = True

    def call(self, inputs: Any, **kwargs: Any) -> Any:
        """The variable."""
        return self._bias_variable


class _LinearModel(KerasLayer):
    """The layers of a `linear_model`; it can be called again with the same weights."""

    _column_layers: list[_ColumnLayer]
    _cols_to_vars: dict[Any, Any]

    def __init__(
        self,
        feature_columns: Any,
        units: int = 1,
        sparse_combiner: str = "sum",
        weight_collections: Any = None,
        trainable: bool = True,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        columns = checks.normalize_feature_columns(feature_columns, _FeatureColumn)
        collections = all_collections(weight_collections)
        layers = []
        for column in columns:
            with variable_scope(None, default_name=column._var_scope_name) as scope:
                part = _last_part(scope.name)
            layer = _ColumnLayer(
                column, units, sparse_combiner, collections, trainable, part
            )
            # As an attribute it is a part of the model, and gets resource variables.
            setattr(self, f"layer-{part}", layer)
            layers.append(layer)
        self._bias_layer = _BiasLayer(units, trainable, collections, "bias_layer")
        # Past `__setattr__`, which would wrap them.
        self.__dict__.update(_column_layers=layers, _cols_to_vars={})

    def cols_to_vars(self) -> dict[Any, Any]:
        """Lists of variables by column, and that of "bias"."""
        return self._cols_to_vars

    @property
    def bias(self) -> Any:
        """The bias [units]; there is one after the first call."""
        return self._bias_layer.variables[0]

    def call(self, features: Mapping[Any, Any]) -> Tensor:  # type: ignore[override]
        """The prediction [batch, units]. Raises ValueError: a kind of column."""
        with variable_scope(self.name):
            return self._call(features)

    def _call(self, features: Mapping[Any, Any]) -> Tensor:
        layers = sorted(self._column_layers, key=lambda layer: layer.name)
        columns = [layer._feature_column for layer in layers]
        for column in columns:
            if not isinstance(column, _DenseColumn | _CategoricalColumn):
                raise ValueError(
                    "Items of feature_columns must be either a _DenseColumn or "
                    f"_CategoricalColumn. Given: {column}"
                )
        builder = _LazyBuilder(features)
        sums = []
        for layer, column in zip(layers, columns, strict=True):
            sums.append(layer(builder))
            self._cols_to_vars[column] = get_collection(
                GraphKeys.GLOBAL_VARIABLES, scope=layer.scope_name
            )
        checks.check_batch_sizes(sums, columns)
        total = math_ops.add_n(sums, name="weighted_sum_no_bias")
        bias = self._bias_layer(builder, scope=get_variable_scope())
        prediction = nn_ops.bias_add(total, bias, name="weighted_sum")
        self._cols_to_vars["bias"] = _parts_of(self.bias)
        return prediction
