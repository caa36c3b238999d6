"""Kernels of Identity and its relatives, Reshape, and of values made out of a shape."""

from __future__ import annotations

from typing import Any

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.array.fill import require_fill_scalar
from tensorloom.kernels.host.array.identity import (
    check_shape_fits,
    not_finite,
    not_finite_signed,
)
from tensorloom.kernels.host.array.shape import broadcast_shape
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.torch.math.dtypes import REAL_FLOATS, TORCH_DTYPES

# --- identity -----------------------------------------------------------------------


def _same(value: torch.Tensor) -> torch.Tensor:
    return value


@kernel(
    [
        "Identity",
        "StopGradient",
        "PreventGradient",
        "XlaClusterOutput",
        "GuaranteeConst",
        "PlaceholderWithDefault",
    ],
    aliases=True,
)
def _identity(c: OpKernelConstruction) -> Compute:
    return _same


@kernel("IdentityN", aliases=True)
def _identity_n(c: OpKernelConstruction) -> Compute:
    return lambda *values: values


@kernel(["Snapshot", "DeepCopy"])
def _copy(c: OpKernelConstruction) -> Compute:
    return torch.clone


@kernel("EnsureShape", aliases=True)
def _ensure_shape(c: OpKernelConstruction) -> Compute:
    expected, source = c["shape"], c.node.inputs[0][0]

    def compute(value: torch.Tensor) -> torch.Tensor:
        check_shape_fits(value.shape, expected, source)
        return value

    return compute


@kernel("CheckNumerics", types={"T": REAL_FLOATS}, aliases=True)
def _check_numerics(c: OpKernelConstruction) -> Compute:
    message = c["message"].decode(errors="replace")

    def compute(value: torch.Tensor) -> torch.Tensor:
        # One pass for the good case: NaN and infinity survive x * 0 and the sum.
        if not bool(torch.isfinite((value * 0).sum())):
            raise not_finite(
                message, bool(value.isnan().any()), bool(value.isinf().any())
            )
        return value

    return compute


@kernel("CheckNumericsV2", types={"T": REAL_FLOATS}, aliases=True)
def _check_numerics_v2(c: OpKernelConstruction) -> Compute:
    message = c["message"].decode(errors="replace")

    def compute(value: torch.Tensor) -> torch.Tensor:
        if not bool(torch.isfinite((value * 0).sum())):
            most = value.new_tensor(float("inf"))
            found = (value == -most, value == most, value.isnan())
            raise not_finite_signed(message, *(bool(f.any()) for f in found))
        return value

    return compute


# --- shape --------------------------------------------------------------------------


@kernel("Reshape", host_inputs=("shape",), aliases=True)
def _reshape(c: OpKernelConstruction) -> Compute:
    reshaped = checks.keep_last(checks.reshaped)

    def compute(value: torch.Tensor, shape: Any) -> torch.Tensor:
        return value.reshape(reshaped(value.shape, shape))

    return compute


@kernel("ExpandDims", host_inputs=("dim",), aliases=True)
def _expand_dims(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, axis: Any) -> torch.Tensor:
        return value.unsqueeze(checks.inserted_axis(axis, value.dim()))

    return compute


@kernel("Squeeze", aliases=True)
def _squeeze(c: OpKernelConstruction) -> Compute:
    dims = c["squeeze_dims"]

    def compute(value: torch.Tensor) -> torch.Tensor:
        return value.reshape(checks.squeezed(value.shape, dims))

    return compute


@kernel("BroadcastTo", host_inputs=("shape",), aliases=True)
def _broadcast_to(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(value: torch.Tensor, shape: Any) -> torch.Tensor:
        wanted = broadcast_shape(value.shape, shape, dtype, device)
        if 0 in wanted:
            return value.new_empty(wanted)
        return value.expand(wanted).contiguous()

    return compute


@kernel("Bitcast", aliases=True)
def _bitcast(c: OpKernelConstruction) -> Compute:
    to = TORCH_DTYPES[c["type"]]
    source, target = c["T"].size, c["type"].size

    def compute(value: torch.Tensor) -> torch.Tensor:
        if source == target:
            return value.view(to)
        if source > target:
            return value.contiguous().unsqueeze(-1).view(to)
        if not value.dim() or value.shape[-1] != target // source:
            raise invalid_argument(
                f"Cannot bitcast from {c['T'].name} to {c['type'].name}: shape "
                f"{shape_text(value.shape)}"
            )
        if not value.numel():
            return value.new_empty(value.shape[:-1], dtype=to)
        return value.contiguous().view(to).squeeze(-1)

    return compute


# --- values out of a shape ----------------------------------------------------------


@kernel("Fill", host_inputs=("dims", "value"))
def _fill(c: OpKernelConstruction) -> Compute:
    dtype, device, place = c["T"], c.device, c.torch_device
    to = TORCH_DTYPES[dtype]
    convert = float if dtype in REAL_FLOATS else complex if dtype.is_complex else int
    if dtype == dtypes.bool:
        convert = bool

    def compute(dims: Any, value: Any) -> torch.Tensor:
        require_fill_scalar(value)
        shape = checks.shape_vector(dims, dtype, device)
        return torch.full(shape, convert(value), dtype=to, device=place)

    return compute


@kernel("ZerosLike", any_inputs=("x",))
def _zeros_like(c: OpKernelConstruction) -> Compute:
    to, place = TORCH_DTYPES[c["T"]], c.torch_device
    return lambda value: torch.zeros(tuple(value.shape), dtype=to, device=place)


@kernel("OnesLike", any_inputs=("x",))
def _ones_like(c: OpKernelConstruction) -> Compute:
    to, place = TORCH_DTYPES[c["T"]], c.torch_device
    return lambda value: torch.ones(tuple(value.shape), dtype=to, device=place)


@kernel("Empty", host_inputs=("shape",))
def _empty(c: OpKernelConstruction) -> Compute:
    dtype, device, place = c["dtype"], c.device, c.torch_device
    to = TORCH_DTYPES[dtype]

    def compute(shape: Any) -> torch.Tensor:
        sizes = checks.shape_vector(shape, dtype, device, "shape")
        return torch.zeros(sizes, dtype=to, device=place)

    return compute
