"""Fully connected layers."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.contrib.layers.initializers import xavier_initializer
from tensorloom.contrib.layers.layer_ends import (
    finish_layer,
    weight_options,
    weights_getter,
)
from tensorloom.framework.export import export, export_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.layers.core import Dense
from tensorloom.ops.nn.activation import elu as elu_activation
from tensorloom.ops.nn.activation import relu as relu_activation
from tensorloom.ops.nn.activation import relu6 as relu6_activation
from tensorloom.ops.state.initializers import Zeros

# Shared by all layers, as TensorFlow does.
XAVIER: Final = xavier_initializer()
ZEROS: Final = Zeros()
_INTEGERS: Final[tuple[type, ...]] = (int, np.integer)


@export("contrib.layers.fully_connected")
@add_arg_scope
def fully_connected(
    inputs: Any,
    num_outputs: int,
    activation_fn: Callable[[Any], Any] | None = relu_activation,
    normalizer_fn: Callable[..., Any] | None = None,
    normalizer_params: Mapping[str, Any] | None = None,
    weights_initializer: Any = XAVIER,
    weights_regularizer: Any = None,
    biases_initializer: Any = ZEROS,
    biases_regularizer: Any = None,
    reuse: Any = None,
    variables_collections: Any = None,
    outputs_collections: Any = None,
    trainable: bool = True,
    scope: Any = None,
) -> Any:
    """activation(inputs * weights + biases), over the last axis.

    Args:
      inputs: `[..., depth]`, of rank 2 or more.
      num_outputs: the size of the result's last axis.
      activation_fn: a function of the result; None for none.
      normalizer_fn: a function of the product, in place of biases.
      normalizer_params: its further arguments.
      weights_initializer, weights_regularizer: of `weights`, `[depth, num_outputs]`.
      biases_initializer, biases_regularizer: of `biases`; no biases without the first.
      reuse: whether variables of the scope are used again.
      variables_collections: a list for all variables, or a dict of lists by name.
      outputs_collections: of the result.
      trainable: whether optimizers change the variables.
      scope: a name or a variable scope.

    Raises:
      ValueError: the rank is below 2, the depth unknown, or `num_outputs` no integer.
    """
    if not isinstance(num_outputs, _INTEGERS):
        raise ValueError(
            f"num_outputs type should be one of [int], got {type(num_outputs)}."
        )
    with variable_scope(
        scope, "fully_connected", [inputs], reuse=reuse, custom_getter=weights_getter
    ) as sc:
        inputs = convert_to_tensor(inputs)
        layer = Dense(
            units=num_outputs,
            **weight_options(
                sc,
                inputs,
                normalizer_fn,
                (weights_initializer, weights_regularizer),
                (biases_initializer, biases_regularizer),
                trainable,
                reuse,
            ),
        )
        return finish_layer(
            layer,
            layer.apply(inputs),
            sc,
            normalizer_fn,
            normalizer_params,
            activation_fn,
            variables_collections,
            outputs_collections,
        )


relu: Final = functools.partial(fully_connected, activation_fn=relu_activation)
relu6: Final = functools.partial(fully_connected, activation_fn=relu6_activation)
elu: Final = functools.partial(fully_connected, activation_fn=elu_activation)
linear: Final = functools.partial(fully_connected, activation_fn=None)
for _name in ("relu", "relu6", "elu", "linear"):
    export_value(globals()[_name], f"contrib.layers.{_name}")
