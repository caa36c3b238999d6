"""Quantized convolution, pooling and resizing over torch tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.runtime.intra_op import in_ranges
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.convolution.conv import convolution
from tensorloom.kernels.torch.image.linear_interpolation import along, taps
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.pooling.pool import (
    Geometry,
    Plan,
    cached_plans,
    decode_geometry,
    depth_window,
)
from tensorloom.kernels.torch.pooling.pool import max_pool as float_max_pool
from tensorloom.kernels.torch.pooling.pool_avg import avg_pool as float_avg_pool
from tensorloom.kernels.torch.quantized.quantize_range import (
    WORTHWHILE,
    float_to_quantized,
    integers,
    multiplied_range,
    narrowed,
    quantized_to_float,
    scalar,
    scaled_level,
    to_quantized_scalar,
)
from tensorloom.kernels.torch.quantized.quantized_matmul import biased, finish


def _as_float(c: OpKernelConstruction, op: str) -> OpKernelConstruction:
    """A quantized node as one over float64, for the kernels of floats."""
    attrs: dict[str, Any] = {"T": dtypes.float64, "data_format": b"NHWC"}
    paddings = c.get("padding_list")
    if paddings:
        attrs |= {"padding": b"EXPLICIT", "explicit_paddings": paddings}
    return c.as_op(op, **attrs)


def _convolve(c: OpKernelConstruction) -> Compute:
    """Convolves whole numbers exactly, in float64."""
    depthwise = "Depthwise" in c.op
    node = _as_float(c, "DepthwiseConv2dNative" if depthwise else "Conv2D")
    run = convolution(node)

    def compute(image: torch.Tensor, filters: torch.Tensor) -> torch.Tensor:
        return run(image.double(), filters.double())  # type: ignore[no-any-return]

    return compute


_RANGES = ("min_input", "max_input", "min_filter", "max_filter")
_FUSED = (
    *_RANGES,
    "min_freezed_output",
    "max_freezed_output",
    "min_summand",
    "max_summand",
)
_OUT = ("min_output", "max_output")


@kernel(
    ["QuantizedConv2D", "QuantizedDepthwiseConv2D"],
    host_inputs=_RANGES,
    host_outputs=_OUT,
)
def _conv2d(c: OpKernelConstruction) -> Compute:
    run, types, result = _convolve(c), (c["Tinput"], c["Tfilter"]), c["out_type"]

    def compute(image: torch.Tensor, filters: torch.Tensor, *ranges: Any) -> Any:
        bounds = [scalar(r) for r in ranges]
        # Less the integer of zero, which padding stands for.
        image = integers(image) - to_quantized_scalar(0.0, types[0], *bounds[:2])
        filters = integers(filters) - to_quantized_scalar(0.0, types[1], *bounds[2:])
        product = run(image, filters)
        low, high = multiplied_range(*types, result, tuple(bounds))
        return narrowed(integers(product), result), low, high

    return compute


@kernel(
    [
        "QuantizedConv2DPerChannel",
        "QuantizedConv2DAndRelu",
        "QuantizedConv2DAndReluAndRequantize",
        "QuantizedConv2DAndRequantize",
        "QuantizedConv2DWithBias",
        "QuantizedConv2DWithBiasAndRelu",
        "QuantizedConv2DWithBiasAndReluAndRequantize",
        "QuantizedConv2DWithBiasAndRequantize",
        "QuantizedConv2DWithBiasSumAndRelu",
        "QuantizedConv2DWithBiasSumAndReluAndRequantize",
        "QuantizedConv2DWithBiasSignedSumAndReluAndRequantize",
        "QuantizedDepthwiseConv2DWithBias",
        "QuantizedDepthwiseConv2DWithBiasAndRelu",
        "QuantizedDepthwiseConv2DWithBiasAndReluAndRequantize",
    ],
    host_inputs=_FUSED,
    host_outputs=_OUT,
)
def _fused_conv2d(c: OpKernelConstruction) -> Compute:
    """Ranges are symmetric here: an integer times a scale is the float."""
    run, types, result = _convolve(c), (c["Tinput"], c["Tfilter"]), c["out_type"]
    has_bias, has_sum = "WithBias" in c.op, "Sum" in c.op
    requantized, bias_type = "AndRequantize" in c.op, c.get("Tbias", dtypes.float32)

    def compute(image: torch.Tensor, filters: torch.Tensor, *others: Any) -> Any:
        bias, rest = (others[0], others[1:]) if has_bias else (None, others)
        step = np.asarray(scaled_level(types[0], scalar(rest[0]), scalar(rest[1])))
        step = step * scaled_level(types[1], rest[2], rest[3])
        product = run(integers(image), integers(filters))
        if step.size not in (1, product.shape[-1]):
            raise invalid_argument(
                f"min_filter must have 1 or {product.shape[-1]} elements, not "
                f"{step.size}"
            )
        value = product * torch.as_tensor(step, device=product.device)
        if bias is not None:
            if bias.dim() != 1 or len(bias) != product.shape[-1]:
                raise invalid_argument(
                    f"bias must be 1-dimensional: {text(bias.shape)}"
                )
            value = biased(value, bias, step, bias_type)
        frozen = rest[4:6] if requantized else ()
        if has_sum:
            value = value + _summand(c, rest[6 if requantized else 4 :], value)
        if "Relu" in c.op:
            value = value.clamp_min(0)
        return finish(value, result, step, frozen)

    return compute


def _summand(c: OpKernelConstruction, inputs: Any, value: torch.Tensor) -> torch.Tensor:
    summand: torch.Tensor = inputs[0]
    if summand.shape != value.shape:
        raise invalid_argument(
            f"summand must have the output's shape: {text(summand.shape)} vs. "
            f"{text(value.shape)}"
        )
    if len(inputs) == 1:
        return summand.double()
    scale = scaled_level(c["Tsummand"], scalar(inputs[1]), scalar(inputs[2]))
    return integers(summand).double() * float(scale)


# --- pooling -----------------------------------------------------------------

_POOL = {"host_inputs": ("min_input", "max_input"), "host_outputs": _OUT}


def _pooling(c: OpKernelConstruction, factory: Any, op: str) -> Compute:
    node, dtype = _as_float(c, op), c["T"]
    run, geometry, depth = factory(node), decode_geometry(node), depth_window(node)
    plan_for = cached_plans(geometry)
    if c.device_type == "CPU":
        from tensorloom.kernels.loops.pooling import pools

        fill = pools.maxima if op == "MaxPool" else pools.means

    def compute(image: torch.Tensor, low: Any, high: Any) -> Any:
        bounds = scalar(low), scalar(high)
        if image.is_cpu and depth == 1:
            return _pooled(image, plan_for(image.shape), geometry, fill), *bounds
        pooled = run(integers(image).double())
        # Means are cut to whole numbers, as integer division does.
        return narrowed(integers(pooled.trunc()), dtype), *bounds

    return compute


def _pooled(image: torch.Tensor, plan: Plan, geometry: Geometry, fill: Any) -> Any:
    """What a loop of `pools` makes of the windows."""
    rows, columns = plan.outputs
    batch, _, _, channels = image.shape
    images = image.contiguous().numpy()
    out = np.empty((batch, rows, columns, channels), images.dtype)
    before = plan.rows.before, plan.columns.before
    window, stride = geometry.window, geometry.stride

    def fill_rows(begin: int, end: int) -> None:
        fill(images, window, stride, before, begin, end, out)

    width = columns * channels * window[0] * window[1]
    in_ranges(fill_rows, batch * rows, max(1, WORTHWHILE // max(width, 1)))
    return torch.from_numpy(out)


@kernel("QuantizedMaxPool", **_POOL)  # type: ignore[arg-type]
def _max_pool(c: OpKernelConstruction) -> Compute:
    return _pooling(c, float_max_pool, "MaxPool")


@kernel("QuantizedAvgPool", **_POOL)  # type: ignore[arg-type]
def _avg_pool(c: OpKernelConstruction) -> Compute:
    return _pooling(c, float_avg_pool, "AvgPool")


# --- resizing ----------------------------------------------------------------


@kernel(
    "QuantizedResizeBilinear",
    host_inputs=("size", "min", "max"),
    host_outputs=("out_min", "out_max"),
)
def _resize_bilinear(c: OpKernelConstruction) -> Compute:
    dtype, flags = c["T"], (c["align_corners"], c["half_pixel_centers"])
    if all(flags):
        raise invalid_argument(
            "If half_pixel_centers is True, align_corners must be False."
        )

    def compute(images: torch.Tensor, size: Any, low: Any, high: Any) -> Any:
        if images.dim() != 4:
            raise invalid_argument(f"input must be 4-dimensional{text(images.shape)}")
        sizes = np.asarray(size).tolist()
        if len(np.shape(size)) != 1 or len(sizes) != 2:
            raise invalid_argument("shape_t must have two elements")
        if min(sizes) <= 0:
            raise invalid_argument("output dimensions must be positive")
        batch, rows, columns, channels = images.shape
        check_shape((batch, *sizes, channels), dtype, c.device)
        if not rows or not columns:
            raise invalid_argument("input image must be of non-zero size")
        low, high = scalar(low), scalar(high)
        value = images
        if dtype == dtypes.qint32:
            value = quantized_to_float(images, dtype, low, high)
        value = value.to(torch.float32)
        value = along(value, 1, taps(rows, sizes[0], *flags))
        value = along(value, 2, taps(columns, sizes[1], *flags))
        if dtype == dtypes.float32:
            return value, low, high
        if dtype == dtypes.qint32:
            base = TORCH_DTYPES[dtype]
            return float_to_quantized(value, dtype, low, high, base), low, high
        return narrowed(integers(torch.floor(value + 0.5)), dtype), low, high

    return compute
