"""Short-time Fourier transforms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array import constant as constant_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.signal import rfft as rfft_ops
from tensorloom.signal.framing import frame, overlap_and_add
from tensorloom.signal.windows import hann_window


def _scalar(value: Any, name: str) -> Tensor:
    tensor: Tensor = convert_to_tensor(value, name=name)
    tensor.shape.assert_has_rank(0)
    return tensor


def _enclosing_power_of_two(value: Tensor) -> Tensor:
    static = constant_value(value)
    if static is not None:
        power = int(2 ** np.ceil(np.log(static) / np.log(2.0)))
        return constant_op.constant(power, value.dtype)
    exponent = math_ops.log(math_ops.cast(value, dtypes.float32)) / math_ops.log(2.0)
    return math_ops.cast(math_ops.pow(2.0, math_ops.ceil(exponent)), value.dtype)  # type: ignore[no-any-return]


@export("signal.stft")
def stft(
    signals: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Tensor] | None = hann_window,
    pad_end: bool = False,
    name: str | None = None,
) -> Tensor:
    """The spectra of overlapping frames of signals.

    Args:
      signals: float32 [..., samples].
      fft_length: of the transforms; the power of two that holds a frame by default.
      window_fn: (length, dtype) -> window; None for none.

    Returns:
      complex64 [..., frames, fft_length // 2 + 1].
    """
    with name_scope(name, "stft", [signals, frame_length, frame_step]):
        signals = convert_to_tensor(signals, name="signals")
        signals.shape.with_rank_at_least(1)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _enclosing_power_of_two(frame_length)
        else:
            fft_length = convert_to_tensor(fft_length, name="fft_length")
        framed = frame(signals, frame_length, frame_step, pad_end=pad_end)
        if window_fn is not None:
            framed = framed * window_fn(frame_length, dtype=framed.dtype)
        return rfft_ops.rfft(framed, [fft_length])


@export("signal.inverse_stft_window_fn")
def inverse_stft_window_fn(
    frame_step: Any,
    forward_window_fn: Callable[..., Tensor] = hann_window,
    name: str | None = None,
) -> Callable[..., Tensor]:
    """The window function with which `inverse_stft` undoes `stft`.

    Griffin and Lim, "Signal estimation from modified short-time Fourier transform",
    1984, equation 7.
    """
    with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
        frame_step = _scalar(frame_step, "frame_step")

    def inverse_window(frame_length: Any, dtype: Any) -> Tensor:
        with name_scope(name, "inverse_stft_window_fn", [forward_window_fn]):
            length = _scalar(frame_length, "frame_length")
            window = forward_window_fn(length, dtype=dtype)
            squares = math_ops.square(window)
            overlaps = -(-length // frame_step)
            squares = array_ops.pad(squares, [(0, overlaps * frame_step - length)])
            squares = array_ops.reshape(squares, [overlaps, frame_step])
            total = math_ops.reduce_sum(squares, 0, keepdims=True)
            total = array_ops.tile(total, [overlaps, 1])
            total = array_ops.reshape(total, [overlaps * frame_step])
            return window / total[:length]

    return inverse_window


@export("signal.inverse_stft")
def inverse_stft(
    stfts: Any,
    frame_length: Any,
    frame_step: Any,
    fft_length: Any = None,
    window_fn: Callable[..., Tensor] | None = hann_window,
    name: str | None = None,
) -> Tensor:
    """Signals [..., samples] of their spectra.

    Args:
      stfts: complex64 [..., frames, fft_length // 2 + 1].
      window_fn: of `inverse_stft_window_fn`, to get back what `stft` was given.
    """
    with name_scope(name, "inverse_stft", [stfts]):
        stfts = convert_to_tensor(stfts, name="stfts")
        stfts.shape.with_rank_at_least(2)
        frame_length = _scalar(frame_length, "frame_length")
        frame_step = _scalar(frame_step, "frame_step")
        if fft_length is None:
            fft_length = _enclosing_power_of_two(frame_length)
        else:
            fft_length = _scalar(fft_length, "fft_length")
        frames = rfft_ops.irfft(stfts, [fft_length])
        frames = _brought_to(frames, frame_length)
        if window_fn is not None:
            frames = frames * window_fn(frame_length, dtype=stfts.dtype.real_dtype)
        return overlap_and_add(frames, frame_step)


def _brought_to(frames: Tensor, frame_length: Tensor) -> Tensor:
    """The frames cut, or filled up with zeros, to a length."""
    static = constant_value(frame_length)
    dims = frames.shape.dims_tuple
    if static is None or dims is None or dims[-1] is None:
        frames = frames[..., :frame_length]
        rank = array_ops.rank(frames)
        missing = math_ops.maximum(0, frame_length - array_ops.shape(frames)[-1])
        none = array_ops.zeros([rank - 1, 2], dtype=frame_length.dtype)
        frames = array_ops.pad(frames, array_ops.concat([none, [[0, missing]]], 0))
    elif dims[-1] > static:
        frames = frames[..., : int(static)]
    elif dims[-1] < static:
        paddings = [[0, 0]] * (len(dims) - 1) + [[0, int(static) - dims[-1]]]
        frames = array_ops.pad(frames, paddings)
    if static is not None and dims is not None:
        frames.set_shape([None] * (len(dims) - 1) + [int(static)])
    return frames
