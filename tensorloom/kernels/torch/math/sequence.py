"""The kernel of Cross."""

from __future__ import annotations

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.math.sequence import check_cross
from tensorloom.kernels.torch.math.dtypes import NUMBERS


@kernel("Cross", types={"T": NUMBERS})
def _cross(c: OpKernelConstruction) -> Compute:
    def compute(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        check_cross(tuple(a.shape), tuple(b.shape))
        product: torch.Tensor = torch.linalg.cross(a, b)
        return product

    return compute
