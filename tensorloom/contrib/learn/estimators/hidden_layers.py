"""The layers of deep models, from feature columns to logits."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.dense import fully_connected
from tensorloom.contrib.layers.shaping import dropout as dropped
from tensorloom.contrib.learn import columns
from tensorloom.contrib.learn.keys import ModeKeys
from tensorloom.nn.zero_fraction import zero_fraction
from tensorloom.ops.math.elementwise import sigmoid, tanh
from tensorloom.ops.nn.activation import relu
from tensorloom.summary import summary

_ACTIVATIONS: Final[dict[str, Any]] = {"relu": relu, "tanh": tanh, "sigmoid": sigmoid}


def activation_function(activation: Any) -> Any:
    """An activation, also by its name.

    Raises:
      ValueError: there is none of that name.
    """
    if not isinstance(activation, str):
        return activation
    if activation not in _ACTIVATIONS:
        raise ValueError(
            f"Activation name should be one of [{', '.join(_ACTIVATIONS)}], you "
            f"provided {activation}."
        )
    return _ACTIVATIONS[activation]


def optimizer_of(optimizer: Any) -> Any:
    """An optimizer, which may come from a function of nothing."""
    return optimizer() if callable(optimizer) else optimizer


def layer_summaries(value: Any, prefix: str) -> None:
    """Summaries of how many values are zero, and of all values."""
    summary.scalar(f"{prefix}fraction_of_zero_values", zero_fraction(value))
    summary.histogram(f"{prefix}activation", value)


def deep_logits(
    features: Mapping[str, Any],
    feature_columns: Any,
    hidden_units: Sequence[int],
    outputs: int,
    mode: str,
    activation_fn: Any,
    dropout: float | None,
    input_partitioner: Callable[..., Any],
    separator: str,
) -> tuple[Any, str]:
    """The logits [batch, outputs], and the name of the scope of the columns.

    It is called in the variable scope `dnn`, whose variables are collected under that
    name.

    Args:
      features: tensors by their keys.
      feature_columns: columns of one kind.
      hidden_units: of each layer.
      outputs: how many logits.
      mode: a `ModeKeys`.
      activation_fn: of the layers.
      dropout: which part of the values is dropped in training; none when None.
      input_partitioner: cuts the variables of the columns.
      separator: between a layer's scope and the names of its summaries.
    """
    collection = "dnn"
    with variable_scope(
        "input_from_feature_columns",
        values=tuple(features.values()),
        partitioner=input_partitioner,
    ) as input_scope:
        net = columns.dense_input(features, feature_columns, collection, input_scope)
    for index, units in enumerate(hidden_units):
        with variable_scope(f"hiddenlayer_{index}", values=(net,)) as scope:
            net = fully_connected(
                net,
                units,
                activation_fn=activation_fn,
                variables_collections=[collection],
                scope=scope,
            )
            if dropout is not None and mode == ModeKeys.TRAIN:
                net = dropped(net, keep_prob=1.0 - dropout)
        layer_summaries(net, scope.name + separator)
    with variable_scope("logits", values=(net,)) as scope:
        logits = fully_connected(
            net,
            outputs,
            activation_fn=None,
            variables_collections=[collection],
            scope=scope,
        )
    layer_summaries(logits, scope.name + separator)
    return logits, input_scope.name
