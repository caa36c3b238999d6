"""`CudnnLSTM` and its like: layers of one variable that holds all parameters."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import get_variable, variable_scope
from tensorloom.client.variables.variable_scope_state import get_variable_scope
from tensorloom.contrib.cudnn_rnn import saveables
from tensorloom.contrib.cudnn_rnn.functions import (
    cudnn_rnn,
    cudnn_rnn_canonical_to_opaque_params,
)
from tensorloom.contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_RNN_RELU,
    CUDNN_RNN_TANH,
    CUDNN_RNN_UNIDIRECTION,
    PARAMS_PER_LAYER,
    check_direction,
    check_input_mode,
    direction_count,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph_keys import GraphKeys
from tensorloom.framework.runtime.scopes import add_to_collection
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.keras.engine.input_spec import InputSpec
from tensorloom.layers.base import Layer
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.permute import transpose
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.state.initializers import Constant, GlorotUniform


class _CudnnRNN(Layer):
    """Base of the layers; see `CudnnLSTM`."""

    _rnn_mode: str
    _saveable_cls: Any

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dropout: float = 0.0,
        seed: int | None = None,
        dtype: Any = dtypes.float32,
        kernel_initializer: Any = None,
        bias_initializer: Any = None,
        name: str | None = None,
    ) -> None:
        super().__init__(dtype=dtype, name=name)
        check_direction(direction)
        check_input_mode(input_mode)
        if dtype not in (dtypes.float16, dtypes.float32, dtypes.float64):
            raise ValueError(
                f"Only support float16, float32, float64, provided {dtype}"
            )
        self._plain_dtype = dtype
        self._num_layers = num_layers
        self._num_units = num_units
        self._input_mode = input_mode
        self._direction = direction
        self._dropout = dropout
        self._seed = seed
        self._kernel_initializer = kernel_initializer
        self._bias_initializer = bias_initializer
        self._input_size: int | None = None
        self._saveable: Any = None

    @property
    def num_layers(self) -> int:
        """How many layers there are."""
        return self._num_layers

    @property
    def num_units(self) -> int:
        """The units of each layer and direction."""
        return self._num_units

    @property
    def input_mode(self) -> str:
        """How the first layer takes the input."""
        return self._input_mode

    @property
    def input_size(self) -> int:
        """The depth of the input. Raises ValueError before the layer is built."""
        if not self._input_size:
            raise ValueError("'input_size' is unknown since layer has not been built.")
        return self._input_size

    @property
    def rnn_mode(self) -> str:
        """The kind of network."""
        return self._rnn_mode

    @property
    def direction(self) -> str:
        """The direction."""
        return self._direction

    @property
    def num_dirs(self) -> int:
        """How many directions there are."""
        return direction_count(self._direction)

    @property
    def saveable(self) -> Any:
        """What saves the parameters as the variables of cells."""
        return self._saveable

    @property
    def canonical_weight_shapes(self) -> list[tuple[int, int]]:
        """The shapes of cuDNN's matrices. Raises RuntimeError before building."""
        if not self._input_size:
            raise RuntimeError(
                f"{type(self).__name__}.canonical_weight_shapes invoked before input "
                "shape is known"
            )
        gates, units = PARAMS_PER_LAYER[self._rnn_mode] // 2, self._num_units
        shapes = []
        for layer in range(self._num_layers):
            depth = units * self.num_dirs if layer else self._input_size
            one = [(units, depth)] * gates + [(units, units)] * gates
            shapes.extend(one * self.num_dirs)
        return shapes

    @property
    def canonical_bias_shapes(self) -> list[list[int]]:
        """The shapes of cuDNN's vectors."""
        count = PARAMS_PER_LAYER[self._rnn_mode] * self.num_dirs * self._num_layers
        return [[self._num_units]] * count

    def build(self, input_shape: Any) -> None:
        """Makes the variable `opaque_kernel`, and what saves it.

        Raises:
          ValueError: the input is not [time, batch, depth] with a known depth.
        """
        if self.built:
            return
        shape = TensorShape(input_shape)
        if shape.rank != 3:
            raise ValueError(f"Expecting input_shape with 3 dims, got {shape.rank}")
        self._input_size = shape.as_list()[-1]
        if self._input_size is None:
            raise ValueError(
                "The last dimension of the inputs to `CudnnRNN` should be defined. "
                "Found `None`."
            )
        self.input_spec = InputSpec(ndim=3, axes={-1: self._input_size})
        self._set_scope(None)
        with variable_scope(self._scope, reuse=self.built):
            self.kernel = get_variable(
                "opaque_kernel",
                dtype=self._plain_dtype,
                initializer=self._first_params(),
                validate_shape=False,
            )
            self._trainable_weights.append(self.kernel)
        if get_variable_scope().reuse is not True:
            self._create_saveable()
        self.built = True

    def _first_params(self) -> Any:
        dtype = self._plain_dtype
        kernel = self._kernel_initializer or GlorotUniform(seed=self._seed, dtype=dtype)
        bias = self._bias_initializer or Constant(0.0, dtype=dtype)
        return cudnn_rnn_canonical_to_opaque_params(
            self._rnn_mode,
            self._num_layers,
            self._num_units,
            self.input_size,
            [kernel(shape, dtype=dtype) for shape in self.canonical_weight_shapes],
            [bias(shape, dtype=dtype) for shape in self.canonical_bias_shapes],
            self._input_mode,
            self._direction,
            self._dropout,
            self._seed,
        )

    def call(  # type: ignore[override]
        self,
        inputs: Any,
        initial_state: Any = None,
        sequence_lengths: Any = None,
        time_major: bool = True,
        training: bool = True,
    ) -> Any:
        """The network over sequences.

        Args:
          inputs: [time, batch, depth]; [batch, time, depth] unless `time_major`.
          initial_state: a tuple as `state_shape` says; zeros when None.
          sequence_lengths: int32, [batch]; None: all are of full length.
          time_major: see `inputs`.
          training: gradients will be asked for; dropout is on.

        Returns:
          Outputs, and a tuple of the last states.

        Raises:
          TypeError: `initial_state` is no tuple.
        """
        if initial_state is not None and not isinstance(initial_state, tuple):
            raise TypeError(
                f"Invalid initial_state type: {initial_state}, expecting tuple."
            )
        inputs = convert_to_tensor(inputs, dtype=self.dtype)
        if initial_state is None:
            initial_state = self._zero_state(shape_op(inputs)[1 if time_major else 0])
            if not time_major:
                initial_state = tuple(
                    transpose(one, [1, 0, 2]) for one in initial_state
                )
        states: Any = [
            convert_to_tensor(one, dtype=self.dtype) for one in initial_state
        ]
        if self._rnn_mode != CUDNN_LSTM:
            states.append(constant([], dtype=self.dtype))
        outputs, last_h, last_c = cudnn_rnn(
            inputs,
            states[0],
            states[1],
            self.kernel,
            training,
            self._rnn_mode,
            sequence_lengths,
            time_major,
            self._input_mode,
            self._direction,
            self._dropout,
            self._seed,
        )
        if self._rnn_mode == CUDNN_LSTM:
            return outputs, (last_h, last_c)
        return outputs, (last_h,)

    def state_shape(self, batch_size: Any) -> Any:
        """The shapes of the states, each [layers * directions, batch, units]."""
        shape = [self.num_layers * self.num_dirs, batch_size, self.num_units]
        return (shape,) * (2 if self._rnn_mode == CUDNN_LSTM else 1)

    def _zero_state(self, batch_size: Any) -> Any:
        shapes = self.state_shape(batch_size)
        return tuple(zeros(shape, dtype=self.dtype) for shape in shapes)

    def _create_saveable(self) -> None:
        if self._saveable is not None:
            raise RuntimeError("Cudnn saveable already created.")
        self._saveable = self._saveable_cls(
            opaque_params=self.kernel,
            num_layers=self.num_layers,
            num_units=self.num_units,
            input_size=self.input_size,
            input_mode=self.input_mode,
            direction=self.direction,
            scope=get_variable_scope(),
            name=f"{self.kernel.name.split(':')[0]}_saveable",
        )
        add_to_collection(GraphKeys.SAVEABLE_OBJECTS, self._saveable)


@export("contrib.cudnn_rnn.CudnnLSTM")
class CudnnLSTM(_CudnnRNN):
    """An LSTM of many layers in one operation.

    Checkpoints hold the variables of `CudnnCompatibleLSTMCell`s in a `MultiRNNCell`
    (or stacked bidirectional ones), and can be restored into those.

    Args:
      num_layers: how many.
      num_units: of each layer and direction.
      input_mode: "linear_input"; "skip_input": the first layer takes the input as it
        is; "auto_select": that where the sizes are equal.
      direction: "unidirectional" or "bidirectional".
      dropout: which part of what goes from layer to layer is dropped.
      seed: of dropout and of the first weights.
      dtype: float16, float32 or float64.
      kernel_initializer: glorot_uniform when None.
      bias_initializer: zeros when None.
      name: of the layer.

    Raises:
      ValueError: a word or the dtype is none of those.
    """

    _rnn_mode = CUDNN_LSTM
    _saveable_cls = saveables.CudnnLSTMSaveable


@export("contrib.cudnn_rnn.CudnnGRU")
class CudnnGRU(_CudnnRNN):
    """A GRU of many layers in one operation; see `CudnnLSTM`."""

    _rnn_mode = CUDNN_GRU
    _saveable_cls = saveables.CudnnGRUSaveable


@export("contrib.cudnn_rnn.CudnnRNNTanh")
class CudnnRNNTanh(_CudnnRNN):
    """A network of many layers with tanh in one operation; see `CudnnLSTM`."""

    _rnn_mode = CUDNN_RNN_TANH
    _saveable_cls = saveables.CudnnRNNTanhSaveable


@export("contrib.cudnn_rnn.CudnnRNNRelu")
class CudnnRNNRelu(_CudnnRNN):
    """A network of many layers with relu in one operation; see `CudnnLSTM`."""

    _rnn_mode = CUDNN_RNN_RELU
    _saveable_cls = saveables.CudnnRNNReluSaveable
