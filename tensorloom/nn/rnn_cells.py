"""Recurrent cells: basic, GRU and LSTM."""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes, nest
from tensorloom.framework.types.tensor_shape import as_shape
from tensorloom.keras import activations, initializers
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.nn.rnn_cell import LayerRNNCell, check_cell_dtype
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops

KERNEL = "kernel"
BIAS = "bias"


def input_depth(shape: Any) -> int:
    """The last dimension of the inputs' shape. Raises ValueError when unknown."""
    sizes = as_shape(shape).as_list()
    depth: int | None = sizes[-1]
    if depth is None:
        raise ValueError(
            f"Expected inputs.shape[-1] to be known, saw shape: {tuple(sizes)}"
        )
    return depth


def check_inputs(*values: Any) -> None:
    """Raises ValueError unless cells can compute in the dtypes of these tensors."""
    for tensor in nest.flatten(list(values)):
        check_cell_dtype(tensor.dtype)


def dense(inputs: Any, state: Any, kernel: Any, bias: Any) -> Any:
    """[inputs, state] * kernel + bias."""
    product = math_ops.matmul(array_ops.concat([inputs, state], 1), kernel)
    return nn_ops.bias_add(product, bias)


class UnitsCell(LayerRNNCell):
    """A cell of `num_units` with an activation, tanh by default."""

    _kernel: Any

    def __init__(
        self, num_units: int, activation: Any, reuse: Any, **kwargs: Any
    ) -> None:
        super().__init__(_reuse=reuse, **kwargs)
        check_cell_dtype(self.dtype)
        self.input_spec = InputSpec(ndim=2)
        self._num_units = num_units
        self._activation = activations.get(activation) if activation else math_ops.tanh

    @property
    def state_size(self) -> Any:
        """Number of units."""
        return self._num_units

    @property
    def output_size(self) -> Any:
        """Number of units."""
        return self._num_units

    def _zeros(self) -> Any:
        return init_ops.Zeros(dtype=self.dtype)

    def _used_kernel(self) -> Any:
        """What LSTM cells multiply inputs by; cells that change weights override it."""
        return self._kernel

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell."""
        own = {"num_units": self._num_units, "activation": self._activation}
        return {**super().get_config(), **own, "reuse": self._reuse}


@export("nn.rnn_cell.BasicRNNCell", "contrib.rnn.BasicRNNCell")
class BasicRNNCell(UnitsCell):
    """output = new state = activation([inputs, state] * kernel + bias).

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
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype, **kwargs)

    def build(self, input_shape: Any) -> None:
        """Makes kernel [depth + units, units] and bias."""
        depth, units = input_depth(input_shape), self._num_units
        check_cell_dtype(self.dtype)
        self._kernel = self.add_weight(KERNEL, shape=[depth + units, units])
        self._bias = self.add_weight(BIAS, shape=[units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units]."""
        check_inputs(inputs, state)
        output = self._activation(dense(inputs, state, self._kernel, self._bias))
        return output, output


@export("nn.rnn_cell.GRUCell", "contrib.rnn.GRUCell")
class GRUCell(UnitsCell):
    """Gated recurrent unit (Cho et al. 2014, arXiv:1406.1078).

    Args:
      num_units: size of state and output.
      activation: of the candidate, tanh by default.
      reuse: whether existing variables are reused.
      kernel_initializer, bias_initializer: by default the scope's, and 1 for the gates'
        bias, 0 for the candidate's.
      name, dtype: see `Layer`.
    """

    def __init__(
        self,
        num_units: int,
        activation: Any = None,
        reuse: Any = None,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype, **kwargs)
        self._kernel_initializer = initializers.get(kernel_initializer)
        self._bias_initializer = initializers.get(bias_initializer)

    def build(self, input_shape: Any) -> None:
        """Makes kernels and biases of the gates and the candidate."""
        depth, units = input_depth(input_shape), self._num_units
        check_cell_dtype(self.dtype)
        ones = init_ops.Constant(1.0, dtype=self.dtype)
        self._gate_kernel, self._gate_bias = self._pair("gates", depth, 2 * units, ones)
        self._candidate_kernel, self._candidate_bias = self._pair(
            "candidate", depth, units, self._zeros()
        )
        self.built = True

    def _pair(self, part: str, depth: int, outputs: int, bias: Any) -> tuple[Any, Any]:
        kernel = self.add_weight(
            f"{part}/{KERNEL}",
            shape=[depth + self._num_units, outputs],
            initializer=self._kernel_initializer,
        )
        if self._bias_initializer is not None:
            bias = self._bias_initializer
        return kernel, self.add_weight(
            f"{part}/{BIAS}", shape=[outputs], initializer=bias
        )

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units]."""
        check_inputs(inputs, state)
        gates = dense(inputs, state, self._gate_kernel, self._gate_bias)
        value = math_ops.sigmoid(gates)
        r, u = array_ops.split(value=value, num_or_size_splits=2, axis=1)
        r_state = r * state
        candidate = dense(inputs, r_state, self._candidate_kernel, self._candidate_bias)
        c = self._activation(candidate)
        new_h = u * state + (1 - u) * c
        return new_h, new_h

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell."""
        return {
            **super().get_config(),
            "kernel_initializer": self._kernel_initializer,
            "bias_initializer": self._bias_initializer,
        }


@export("nn.rnn_cell.LSTMStateTuple", "contrib.rnn.LSTMStateTuple")
class LSTMStateTuple(namedtuple("LSTMStateTuple", ("c", "h"))):
    """State of LSTM cells: the cell's memory `c` and its output `h`."""

    __slots__ = ()

    @property
    def dtype(self) -> Any:
        """The dtype of both. Raises TypeError when they differ."""
        c, h = self
        if c.dtype != h.dtype:
            raise TypeError(f"Inconsistent internal state: {c.dtype} vs {h.dtype}")
        return c.dtype


@export("nn.rnn_cell.BasicLSTMCell", "contrib.rnn.BasicLSTMCell")
class BasicLSTMCell(UnitsCell):
    """Long short-term memory without peepholes, clipping or projection.

    Args:
      num_units: size of memory and output.
      forget_bias: added to the forget gate's input.
      state_is_tuple: the state is an LSTMStateTuple, else one [batch, 2 * units].
      activation: tanh by default.
      reuse: whether existing variables are reused.
      name, dtype: see `Layer`.
    """

    def __init__(
        self,
        num_units: int,
        forget_bias: float = 1.0,
        state_is_tuple: bool = True,
        activation: Any = None,
        reuse: Any = None,
        name: Any = None,
        dtype: Any = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(num_units, activation, reuse, name=name, dtype=dtype, **kwargs)
        self._forget_bias = forget_bias
        self._state_is_tuple = state_is_tuple

    @property
    def state_size(self) -> Any:
        """(units, units), or twice the units."""
        if self._state_is_tuple:
            return LSTMStateTuple(self._num_units, self._num_units)
        return 2 * self._num_units

    def build(self, input_shape: Any) -> None:
        """Makes kernel [depth + units, 4 * units] and bias."""
        depth, units = input_depth(input_shape), self._num_units
        check_cell_dtype(self.dtype)
        self._kernel = self.add_weight(KERNEL, shape=[depth + units, 4 * units])
        self._bias = self.add_weight(BIAS, shape=[4 * units], initializer=self._zeros())
        self.built = True

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output [batch, units], new state)."""
        check_inputs(inputs, state)
        sigmoid, add, multiply = math_ops.sigmoid, math_ops.add, math_ops.multiply
        one = constant(1, dtype=dtypes.int32)
        if self._state_is_tuple:
            c, h = state
        else:
            c, h = array_ops.split(value=state, num_or_size_splits=2, axis=one)
        gates = dense(inputs, h, self._used_kernel(), self._bias)
        i, j, f, o = array_ops.split(value=gates, num_or_size_splits=4, axis=one)
        forget_bias = constant(self._forget_bias, dtype=f.dtype)
        new_c = add(
            multiply(c, sigmoid(add(f, forget_bias))),
            multiply(sigmoid(i), self._activation(j)),
        )
        new_h = multiply(self._activation(new_c), sigmoid(o))
        if self._state_is_tuple:
            return new_h, LSTMStateTuple(new_c, new_h)
        return new_h, array_ops.concat([new_c, new_h], 1)

    def get_config(self) -> dict[str, Any]:
        """The arguments that make an equal cell."""
        return {
            **super().get_config(),
            "forget_bias": self._forget_bias,
            "state_is_tuple": self._state_is_tuple,
        }
