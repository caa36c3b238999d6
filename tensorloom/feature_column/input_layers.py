"""`input_layer`: the dense tensors of columns, side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from tensorloom.client.variables.template import make_template
from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.feature_column import checks
from tensorloom.feature_column.earlier.interfaces import _DenseColumn, _FeatureColumn
from tensorloom.feature_column.interfaces import FeatureColumn
from tensorloom.feature_column.sources import (
    FeatureTransformationCache,
    _LazyBuilder,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    get_collection,
    name_scope,
)
from tensorloom.ops.array import array_ops


@export("feature_column.input_layer")
def input_layer(
    features: Mapping[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: MutableMapping[Any, Any] | None = None,
    cols_to_output_tensors: MutableMapping[Any, Any] | None = None,
) -> Tensor:
    """The dense tensors of the columns, in the order of their names.

    Args:
      features: tensors and SparseTensors by name.
      feature_columns: dense columns: numeric, bucketized, indicators, embeddings.
      weight_collections: names of further collections for the variables.
      trainable: whether the variables are.
      cols_to_vars: gets a list of variables for each column.
      cols_to_output_tensors: gets a tensor for each column.

    Returns:
      float32 [batch, sum of the columns' sizes].

    Raises:
      ValueError: a column that is not dense, columns of one name, or batch sizes that
        differ.
    """
    return _internal_input_layer(
        features,
        feature_columns,
        weight_collections=weight_collections,
        trainable=trainable,
        cols_to_vars=cols_to_vars,
        cols_to_output_tensors=cols_to_output_tensors,
    )


def all_collections(weight_collections: Any) -> list[str]:
    """The given collections, and those that variables of models are always in."""
    collections = list(weight_collections or [])
    for name in (GraphKeys.GLOBAL_VARIABLES, GraphKeys.MODEL_VARIABLES):
        if name not in collections:
            collections.append(name)
    return collections


def _internal_input_layer(
    features: Mapping[Any, Any],
    feature_columns: Any,
    weight_collections: Any = None,
    trainable: bool = True,
    cols_to_vars: MutableMapping[Any, Any] | None = None,
    scope: Any = None,
    cols_to_output_tensors: MutableMapping[Any, Any] | None = None,
    from_template: bool = False,
) -> Tensor:
    columns = checks.normalize_feature_columns(feature_columns, _FeatureColumn)
    for column in columns:
        if not isinstance(column, _DenseColumn):
            raise ValueError(
                "Items of feature_columns must be a _DenseColumn. You can wrap a "
                "categorical column with an embedding_column or indicator_column. "
                f"Given: {column}"
            )
    parts = _Parts(
        features,
        all_collections(weight_collections),
        trainable,
        cols_to_vars,
        {} if cols_to_output_tensors is None else cols_to_output_tensors,
    )
    if from_template:
        layer = parts.side_by_side(columns)
    else:
        with variable_scope(
            scope, default_name="input_layer", values=list(features.values())
        ):
            layer = parts.side_by_side(columns)
    listener = _LISTENER.get()
    if listener is not None:
        listener(features, feature_columns, parts.outputs)
    return layer


# Told of each input layer: the features, the columns, and each column's tensor.
Listener = Callable[[Mapping[Any, Any], Any, Mapping[Any, Tensor]], None]
_LISTENER: ContextVar[Listener | None] = ContextVar("input_layers", default=None)


@contextmanager
def telling_of_input_layers(listener: Listener) -> Iterator[None]:
    """Tells a function of each input layer that is made within."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


class _Parts:
    """Makes the dense tensor of one column after the other."""

    def __init__(
        self,
        features: Mapping[Any, Any],
        collections: list[str],
        trainable: bool,
        cols_to_vars: MutableMapping[Any, Any] | None,
        outputs: MutableMapping[Any, Any],
    ) -> None:
        self._builder = _LazyBuilder(features)
        self._collections = collections
        self._trainable = trainable
        self._cols_to_vars = cols_to_vars
        self.outputs = outputs

    def side_by_side(self, columns: list[Any]) -> Tensor:
        tensors = [self._part(column) for column in columns]
        checks.check_batch_sizes(tensors, columns)
        return array_ops.concat(tensors, 1)

    def _part(self, column: Any) -> Tensor:
        with variable_scope(None, default_name=column._var_scope_name):
            tensor = column._get_dense_tensor(
                self._builder,
                weight_collections=self._collections,
                trainable=self._trainable,
            )
            size = column._variable_shape.num_elements()
            batch = array_ops.shape(tensor)[0]
            part: Tensor = array_ops.reshape(tensor, shape=(batch, size))
            if self._cols_to_vars is not None:
                # Variables that existed already count: TensorFlow looks by scope.
                self._cols_to_vars[column] = get_collection(
                    GraphKeys.GLOBAL_VARIABLES, scope=get_variable_scope().name
                )
            self.outputs[column] = part
            return part


class InputLayer:
    """An `input_layer` that makes its variables once and can be called again.

    Args:
      feature_columns, weight_collections, trainable, cols_to_vars: see `input_layer`.
      name: of its scope.
      create_scope_now: whether the scope is made here, not by the first call.
    """

    def __init__(
        self,
        feature_columns: Any,
        weight_collections: Any = None,
        trainable: bool = True,
        cols_to_vars: MutableMapping[Any, Any] | None = None,
        name: str = "feature_column_input_layer",
        create_scope_now: bool = True,
    ) -> None:
        self._feature_columns = feature_columns
        self._weight_collections = weight_collections
        self._trainable = trainable
        self._cols_to_vars = cols_to_vars
        self._name = name
        self._input_layer_template = make_template(
            name, _internal_input_layer, create_scope_now_=create_scope_now
        )
        self._scope = self._input_layer_template.variable_scope

    def __call__(self, features: Mapping[Any, Any]) -> Tensor:
        """The tensor for features, see `input_layer`."""
        return self._input_layer_template(  # type: ignore[no-any-return]
            features=features,
            feature_columns=self._feature_columns,
            weight_collections=self._weight_collections,
            trainable=self._trainable,
            cols_to_vars=None,
            from_template=True,
        )

    @property
    def name(self) -> str:
        """Name of its scope."""
        return self._name

    @property
    def non_trainable_variables(self) -> Any:
        """Variables that are not trained."""
        return self._input_layer_template.non_trainable_variables

    @property
    def non_trainable_weights(self) -> Any:
        """Variables that are not trained."""
        return self._input_layer_template.non_trainable_weights

    @property
    def trainable_variables(self) -> Any:
        """Variables that are trained."""
        return self._input_layer_template.trainable_variables

    @property
    def trainable_weights(self) -> Any:
        """Variables that are trained."""
        return self._input_layer_template.trainable_weights

    @property
    def variables(self) -> Any:
        """All variables."""
        return self._input_layer_template.variables

    @property
    def weights(self) -> Any:
        """All variables."""
        return self._input_layer_template.weights


def transform_features(
    features: Mapping[Any, Any], feature_columns: Any
) -> dict[Any, Any]:
    """The result of each column, by column.

    Raises:
      ValueError: not columns, or columns of one name.
    """
    columns = checks.normalize_feature_columns(feature_columns, _FeatureColumn)
    builder = _LazyBuilder(features)
    return _transformed(features, columns, builder.get)


def transform_features_v2(
    features: Mapping[Any, Any], feature_columns: Any, state_manager: Any
) -> dict[Any, Any]:
    """The result of each `FeatureColumn`, by column.

    Raises:
      ValueError: not columns, or columns of one name.
    """
    columns = checks.normalize_feature_columns(feature_columns, FeatureColumn)
    cache = FeatureTransformationCache(features)
    return _transformed(features, columns, lambda c: cache.get(c, state_manager))


def _transformed(
    features: Mapping[Any, Any], columns: list[Any], get: Callable[[Any], Any]
) -> dict[Any, Any]:
    outputs = {}
    with name_scope(
        None, default_name="transform_features", values=list(features.values())
    ):
        for column in columns:
            with name_scope(None, default_name=column.name):
                outputs[column] = get(column)
    return outputs
