"""Arithmetic on quantized tensors over torch tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from tensorloom.framework import dtypes
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, kernel
from tensorloom.kernels.host.nn_ops_checks import text
from tensorloom.kernels.math_ops_dtypes import TORCH_DTYPES
from tensorloom.kernels.quantize_range import (
    f32,
    float_to_quantized,
    level,
    limits,
    multiplied_range,
    quantized_to_float,
    requantize,
    scalar,
    to_int,
    to_quantized_scalar,
)

_RANGES = ("min_x", "max_x", "min_y", "max_y")
# What the ranges of sums keep in reserve above the wider of their operands.
_ADD_HEADROOM, _BIAS_HEADROOM = f32(1 << 14), f32(1 << 17)
# The range of normalized values: large, with ten bits behind the point.
_BATCH_NORM_BOUND = 1 << 20


def integers(value: torch.Tensor) -> torch.Tensor:
    """In int64, where torch can compute with every quantized dtype."""
    return value.to(torch.int64)


def narrowed(value: torch.Tensor, dtype: dtypes.DType) -> torch.Tensor:
    """int64 values in a quantized dtype, those out of its range clamped."""
    return value.clamp(*limits(dtype)).to(TORCH_DTYPES[dtype])


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
        a = integers(x) - to_quantized_scalar(0.0, types[0], *bounds[:2])
        b = integers(y) - to_quantized_scalar(0.0, types[1], *bounds[2:])
        low, high = multiplied_range(*types, result, tuple(bounds))
        return narrowed(a * b, result), low, high

    return compute


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


# --- products ----------------------------------------------------------------


def exact_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product of matrices of small whole numbers (int64), in floating point.

    float64 holds every sum of 16-bit products; float32, which is faster, those of
    8-bit ones as long as there are few of them.
    """
    few = a.shape[-1] < 256
    kind = torch.float32 if few and a.dtype == torch.int16 else torch.float64
    return (a.to(kind) @ b.to(kind)).to(torch.int64)


def _matrices(
    c: OpKernelConstruction, a: torch.Tensor, b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    for value, name in ((a, "a"), (b, "b")):
        if value.dim() != 2:
            raise invalid_argument(
                f"In[{'ab'.index(name)}] is not a matrix. Instead it has shape "
                f"{text(value.shape)}"
            )
    a = a.t() if c["transpose_a"] else a
    b = b.t() if c["transpose_b"] else b
    if a.shape[1] != b.shape[0]:
        raise invalid_argument(
            f"Matrix size-incompatible: In[0]: {text(a.shape)}, In[1]: {text(b.shape)}"
        )
    return a, b


@kernel(
    "QuantizedMatMul",
    host_inputs=("min_a", "max_a", "min_b", "max_b"),
    host_outputs=("min_out", "max_out"),
)
def _matmul(c: OpKernelConstruction) -> Compute:
    types, result = (c["T1"], c["T2"]), c["Toutput"]

    def compute(a: torch.Tensor, b: torch.Tensor, *ranges: Any) -> Any:
        bounds = [scalar(r) for r in ranges]
        a, b = _matrices(c, a, b)
        product = exact_matmul(
            integers(a) - to_quantized_scalar(0.0, types[0], *bounds[:2]),
            integers(b) - to_quantized_scalar(0.0, types[1], *bounds[2:]),
        )
        low, high = multiplied_range(*types, result, tuple(bounds))
        return narrowed(product, result), low, high

    return compute


def scaled_level(dtype: dtypes.DType, low: Any, high: Any) -> Any:
    """What one step is worth where zero is zero (float64, per channel if vectors)."""
    bottom, top = limits(dtype)
    low, high = np.asarray(low, np.float64), np.asarray(high, np.float64)
    if not bottom:
        return high / top
    return np.maximum(np.abs(low), np.abs(high)) / top


def finish(
    value: torch.Tensor, dtype: dtypes.DType, step: Any, frozen: Any
) -> tuple[torch.Tensor, Any, Any]:
    """Floats (float64) as integers: over a frozen range, or worth `step` each."""
    base = TORCH_DTYPES[dtype]
    if frozen:
        low, high = (scalar(f) for f in frozen)
        scale = float(scaled_level(dtype, low, high)) or 1.0
        return to_int(torch.round(value / scale), dtype, base), low, high
    bottom, top = limits(dtype)
    numbers = torch.round(value / torch.as_tensor(step, device=value.device))
    step = np.asarray(step, np.float32)
    low, high = step * f32(bottom), step * f32(top)
    return narrowed(integers(numbers), dtype), low, high


def biased(
    value: torch.Tensor, bias: torch.Tensor, step: Any, dtype: dtypes.DType
) -> torch.Tensor:
    """Adds a float bias, or a qint32 one whose steps are those of the product."""
    wide = bias.double()
    if dtype == dtypes.qint32:
        wide = wide * torch.as_tensor(step, device=bias.device)
    return value + wide


@kernel(
    [
        "QuantizedMatMulWithBias",
        "QuantizedMatMulWithBiasAndRelu",
        "QuantizedMatMulWithBiasAndReluAndRequantize",
        "QuantizedMatMulWithBiasAndRequantize",
        "QuantizedMatMulWithBiasAndDequantize",
    ],
    host_inputs=(
        "min_a",
        "max_a",
        "min_b",
        "max_b",
        "min_freezed_output",
        "max_freezed_output",
    ),
    host_outputs=("min_out", "max_out"),
)
def _matmul_with_bias(c: OpKernelConstruction) -> Compute:
    types, result = (c["T1"], c["T2"]), c["Toutput"]
    bias_type = c.get("Tbias", dtypes.float32)
    scaled = c["input_quant_mode"] == b"SCALED"

    def compute(
        a: torch.Tensor, b: torch.Tensor, bias: torch.Tensor, *ranges: Any
    ) -> Any:
        bounds = [scalar(r) for r in ranges[:4]]
        a, b = _matrices(c, a, b)
        if bias.dim() != 1 or len(bias) != b.shape[1]:
            raise invalid_argument(
                f"bias must have {b.shape[1]} elements: {text(bias.shape)}"
            )
        whole = integers(a)
        step_a = scaled_level(types[0], *bounds[:2])
        if not scaled:
            whole = whole - to_quantized_scalar(0.0, types[0], *bounds[:2])
            step_a = float(level(types[0], *bounds[:2]))
        step = step_a * scaled_level(types[1], *bounds[2:])
        value = exact_matmul(whole, integers(b)).double() * float(step)
        value = biased(value, bias, step, bias_type)
        if "Relu" in c.op:
            value = value.clamp_min(0)
        if result == dtypes.float32:
            return value.to(torch.float32)
        return finish(value, result, step, ranges[4:])

    return compute


# --- elementwise -------------------------------------------------------------

_ACTIVATIONS = {
    "host_inputs": ("min_features", "max_features", "max_value"),
    "host_outputs": ("min_activations", "max_activations"),
}


@kernel(["QuantizedRelu", "QuantizedRelu6", "QuantizedReluX"], **_ACTIVATIONS)  # type: ignore[arg-type]
def _relu(c: OpKernelConstruction) -> Compute:
    source, result = c["Tinput"], c["out_type"]
    has_bound = c.op == "QuantizedReluX"

    def compute(features: torch.Tensor, *ranges: Any) -> Any:
        low, high = (scalar(r) for r in ranges[-2:])
        bound = float(scalar(ranges[0])) if has_bound else 6.0
        zero = to_quantized_scalar(0.0, source, low, high, clamp=True)
        whole = integers(features).clamp_min(zero)
        if c.op != "QuantizedRelu":
            whole = whole.clamp_max(
                to_quantized_scalar(bound, source, low, high, clamp=True)
            )
        return narrowed(whole, result), low, high

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


# --- normalization -----------------------------------------------------------


@kernel(
    "QuantizedInstanceNorm",
    host_inputs=("x_min", "x_max"),
    host_outputs=("y_min", "y_max"),
)
def _instance_norm(c: OpKernelConstruction) -> Compute:
    dtype, base = c["T"], TORCH_DTYPES[c["T"]]
    given = (f32(c["given_y_min"]), f32(c["given_y_max"]))
    if c["output_range_given"] and not given[0] < given[1]:
        raise invalid_argument(
            f"given_y_min must be less than given_y_max: {given[0]:g}"
        )

    def compute(x: torch.Tensor, low: Any, high: Any) -> Any:
        if x.dim() != 4:
            raise invalid_argument(
                f"QuantizedInstanceNorm needs 4-D inputs: {text(x.shape)}"
            )
        value = quantized_to_float(x, dtype, scalar(low), scalar(high))
        mean = value.mean((1, 2), keepdim=True)
        variance = (value - mean).square().mean((1, 2), keepdim=True)
        y = (value - mean) * torch.rsqrt(variance + c["variance_epsilon"])
        bounds = given
        if not c["output_range_given"]:
            bounds = _separated(y, c["min_separation"])
        return float_to_quantized(y, dtype, *bounds, base), *bounds

    return compute


def _separated(y: torch.Tensor, least: float) -> tuple[Any, Any]:
    if not y.numel():
        return f32(0), f32(least)
    low, high = (f32(v) for v in y.aminmax())
    return low, max(high, f32(low + f32(least)))


@kernel(
    "QuantizedBatchNormWithGlobalNormalization",
    host_inputs=[
        f"{name}_{end}"
        for name in ("t", "m", "v", "beta", "gamma")
        for end in ("min", "max")
    ],
    host_outputs=("result_min", "result_max"),
)
def _batch_norm(c: OpKernelConstruction) -> Compute:
    source, result = c["Tinput"], c["out_type"]
    base, epsilon = TORCH_DTYPES[result], c["variance_epsilon"]

    def compute(*inputs: Any) -> Any:
        parts = []
        for i in range(0, 15, 3):
            low, high = scalar(inputs[i + 1]), scalar(inputs[i + 2])
            parts.append(quantized_to_float(inputs[i], source, low, high))
        t, mean, variance, beta, gamma = parts
        if t.dim() != 4:
            raise invalid_argument(f"input must be 4-dimensional{text(t.shape)}")
        for vector, name in zip(
            parts[1:], ("mean", "var", "beta", "gamma"), strict=True
        ):
            if vector.dim() != 1 or len(vector) != t.shape[3]:
                raise invalid_argument(
                    f"{name} must be 1-dimensional{text(vector.shape)}"
                )
        scale = 1 / torch.sqrt(variance + epsilon)
        if c["scale_after_normalization"]:
            scale = scale * gamma
        bounds = f32(-_BATCH_NORM_BOUND), f32(_BATCH_NORM_BOUND)

        def levels(value: torch.Tensor) -> torch.Tensor:
            return float_to_quantized(value, result, *bounds, base)

        # In fixed point, as TensorFlow computes; products wrap around.
        one = levels(torch.ones((), device=t.device))
        product = torch.div(levels(t) * levels(scale), one, rounding_mode="trunc")
        return product + levels(-mean * scale + beta), *bounds

    return compute
