"""The first fully connected layers, with collections for all that they make."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.contrib.layers.dense import XAVIER, ZEROS
from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import GraphKeys, add_to_collections
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.array.stack import stack, unstack
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.nn.activation import relu
from tensorloom.ops.nn.bias import bias_add


@export("contrib.layers.legacy_fully_connected")
def legacy_fully_connected(
    x: Any,
    num_output_units: int,
    activation_fn: Callable[[Any], Any] | None = None,
    weight_init: Any = XAVIER,
    bias_init: Any = ZEROS,
    name: str | None = None,
    weight_collections: Sequence[str] | None = (GraphKeys.WEIGHTS,),
    bias_collections: Sequence[str] | None = (GraphKeys.BIASES,),
    output_collections: Sequence[str] | None = (GraphKeys.ACTIVATIONS,),
    trainable: bool = True,
    weight_regularizer: Any = None,
    bias_regularizer: Any = None,
) -> Any:
    """activation(x * weights + bias), over the last axis.

    Args:
      x: `[..., depth]`, of rank 2 or more.
      num_output_units: the size of the result's last axis.
      activation_fn: a function of the result.
      weight_init, bias_init: initializers; there is no bias when the second is None.
      name: of the variable scope; a unique one when None.
      weight_collections, bias_collections: of the variables, beside GLOBAL_VARIABLES.
      output_collections: of the result, beside ACTIVATIONS.
      trainable: whether the variables are.
      weight_regularizer, bias_regularizer: give losses of them.

    Raises:
      ValueError: the rank is below 2, or the depth is unknown.
    """
    with variable_scope(name, "fully_connected", [x]):
        x = convert_to_tensor(x)
        depth = _depth(x)
        dtype = x.dtype.base_dtype
        weights = get_variable(
            "weights",
            shape=[depth, num_output_units],
            dtype=dtype,
            initializer=weight_init,
            collections=_with_global(weight_collections),
            regularizer=weight_regularizer,
            trainable=trainable,
        )
        rank = x.get_shape().ndims
        rows = x if rank <= 2 else reshape(x, [-1, depth])
        y = matmul(rows, weights)
        if bias_init is not None:
            bias = get_variable(
                "bias",
                shape=[num_output_units],
                dtype=dtype,
                initializer=bias_init,
                collections=_with_global(bias_collections),
                regularizer=bias_regularizer,
                trainable=trainable,
            )
            y = bias_add(y, bias)
        if rank > 2:
            sizes = [*unstack(shape(x))[:-1], num_output_units]
            y = reshape(y, stack(sizes))
            y.set_shape([*x.get_shape().as_list()[:-1], num_output_units])
        if activation_fn is not None:
            y = activation_fn(y)
        add_to_collections([*(output_collections or ()), GraphKeys.ACTIVATIONS], y)
        return y


def _depth(x: Any) -> int:
    dims = x.get_shape().dims
    if dims is None:
        raise ValueError("dims of x must be known but is None")
    if len(dims) < 2:
        raise ValueError(f"rank of x must be at least 2 not: {len(dims)}")
    if dims[-1].value is None:
        raise ValueError("last dimension of x must be known but is None")
    return int(dims[-1].value)


def _with_global(collections: Sequence[str] | None) -> list[str]:
    return list(dict.fromkeys([*(collections or ()), GraphKeys.GLOBAL_VARIABLES]))


legacy_relu = functools.partial(legacy_fully_connected, activation_fn=relu)
legacy_linear = functools.partial(legacy_fully_connected, activation_fn=None)
export_value(legacy_relu, "contrib.layers.legacy_relu")
export_value(legacy_linear, "contrib.layers.legacy_linear")
