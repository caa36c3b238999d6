"""The QR decomposition over torch tensors."""

from __future__ import annotations

import torch

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes

_TYPES = {dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128}


@kernel("Qr", types={"T": _TYPES})
def qr(c: OpKernelConstruction) -> Compute:
    """(q, r) of the innermost matrices."""
    mode = "complete" if c["full_matrices"] else "reduced"

    def compute(value: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if value.dim() < 2:
            raise errors.InvalidArgumentError(
                None, None, f"Input must have rank >= 2, got {value.dim()}"
            )
        q, r = torch.linalg.qr(value, mode=mode)
        return q.contiguous(), r

    return compute
