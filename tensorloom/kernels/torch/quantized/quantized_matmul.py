"""Products of quantized matrices over torch tensors."""

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
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.nn.checks import text
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.quantized.quantize_range import (
    f32,
    integers,
    level,
    limits,
    multiplied_range,
    narrowed,
    scalar,
    scaled_level,
    to_int,
    to_quantized_scalar,
)


def _exact_matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """The product of int64 matrices of small numbers.

    In float64, which holds every sum of 16-bit products: torch's integer products are
    many times slower.
    """
    return (a.double() @ b.double()).to(torch.int64)


def _matrices(
    c: OpKernelConstruction, a: torch.Tensor, b: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    for index, value in enumerate((a, b)):
        if value.dim() != 2:
            raise invalid_argument(
                f"In[{index}] is not a matrix. Instead it has shape {text(value.shape)}"
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
        product = _exact_matmul(
            integers(a) - to_quantized_scalar(0.0, types[0], *bounds[:2]),
            integers(b) - to_quantized_scalar(0.0, types[1], *bounds[2:]),
        )
        low, high = multiplied_range(*types, result, tuple(bounds))
        return narrowed(product, result), low, high

    return compute


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
        value = _exact_matmul(whole, integers(b)).double() * float(step)
        value = biased(value, bias, step, bias_type)
        if "Relu" in c.op:
            value = value.clamp_min(0)
        if result == dtypes.float32:
            return value.to(torch.float32)
        return finish(value, result, step, ranges[4:])

    return compute
