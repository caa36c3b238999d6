"""Quantizing and dequantizing over torch tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.quantized.quantize_range import (
    by_loop,
    f32,
    float_to_quantized,
    half_of_steps,
    held_to_quantized,
    is_signed,
    limits,
    quantized_to_float,
    quantized_value,
    requantize,
    round_away,
    scalar,
    scaled,
    to_int,
)

_RANGE = ("min_range", "max_range")
_INPUT_RANGE = ("input_min", "input_max")
_HIGHEST = np.finfo(np.float32).max


def widened(low: Any, high: Any, least: float) -> tuple[Any, Any]:
    """A range that holds zero and is not empty.

    Raises:
      errors.InvalidArgumentError: the bounds are in the wrong order.
    """
    if high < low:
        raise invalid_argument("input_max_range must be larger than input_min_range.")
    minimum = min(f32(0), low)
    epsilon = f32(max(f32(1), abs(low), abs(high)) * f32(least))
    return minimum, max(f32(0), max(high, f32(minimum + epsilon)))


@kernel("QuantizeV2", host_inputs=_RANGE, host_outputs=("output_min", "output_max"))
def quantize_v2(c: OpKernelConstruction) -> Compute:
    """Floats as integers over a range."""
    dtype, mode, rounding = c["T"], c["mode"], c["round_mode"]
    if rounding == b"HALF_TO_EVEN" and mode != b"SCALED":
        raise invalid_argument(
            "Round mode 'HALF_TO_EVEN' only supported for mode 'SCALED', but mode is "
            f"'{mode.decode()}'."
        )
    least = c.get("ensure_minimum_range", 0.01)
    options: Any = (dtype, mode, rounding, bool(c.get("narrow_range", False)))
    axis = c.get("axis", -1)

    def compute(value: torch.Tensor, low: Any, high: Any) -> Any:
        if axis != -1:
            return _by_slice(value, low, high, axis, least, options)
        bounds = widened(scalar(low), scalar(high, "max_range"), least)
        return _quantize(value, *bounds, *options)

    return compute


def _by_slice(
    value: torch.Tensor, low: Any, high: Any, axis: int, least: float, options: Any
) -> Any:
    """Each slice along the axis over a range of its own."""
    if not -value.dim() <= axis < value.dim():
        raise invalid_argument(f"Axis must be less than input dimension({value.dim()})")
    count = value.shape[axis]
    if np.size(low) != count or np.size(high) != count:
        raise invalid_argument(
            f"min_range and max_range must have {count} elements, one for each slice"
        )
    parts = [
        _quantize(part, *widened(f32(a), f32(b), least), *options)
        for part, a, b in zip(value.unbind(axis), low, high, strict=True)
    ]
    if not parts:
        base = TORCH_DTYPES[options[0]]
        return value.to(base), np.asarray(low), np.asarray(high)
    outputs, lows, highs = zip(*parts, strict=True)
    return torch.stack(outputs, axis), np.array(lows), np.array(highs)


def _quantize(
    value: torch.Tensor,
    low: Any,
    high: Any,
    dtype: dtypes.DType,
    mode: bytes,
    rounding: bytes,
    narrow: bool,
) -> tuple[torch.Tensor, Any, Any]:
    base = TORCH_DTYPES[dtype]
    if mode == b"MIN_FIRST":
        return float_to_quantized(value, dtype, low, high, base), low, high
    bottom, top = limits(dtype)
    if mode == b"SCALED":
        scale, low, high = _symmetric(low, high, dtype, narrow)
    else:
        scale = f32((float(top) - float(bottom)) / np.float64(f32(high - low)))
    if value.is_cpu:
        whole = held_to_quantized(value, (low, high), scale, dtype, mode, rounding)
        return whole, low, high
    held = value.clamp(float(low), float(high))
    if mode == b"SCALED":
        steps = held.mul_(float(scale))
        even = rounding == b"HALF_TO_EVEN"
        whole = steps.round_() if even else round_away(steps)
    else:
        shifted = held.sub_(float(low)).mul_(float(scale))
        if is_signed(dtype):
            whole = round_away(shifted.sub_(float(half_of_steps(dtype))))
        else:
            whole = shifted.add_(0.5).floor_()  # not negative
    return to_int(whole, dtype, base), low, high


def _symmetric(
    low: Any, high: Any, dtype: dtypes.DType, narrow: bool
) -> tuple[Any, Any, Any]:
    """(scale, minimum, maximum) where zero is zero."""
    lowest, highest = limits(dtype)
    bottom, top = f32(lowest + narrow), f32(highest)
    with np.errstate(all="ignore"):
        from_min = bottom / low if bottom * low > 0 else _HIGHEST
        from_max = top / high if top * high > 0 else _HIGHEST
        scale = f32(min(from_min, from_max))
        return scale, f32(bottom / scale), f32(top / scale)


@kernel("Dequantize", host_inputs=_RANGE)
def dequantize(c: OpKernelConstruction) -> Compute:
    """The floats that integers stand for."""
    dtype, mode, axis = c["T"], c["mode"], c.get("axis", -1)
    narrow = bool(c.get("narrow_range", False))
    result = TORCH_DTYPES[c.get("dtype", dtypes.float32)]

    def one(value: torch.Tensor, low: Any, high: Any) -> torch.Tensor:
        return _dequantize(value, low, high, dtype, mode, narrow)

    def compute(value: torch.Tensor, low: Any, high: Any) -> torch.Tensor:
        if axis == -1:
            bounds = scalar(low), scalar(high, "max_range")
            return one(value, *bounds).to(result)
        if not -value.dim() <= axis < value.dim():
            raise invalid_argument(
                f"Axis must be less than input dimension({value.dim()})"
            )
        count = value.shape[axis]
        if np.size(low) != count or np.size(high) != count:
            raise invalid_argument(
                f"min_range and max_range must have {count} elements"
            )
        if not count:
            return value.to(result)
        slices = zip(value.unbind(axis), low, high, strict=True)
        parts = [one(part, f32(a), f32(b)) for part, a, b in slices]
        return torch.stack(parts, axis).to(result)

    return compute


def _dequantize(
    value: torch.Tensor,
    low: Any,
    high: Any,
    dtype: dtypes.DType,
    mode: bytes,
    narrow: bool,
) -> torch.Tensor:
    bottom, top = limits(dtype)
    if mode == b"MIN_FIRST":
        return quantized_to_float(value, dtype, low, high)
    if mode == b"SCALED":
        scale = f32(high / f32(top))
        if bottom:
            scale = max(f32(low / f32(bottom + narrow)), scale)
        return scaled(value, f32(0), scale, f32(0))
    scale = f32(f32(high - low) / (f32(top) - f32(bottom)))
    half = f32((f32(top) - f32(bottom) + f32(1)) / f32(2)) if bottom else f32(0)
    return scaled(value, half, scale, f32(low))


# --- there and back ----------------------------------------------------------


@kernel("QuantizeAndDequantize")
def _quantize_and_dequantize(c: OpKernelConstruction) -> Compute:
    run = _round_trip(c, b"HALF_TO_EVEN")
    low, high, bits = c["input_min"], c["input_max"], c["num_bits"]
    _check_bits(bits, c["signed_input"])
    if c["range_given"] and not low <= high:
        raise invalid_argument(f"Invalid range: input_min {low:g} > input_max {high:g}")
    return lambda value: run(value, low, high, bits)


@kernel(
    ["QuantizeAndDequantizeV2", "QuantizeAndDequantizeV4"], host_inputs=_INPUT_RANGE
)
def _quantize_and_dequantize_v2(c: OpKernelConstruction) -> Compute:
    run, bits = _round_trip(c, c["round_mode"]), c["num_bits"]
    _check_bits(bits, c["signed_input"])
    return lambda value, low, high: run(value, low, high, bits)


@kernel("QuantizeAndDequantizeV3", host_inputs=(*_INPUT_RANGE, "num_bits"))
def _quantize_and_dequantize_v3(c: OpKernelConstruction) -> Compute:
    run, signed = _round_trip(c, b"HALF_TO_EVEN"), c["signed_input"]

    def compute(value: torch.Tensor, low: Any, high: Any, num_bits: Any) -> Any:
        bits = int(np.asarray(num_bits).reshape(-1)[0])
        _check_bits(bits, signed)
        return run(value, low, high, bits)

    return compute


def _check_bits(bits: int, signed: bool) -> None:
    if not 0 < bits < (62 if signed else 63):
        raise invalid_argument(
            f"num_bits is out of range: {bits} with signed_input_ {int(signed)}"
        )


def _round_trip(c: OpKernelConstruction, rounding: bytes) -> Compute:
    """(value, low, high, bits) -> the value rounded."""
    signed, given = c["signed_input"], c["range_given"]
    narrow, axis = c.get("narrow_range", False), c.get("axis", -1)

    def one(value: torch.Tensor, low: Any, high: Any, bits: int) -> torch.Tensor:
        if not value.numel():
            return value
        if given:
            low, high = np.float64(low), np.float64(high)
            if not low <= high:
                raise invalid_argument(
                    f"Invalid range: input_min {low:g} > input_max {high:g}"
                )
        else:
            low, high = (np.float64(x.item()) for x in value.aminmax())
        return _rounded(value, low, high, (signed, bits, narrow, given, rounding))

    def compute(value: torch.Tensor, low: Any, high: Any, bits: int) -> torch.Tensor:
        low, high = np.asarray(low), np.asarray(high)
        if axis == -1:
            if given and (low.size != 1 or high.size != 1):
                raise invalid_argument("input_min and input_max must be scalars")
            first, last = (x.reshape(-1)[0] if x.size else 0 for x in (low, high))
            return one(value, first, last, bits)
        return _slices(
            value, low, high, axis, given, lambda part, a, b: one(part, a, b, bits)
        )

    return compute


def _slices(
    value: torch.Tensor, low: Any, high: Any, axis: int, given: bool, one: Any
) -> torch.Tensor:
    if not -value.dim() <= axis < value.dim():
        raise invalid_argument(f"Axis should be in range of the shape, got {axis}")
    count = value.shape[axis]
    if given and (low.size != count or high.size != count):
        raise invalid_argument(f"input_min and input_max must have {count} elements")
    if not given:
        low = high = np.zeros(count)
    parts = [
        one(part, a, b)
        for part, a, b in zip(value.unbind(axis), low, high, strict=True)
    ]
    return torch.stack(parts, axis) if parts else value


def _rounded(
    value: torch.Tensor, low: Any, high: Any, options: tuple[Any, ...]
) -> torch.Tensor:
    signed, bits, narrow, given, rounding = options
    kind = np.float64 if value.dtype == torch.float64 else np.float32
    bottom = -(1 << (bits - 1)) + narrow if signed else 0
    top = (1 << (bits - 1)) - 1 if signed else (1 << bits) - 1
    low, high = kind(low), kind(high)
    with np.errstate(all="ignore"):
        largest = np.finfo(kind).max
        from_min = kind(bottom) / low if bottom * low > 0 else largest
        from_max = kind(top) / high if top * high > 0 else largest
        if from_min < from_max:
            scale, inverse = from_min, low / kind(bottom)
            high = kind(top) * inverse
        else:
            scale, inverse = from_max, high / kind(top)
            low = kind(bottom) * inverse
    if value.is_cpu and value.dtype in (torch.float32, torch.float64):
        held = (low, high) if given else (kind(-np.inf), kind(np.inf))
        return by_loop(
            value,
            value.dtype,
            lambda loops, x, out: (
                loops.round_trip_up(x, *held, scale, inverse, kind(0.5), out)
                if rounding == b"HALF_UP"
                else loops.round_trip_even(x, *held, scale, inverse, out)
            ),
        )
    if given:
        value = value.clamp(float(low), float(high))
    steps = value * float(scale)
    rounded = torch.floor(steps + 0.5) if rounding == b"HALF_UP" else torch.round(steps)
    return rounded * float(inverse)


@kernel("QuantizeAndDequantizeV4Grad")
def _quantize_and_dequantize_v4_grad(c: OpKernelConstruction) -> Compute:
    axis = c["axis"]

    def compute(
        grad: torch.Tensor, value: torch.Tensor, low: torch.Tensor, high: torch.Tensor
    ) -> Any:
        if grad.shape != value.shape:
            raise invalid_argument("gradient and input must be the same size")
        if low.shape != high.shape:
            raise invalid_argument("input_min and input_max must have one shape")
        shape = [1] * value.dim()
        if axis != -1:
            if not 0 <= axis < value.dim() or low.numel() != value.shape[axis]:
                raise invalid_argument("input_min must have one element for each slice")
            shape[axis] = -1
        elif low.numel() != 1:
            raise invalid_argument("input_min and input_max must be scalars")
        inside = (value >= low.view(shape)) & (value <= high.view(shape))
        zeros = torch.zeros_like(low)
        return torch.where(inside, grad, 0), zeros, zeros.clone()

    return compute


# --- other ranges ------------------------------------------------------------


def _actual_range(
    value: torch.Tensor, dtype: dtypes.DType, low: Any, high: Any
) -> tuple[Any, Any]:
    """The floats that the smallest and largest integers stand for, with zero."""
    if not value.numel():
        return f32(0), f32(0)
    smallest, largest = value.to(torch.int64).aminmax()
    return (
        min(f32(0), quantized_value(int(smallest), dtype, low, high)),
        quantized_value(int(largest), dtype, low, high),
    )


_OUTPUT_RANGE = ("output_min", "output_max")


@kernel(
    "QuantizeDownAndShrinkRange", host_inputs=_INPUT_RANGE, host_outputs=_OUTPUT_RANGE
)
def _shrink_range(c: OpKernelConstruction) -> Compute:
    source, target = c["Tinput"], c["out_type"]
    base = TORCH_DTYPES[target]

    def compute(value: torch.Tensor, low: Any, high: Any) -> Any:
        low, high = scalar(low), scalar(high)
        new_low, new_high = _actual_range(value, source, low, high)
        result = requantize(
            value, (source, low, high), (target, new_low, new_high), base
        )
        return result, new_low, new_high

    return compute


@kernel("RequantizationRange", host_inputs=_INPUT_RANGE, host_outputs=_OUTPUT_RANGE)
def _requantization_range(c: OpKernelConstruction) -> Compute:
    source = c["Tinput"]

    def compute(value: torch.Tensor, low: Any, high: Any) -> Any:
        return _actual_range(value, source, scalar(low), scalar(high))

    return compute


_REQUESTED = (*_INPUT_RANGE, "requested_output_min", "requested_output_max")


@kernel("Requantize", host_inputs=_REQUESTED, host_outputs=_OUTPUT_RANGE)
def _requantize(c: OpKernelConstruction) -> Compute:
    source, target = c["Tinput"], c["out_type"]
    base = TORCH_DTYPES[target]

    def compute(
        value: torch.Tensor, low: Any, high: Any, new_low: Any, new_high: Any
    ) -> Any:
        new_low, new_high = scalar(new_low), scalar(new_high)
        if new_low > 0:
            raise invalid_argument(
                f"requested_output_min must be <= 0, but got {new_low:g}"
            )
        if new_high < new_low:
            raise invalid_argument(
                "requested_output_max must be >= requested_output_min, but got "
                f"{new_high:g} and {new_low:g}"
            )
        result = requantize(
            value,
            (source, scalar(low), scalar(high)),
            (target, new_low, new_high),
            base,
        )
        return result, new_low, new_high

    return compute


def _channel_scales(value: torch.Tensor, low: Any, high: Any) -> torch.Tensor:
    """The largest absolute value of each channel's range, float64."""
    low, high = np.atleast_1d(low), np.atleast_1d(high)
    depth = value.shape[-1] if value.dim() else 1
    if low.size != depth or high.size != depth:
        raise invalid_argument(
            f"input_min has incorrect size, expected {depth} was {low.size}"
        )
    scales = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
    return torch.from_numpy(scales).to(value.device)


def _check_four_axes(value: torch.Tensor) -> None:
    if value.dim() != 4:
        raise invalid_argument(f"Images must have 4 dimensions, not {value.dim()}")


@kernel("RequantizePerChannel", host_inputs=_REQUESTED, host_outputs=_OUTPUT_RANGE)
def _requantize_per_channel(c: OpKernelConstruction) -> Compute:
    target, source = c["out_type"], c["T"]
    if target not in (dtypes.qint8, dtypes.quint8):
        raise errors.UnimplementedError(
            None, None, "RequantizePerChannel makes qint8 and quint8 only"
        )
    base, top = TORCH_DTYPES[target], limits(target)[1]

    def compute(
        value: torch.Tensor, low: Any, high: Any, new_low: Any, new_high: Any
    ) -> Any:
        new_low, new_high = scalar(new_low), scalar(new_high)
        _check_four_axes(value)
        if new_high <= 0 and is_signed(target):
            raise invalid_argument(
                f"requested_output_max must be positive, got {new_high:g}"
            )
        scales = _channel_scales(value, low, high) / limits(source)[1]
        largest = float(max(abs(new_low), abs(new_high)))
        numbers = value.double() * scales * (top / largest if largest else 0.0)
        result = to_int(torch.round(numbers), target, base)
        bottom = -largest if is_signed(target) else 0.0
        return result, f32(bottom), f32(largest)

    return compute


@kernel(
    "RequantizationRangePerChannel",
    host_inputs=_INPUT_RANGE,
    host_outputs=_OUTPUT_RANGE,
)
def _requantization_range_per_channel(c: OpKernelConstruction) -> Compute:
    clip, source = c["clip_value_max"], c["T"]

    def compute(value: torch.Tensor, low: Any, high: Any) -> Any:
        _check_four_axes(value)
        if not value.numel():
            raise invalid_argument("input must not be empty")
        scales = _channel_scales(value, low, high) / limits(source)[1]
        smallest, largest = (value.double() * scales).aminmax()
        bound = f32(min(max(abs(float(smallest)), abs(float(largest))), clip))
        return (f32(-bound) if smallest < 0 else f32(0)), bound

    return compute
