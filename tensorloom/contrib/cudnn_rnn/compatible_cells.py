"""Cells whose checkpoints are those of the networks in one operation."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.rnn.block_cells import LSTMBlockCell
from tensorloom.framework.export import export
from tensorloom.nn.rnn_cells import GRUCell
from tensorloom.ops.array.concat import concat, split
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math.elementwise import sigmoid
from tensorloom.ops.nn.bias import bias_add
from tensorloom.ops.state.initializers import Constant, Zeros


@export("contrib.cudnn_rnn.CudnnCompatibleLSTMCell")
class CudnnCompatibleLSTMCell(LSTMBlockCell):
    """The LSTM cell of `CudnnLSTM`, without a forget bias.

    Args:
      num_units: size of memory and output.
      reuse: whether existing variables are reused.
    """

    def __init__(self, num_units: int, reuse: Any = None) -> None:
        super().__init__(
            num_units,
            forget_bias=0,
            reuse=reuse,
            name="cudnn_compatible_lstm_cell",
        )


@export("contrib.cudnn_rnn.CudnnCompatibleGRUCell")
class CudnnCompatibleGRUCell(GRUCell):
    """The GRU cell of `CudnnGRU`: the reset gate comes after the product.

    Args:
      num_units: size of state and output.
      reuse: whether existing variables are reused.
      kernel_initializer: of the matrices.
    """

    def __init__(
        self, num_units: int, reuse: Any = None, kernel_initializer: Any = None
    ) -> None:
        super().__init__(num_units, reuse=reuse, kernel_initializer=kernel_initializer)

    def build(self, inputs_shape: Any) -> None:
        """Makes kernels and biases of the gates, and two of the candidate each.

        Raises:
          ValueError: the depth of the input is not known.
        """
        depth, units = inputs_shape.as_list()[1], self._num_units
        if depth is None:
            raise ValueError(
                f"Expected inputs.shape[-1] to be known, saw shape: {inputs_shape}"
            )
        ones = Constant(1.0, dtype=self.dtype)
        self._gate_kernel, self._gate_bias = self._pair("gates", depth, 2 * units, ones)
        self._input_kernel = self._kernel("candidate/input_projection", depth)
        self._hidden_kernel = self._kernel("candidate/hidden_projection", units)
        self._input_bias = self._vector("candidate/input_projection")
        self._hidden_bias = self._vector("candidate/hidden_projection")
        self.built = True

    def _kernel(self, part: str, depth: int) -> Any:
        return self.add_weight(
            f"{part}/kernel",
            shape=[depth, self._num_units],
            initializer=self._kernel_initializer,
        )

    def _vector(self, part: str) -> Any:
        initializer = self._bias_initializer
        if initializer is None:
            initializer = Zeros(dtype=self.dtype)
        return self.add_weight(
            f"{part}/bias", shape=[self._num_units], initializer=initializer
        )

    def call(self, inputs: Any, state: Any) -> Any:  # type: ignore[override]
        """One step: (output, new state), both [batch, units]."""
        gates = matmul(concat([inputs, state], 1), self._gate_kernel)
        gates = sigmoid(bias_add(gates, self._gate_bias))
        reset, update = split(value=gates, num_or_size_splits=2, axis=1)
        hidden = bias_add(matmul(state, self._hidden_kernel), self._hidden_bias)
        candidate = bias_add(matmul(inputs, self._input_kernel), self._input_bias)
        candidate = self._activation(candidate + reset * hidden)
        new_state = (1 - update) * candidate + update * state
        return new_state, new_state
