"""Cells of other designs: update gate, intersection, searched, simple."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.contrib.rnn.linear import Linear, known_width
from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.nn.rnn_cell import LayerRNNCell, RNNCell
from tensorloom.nn.rnn_cells import BIAS, KERNEL, LSTMStateTuple, input_depth
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


class _Units(RNNCell):
    """State and output are both `num_units` wide; maps have one initializer."""

    def __init__(
        self, num_units: int, initializer: Any, forget_bias: float, reuse: Any
    ) -> None:
        super().__init__(_reuse=reuse)
        self._num_units = num_units
        self._initializer = initializer
        self._forget_bias = forget_bias
        self._linear: Any = None

    @property
    def state_size(self) -> Any:
        """Number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._num_units


@export("contrib.rnn.UGRNNCell")
class UGRNNCell(_Units):
    """One update gate chooses between the state and a candidate (arXiv:1611.09913).

    Args:
      num_units: size of state and output.
      initializer: of the kernel, by default the scope's.
      forget_bias: added to the gate's input.
      activation: of the candidate, tanh by default.
      reuse: whether existing variables are reused.
    """

    def __init__(
        self,
        num_units: int,
        initializer: Any = None,
        forget_bias: float = 1.0,
        activation: Any = math_ops.tanh,
        reuse: Any = None,
    ) -> None:
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._activation = activation

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units].

        Raises:
          ValueError: the depth of the inputs is not known.
        """
        known_width(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            joined = array_ops.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 2 * self._num_units, True)
            product = self._linear(joined)
            gate, candidate = array_ops.split(
                axis=1, num_or_size_splits=2, value=product
            )
            c = self._activation(candidate)
            g = math_ops.sigmoid(gate + self._forget_bias)
            new_state = g * state + (1.0 - g) * c
        return new_state, new_state


@export("contrib.rnn.IntersectionRNNCell")
class IntersectionRNNCell(_Units):
    """Gates in time and in depth, for deep stacks (arXiv:1611.09913).

    Args:
      num_units: size of state and output.
      num_in_proj: the first layer of a stack has `num_units` here: its inputs go
        through a linear map where their depth is another.
      initializer: of the kernels, by default the scope's.
      forget_bias: added to the gates' inputs.
      y_activation: of what goes on in depth, relu by default.
      reuse: whether existing variables are reused.
    """

    def __init__(
        self,
        num_units: int,
        num_in_proj: int | None = None,
        initializer: Any = None,
        forget_bias: float = 1.0,
        y_activation: Any = nn_ops.relu,
        reuse: Any = None,
    ) -> None:
        super().__init__(num_units, initializer, forget_bias, reuse)
        self._num_input_proj = num_in_proj
        self._y_activation = y_activation
        self._input_map: Any = None

    def _of_units(self, inputs: Any) -> Any:
        if known_width(inputs) == self._num_units:
            return inputs
        if not self._num_input_proj:
            raise ValueError(
                "Must have input size == output size for Intersection RNN. To fix, "
                "num_in_proj should be set to num_units at cell init."
            )
        with variable_scope("in_projection"):
            if self._input_map is None:
                self._input_map = Linear(inputs, self._num_units, True)
            return self._input_map(inputs)

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units].

        Raises:
          ValueError: the depth of the inputs is unknown, or another than `num_units`
            without `num_in_proj`.
        """
        n, sigmoid = self._num_units, math_ops.sigmoid
        known_width(inputs)
        with variable_scope(get_variable_scope(), initializer=self._initializer):
            inputs = self._of_units(inputs)
            joined = array_ops.concat([inputs, state], 1)
            if self._linear is None:
                self._linear = Linear(joined, 4 * n, True)
            product = self._linear(joined)
            gh_act, h_act = product[:, :n], product[:, n : 2 * n]
            gy_act, y_act = product[:, 2 * n : 3 * n], product[:, 3 * n : 4 * n]
            h, y = math_ops.tanh(h_act), self._y_activation(y_act)
            gh = sigmoid(gh_act + self._forget_bias)
            gy = sigmoid(gy_act + self._forget_bias)
            new_state = gh * state + (1.0 - gh) * h
            new_y = gy * inputs + (1.0 - gy) * y
        return new_y, new_state


@export("contrib.rnn.NASCell")
class NASCell(LayerRNNCell):
    """The cell that a neural architecture search found (arXiv:1611.01578).

    Args:
      num_units: size of the memory.
      num_proj: size of the output after a projection.
      use_bias: whether a bias is added.
      reuse: whether existing variables are reused.
      **kwargs: of `Layer`.
    """

    _NAS_BASE = 8

    def __init__(
        self,
        num_units: int,
        num_proj: int | None = None,
        use_bias: bool = False,
        reuse: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        self._num_units = num_units
        self._num_proj = num_proj
        self._use_bias = use_bias

    @property
    def state_size(self) -> Any:
        """(units, output size)."""
        return LSTMStateTuple(self._num_units, self.output_size)

    @property
    def output_size(self) -> Any:
        """Size of the projection, or number of units."""
        return self._num_units if self._num_proj is None else self._num_proj

    def build(self, inputs_shape: Any) -> None:
        """Makes both kernels, the bias and the projection."""
        depth = as_shape(inputs_shape).with_rank(2).as_list()[1]
        if depth is None:
            raise ValueError("Could not infer input size from inputs.get_shape()[-1]")
        columns = self._NAS_BASE * self._num_units
        self.recurrent_kernel = self.add_variable(
            "recurrent_kernel", [self.output_size, columns]
        )
        self.kernel = self.add_variable("kernel", [depth, columns])
        if self._use_bias:
            self.bias = self.add_variable(
                "bias", shape=[columns], initializer=init_ops.Zeros
            )
        if self._num_proj is not None:
            self.projection_weights = self.add_variable(
                "projection_weights", [self._num_units, self._num_proj]
            )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, output size], LSTMStateTuple)."""
        sigmoid, tanh, relu = math_ops.sigmoid, math_ops.tanh, nn_ops.relu
        c_prev, m_prev = state
        of_state = math_ops.matmul(m_prev, self.recurrent_kernel)
        of_inputs = math_ops.matmul(inputs, self.kernel)
        if self._use_bias:
            of_state = nn_ops.bias_add(of_state, self.bias)
        m = array_ops.split(axis=1, num_or_size_splits=self._NAS_BASE, value=of_state)
        x = array_ops.split(axis=1, num_or_size_splits=self._NAS_BASE, value=of_inputs)
        first = (sigmoid, relu, sigmoid, relu, tanh, sigmoid, tanh, sigmoid)
        # The fourth pair alone is multiplied.
        leaves = [
            act(x[k] * m[k] if k == 3 else x[k] + m[k]) for k, act in enumerate(first)
        ]
        a = tanh(leaves[0] * leaves[1])
        b = tanh(leaves[2] + leaves[3])
        c = tanh(leaves[4] * leaves[5])
        d = sigmoid(leaves[6] + leaves[7])
        new_c = tanh(a + c_prev) * b
        new_m = tanh(new_c * tanh(c + d))
        if self._num_proj is not None:
            new_m = math_ops.matmul(new_m, self.projection_weights)
        return new_m, LSTMStateTuple(new_c, new_m)


@export("contrib.rnn.SRUCell")
class SRUCell(LayerRNNCell):
    """Simple recurrent unit: no matrix of the state (arXiv:1709.02755).

    Args:
      num_units: size of state and output.
      activation: tanh by default.
      reuse: whether existing variables are reused.
      name, **kwargs: of `Layer`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        name: str | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(_reuse=reuse, name=name, **kwargs)
        self._num_units = num_units
        self._activation = activation or math_ops.tanh
        self.input_spec = InputSpec(ndim=2)

    @property
    def state_size(self) -> Any:
        """Number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._num_units

    def build(self, inputs_shape: Any) -> None:
        """Makes kernel [depth, 4 * units] and bias [2 * units]."""
        depth, units = input_depth(inputs_shape), self._num_units
        self._kernel = self.add_variable(KERNEL, shape=[depth, 4 * units])
        self._bias = self.add_variable(
            BIAS, shape=[2 * units], initializer=init_ops.Zeros
        )
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units]."""
        product = math_ops.matmul(inputs, self._kernel)
        x_bar, forget, reset, x_tx = array_ops.split(
            value=product, num_or_size_splits=4, axis=1
        )
        joined = array_ops.concat([forget, reset], 1)
        gates = math_ops.sigmoid(nn_ops.bias_add(joined, self._bias))
        f, r = array_ops.split(value=gates, num_or_size_splits=2, axis=1)
        c = f * state + (1.0 - f) * x_bar
        return r * self._activation(c) + (1.0 - r) * x_tx, c
