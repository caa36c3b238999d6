"""The words for networks that cuDNN knows, and their checks."""

from __future__ import annotations

from typing import Any, Final

CUDNN_RNN_UNIDIRECTION: Final = "unidirectional"
CUDNN_RNN_BIDIRECTION: Final = "bidirectional"
CUDNN_LSTM: Final = "lstm"
CUDNN_GRU: Final = "gru"
CUDNN_RNN_RELU: Final = "rnn_relu"
CUDNN_RNN_TANH: Final = "rnn_tanh"
CUDNN_LSTM_PARAMS_PER_LAYER: Final = 8
CUDNN_GRU_PARAMS_PER_LAYER: Final = 6
CUDNN_RNN_TANH_PARAMS_PER_LAYER: Final = 2
CUDNN_RNN_RELU_PARAMS_PER_LAYER: Final = 2
CUDNN_INPUT_LINEAR_MODE: Final = "linear_input"
CUDNN_INPUT_SKIP_MODE: Final = "skip_input"
CUDNN_INPUT_AUTO_MODE: Final = "auto_select"

PARAMS_PER_LAYER: Final = {
    CUDNN_LSTM: CUDNN_LSTM_PARAMS_PER_LAYER,
    CUDNN_GRU: CUDNN_GRU_PARAMS_PER_LAYER,
    CUDNN_RNN_TANH: CUDNN_RNN_TANH_PARAMS_PER_LAYER,
    CUDNN_RNN_RELU: CUDNN_RNN_RELU_PARAMS_PER_LAYER,
}


def check_rnn_mode(rnn_mode: Any) -> None:
    """Raises ValueError: there is no such network."""
    if rnn_mode not in PARAMS_PER_LAYER:
        raise ValueError(
            f"Invalid rnn_mode: {rnn_mode}, expect one of "
            f"({', '.join(PARAMS_PER_LAYER)})"
        )


def check_direction(direction: Any) -> None:
    """Raises ValueError: it is none."""
    if direction not in (CUDNN_RNN_UNIDIRECTION, CUDNN_RNN_BIDIRECTION):
        raise ValueError(
            f"Invalid direction: {direction}, expecting {CUDNN_RNN_UNIDIRECTION} or "
            f"{CUDNN_RNN_BIDIRECTION}"
        )


def check_input_mode(input_mode: Any) -> None:
    """Raises ValueError: there is no such mode."""
    modes = (CUDNN_INPUT_LINEAR_MODE, CUDNN_INPUT_SKIP_MODE, CUDNN_INPUT_AUTO_MODE)
    if input_mode not in modes:
        raise ValueError(
            f"Invalid input_mode: {input_mode}, expect one of ({', '.join(modes)})"
        )


def direction_count(direction: str) -> int:
    """How many directions there are."""
    return 1 if direction == CUDNN_RNN_UNIDIRECTION else 2
