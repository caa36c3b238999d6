"""The operations of cuDNN's networks as functions, and these with their sizes."""

from __future__ import annotations

from typing import Any

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
    check_rnn_mode,
    direction_count,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.runtime.random_seed import get_seed
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import fill
from tensorloom.ops.array.shape import shape as shape_op


def _attrs(
    rnn_mode: str, input_mode: str, direction: str, dropout: float, seed: Any
) -> dict[str, Any]:
    """The attrs that all the operations have. Raises ValueError for bad words."""
    check_rnn_mode(rnn_mode)
    check_direction(direction)
    check_input_mode(input_mode)
    first, second = get_seed(seed)
    return {
        "rnn_mode": rnn_mode,
        "input_mode": input_mode,
        "direction": direction,
        "dropout": dropout,
        "seed": first or 0,
        "seed2": second or 0,
    }


def cudnn_rnn(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    rnn_mode: str,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: Any = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """A network over sequences.

    Args:
      inputs: [time, batch, depth]; [batch, time, depth] unless `time_major`.
      input_h: first states, [layers * directions, batch, units]; with batch first
        unless `time_major`.
      input_c: of an LSTM its memory, of that shape; else a vector of nothing.
      params: the opaque parameters.
      is_training: gradients will be asked for; dropout is on.
      rnn_mode: "lstm", "gru", "rnn_tanh" or "rnn_relu".
      sequence_lengths: int32, [batch]; None: all are of full length.
      time_major: see `inputs`.
      input_mode: "linear_input", "skip_input" or "auto_select".
      direction: "unidirectional" or "bidirectional".
      dropout: which part of what goes from layer to layer is dropped.
      seed: of that.
      num_proj: the size of an LSTM's projection; None for none.
      name: of the operation.

    Returns:
      Outputs, and the last states and memories.

    Raises:
      ValueError: a word is none of those.
    """
    attrs = _attrs(rnn_mode, input_mode, direction, dropout, seed)
    given = {
        "input": inputs,
        "input_h": input_h,
        "input_c": input_c,
        "params": params,
        "is_training": is_training,
        "name": name,
    }
    if sequence_lengths is None and time_major and not num_proj:
        return tuple(apply_op("CudnnRNN", **given, **attrs)[:3])
    if sequence_lengths is None:
        shape = shape_op(inputs)
        batch, time = (1, 0) if time_major else (0, 1)
        sequence_lengths = fill([shape[batch]], shape[time])
    results = apply_op(
        "CudnnRNNV3",
        **given,
        **attrs,
        sequence_lengths=sequence_lengths,
        time_major=time_major,
        num_proj=num_proj or 0,
    )
    return tuple(results[:3])


def cudnn_lstm(
    inputs: Any,
    input_h: Any,
    input_c: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: Any = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> tuple[Any, Any, Any]:
    """An LSTM: outputs, last states and memories; see `cudnn_rnn`."""
    return cudnn_rnn(
        inputs,
        input_h,
        input_c,
        params,
        is_training,
        CUDNN_LSTM,
        sequence_lengths,
        time_major,
        input_mode,
        direction,
        dropout,
        seed,
        num_proj,
        name,
    )


def _without_memory(
    rnn_mode: str, inputs: Any, input_h: Any, *rest: Any, **kw: Any
) -> Any:
    """Outputs and last states of a network that has no memory."""
    nothing = constant([], dtype=convert_to_tensor(input_h).dtype)
    params, is_training, *rest_ = rest
    outputs, states, _ = cudnn_rnn(
        inputs, input_h, nothing, params, is_training, rnn_mode, *rest_, **kw
    )
    return outputs, states


def cudnn_gru(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: Any = 0,
    name: str | None = None,
) -> Any:
    """A GRU: outputs and last states; see `cudnn_rnn`."""
    return _without_memory(
        CUDNN_GRU,
        inputs,
        input_h,
        params,
        is_training,
        sequence_lengths,
        time_major,
        input_mode,
        direction,
        dropout,
        seed,
        name=name,
    )


def cudnn_rnn_relu(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: Any = 0,
    sequence_lengths: Any = None,
    time_major: bool = True,
    name: str | None = None,
) -> Any:
    """A plain network with relu: outputs and last states; see `cudnn_rnn`."""
    return _without_memory(
        CUDNN_RNN_RELU,
        inputs,
        input_h,
        params,
        is_training,
        sequence_lengths,
        time_major,
        input_mode,
        direction,
        dropout,
        seed,
        name=name,
    )


def cudnn_rnn_tanh(
    inputs: Any,
    input_h: Any,
    params: Any,
    is_training: bool,
    sequence_lengths: Any = None,
    time_major: bool = True,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0.0,
    seed: Any = 0,
    name: str | None = None,
) -> Any:
    """A plain network with tanh: outputs and last states; see `cudnn_rnn`."""
    return _without_memory(
        CUDNN_RNN_TANH,
        inputs,
        input_h,
        params,
        is_training,
        sequence_lengths,
        time_major,
        input_mode,
        direction,
        dropout,
        seed,
        name=name,
    )


def cudnn_rnn_opaque_params_to_canonical(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    params: Any,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0,
    seed: Any = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Any:
    """The matrices and the vectors of biases in opaque parameters, in cuDNN's order.

    Raises:
      ValueError: a word is none of those.
    """
    given = {
        "num_layers": num_layers,
        "num_units": num_units,
        "input_size": input_size,
        "params": params,
        "name": name,
        **_attrs(rnn_mode, input_mode, direction, dropout, seed),
    }
    directions = direction_count(direction)
    count = num_layers * PARAMS_PER_LAYER[rnn_mode] * directions
    if not num_proj:
        return apply_op("CudnnRNNParamsToCanonical", num_params=count, **given)
    return apply_op(
        "CudnnRNNParamsToCanonicalV2",
        num_params_weights=count + num_layers * directions,
        num_params_biases=count,
        num_proj=num_proj,
        **given,
    )


def cudnn_rnn_canonical_to_opaque_params(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    weights: Any,
    biases: Any,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dropout: float = 0,
    seed: Any = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Any:
    """Opaque parameters of matrices and vectors of biases, in cuDNN's order.

    Raises:
      ValueError: a word is none of those.
    """
    given = {
        "num_layers": num_layers,
        "num_units": num_units,
        "input_size": input_size,
        "weights": weights,
        "biases": biases,
        "name": name,
        **_attrs(rnn_mode, input_mode, direction, dropout, seed),
    }
    if not num_proj:
        return apply_op("CudnnRNNCanonicalToParams", **given)
    return apply_op("CudnnRNNCanonicalToParamsV2", num_proj=num_proj, **given)


def cudnn_rnn_opaque_params_size(
    rnn_mode: str,
    num_layers: int,
    num_units: int,
    input_size: int,
    input_mode: str = CUDNN_INPUT_LINEAR_MODE,
    direction: str = CUDNN_RNN_UNIDIRECTION,
    dtype: Any = dtypes.float32,
    dropout: float = 0,
    seed: Any = 0,
    num_proj: int | None = None,
    name: str | None = None,
) -> Any:
    """How many opaque parameters a network has, an int32 scalar.

    Raises:
      ValueError: a word is none of those.
    """
    return apply_op(
        "CudnnRNNParamsSize",
        num_layers=num_layers,
        num_units=num_units,
        input_size=input_size,
        T=dtype,
        S=dtypes.int32,
        num_proj=num_proj or 0,
        name=name,
        **_attrs(rnn_mode, input_mode, direction, dropout, seed),
    )[0]
