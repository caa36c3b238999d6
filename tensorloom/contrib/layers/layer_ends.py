"""What all layers of weights do: find their variables, then normalize and activate."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from tensorloom.contrib.framework.model_variables import model_variable_getter
from tensorloom.contrib.layers.collections import (
    add_variable_to_collections,
    collect_named_outputs,
)

# Names that the layers of `tf.layers` give, and those that variables have here.
weights_getter: Final = model_variable_getter({"bias": "biases", "kernel": "weights"})


def weight_options(
    scope: Any,
    inputs: Any,
    normalizer_fn: Callable[..., Any] | None,
    weights: tuple[Any, Any],
    biases: tuple[Any, Any],
    trainable: bool,
    reuse: Any,
) -> dict[str, Any]:
    """What layers of `tf.layers` with one kernel are made with.

    Args:
      scope: the layer's variable scope.
      inputs: a tensor, whose dtype the variables have.
      normalizer_fn: stands in place of biases.
      weights, biases: initializer and regularizer of each; no biases without the first.
      trainable, reuse: of the variables.
    """
    return {
        "activation": None,
        "use_bias": bool(not normalizer_fn and biases[0]),
        "kernel_initializer": weights[0],
        "bias_initializer": biases[0],
        "kernel_regularizer": weights[1],
        "bias_regularizer": biases[1],
        "activity_regularizer": None,
        "trainable": trainable,
        "name": scope.name,
        "dtype": inputs.dtype.base_dtype,
        "_scope": scope,
        "_reuse": reuse,
    }


def finish_layer(
    layer: Any,
    outputs: Any,
    scope: Any,
    normalizer_fn: Callable[..., Any] | None,
    normalizer_params: Mapping[str, Any] | None,
    activation_fn: Callable[[Any], Any] | None,
    variables_collections: Any,
    outputs_collections: Any,
    kernels: tuple[str, ...] = ("kernel",),
) -> Any:
    """The output of a layer after normalization and activation, in its collections.

    Args:
      layer: of `tf.layers`, built.
      outputs: what it gave.
      scope: its variable scope.
      normalizer_fn, normalizer_params: a function of the outputs in place of biases.
      activation_fn: a function of the outputs.
      variables_collections: of the weights and biases.
      outputs_collections: of the result.
      kernels: the layer's attributes that are weights.
    """
    for kernel in kernels:
        weights = getattr(layer, kernel)
        add_variable_to_collections(weights, variables_collections, "weights")
    if layer.use_bias:
        add_variable_to_collections(layer.bias, variables_collections, "biases")
    return finish_outputs(
        outputs,
        scope.name,
        normalizer_fn,
        normalizer_params,
        activation_fn,
        outputs_collections,
    )


def finish_outputs(
    outputs: Any,
    alias: str,
    normalizer_fn: Callable[..., Any] | None,
    normalizer_params: Mapping[str, Any] | None,
    activation_fn: Callable[[Any], Any] | None,
    outputs_collections: Any,
) -> Any:
    """Normalizes, activates and collects outputs."""
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    if activation_fn is not None:
        outputs = activation_fn(outputs)
    return collect_named_outputs(outputs_collections, alias, outputs)


def check_format(data_format: str | None, known: tuple[str, ...]) -> str:
    """The format as `tf.layers` calls it. Raises ValueError for others than `known`."""
    if data_format not in known:
        raise ValueError(f"data_format has to be either {' or '.join(known)}.")
    return layers_format(data_format)


def layers_format(data_format: str | None) -> str:
    """ "channels_first" for NC..., else "channels_last"."""
    is_first = data_format is not None and data_format.startswith("NC")
    return "channels_first" if is_first else "channels_last"
