"""Floats to evenly spaced levels and back, one pass over the elements.

A formula's steps are those of TensorFlow, in the floats' dtype; NaN stays NaN, and
becomes the lowest integer. Scalar arguments are of the floats' dtype.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop


@loop
def _held(x: Any, low: Any, high: Any) -> Any:
    x = high if x > high else x
    return low if x < low else x


@loop
def _away(x: Any) -> Any:
    """float32 rounded, halves away from zero."""
    # With one half itself the number below it would come to 1.
    return np.copysign(np.floor(abs(x) + np.float32(0.49999997)), x)


@loop
def _up(x: Any) -> Any:
    """float32 rounded, halves upwards."""
    return np.floor(x + np.float32(0.5))


# --- fake quantization ------------------------------------------------------------


@loop
def fake_quantize(
    value: Any, low: Any, high: Any, scale: Any, inverse: Any, out: Any
) -> None:
    """out = the nearest level: [n] float32 to [n], levels `scale` apart from `low`."""
    for i in range(len(value)):
        steps = (_held(value[i], low, high) - low) * inverse
        out[i] = _up(steps) * scale + low


@loop
def fake_quantize_rows(value: Any, low: Any, high: Any, scale: Any, out: Any) -> None:
    """The same for each column by itself: [n, m], and [m] for the levels."""
    for i in range(value.shape[0]):
        for j in range(value.shape[1]):
            steps = (_held(value[i, j], low[j], high[j]) - low[j]) / scale[j]
            out[i, j] = _up(steps) * scale[j] + low[j]


@loop
def gradient_inside(grad: Any, value: Any, low: Any, high: Any, out: Any) -> None:
    """out = grad where low <= value <= high, its product with 0 elsewhere; [n]."""
    for i in range(len(value)):
        inside = np.float32(1) if low <= value[i] <= high else np.float32(0)
        out[i] = inside * grad[i]


@loop
def split_gradient(grad: Any, value: Any, bounds: Any, out: Any, sums: Any) -> None:
    """The same for each column by itself, with the sums of what is not inside.

    Args:
      grad, value: float32 [n, m].
      bounds: (lowest, highest), float32 [m].
      out: float32 [n, m].
      sums: (below, above), float64 [m], to which is added.
    """
    (low, high), (below, above) = bounds, sums
    one, zero = np.float32(1), np.float32(0)
    for i in range(value.shape[0]):
        # One loop an output: with all in one the machine code has no vectors.
        for j in range(value.shape[1]):
            inside = one if low[j] <= value[i, j] <= high[j] else zero
            out[i, j] = inside * grad[i, j]
        for j in range(value.shape[1]):
            below[j] += (one if value[i, j] < low[j] else zero) * grad[i, j]
        for j in range(value.shape[1]):
            above[j] += (one if value[i, j] > high[j] else zero) * grad[i, j]


# --- integers -----------------------------------------------------------------------


@loop
def _whole(x: Any, bottom: Any, top: Any, over: Any) -> Any:
    """A whole float as int32; NaN is the lowest."""
    x = x if x >= bottom else bottom
    return np.int32(x if x <= top else over)


@loop
def quantize_up(
    value: Any, low: Any, high: Any, scale: Any, bottom: Any, top: Any, out: Any
) -> None:
    """out = (held between low and high - low) * scale rounded, halves upwards.

    Args:
      value: float32 [n].
      bottom, top: float32, what integers are held between.
      out: [n], any integer of 32 bits or less.
    """
    for i in range(len(value)):
        x = _up((_held(value[i], low, high) - low) * scale)
        out[i] = _whole(x, bottom, top, top)


@loop
def quantize_even(
    value: Any, low: Any, high: Any, scale: Any, limits: Any, out: Any
) -> None:
    """out = held between low and high * scale rounded, halves to even.

    Args:
      value: float32 [n].
      limits: (lowest integer, highest, what is above becomes), float32.
      out: [n], any integer of 32 bits or less.
    """
    bottom, top, over = limits
    for i in range(len(value)):
        x = np.rint(_held(value[i], low, high) * scale)
        out[i] = _whole(x, bottom, top, over)


@loop
def quantize_away(
    value: Any, held: Any, first: Any, scale: Any, shifts: Any, limits: Any, out: Any
) -> None:
    """out = (held - first) * scale - shifts[0] rounded away from zero, - shifts[1].

    Args:
      value: float32 [n].
      held: (low, high), float32.
      shifts: float32, subtracted before and after it is rounded.
      limits, out: as in `quantize_even`.
    """
    low, high = held
    before, after = shifts
    bottom, top, over = limits
    for i in range(len(value)):
        x = (_held(value[i], low, high) - first) * scale - before
        out[i] = _whole(_away(x) - after, bottom, top, over)


@loop
def dequantize(value: Any, first: Any, scale: Any, start: Any, out: Any) -> None:
    """out = (value + first) * scale + start: [n] integers to float32 [n]."""
    for i in range(len(value)):
        out[i] = (np.float32(value[i]) + first) * scale + start


@loop
def round_trip_even(
    value: Any, low: Any, high: Any, scale: Any, inverse: Any, out: Any
) -> None:
    """out = (held * scale rounded, halves to even) * inverse; [n] of any float."""
    for i in range(len(value)):
        out[i] = np.rint(_held(value[i], low, high) * scale) * inverse


@loop
def round_trip_up(
    value: Any, low: Any, high: Any, scale: Any, inverse: Any, half: Any, out: Any
) -> None:
    """The same, halves upwards; `half` is 0.5 in the dtype."""
    for i in range(len(value)):
        steps = np.floor(_held(value[i], low, high) * scale + half)
        out[i] = steps * inverse


@loop
def bytes_of_wide(value: Any, scale: int, offset: int, out: Any) -> None:
    """out = (value * scale / 2**32 + offset) / 2**16, rounded down, as a byte; [n].

    Args:
      value: int32 [n].
      offset: with the half that rounds.
      out: uint8 [n].
    """
    for i in range(len(value)):
        fixed = (((np.int64(value[i]) * scale) >> 32) + offset) >> 16
        out[i] = min(max(fixed, 0), 255)


# --- arithmetic ---------------------------------------------------------------------


@loop
def multiply(x: Any, y: Any, zeros: Any, limits: Any, out: Any) -> None:
    """out = (x - zeros[0]) * (y - zeros[1]), held between the limits; integers [n]."""
    for i in range(len(x)):
        product = (np.int64(x[i]) - zeros[0]) * (np.int64(y[i]) - zeros[1])
        out[i] = min(max(product, limits[0]), limits[1])
