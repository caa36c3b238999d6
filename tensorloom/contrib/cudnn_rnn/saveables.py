"""Opaque parameters in checkpoints: as the variables of cells, under their names."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import VariableScope
from tensorloom.contrib.cudnn_rnn.converters import (
    CudnnParamsFormatConverterGRU,
    CudnnParamsFormatConverterLSTM,
    CudnnParamsFormatConverterRelu,
    CudnnParamsFormatConverterTanh,
)
from tensorloom.contrib.cudnn_rnn.modes import (
    CUDNN_INPUT_LINEAR_MODE,
    CUDNN_RNN_UNIDIRECTION,
    direction_count,
)
from tensorloom.framework.export import export
from tensorloom.ops.array.identity import identity
from tensorloom.ops.io.saveable_object import SaveableObject, SaveSpec
from tensorloom.ops.state.reference_variable import assign


class _Saveable(SaveableObject):
    """Base of the saveables.

    Args:
      opaque_params: the variable.
      num_layers, num_units, input_size: the sizes of the network.
      input_mode, direction: see `CudnnLSTM`.
      scope: of the cells, a name or a variable scope.
      name: of the saveable.
    """

    _format_converter_cls: Any
    _rnn_cell_name: str
    _weights: tuple[str, ...] = ("kernel",)
    _biases: tuple[str, ...] = ("bias",)

    def __init__(
        self,
        opaque_params: Any,
        num_layers: int,
        num_units: int,
        input_size: int,
        input_mode: str = CUDNN_INPUT_LINEAR_MODE,
        direction: str = CUDNN_RNN_UNIDIRECTION,
        scope: Any = None,
        name: str = "cudnn_rnn_saveable",
    ) -> None:
        self._variables = opaque_params
        self._prefixes = _cell_prefixes(num_layers, direction, self._rnn_cell_name)
        self._format_converter = self._format_converter_cls(
            num_layers,
            num_units,
            input_size,
            input_mode=input_mode,
            direction=direction,
        )
        weights, biases = self._format_converter.opaque_to_tf_canonical(opaque_params)
        scope_name = scope.name if isinstance(scope, VariableScope) else scope
        within = f"{scope_name}/" if scope_name else ""
        names = [f"{p}/{part}" for p in self._prefixes for part in self._weights]
        names += [f"{p}/{part}" for p in self._prefixes for part in self._biases]
        specs = [
            SaveSpec(value, "", within + one, dtype=value.dtype)
            for value, one in zip([*weights, *biases], names, strict=True)
        ]
        super().__init__(identity(opaque_params), specs, name)

    @property
    def format_converter(self) -> Any:
        """The converter of the parameters."""
        return self._format_converter

    def restore(self, restored_tensors: Any, restored_shapes: Any) -> Any:
        """The assignment of what was read."""
        opaque = self._format_converter.tf_canonical_to_opaque(restored_tensors)
        return assign(self._variables, opaque, validate_shape=False)


def _cell_prefixes(layers: int, direction: str, cell: str) -> list[str]:
    """The scopes of the cells, as `dynamic_rnn` and stacked bidirectional ones say."""
    if direction_count(direction) == 1:
        return [f"rnn/multi_rnn_cell/cell_{i}/{cell}" for i in range(layers)]
    return [
        f"stack_bidirectional_rnn/cell_{i}/bidirectional_rnn/{way}/{cell}"
        for i in range(layers)
        for way in ("fw", "bw")
    ]


@export("contrib.cudnn_rnn.CudnnLSTMSaveable")
class CudnnLSTMSaveable(_Saveable):
    """Saves an LSTM as the variables of `CudnnCompatibleLSTMCell`s.

    Args:
      opaque_params: the variable.
      num_layers, num_units, input_size: the sizes of the network.
      input_mode, direction: see `CudnnLSTM`.
      scope: of the cells, a name or a variable scope.
      name: of the saveable.
    """

    _format_converter_cls = CudnnParamsFormatConverterLSTM
    _rnn_cell_name = "cudnn_compatible_lstm_cell"


@export("contrib.cudnn_rnn.CudnnGRUSaveable")
class CudnnGRUSaveable(_Saveable):
    """Saves a GRU as the variables of `CudnnCompatibleGRUCell`s.

    Args:
      opaque_params: the variable.
      num_layers, num_units, input_size: the sizes of the network.
      input_mode, direction: see `CudnnLSTM`.
      scope: of the cells, a name or a variable scope.
      name: of the saveable.
    """

    _format_converter_cls = CudnnParamsFormatConverterGRU
    _rnn_cell_name = "cudnn_compatible_gru_cell"
    _weights = (
        "gates/kernel",
        "candidate/input_projection/kernel",
        "candidate/hidden_projection/kernel",
    )
    _biases = (
        "gates/bias",
        "candidate/input_projection/bias",
        "candidate/hidden_projection/bias",
    )


@export("contrib.cudnn_rnn.CudnnRNNTanhSaveable")
class CudnnRNNTanhSaveable(_Saveable):
    """Saves a network with tanh as the variables of `BasicRNNCell`s.

    Args:
      opaque_params: the variable.
      num_layers, num_units, input_size: the sizes of the network.
      input_mode, direction: see `CudnnLSTM`.
      scope: of the cells, a name or a variable scope.
      name: of the saveable.
    """

    _format_converter_cls = CudnnParamsFormatConverterTanh
    _rnn_cell_name = "basic_rnn_cell"


@export("contrib.cudnn_rnn.CudnnRNNReluSaveable")
class CudnnRNNReluSaveable(_Saveable):
    """Saves a network with relu as the variables of `BasicRNNCell`s.

    Args:
      opaque_params: the variable.
      num_layers, num_units, input_size: the sizes of the network.
      input_mode, direction: see `CudnnLSTM`.
      scope: of the cells, a name or a variable scope.
      name: of the saveable.
    """

    _format_converter_cls = CudnnParamsFormatConverterRelu
    _rnn_cell_name = "basic_rnn_cell"
