"""Opaque parameters as the variables of TensorFlow's cells, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.contrib.cudnn_rnn.functions import (
    cudnn_rnn_canonical_to_opaque_params,
    cudnn_rnn_opaque_params_to_canonical,
)
from tensorloom.contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_RNN_RELU,
    CUDNN_RNN_TANH,
    CUDNN_RNN_UNIDIRECTION,
    PARAMS_PER_LAYER,
    direction_count,
)
from tensorloom.framework.export import export
from tensorloom.ops.array.concat import concat, split
from tensorloom.ops.array.permute import transpose


class _Converter:
    """Base of the converters.

    Args:
      num_layers, num_units, input_size: the sizes of the network.
      num_proj: of an LSTM's projection; None for none.
      input_mode, direction: see `CudnnLSTM`.
    """

    _rnn_mode: str
    # How many variables of weights, and of biases, a cell has.
    _variables = 1

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        num_proj: int | None = None,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
    ) -> None:
        self._num_layers = num_layers
        self._input_size = input_size
        self._num_units = num_units
        self._input_mode = input_mode
        self._num_proj = num_proj
        self._direction = direction
        self._num_dirs = direction_count(direction)

    def tf_canonical_to_opaque(
        self, tf_canonicals: Sequence[Any], weights_proj: Any = None
    ) -> Any:
        """The opaque parameters.

        Args:
          tf_canonicals: the weights of all cells, and then their biases.
          weights_proj: the projections.
        """
        half = len(tf_canonicals) // 2
        weights: list[Any] = []
        biases: list[Any] = []
        for cell in range(self._num_layers * self._num_dirs):
            part = slice(cell * self._variables, (cell + 1) * self._variables)
            layer = cell // self._num_dirs
            weights.extend(self._cudnn_weights(layer, tf_canonicals[:half][part]))
            if weights_proj is not None:
                weights.append(transpose(weights_proj[cell]))
            biases.extend(self._cudnn_biases(tf_canonicals[half:][part]))
        return cudnn_rnn_canonical_to_opaque_params(
            self._rnn_mode,
            self._num_layers,
            self._num_units,
            self._input_size,
            weights,
            biases,
            self._input_mode,
            self._direction,
            num_proj=self._num_proj,
        )

    def opaque_to_tf_canonical(self, opaque_param: Any) -> Any:
        """The weights of all cells, their biases, and projections if there are some."""
        given, vectors = cudnn_rnn_opaque_params_to_canonical(
            self._rnn_mode,
            self._num_layers,
            self._num_units,
            self._input_size,
            opaque_param,
            self._input_mode,
            self._direction,
            num_proj=self._num_proj,
        )
        count = PARAMS_PER_LAYER[self._rnn_mode]
        each = count + bool(self._num_proj)
        weights: list[Any] = []
        biases: list[Any] = []
        projections: list[Any] = []
        for cell in range(self._num_layers * self._num_dirs):
            own = given[cell * each : (cell + 1) * each]
            weights.extend(self._cell_weights(own[:count]))
            biases.extend(self._cell_biases(vectors[cell * count : (cell + 1) * count]))
            projections.extend(transpose(one) for one in own[count:])
        if self._num_proj:
            return weights, biases, projections
        return weights, biases

    def _depths(self, layer: int) -> list[int]:
        """How many columns are the input's, and how many the state's."""
        state = self._num_proj or self._num_units
        depth = state * self._num_dirs if layer else self._input_size
        return [depth, state]

    def _cudnn_weights(self, layer: int, weights: Sequence[Any]) -> list[Any]:
        """A cell's weights as matrices for each gate."""
        raise NotImplementedError

    def _cudnn_biases(self, biases: Sequence[Any]) -> list[Any]:
        raise NotImplementedError

    def _cell_weights(self, matrices: Sequence[Any]) -> list[Any]:
        """The matrices for each gate as a cell's weights."""
        raise NotImplementedError

    def _cell_biases(self, vectors: Sequence[Any]) -> list[Any]:
        raise NotImplementedError


class _Joined(_Converter):
    """Cells with one kernel on [input, state] for all gates, and one bias.

    `_order` says for each gate in the kernel which of cuDNN's it is.
    """

    _order: tuple[int, ...] = (0,)

    def _cudnn_weights(self, layer: int, weights: Sequence[Any]) -> list[Any]:
        (kernel,) = weights
        gates = split(transpose(kernel), len(self._order), axis=0)
        by_gate = [gates[self._order.index(i)] for i in range(len(gates))]
        pairs = [split(one, self._depths(layer), axis=1) for one in by_gate]
        return [pair[0] for pair in pairs] + [pair[1] for pair in pairs]

    def _cudnn_biases(self, biases: Sequence[Any]) -> list[Any]:
        (bias,) = biases
        gates = split(bias, len(self._order), axis=0)
        # cuDNN adds two vectors: each is half of the bias.
        return [gates[self._order.index(i)] * 0.5 for i in range(len(gates))] * 2

    def _cell_weights(self, matrices: Sequence[Any]) -> list[Any]:
        half = len(matrices) // 2
        joined = [
            concat([matrices[i], matrices[half + i]], axis=1) for i in self._order
        ]
        return [transpose(concat(joined, axis=0))]

    def _cell_biases(self, vectors: Sequence[Any]) -> list[Any]:
        half = len(vectors) // 2
        return [concat([vectors[i] + vectors[half + i] for i in self._order], axis=0)]


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterLSTM")
class CudnnParamsFormatConverterLSTM(_Joined):
    """Opaque parameters of an LSTM as the variables of `CudnnCompatibleLSTMCell`s.

    Args:
      num_layers, num_units, input_size: the sizes of the network.
      num_proj: of the projection; None for none.
      input_mode, direction: see `CudnnLSTM`.
    """

    _rnn_mode = CUDNN_LSTM
    _order = (0, 2, 1, 3)


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterTanh")
class CudnnParamsFormatConverterTanh(_Joined):
    """Opaque parameters of a network with tanh as the variables of `BasicRNNCell`s.

    Args:
      num_layers, num_units, input_size: the sizes of the network.
      num_proj: not used.
      input_mode, direction: see `CudnnLSTM`.
    """

    _rnn_mode = CUDNN_RNN_TANH


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterRelu")
class CudnnParamsFormatConverterRelu(_Joined):
    """Opaque parameters of a network with relu as the variables of `BasicRNNCell`s.

    Args:
      num_layers, num_units, input_size: the sizes of the network.
      num_proj: not used.
      input_mode, direction: see `CudnnLSTM`.
    """

    _rnn_mode = CUDNN_RNN_RELU


@export("contrib.cudnn_rnn.CudnnParamsFormatConverterGRU")
class CudnnParamsFormatConverterGRU(_Converter):
    """Opaque parameters of a GRU as the variables of `CudnnCompatibleGRUCell`s.

    Args:
      num_layers, num_units, input_size: the sizes of the network.
      num_proj: not used.
      input_mode, direction: see `CudnnLSTM`.
    """

    _rnn_mode = CUDNN_GRU
    _variables = 3

    def _cudnn_weights(self, layer: int, weights: Sequence[Any]) -> list[Any]:
        gates, on_input, on_state = map(transpose, weights)
        reset, update = split(gates, 2, axis=0)
        depths = self._depths(layer)
        reset_parts = split(reset, depths, axis=1)
        update_parts = split(update, depths, axis=1)
        return [
            reset_parts[0],
            update_parts[0],
            on_input,
            reset_parts[1],
            update_parts[1],
            on_state,
        ]

    def _cudnn_biases(self, biases: Sequence[Any]) -> list[Any]:
        gates, on_input, on_state = biases
        halves = split(gates * 0.5, 2, axis=0)
        return [*halves, on_input, *halves, on_state]

    def _cell_weights(self, matrices: Sequence[Any]) -> list[Any]:
        w_reset, w_update, w_new, r_reset, r_update, r_new = matrices
        gates = [
            concat([w_reset, r_reset], axis=1),
            concat([w_update, r_update], axis=1),
        ]
        return [
            transpose(concat(gates, axis=0)),
            transpose(w_new),
            transpose(r_new),
        ]

    def _cell_biases(self, vectors: Sequence[Any]) -> list[Any]:
        first = concat(vectors[0:2], axis=0)
        return [first + concat(vectors[3:5], axis=0), vectors[2], vectors[5]]
