"""`tf.estimator.experimental.dnn_logit_fn_builder`: logits of hidden layers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.estimator.mode_keys import ModeKeys
from tensorloom.feature_column.input_layers import input_layer
from tensorloom.framework.export import export
from tensorloom.layers.core import dense, dropout
from tensorloom.layers.normalization import batch_normalization
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.state import initializers
from tensorloom.summary import summary

LogitFn = Callable[..., Any]


@export("estimator.experimental.dnn_logit_fn_builder")
def dnn_logit_fn_builder(
    units: int,
    hidden_units: Iterable[int],
    feature_columns: Iterable[Any],
    activation_fn: Callable[[Any], Any] | None,
    dropout: float | None,
    input_layer_partitioner: Any,
    batch_norm: bool,
) -> LogitFn:
    """Makes a function of `features` and `mode` that gives logits.

    Args:
      units: how many logits an example has.
      hidden_units: how many units each hidden layer has.
      feature_columns: dense columns of the features.
      activation_fn: of the hidden layers.
      dropout: the probability that a unit is dropped in training; none is when None.
      input_layer_partitioner: cuts the columns' variables into parts.
      batch_norm: whether the hidden layers are normalized.

    Raises:
      ValueError: `units` is no integer.
    """
    if not isinstance(units, int):
        raise ValueError(f"units must be an int.  Given type: {type(units)}")
    hidden_units, feature_columns = list(hidden_units), list(feature_columns)

    def dnn_logit_fn(features: Mapping[Any, Any], mode: str) -> Any:
        is_training = mode == ModeKeys.TRAIN
        with variable_scope(
            "input_from_feature_columns", partitioner=input_layer_partitioner
        ):
            net: Any = input_layer(features, feature_columns)
        for number, size in enumerate(hidden_units):
            scope = f"hiddenlayer_{number}"
            net, name = _dense(net, size, activation_fn, scope)
            if dropout is not None and is_training:
                net = _dropout(net, dropout)
            if batch_norm:
                net = _normalized(net, scope, number, is_training)
            add_layer_summary(net, name)
        logits, name = _dense(net, units, None, "logits")
        add_layer_summary(logits, name)
        return logits

    return dnn_logit_fn


def add_layer_summary(value: Any, tag: str) -> None:
    """Says how many values of a layer are zero, and how they are spread."""
    summary.scalar(f"{tag}/fraction_of_zero_values", zero_fraction(value))
    summary.histogram(f"{tag}/activation", value)


def _dense(
    net: Any, units: int, activation: Callable[[Any], Any] | None, scope_name: str
) -> tuple[Any, str]:
    """A layer's output, and the name of its variable scope."""
    with variable_scope(scope_name, values=(net,)) as scope:
        output = dense(
            net,
            units=units,
            activation=activation,
            kernel_initializer=initializers.GlorotUniform(),
            name=scope,
        )
    return output, scope.name


def _dropout(net: Any, rate: float) -> Any:
    return dropout(net, rate=rate, training=True)


def _normalized(net: Any, scope: str, number: int, is_training: bool) -> Any:
    with variable_scope(scope):
        return batch_normalization(
            net,
            momentum=0.999,  # the usual 0.99 forgets too quickly for small batches
            training=is_training,
            name=f"batchnorm_{number}",
        )
