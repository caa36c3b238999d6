"""Bias kernels over torch tensors."""

from __future__ import annotations

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.nn.checks import check_bias, check_bias_grad
from tensorloom.kernels.torch.math.dtypes import COMPLEX, REALS

_TYPES = {"T": REALS | COMPLEX}


@kernel(["BiasAdd", "BiasAddV1"], types=_TYPES)
def bias_add(c: OpKernelConstruction) -> Compute:
    """The value plus a bias for each channel."""
    if c.get("data_format") == b"NCHW":

        def compute_nchw(value: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
            check_bias(value.shape, bias.shape, 1)
            return value + bias.view(-1, *(1,) * (value.dim() - 2))

        return compute_nchw

    def compute(value: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        if value.dim() < 2 or bias.dim() != 1 or value.shape[-1] != bias.shape[0]:
            check_bias(value.shape, bias.shape, -1)
        return value + bias

    return compute


@kernel("BiasAddGrad", types=_TYPES)
def bias_add_grad(c: OpKernelConstruction) -> Compute:
    """The sum over everything but the channels."""
    channels_first = c["data_format"] == b"NCHW"

    def compute(grad: torch.Tensor) -> torch.Tensor:
        check_bias_grad(grad.shape)
        axes = [0, *range(2, grad.dim())] if channels_first else range(grad.dim() - 1)
        return torch.sum(grad, tuple(axes), dtype=grad.dtype)

    return compute
