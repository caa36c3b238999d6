"""The network of `tf.estimator.DNN*`: columns, hidden layers, logits."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.feature_column.input_layers import InputLayer
from tensorloom.feature_column.interfaces import is_feature_column_v2
from tensorloom.feature_column.layers.dense_features import DenseFeatures
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.runtime.scopes import get_name_scope
from tensorloom.keras.engine.base_layer import Layer
from tensorloom.layers.core import Dense, Dropout
from tensorloom.layers.normalization import BatchNormalization
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.state import initializers
from tensorloom.summary import summary


@export("estimator.experimental.dnn_logit_fn_builder")
def dnn_logit_fn_builder(
    units: int,
    hidden_units: Iterable[int],
    feature_columns: Any,
    activation_fn: Any,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> Callable[..., Tensor]:
    """A function of features and a mode that makes a network's logits.

    Args:
      units: number of logits.
      hidden_units: sizes of the hidden layers.
      feature_columns: dense columns, the input.
      activation_fn: of the hidden layers.
      dropout: part of a hidden layer's outputs that is dropped in training, or None.
      input_layer_partitioner: cuts the variables of the columns.
      batch_norm: whether hidden layers are normalized.

    Raises:
      ValueError: `units` is not an int.
    """
    check_units(units)

    def dnn_logit_fn(features: Mapping[str, Any], mode: str) -> Tensor:
        model = _DNNModel(
            units,
            hidden_units,
            feature_columns,
            activation_fn,
            dropout,
            input_layer_partitioner,
            batch_norm,
            name="dnn",
        )
        logits: Tensor = model(features, mode)
        return logits

    return dnn_logit_fn


def check_units(units: Any) -> None:
    """Raises ValueError: not an int."""
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")


def add_layer_summary(value: Tensor, tag: str) -> None:
    """Writes how much of a layer's outputs is zero, and their distribution."""
    summary.scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    summary.histogram(f"{tag}/activation", value)


class _DNNModel(Layer):
    """Columns, then hidden layers, then logits."""

    _hidden: list[tuple[str, Any, Any, Any]]

    def __init__(
        self,
        units: int,
        hidden_units: Iterable[int],
        feature_columns: Any,
        activation_fn: Any,
        dropout: float | None,
        input_layer_partitioner: Any,
        batch_norm: bool,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(name=name, **kwargs)
        if is_feature_column_v2(feature_columns):
            inputs: Any = DenseFeatures(feature_columns, name="input_layer")
        else:
            inputs = InputLayer(
                feature_columns, name="input_layer", create_scope_now=False
            )
        self._input_layer = inputs
        hidden = [
            self._hidden_layer(index, size, activation_fn, dropout, batch_norm)
            for index, size in enumerate(hidden_units)
        ]
        # Past `__setattr__`, which would wrap the list.
        self.__dict__["_hidden"] = hidden
        with variable_scope("logits") as scope:
            self._logits_layer = _dense(units, None, scope)
            self._logits_scope_name = scope.name
        self._input_layer_partitioner = input_layer_partitioner

    def _hidden_layer(
        self,
        index: int,
        size: int,
        activation_fn: Any,
        dropout: float | None,
        batch_norm: bool,
    ) -> tuple[str, Any, Any, Any]:
        """(scope, layer, its dropout or None, its normalization or None)."""
        with variable_scope(f"hiddenlayer_{index}") as scope:
            layer = self._part(scope.name, _dense(size, activation_fn, scope))
            drop = norm = None
            if dropout is not None:
                made = Dropout(rate=dropout)
                drop = self._part(made.name, made)
            if batch_norm:
                name = f"batchnorm_{index}"
                norm = self._part(
                    name,
                    BatchNormalization(
                        momentum=0.999, trainable=True, name=name, _scope=name
                    ),
                )
            return scope.name, layer, drop, norm

    def _part(self, name: str, layer: Any) -> Any:
        # As an attribute it is a part of the model, and gets resource variables.
        setattr(self, name, layer)
        return layer

    def call(self, features: Mapping[str, Any], mode: str) -> Tensor:  # type: ignore[override]
        """The logits [batch, units]."""
        is_training = mode == ModeKeys.TRAIN
        with name_scope(_outer_scope()):
            with variable_scope(
                "input_from_feature_columns", partitioner=self._input_layer_partitioner
            ):
                net = self._input_layer(features)
            for name, layer, drop, norm in self._hidden:
                net = layer(net)
                if drop is not None and is_training:
                    net = drop(net, training=True)
                if norm is not None:
                    net = norm(net, training=is_training)
                add_layer_summary(net, name)
            logits: Tensor = self._logits_layer(net)
            add_layer_summary(logits, self._logits_scope_name)
            return logits


def _dense(units: int, activation: Any, scope: Any) -> Dense:
    return Dense(
        units=units,
        activation=activation,
        kernel_initializer=initializers.GlorotUniform(),
        name=scope,
        _scope=scope,
    )


def _outer_scope() -> str:
    """The name scope around the model's own, which has the model's name again."""
    return (get_name_scope() or "").rsplit("/", 1)[0] + "/"
