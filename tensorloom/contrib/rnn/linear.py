"""A linear map with variables of the current scope, and variables in shards."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable,
    get_variable_scope,
    variable_scope,
)
from tensorloom.contrib.layers.normalization import layer_norm
from tensorloom.framework.graph.graph import add_to_collection, get_collection
from tensorloom.framework.types import dtypes, nest
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops

CONCATENATED_VARIABLES = "concatenated_variables"


class Linear:
    """[a, b, ...] * kernel + bias, for matrices [batch, n].

    Args:
      args: a matrix or a list of matrices, as the calls will bring.
      output_size: columns of the kernel.
      build_bias: whether a bias is added.
      bias_initializer: zeros by default.
      kernel_initializer: the scope's by default.

    Raises:
      ValueError: nothing is given, or something other than matrices of known width.
    """

    def __init__(
        self,
        args: Any,
        output_size: int,
        build_bias: bool,
        bias_initializer: Any = None,
        kernel_initializer: Any = None,
    ) -> None:
        self._build_bias = build_bias
        self._takes_list = nest.is_nested(args)
        if args is None or (self._takes_list and not args):
            raise ValueError("`args` must be specified")
        matrices = args if self._takes_list else [args]
        dtype = matrices[0].dtype
        with variable_scope(get_variable_scope()) as scope:
            self._weights = get_variable(
                "kernel",
                [_width_of_all(matrices), output_size],
                dtype=dtype,
                initializer=kernel_initializer,
            )
            if not build_bias:
                return
            with variable_scope(scope) as inner:
                inner.set_partitioner(None)
                if bias_initializer is None:
                    bias_initializer = init_ops.Constant(0.0, dtype=dtype)
                self._biases = get_variable(
                    "bias", [output_size], dtype=dtype, initializer=bias_initializer
                )

    def __call__(self, args: Any) -> Any:
        """The map of what the constructor was shown: [batch, output_size]."""
        matrices = args if self._takes_list else [args]
        if len(matrices) == 1:
            result = math_ops.matmul(matrices[0], self._weights)
        else:
            one = array_ops.constant(1, dtype=dtypes.int32)
            joined = array_ops.concat(matrices, one)
            result = math_ops.matmul(joined, self._weights)
        if self._build_bias:
            result = nn_ops.bias_add(result, self._biases)
        return result


def _width_of_all(matrices: Any) -> int:
    shapes = [matrix.shape for matrix in matrices]
    total = 0
    for shape in shapes:
        if shape.rank != 2:
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        width = shape.as_list()[1]
        if width is None:
            raise ValueError(
                f"linear expects shape[1] to be provided for shape {shape}, "
                f"but saw {width}"
            )
        total += width
    return total


def known_width(inputs: Any) -> int:
    """The columns of a matrix. Raises ValueError where they are not known."""
    width = inputs.shape.with_rank(2).as_list()[1]
    if width is None:
        raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
    return int(width)


def sharded_variable(name: str, shape: list[int], dtype: Any, num_shards: int) -> Any:
    """A matrix kept as `num_shards` variables `name_0`, `name_1`, ... of its rows.

    Raises:
      ValueError: there are more shards than rows.
    """
    if num_shards > shape[0]:
        raise ValueError(f"Too many shards: shape={shape}, num_shards={num_shards}")
    rows, more = divmod(shape[0], num_shards)
    shards = [
        get_variable(f"{name}_{i}", [rows + (i < more), *shape[1:]], dtype=dtype)
        for i in range(num_shards)
    ]
    if len(shards) == 1:
        return shards[0]
    joined_name = f"{name}/concat"
    full_name = f"{get_variable_scope().name}/{joined_name}:0"
    for value in get_collection(CONCATENATED_VARIABLES):
        if value.name == full_name:
            return value
    joined = array_ops.concat(shards, 0, name=joined_name)
    add_to_collection(CONCATENATED_VARIABLES, joined)
    return joined


def normalized(
    value: Any, scope: str, gain: float, shift: float, dtype: Any = dtypes.float32
) -> Any:
    """Layer normalization whose `gamma` and `beta` start at `gain` and `shift`."""
    shape = value.shape[-1:]
    gamma, beta = init_ops.Constant(gain), init_ops.Constant(shift)
    with variable_scope(scope):
        get_variable("gamma", shape=shape, initializer=gamma, dtype=dtype)
        get_variable("beta", shape=shape, initializer=beta, dtype=dtype)
    return layer_norm(value, reuse=True, scope=scope)
