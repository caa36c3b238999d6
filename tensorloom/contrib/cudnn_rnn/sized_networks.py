"""The functions of cuDNN's networks with the sizes kept: `cudnn_rnn_ops.CudnnLSTM`."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.cudnn_rnn import functions
from tensorloom.contrib.cudnn_rnn.modes import (
    CUDNN_GRU,
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_LSTM,
    CUDNN_RNN_RELU,
    CUDNN_RNN_TANH,
    CUDNN_RNN_UNIDIRECTION,
)
from tensorloom.ops.array.constant import constant


class _Sized:
    """Base of the networks.

    Args:
      num_layers, num_units, input_size: the sizes.
      input_mode, direction, dropout, seed: see `cudnn_rnn`.
      dtype: of the parameters.
      num_proj: of an LSTM's projection.
    """

    rnn_mode: str

    def __init__(
        self,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        dtype: Any = None,
        dropout: float = 0.0,
        seed: Any = 0,
        num_proj: int | None = None,
    ) -> None:
        self.num_layers = num_layers
        self.num_units = num_units
        self.input_size = input_size
        self.input_mode = input_mode
        self.direction = direction
        self.num_proj = num_proj
        self._dtype = dtype
        self._dropout = dropout
        self._seed = seed

    def _sizes(self) -> tuple[str, int, int, int]:
        return self.rnn_mode, self.num_layers, self.num_units, self.input_size

    def _options(self) -> dict[str, Any]:
        return {
            "input_mode": self.input_mode,
            "direction": self.direction,
            "dropout": self._dropout,
            "seed": self._seed,
            "num_proj": self.num_proj,
        }

    def params_size(self) -> Any:
        """How many parameters there are, an int32 scalar."""
        given: Any = {} if self._dtype is None else {"dtype": self._dtype}
        return functions.cudnn_rnn_opaque_params_size(
            *self._sizes(), **{**given, **self._options()}
        )

    def params_to_canonical(self, params: Any) -> Any:
        """The matrices and the vectors in opaque parameters."""
        return functions.cudnn_rnn_opaque_params_to_canonical(
            *self._sizes(), params, **self._options()
        )

    def canonical_to_params(self, weights: Any, biases: Any) -> Any:
        """Opaque parameters of matrices and vectors."""
        return functions.cudnn_rnn_canonical_to_opaque_params(
            *self._sizes(), weights, biases, **self._options()
        )


class CudnnLSTM(_Sized):
    """An LSTM with its sizes; see `_Sized`."""

    rnn_mode = CUDNN_LSTM

    def __call__(
        self,
        input_data: Any,
        input_h: Any,
        input_c: Any,
        params: Any,
        sequence_lengths: Any = None,
        time_major: bool = True,
        is_training: bool = True,
    ) -> Any:
        """Outputs, last states and memories; see `cudnn_rnn`."""
        return functions.cudnn_rnn(
            input_data,
            input_h,
            input_c,
            params,
            is_training,
            self.rnn_mode,
            sequence_lengths,
            time_major,
            **self._options(),
        )


class _WithoutMemory(_Sized):
    def __call__(
        self,
        input_data: Any,
        input_h: Any,
        params: Any,
        sequence_lengths: Any = None,
        time_major: bool = True,
        is_training: bool = True,
    ) -> Any:
        """Outputs and last states; see `cudnn_rnn`."""
        outputs, states, _ = functions.cudnn_rnn(
            input_data,
            input_h,
            constant([], dtype=input_h.dtype),
            params,
            is_training,
            self.rnn_mode,
            sequence_lengths,
            time_major,
            **self._options(),
        )
        return outputs, states


class CudnnGRU(_WithoutMemory):
    """A GRU with its sizes; see `_Sized`."""

    rnn_mode = CUDNN_GRU


class CudnnRNNTanh(_WithoutMemory):
    """A plain network with tanh and its sizes; see `_Sized`."""

    rnn_mode = CUDNN_RNN_TANH


class CudnnRNNRelu(_WithoutMemory):
    """A plain network with relu and its sizes; see `_Sized`."""

    rnn_mode = CUDNN_RNN_RELU
