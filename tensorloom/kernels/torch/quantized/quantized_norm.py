"""Normalization of quantized images over torch tensors."""

from __future__ import annotations

from typing import Any

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.quantized.quantize_range import (
    f32,
    float_to_quantized,
    quantized_to_float,
    scalar,
)

# The range of normalized values: large, with ten bits behind the point.
_BATCH_NORM_BOUND = 1 << 20


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
    low, high = (f32(v.item()) for v in y.aminmax())
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
