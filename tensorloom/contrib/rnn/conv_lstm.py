"""LSTM cells whose kernels are convolutions."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable
from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.nn.rnn_cell import RNNCell
from tensorloom.nn.rnn_cells import LSTMStateTuple
from tensorloom.ops.array import array_ops
from tensorloom.ops.convolution.conv3d import conv3d
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.state import initializers as init_ops


@export("contrib.rnn.ConvLSTMCell")
class ConvLSTMCell(RNNCell):
    """Convolutional LSTM (arXiv:1506.04214).

    Args:
      conv_ndims: 1, 2 or 3.
      input_shape: of an input without the batch, as a list; the last is its channels.
      output_channels: channels of memory and output.
      kernel_shape: sizes of the convolution.
      use_bias: whether a bias is added.
      skip_connection: whether inputs are joined to the output.
      forget_bias: added to the forget gate's input.
      initializers: not used.
      name: see `Layer`.

    Raises:
      ValueError: `input_shape` does not have `conv_ndims + 1` sizes.
    """

    def __init__(
        self,
        conv_ndims: int,
        input_shape: Any,
        output_channels: int,
        kernel_shape: Any,
        use_bias: bool = True,
        skip_connection: bool = False,
        forget_bias: float = 1.0,
        initializers: Any = None,
        name: str | None = "conv_lstm_cell",
    ) -> None:
        super().__init__(name=name)
        if conv_ndims != len(input_shape) - 1:
            raise ValueError(
                f"Invalid input_shape {input_shape} for conv_ndims={conv_ndims}."
            )
        self._conv_ndims = conv_ndims
        self._output_channels = output_channels
        self._kernel_shape = list(kernel_shape)
        self._use_bias = use_bias
        self._forget_bias = forget_bias
        self._skip_connection = skip_connection
        self._sizes = list(input_shape[:-1])
        self._all_channels = output_channels
        if skip_connection:
            self._all_channels += input_shape[-1]

    @property
    def output_size(self) -> Any:
        """Shape of an output without the batch."""
        return TensorShape([*self._sizes, self._all_channels])

    @property
    def state_size(self) -> Any:
        """(shape of the memory, shape of the output), without the batch."""
        size = TensorShape([*self._sizes, self._output_channels])
        return LSTMStateTuple(size, size)

    def call(  # type: ignore[override]
        self, inputs: Any, state: Any, scope: Any = None
    ) -> Any:
        """One step: (output [batch, ..., channels], LSTMStateTuple).

        Raises:
          ValueError: inputs or state are not of 3 to 5 dimensions, or not of the same.
        """
        cell, hidden = state
        channels, sigmoid = self._output_channels, math_ops.sigmoid
        gates = _convolved(
            [inputs, hidden], self._kernel_shape, 4 * channels, self._use_bias
        )
        input_gate, new_input, forget_gate, output_gate = array_ops.split(
            value=gates, num_or_size_splits=4, axis=self._conv_ndims + 1
        )
        new_cell = sigmoid(forget_gate + self._forget_bias) * cell
        new_cell += sigmoid(input_gate) * math_ops.tanh(new_input)
        output = math_ops.tanh(new_cell) * sigmoid(output_gate)
        if self._skip_connection:
            output = array_ops.concat([output, inputs], axis=-1)
        return output, LSTMStateTuple(new_cell, output)


def _convolved(args: list[Any], sizes: list[int], features: int, bias: bool) -> Any:
    """A convolution of the joined arguments, with variables of the scope."""
    shapes = [arg.shape.as_list() for arg in args]
    rank = len(shapes[0])
    for shape in shapes:
        if len(shape) not in (3, 4, 5):
            raise ValueError(f"Conv Linear expects 3D, 4D or 5D arguments: {shapes}")
        if len(shape) != rank:
            raise ValueError(
                f"Conv Linear expects all args to be of same Dimension: {shapes}"
            )
    dtype = args[0].dtype
    depth = sum(shape[-1] for shape in shapes)
    kernel = get_variable("kernel", [*sizes, depth, features], dtype=dtype)
    joined = array_ops.concat(axis=rank - 1, values=args)
    if rank == 3:
        result = nn_ops.conv1d(joined, kernel, 1, padding="SAME")
    else:
        convolution: Any = nn_ops.conv2d if rank == 4 else conv3d
        result = convolution(joined, kernel, rank * [1], padding="SAME")
    if not bias:
        return result
    zero = init_ops.Constant(0.0, dtype=dtype)
    return result + get_variable("biases", [features], dtype=dtype, initializer=zero)


@export("contrib.rnn.Conv1DLSTMCell")
class Conv1DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of sequences."""

    def __init__(self, name: str | None = "conv_1d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=1, name=name, **kwargs)


@export("contrib.rnn.Conv2DLSTMCell")
class Conv2DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of images."""

    def __init__(self, name: str | None = "conv_2d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=2, name=name, **kwargs)


@export("contrib.rnn.Conv3DLSTMCell")
class Conv3DLSTMCell(ConvLSTMCell):
    """`ConvLSTMCell` of volumes."""

    def __init__(self, name: str | None = "conv_3d_lstm_cell", **kwargs: Any) -> None:
        super().__init__(conv_ndims=3, name=name, **kwargs)
