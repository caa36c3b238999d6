"""Cells whose units see no state but their own (arXiv:1803.04831)."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.nn.rnn_cell import LayerRNNCell
from tensorloom.nn.rnn_cells import BIAS, KERNEL, LSTMStateTuple, input_depth
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


class _Independent(LayerRNNCell):
    """Input kernels are matrices, recurrent kernels are vectors."""

    def __init__(
        self,
        num_units: int,
        activation: Any,
        reuse: Any,
        name: str | None,
        dtype: Any,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, dtype=dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activation or math_ops.tanh
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer

    @property
    def state_size(self) -> Any:
        """Number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._num_units

    def _weights(
        self, shape: Any, outputs: int, names: tuple[str, str, str], bias: Any
    ) -> tuple[Any, Any, Any]:
        """The input kernel, the recurrent kernel, and the bias."""
        kernel, recurrent, shift = names
        uniform = init_ops.RandomUniform(minval=-1, maxval=1, dtype=self.dtype)
        if self._bias_initializer is not None:
            bias = self._bias_initializer
        return (
            self.add_variable(
                kernel,
                shape=[input_depth(shape), outputs],
                initializer=self._kernel_initializer,
            ),
            self.add_variable(recurrent, shape=[1, outputs], initializer=uniform),
            self.add_variable(shift, shape=[outputs], initializer=bias),
        )


def _sum(inputs: Any, state: Any, weights: tuple[Any, Any, Any]) -> Any:
    """inputs * kernel + state . recurrent + bias; a state for each kind of gate."""
    kernel, recurrent, bias = weights
    product = math_ops.matmul(inputs, kernel)
    copies = recurrent.shape.as_list()[1] // state.shape.as_list()[1]
    if copies > 1:
        state = array_ops.tile(state, [1, copies])
    return nn_ops.bias_add(product + state * recurrent, bias)


@export("contrib.rnn.IndRNNCell")
class IndRNNCell(_Independent):
    """output = new state = activation(inputs * W + state . u + bias).

    Args:
      num_units: size of state and output.
      activation: tanh by default.
      reuse: whether existing variables are reused.
      name, dtype: see `Layer`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_units, activation, reuse, name, dtype)

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel_w [depth, units], kernel_u [1, units] and bias."""
        names = f"{KERNEL}_w", f"{KERNEL}_u", BIAS
        zeros = init_ops.Zeros(dtype=self.dtype)
        self._own = self._weights(inputs_shape, self._num_units, names, zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units]."""
        output = self._activation(_sum(inputs, state, self._own))
        return output, output


@export("contrib.rnn.IndyGRUCell")
class IndyGRUCell(_Independent):
    """GRU whose recurrent kernels are vectors.

    Args:
      num_units: size of state and output.
      activation: of the candidate, tanh by default.
      reuse: whether existing variables are reused.
      kernel_initializer: of the input kernels, by default the scope's.
      bias_initializer: by default 1 for the gates, 0 for the candidate.
      name, dtype: see `Layer`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        own = kernel_initializer, bias_initializer
        super().__init__(num_units, activation, reuse, name, dtype, *own)

    def build(self, inputs_shape: Any) -> None:
        """Makes kernels and biases of the gates and of the candidate."""
        units = self._num_units
        names = f"gates/{KERNEL}_w", f"gates/{KERNEL}_u", f"gates/{BIAS}"
        one = init_ops.Constant(1.0, dtype=self.dtype)
        self._gates = self._weights(inputs_shape, 2 * units, names, one)
        names = f"candidate/{KERNEL}", f"candidate/{KERNEL}_u", f"candidate/{BIAS}"
        zeros = init_ops.Zeros(dtype=self.dtype)
        self._candidate = self._weights(inputs_shape, units, names, zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units]."""
        value = math_ops.sigmoid(_sum(inputs, state, self._gates))
        r, u = array_ops.split(value=value, num_or_size_splits=2, axis=1)
        c = self._activation(_sum(inputs, r * state, self._candidate))
        new_h = u * state + (1 - u) * c
        return new_h, new_h


@export("contrib.rnn.IndyLSTMCell")
class IndyLSTMCell(_Independent):
    """LSTM whose recurrent kernel is a vector.

    Args:
      num_units: size of memory and output.
      forget_bias: added to the forget gate's input.
      activation: tanh by default.
      reuse: whether existing variables are reused.
      kernel_initializer: of the input kernel, by default the scope's.
      bias_initializer: zeros by default.
      name, dtype: see `Layer`.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
        dtype: Any = None,
    ) -> None:
        own = kernel_initializer, bias_initializer
        super().__init__(num_units, activation, reuse, name, dtype, *own)
        self._forget_bias = forget_bias

    @property
    def state_size(self) -> Any:
        """(units, units)."""
        return LSTMStateTuple(self._num_units, self._num_units)

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel_w [depth, 4 * units], kernel_u [1, 4 * units] and bias."""
        names = f"{KERNEL}_w", f"{KERNEL}_u", BIAS
        zeros = init_ops.Zeros(dtype=self.dtype)
        self._own = self._weights(inputs_shape, 4 * self._num_units, names, zeros)
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, units], LSTMStateTuple)."""
        sigmoid, add, multiply = math_ops.sigmoid, math_ops.add, math_ops.multiply
        one = array_ops.constant(1, dtype=dtypes.int32)
        c, h = state
        gates = _sum(inputs, h, self._own)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = array_ops.constant(self._forget_bias, dtype=f.dtype)
        new_c = add(
            multiply(c, sigmoid(add(f, forget_bias))),
            multiply(sigmoid(i), self._activation(j)),
        )
        new_h = multiply(self._activation(new_c), sigmoid(o))
        return new_h, LSTMStateTuple(new_c, new_h)
