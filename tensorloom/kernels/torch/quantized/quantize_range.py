"""The arithmetic of quantized values, as TensorFlow does it in float32.

A quantized dtype over [minimum, maximum] stands for evenly spaced floats. Ranges are
Python floats that hold float32 numbers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.runtime.intra_op import in_ranges
from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES

_LIMITS: dict[dtypes.DType, tuple[int, int]] = {
    dtypes.qint8: (-128, 127),
    dtypes.quint8: (0, 255),
    dtypes.qint16: (-32768, 32767),
    dtypes.quint16: (0, 65535),
    dtypes.qint32: (-(2**31), 2**31 - 1),
}
# The largest float32 that an int32 can hold.
_LARGEST_QINT32 = 2147483520.0
f32 = np.float32
# Elements that are worth a thread's while.
WORTHWHILE: Final = 1 << 16
# Nothing is held back by these bounds.
_ANYTHING = f32(-np.inf), f32(np.inf)


def limits(dtype: dtypes.DType) -> tuple[int, int]:
    """(lowest, highest) value."""
    return _LIMITS[dtype]


def is_signed(dtype: dtypes.DType) -> bool:
    """Whether it has negative values."""
    return _LIMITS[dtype][0] < 0


def integer_ends(dtype: dtypes.DType) -> tuple[Any, Any, Any]:
    """(lowest, highest, what a float above comes to), float32; as x86 converts."""
    low, high = _LIMITS[dtype]
    if dtype == dtypes.qint32:
        return f32(low), f32(_LARGEST_QINT32), f32(low)
    return f32(low), f32(high), f32(high)


def scalar(value: Any, what: str = "min_range") -> Any:
    """A range's bound as a float32 scalar; of a vector its first element."""
    array = np.asarray(value, np.float32).reshape(-1)
    if not array.size:
        raise invalid_argument(f"{what} must have an element")
    return array[0]


def level(dtype: dtypes.DType, minimum: Any, maximum: Any) -> Any:
    """What one step of the integer is worth."""
    low, high = _LIMITS[dtype]
    return f32((maximum - minimum) / f32(high - low))


def to_quantized_scalar(
    value: float, dtype: dtypes.DType, minimum: Any, maximum: Any, clamp: bool = False
) -> int:
    """The integer that stands for a float."""
    if minimum == maximum:
        return 0
    low, high = _LIMITS[dtype]
    scale, min_scaled = _scaled(dtype, minimum, maximum)
    number = int(_away(np.float64(value) * scale) - min_scaled + low)
    return min(max(number, low), high) if clamp else number


def _away(value: Any) -> Any:
    """Rounded, halves away from zero."""
    return np.trunc(value + np.copysign(0.5, value))


def _scaled(dtype: dtypes.DType, minimum: Any, maximum: Any) -> tuple[Any, Any]:
    low, high = _LIMITS[dtype]
    steps = float(high - low + 1)
    span = np.float64(f32(maximum) - f32(minimum)) * (steps / (steps - 1.0))
    scale = steps / span
    return scale, _away(np.float64(minimum) * scale)


def by_loop(
    value: torch.Tensor, to: torch.dtype, run: Callable[[Any, Any, Any], None]
) -> torch.Tensor:
    """A tensor of `value`'s shape in a CPU's memory, filled by one of `loops`.

    Args:
      to: its dtype.
      run: called with the module `loops.quantization`, and with some elements of the
        argument and of the result, [n]; by several threads at once.
    """
    from tensorloom.kernels.loops.quantized import quantization

    result = torch.empty(value.shape, dtype=to)
    elements, out = value.reshape(-1).contiguous().numpy(), result.view(-1).numpy()

    def fill(begin: int, end: int) -> None:
        run(quantization, elements[begin:end], out[begin:end])

    in_ranges(fill, len(out), WORTHWHILE)
    return result


def round_away(value: torch.Tensor) -> torch.Tensor:
    """Rounded, halves away from zero (torch's own goes to even)."""
    half = torch.tensor(0.5, dtype=value.dtype)
    # With one half itself the number below it would come to 1.
    below = half.nextafter(torch.zeros_like(half)).item()
    # `trunc` would take a hundred times as long as `floor`.
    return value.abs().add_(below).floor_().mul_(value.sign())


def to_int(value: torch.Tensor, dtype: dtypes.DType, base: torch.dtype) -> torch.Tensor:
    """Whole floats as integers, as x86 converts: too large for int32 is its lowest."""
    if dtype == dtypes.qint32:
        fits = (value >= -(2.0**31)) & (value < 2.0**31)
        return torch.where(fits, value.double(), -(2.0**31)).to(torch.int32)
    low, high = _LIMITS[dtype]
    return value.nan_to_num(float(low)).clamp(low, high).to(torch.int32).to(base)


def half_of_steps(dtype: dtypes.DType) -> Any:
    """Half of the number of a dtype's integers, float32."""
    bottom, top = limits(dtype)
    return f32((float(top) - float(bottom) + 1) / 2)


def held_to_quantized(
    value: torch.Tensor,
    held: tuple[Any, Any],
    scale: Any,
    dtype: dtypes.DType,
    mode: bytes,
    rounding: bytes,
) -> torch.Tensor:
    """Floats on a CPU as integers, each first held between two bounds.

    Args:
      held: the bounds, float32.
      scale: integers a unit, float32.
      mode: SCALED or MIN_COMBINED.
      rounding: HALF_TO_EVEN counts for SCALED.
    """
    low, high = held
    ends = integer_ends(dtype)

    def run(loops: Any, x: Any, out: Any) -> None:
        if mode == b"SCALED" and rounding == b"HALF_TO_EVEN":
            loops.quantize_even(x, low, high, scale, ends, out)
        elif mode == b"SCALED":
            none = f32(0), f32(0)
            loops.quantize_away(x, held, f32(0), scale, none, ends, out)
        elif is_signed(dtype):
            shifts = half_of_steps(dtype), f32(0)
            loops.quantize_away(x, held, low, scale, shifts, ends, out)
        else:
            loops.quantize_up(x, low, high, scale, ends[0], ends[1], out)

    return by_loop(value, TORCH_DTYPES[dtype], run)


def float_to_quantized(
    value: torch.Tensor,
    dtype: dtypes.DType,
    minimum: Any,
    maximum: Any,
    base: torch.dtype,
) -> torch.Tensor:
    """Floats as integers, MIN_FIRST: the minimum is rounded by itself."""
    low, high = _LIMITS[dtype]
    if minimum == maximum:
        return torch.zeros_like(value, dtype=base)
    steps = float(high - low + 1)
    span = np.float64(f32(maximum) - f32(minimum)) * (steps / (steps - 1.0))
    scale = f32(steps / span)
    offset = f32(_away(f32(f32(minimum) * scale)))
    after = f32(np.float64(offset) - low)
    top = _LARGEST_QINT32 if dtype == dtypes.qint32 else float(high)
    if value.is_cpu:
        ends = f32(low), f32(top), f32(top)
        return by_loop(
            value,
            base,
            lambda loops, x, out: loops.quantize_away(
                x, _ANYTHING, f32(0), scale, (f32(0), after), ends, out
            ),
        )
    shifted = round_away(value * float(scale)) - float(after)
    return to_int(shifted.clamp(float(low), top), dtype, base)


def quantized_to_float(
    value: torch.Tensor, dtype: dtypes.DType, minimum: Any, maximum: Any
) -> torch.Tensor:
    """Integers as float32, MIN_FIRST."""
    if minimum == maximum:
        return torch.full(value.shape, float(minimum), device=value.device)
    low, high = _LIMITS[dtype]
    steps = float(high - low + 1)
    span = f32(np.float64(f32(maximum) - f32(minimum)) * (steps / (steps - 1.0)))
    scale = f32(np.float64(span) / steps)
    rounded = f32(_away(f32(f32(minimum) / scale)) * scale)
    start = f32(np.float64(rounded) - low * np.float64(scale))
    return scaled(value, f32(0), scale, start)


def scaled(value: torch.Tensor, first: Any, scale: Any, start: Any) -> torch.Tensor:
    """(value + first) * scale + start, float32 of integers."""
    if value.is_cpu:
        return by_loop(
            value,
            torch.float32,
            lambda loops, x, out: loops.dequantize(x, first, scale, start, out),
        )
    return (value.to(torch.float32) + float(first)) * float(scale) + float(start)


def quantized_value(
    number: int, dtype: dtypes.DType, minimum: Any, maximum: Any
) -> Any:
    """The float32 that one integer stands for."""
    if minimum == maximum:
        return f32(minimum)
    low, high = _LIMITS[dtype]
    steps = float(high - low + 1)
    span = np.float64(f32(maximum) - f32(minimum)) * (steps / (steps - 1.0))
    scale = span / steps
    short = np.float64(f32(scale))  # which decides how the minimum is rounded
    lowest = _away(np.float64(minimum) / short) * short
    return f32(lowest + (number - low) * scale)


def multiplied_range(
    a: dtypes.DType,
    b: dtypes.DType,
    result: dtypes.DType,
    ranges: tuple[Any, Any, Any, Any],
) -> tuple[Any, Any]:
    """The range of products: one step is worth the product of the steps."""
    step = f32(level(a, *ranges[:2]) * level(b, *ranges[2:]))
    low, high = _LIMITS[result]
    return f32(step * f32(low)), f32(step * f32(high))


def requantize(
    value: torch.Tensor,
    source: tuple[dtypes.DType, Any, Any],
    target: tuple[dtypes.DType, Any, Any],
    base: torch.dtype,
) -> torch.Tensor:
    """Integers over one range as integers over another."""
    if source[0] == dtypes.qint32 and target[0] == dtypes.quint8:
        return _bytes_of_wide(value, source[1:], target[1:])
    numbers = quantized_to_float(value, *source)
    return float_to_quantized(numbers, *target, base)


def _bytes_of_wide(
    value: torch.Tensor, source: tuple[Any, Any], target: tuple[Any, Any]
) -> torch.Tensor:
    """qint32 to quint8 in fixed point, as TensorFlow's `quantization_utils.h` has it.

    It rounds other than arithmetic in floats does.
    """
    one = 1 << 16
    low, high = np.float32(source[0]), np.float32(source[1])
    new_low, new_high = np.float32(target[0]), np.float32(target[1])
    span, new_span = np.float32(high - low), np.float32(new_high - new_low)
    if new_span == 0:
        return torch.zeros_like(value, dtype=torch.uint8)
    scale = int(255.0 * one * float(span) / float(new_span))
    middle = np.float32((float(np.float32(low + high))) / 2.0)
    steps = np.float32(255.0 / float(new_span))
    offset = int(np.float32(np.float32(middle * steps) * np.float32(one)))
    offset -= int(one * (float(new_low) * 255.0) / float(new_span))
    offset += one >> 1
    if value.is_cpu:
        return by_loop(
            value,
            torch.uint8,
            lambda loops, x, out: loops.bytes_of_wide(x, scale, offset, out),
        )
    fixed = ((value.to(torch.int64) * scale) >> 32) + offset
    return (fixed >> 16).clamp(0, 255).to(torch.uint8)


def scaled_level(dtype: dtypes.DType, low: Any, high: Any) -> Any:
    """What one step is worth where zero is zero (float64, per channel if vectors)."""
    bottom, top = limits(dtype)
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    if not bottom:
        return high / top
    return np.maximum(np.abs(low), np.abs(high)) / top


def integers(value: torch.Tensor) -> torch.Tensor:
    """In int64, where torch can compute with every quantized dtype."""
    return value.to(torch.int64)


def narrowed(value: torch.Tensor, dtype: dtypes.DType) -> torch.Tensor:
    """int64 values in a quantized dtype, those out of its range clamped."""
    return value.clamp(*limits(dtype)).to(TORCH_DTYPES[dtype])
