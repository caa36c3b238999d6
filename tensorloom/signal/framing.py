"""Signals cut into frames, and frames added up to signals."""

from __future__ import annotations

import math
from typing import Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


def _gcd(a: Any, b: Any, name: str | None = None) -> Tensor:
    """The greatest common divisor of two scalars; a loop if they are not constant.

    Raises:
      ValueError: they are not integers.
    """
    with name_scope(name, "gcd", [a, b]):
        a, b = convert_to_tensor(a), convert_to_tensor(b)
        a.shape.assert_has_rank(0)
        b.shape.assert_has_rank(0)
        for value, which in ((a, "a"), (b, "b")):
            if not value.dtype.is_integer:
                raise ValueError(f"{which} must be an integer type. Got: {value.dtype}")
        static_a, static_b = constant_value(a), constant_value(b)
        if static_a is not None and static_b is not None:
            return convert_to_tensor(
                a.dtype.as_numpy_dtype(math.gcd(int(static_a), int(static_b)))
            )
        found, _ = while_loop(
            lambda _, rest: math_ops.greater(rest, array_ops.zeros_like(rest)),
            lambda whole, rest: [rest, math_ops.mod(whole, rest)],
            [a, b],
            back_prop=False,
        )
        return found  # type: ignore[no-any-return]


def _frames_shape(
    signal: Tensor, frame_length: Any, frame_step: Any, pad_end: bool, axis: Any
) -> list[int | None] | None:
    """What is known of the frames' shape."""
    length, step = constant_value(frame_length), constant_value(frame_step)
    axis = constant_value(axis)
    if signal.shape.rank is None:
        return None
    if axis is None:
        return [None] * (signal.shape.rank + 1)
    dims = signal.shape.as_list()
    along = dims[axis]
    count = None
    if along is not None and step is not None:
        if pad_end:
            count = max(0, -(-along // step))
        elif length is not None:
            count = max(0, (along - length + step) // step)
    return [*dims[:axis], count, length, *dims[axis:][1:]]


@export("signal.frame")
def frame(
    signal: Any,
    frame_length: Any,
    frame_step: Any,
    pad_end: bool = False,
    pad_value: Any = 0,
    axis: Any = -1,
    name: str | None = None,
) -> Tensor:
    """Frames of a signal, overlapping if the step is smaller than they are.

    Args:
      signal: [..., samples, ...], with samples along `axis`.
      frame_length, frame_step: scalar integers, in samples.
      pad_end: also frames that reach over the end, filled up with `pad_value`.

    Returns:
      [..., frames, frame_length, ...].

    Raises:
      ValueError: lengths, step or axis are not scalars.
    """
    with name_scope(name, "frame", [signal, frame_length, frame_step, pad_value]):
        signal = convert_to_tensor(signal, name="signal")
        frame_length = convert_to_tensor(frame_length, name="frame_length")
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        axis = convert_to_tensor(axis, name="axis")
        signal.shape.with_rank_at_least(1)
        for scalar in (frame_length, frame_step, axis):
            scalar.shape.assert_has_rank(0)
        static = _frames_shape(signal, frame_length, frame_step, pad_end, axis)
        rank = array_ops.rank(signal)
        axis = math_ops.range(rank)[axis]
        shape = array_ops.shape(signal)
        outer, samples, inner = array_ops.split(shape, [axis, 1, rank - 1 - axis])
        samples = array_ops.reshape(samples, [])
        outer_rank, inner_rank = array_ops.size(outer), array_ops.size(inner)
        if pad_end:
            pad_value = convert_to_tensor(pad_value, signal.dtype)
            pad_value.shape.assert_has_rank(0)
            count = -(-samples // frame_step)
            missing = math_ops.maximum(
                0, frame_length + frame_step * (count - 1) - samples
            )
            paddings = array_ops.concat(
                [
                    array_ops.zeros([outer_rank, 2], dtype=missing.dtype),
                    [[0, missing]],
                    array_ops.zeros([inner_rank, 2], dtype=missing.dtype),
                ],
                0,
            )
            signal = array_ops.pad(signal, paddings, constant_values=pad_value)
            shape = array_ops.shape(signal)
            samples = shape[axis]
        else:
            count = math_ops.maximum(0, 1 + (samples - frame_length) // frame_step)
        frames = _gathered(
            signal, shape, samples, outer, inner, count, frame_length, frame_step, axis
        )
        if static:
            frames.set_shape(static)
        return frames


def _gathered(
    signal: Tensor,
    shape: Tensor,
    samples: Tensor,
    outer: Tensor,
    inner: Tensor,
    count: Tensor,
    length: Tensor,
    step: Tensor,
    axis: Tensor,
) -> Tensor:
    """The frames out of pieces of the greatest length that divides length and step."""
    piece = _gcd(length, step)
    per_frame, per_step = length // piece, step // piece
    pieces = samples // piece
    used = array_ops.concat([outer, [pieces * piece], inner], 0)
    cut = array_ops.concat([outer, [pieces, piece], inner], 0)
    whole = array_ops.strided_slice(signal, array_ops.zeros_like(shape), used)
    parts = array_ops.reshape(whole, cut)
    starts = array_ops.reshape(math_ops.range(count) * per_step, [count, 1])
    within = array_ops.reshape(math_ops.range(per_frame), [1, per_frame])
    gathered = array_ops.gather(parts, starts + within, axis=axis)
    result = array_ops.concat([outer, [count, length], inner], 0)
    return array_ops.reshape(gathered, result)


@export("signal.overlap_and_add")
def overlap_and_add(signal: Any, frame_step: Any, name: str | None = None) -> Tensor:
    """The sum [..., samples] of frames [..., frames, frame_length], step by step.

    Raises:
      ValueError: the step is not a scalar integer.
    """
    with name_scope(name, "overlap_and_add", [signal, frame_step]):
        signal = convert_to_tensor(signal, name="signal")
        signal.shape.with_rank_at_least(2)
        frame_step = convert_to_tensor(frame_step, name="frame_step")
        frame_step.shape.assert_has_rank(0)
        if not frame_step.dtype.is_integer:
            raise ValueError(f"frame_step must be an integer. Got {frame_step.dtype}")
        shape = array_ops.shape(signal)
        outer = shape[:-2]
        outer_rank = array_ops.size(outer)

        def within(inner: list[Any]) -> Tensor:
            return array_ops.concat([outer, inner], 0)

        length, frames = shape[-1], shape[-2]
        samples = length + frame_step * (frames - 1)
        static = constant_value(frame_step)
        dims = signal.shape.dims_tuple
        if static is not None and dims is not None and static == dims[-1]:
            return array_ops.reshape(signal, within([samples]), name="fast_path")
        # Frames are cut into segments of one step. With as many frames of zeros behind
        # them as a frame has segments, the reshapes below move segment i of each frame
        # by i rows, so that one sum over the segments adds up what overlaps.
        segments = -(-length // frame_step)
        paddings: Any = [[0, segments], [0, segments * frame_step - length]]
        none = array_ops.zeros([outer_rank, 2], dtypes.int32)
        signal = array_ops.pad(signal, array_ops.concat([none, paddings], 0))
        signal = array_ops.reshape(
            signal, within([frames + segments, segments, frame_step])
        )
        outer_order = math_ops.range(outer_rank)
        inner_order = outer_rank + [1, 0, 2]  # noqa: RUF005 - a sum of tensors
        order = array_ops.concat([outer_order, inner_order], 0)
        signal = array_ops.transpose(signal, order)
        signal = array_ops.reshape(
            signal, within([(frames + segments) * segments, frame_step])
        )
        signal = signal[..., : (frames + segments - 1) * segments, :]
        signal = array_ops.reshape(
            signal, within([segments, frames + segments - 1, frame_step])
        )
        signal = math_ops.reduce_sum(signal, -3)
        signal = array_ops.reshape(
            signal, within([(frames + segments - 1) * frame_step])
        )
        return signal[..., :samples]  # type: ignore[no-any-return]
