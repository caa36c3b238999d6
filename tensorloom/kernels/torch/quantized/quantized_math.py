"""Arithmetic on quantized tensors over torch tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.quantized.quantize_range import (
    by_loop,
    f32,
    integers,
    level,
    limits,
    multiplied_range,
    narrowed,
    requantize,
    scalar,
    to_quantized_scalar,
)

_RANGES = ("min_x", "max_x", "min_y", "max_y")
# What the ranges of sums keep in reserve above the wider of their operands.
_ADD_HEADROOM, _BIAS_HEADROOM = f32(1 << 14), f32(1 << 17)


def _sum_range(bounds: Sequence[Any], headroom: Any) -> tuple[Any, Any]:
    """A range symmetric about zero that holds sums."""
    high = f32(max(abs(b) for b in bounds) * headroom)
    return f32(-high), high


def _broadcast(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
    try:
        return list(torch.broadcast_tensors(x, y))  # type: ignore[no-untyped-call]
    except RuntimeError:
        raise invalid_argument(
            f"Incompatible shapes: {text(x.shape)} vs. {text(y.shape)}"
        ) from None


def _in_range(
    value: torch.Tensor, source: tuple[dtypes.DType, Any, Any], bounds: Any
) -> torch.Tensor:
    """Requantized to qint32 over other bounds, as int64."""
    base = TORCH_DTYPES[dtypes.qint32]
    return integers(requantize(value, source, (dtypes.qint32, *bounds), base))


def _in_steps(
    value: torch.Tensor, source: tuple[dtypes.DType, Any, Any], bounds: Any
) -> torch.Tensor:
    """The same for the addends of QuantizedAdd: 8-bit steps become whole numbers."""
    dtype, low, high = source
    if dtype == dtypes.qint32:
        return _in_range(value, source, bounds)
    bottom, top = limits(dtype)
    scale = (np.float64(high) - np.float64(low)) / (top - bottom)
    short = np.float64(np.float32(scale))  # which decides how `low` is rounded
    zero = _half_away(np.float64(low) / short) * short
    wide = np.float64(level(dtypes.qint32, *bounds))

    def code(steps: Any) -> Any:
        real = np.asarray(zero + steps * scale, np.float32).astype(np.float64)
        return _half_away(real / wide).astype(np.int64)

    steps = integers(value) - bottom
    if value.numel() == 1:  # exact, as TensorFlow adds a single number
        return torch.as_tensor(code(steps.cpu().numpy()), device=value.device)
    start, following = (int(code(i)) for i in (0, 1))
    return start + steps * (following - start)


def _half_away(value: Any) -> Any:
    """Rounded as C's `round` does it."""
    return np.copysign(np.floor(np.abs(value) + 0.5), value)


def _check_order(bounds: Sequence[Any]) -> None:
    for low, high, name in ((0, 1, "x"), (2, 3, "y")):
        if not bounds[low] < bounds[high]:
            raise invalid_argument(
                f"max_{name} must be larger than min_{name}, got {bounds[low]:g} and "
                f"{bounds[high]:g}"
            )


@kernel("QuantizedAdd", host_inputs=_RANGES, host_outputs=("min_z", "max_z"))
def _add(c: OpKernelConstruction) -> Compute:
    types, result = (c["T1"], c["T2"]), c["Toutput"]

    def compute(x: torch.Tensor, y: torch.Tensor, *ranges: Any) -> Any:
        bounds = [scalar(r) for r in ranges]
        _check_order(bounds)
        low, high = _sum_range(bounds, _ADD_HEADROOM)
        _broadcast(x, y)
        total = _in_steps(x, (types[0], *bounds[:2]), (low, high)) + _in_steps(
            y, (types[1], *bounds[2:]), (low, high)
        )
        return narrowed(total, result), low, high

    return compute


@kernel("QuantizedMul", host_inputs=_RANGES, host_outputs=("min_z", "max_z"))
def _mul(c: OpKernelConstruction) -> Compute:
    types, result = (c["T1"], c["T2"]), c["Toutput"]

    def compute(x: torch.Tensor, y: torch.Tensor, *ranges: Any) -> Any:
        bounds = [scalar(r) for r in ranges]
        _check_order(bounds)
        x, y = _broadcast(x, y)
        zeros = (
            to_quantized_scalar(0.0, types[0], *bounds[:2]),
            to_quantized_scalar(0.0, types[1], *bounds[2:]),
        )
        low, high = multiplied_range(*types, result, tuple(bounds))
        return _products(x, y, zeros, result), low, high

    return compute


def _products(
    x: torch.Tensor, y: torch.Tensor, zeros: tuple[int, int], result: dtypes.DType
) -> torch.Tensor:
    if x.is_cpu:
        other = y.reshape(-1).contiguous().numpy()
        return by_loop(
            x,
            TORCH_DTYPES[result],
            lambda loops, a, out: loops.multiply(a, other, zeros, limits(result), out),
        )
    return narrowed((integers(x) - zeros[0]) * (integers(y) - zeros[1]), result)


@kernel(
    "QuantizedBiasAdd",
    host_inputs=("min_input", "max_input", "min_bias", "max_bias"),
    host_outputs=("min_out", "max_out"),
)
def _bias_add(c: OpKernelConstruction) -> Compute:
    types, result = (c["T1"], c["T2"]), c["out_type"]

    def compute(value: torch.Tensor, bias: torch.Tensor, *ranges: Any) -> Any:
        if value.dim() < 2:
            raise invalid_argument(
                f"Input tensor must be at least 2D: {text(value.shape)}"
            )
        if bias.dim() != 1:
            raise invalid_argument(f"Biases must be 1D: {text(bias.shape)}")
        if value.shape[-1] != bias.shape[0]:
            raise invalid_argument(
                "Must provide as many biases as the last dimension of the input "
                f"tensor: {text(bias.shape)} vs. {text(value.shape)}"
            )
        bounds = [scalar(r) for r in ranges]
        low, high = _sum_range(bounds, _BIAS_HEADROOM)
        total = _in_range(value, (types[0], *bounds[:2]), (low, high)) + _in_range(
            bias, (types[1], *bounds[2:]), (low, high)
        )
        return narrowed(total, result), low, high

    return compute


# --- elementwise -------------------------------------------------------------

_ACTIVATIONS = {
    "host_inputs": ("min_features", "max_features", "max_value"),
    "host_outputs": ("min_activations", "max_activations"),
}


# Both bounds are among their values, and torch compares these as they are.
_CLAMPED = frozenset([dtypes.quint8, dtypes.qint8, dtypes.qint16, dtypes.qint32])


@kernel(["QuantizedRelu", "QuantizedRelu6", "QuantizedReluX"], **_ACTIVATIONS)  # type: ignore[arg-type]
def _relu(c: OpKernelConstruction) -> Compute:
    source, result = c["Tinput"], c["out_type"]
    has_bound = c.op == "QuantizedReluX"

    def compute(features: torch.Tensor, *ranges: Any) -> Any:
        low, high = (scalar(r) for r in ranges[-2:])
        bound = float(scalar(ranges[0])) if has_bound else 6.0
        zero = to_quantized_scalar(0.0, source, low, high, clamp=True)
        most = None
        if c.op != "QuantizedRelu":
            most = to_quantized_scalar(bound, source, low, high, clamp=True)
        if source == result and source in _CLAMPED:
            return features.clamp(zero, most), low, high
        return narrowed(integers(features).clamp(zero, most), result), low, high

    return compute


@kernel(
    "QuantizedReshape",
    host_inputs=("shape", "input_min", "input_max"),
    host_outputs=("output_min", "output_max"),
    aliases=True,
)
def _reshape(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, shape: Any, low: Any, high: Any) -> Any:
        sizes = np.asarray(shape)
        if sizes.ndim != 1 or (sizes < -1).any() or (sizes == -1).sum() > 1:
            raise invalid_argument(
                f"shape must be a vector of sizes, got {sizes.tolist()}"
            )
        try:
            result = value.reshape(sizes.tolist())
        except RuntimeError:
            raise invalid_argument(
                f"Input to reshape is a tensor with {value.numel()} values, but the "
                f"requested shape is {sizes.tolist()}"
            ) from None
        return result, scalar(low), scalar(high)

    return compute


# --- joining -----------------------------------------------------------------


def _joined(
    values: Sequence[torch.Tensor],
    axis: Any,
    lows: Sequence[Any],
    highs: Sequence[Any],
    dtype: dtypes.DType,
) -> Any:
    rank, where = values[0].dim(), int(np.asarray(axis).reshape(-1)[0])
    if not -rank <= where < rank:
        raise invalid_argument(
            f"ConcatOp : Expected concatenating dimensions in the range "
            f"[{-rank}, {rank}), but got {where}"
        )
    low = min(scalar(r) for r in lows)
    high = max(scalar(r) for r in highs)
    if dtype in (dtypes.qint8, dtypes.qint16, dtypes.qint32):
        high = max(abs(low), abs(high))
        low = f32(-high)
    else:
        low = min(f32(0), low)
    base = TORCH_DTYPES[dtype]
    parts = []
    for value, own_low, own_high in zip(values, lows, highs, strict=True):
        own = scalar(own_low), scalar(own_high)
        if own == (low, high):
            parts.append(value)
        else:
            parts.append(requantize(value, (dtype, *own), (dtype, low, high), base))
    try:
        return torch.cat(parts, where), low, high
    except RuntimeError:
        shapes = ", ".join(text(v.shape) for v in values)
        raise invalid_argument(
            f"ConcatOp : Dimensions of inputs should match: {shapes}"
        ) from None


_BOUNDS = {
    "host_inputs": ("concat_dim", "axis", "input_mins", "input_maxes"),
    "host_outputs": ("output_min", "output_max"),
}


@kernel(["QuantizedConcat", "QuantizedConcatV2"], **_BOUNDS)  # type: ignore[arg-type]
def _concat(c: OpKernelConstruction) -> Compute:
    count, dtype = c["N"], c["T"]
    first = 1 if c.op == "QuantizedConcat" else 0

    def compute(*inputs: Any) -> Any:
        values = inputs[first : first + count]
        axis = inputs[0] if first else inputs[count]
        lows, highs = inputs[count + 1 : -count], inputs[-count:]
        return _joined(values, axis, lows, highs, dtype)

    return compute
