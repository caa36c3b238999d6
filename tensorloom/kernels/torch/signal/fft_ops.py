"""Fourier transforms over torch tensors."""

from __future__ import annotations

from typing import Any

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.signal.fft_ops import (
    COMPLEX_OPS,
    REAL_OPS,
    axes_of,
    check_rank,
    is_inverse,
    real_result,
)
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES


@kernel(COMPLEX_OPS)
def fft(c: OpKernelConstruction) -> Compute:
    """Complex transforms."""
    axes = axes_of(c.op)
    transform = torch.fft.ifftn if is_inverse(c.op) else torch.fft.fftn

    def compute(value: torch.Tensor) -> torch.Tensor:
        check_rank(value.shape, len(axes))
        return transform(value, dim=axes) if value.numel() else value.clone()

    return compute


@kernel(REAL_OPS, host_inputs=("fft_length",))
def rfft(c: OpKernelConstruction) -> Compute:
    """Real transforms; longer inputs are cut to the length."""
    axes, inverse = axes_of(c.op), is_inverse(c.op)
    transform = torch.fft.irfftn if inverse else torch.fft.rfftn
    dtype = TORCH_DTYPES[c.output_types[0]]

    def compute(value: torch.Tensor, fft_length: Any) -> torch.Tensor:
        lengths, shape = real_result(tuple(value.shape), fft_length, axes, inverse)
        if not value.numel() or 0 in lengths:
            return torch.zeros(shape, dtype=dtype, device=value.device)
        result: torch.Tensor = transform(value, s=lengths, dim=axes)
        return result.to(dtype)

    return compute
