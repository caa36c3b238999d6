"""The kernel of `_CountBoth`."""

from __future__ import annotations

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.reductions.count_both import count_both
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES


@kernel("_CountBoth")
def count_both_of_tensors(c: OpKernelConstruction) -> Compute:
    """The counts, in the dtype of the sum; on a CPU by NumPy, which counts in words."""
    dtype, to = TORCH_DTYPES[c["T"]], c["T"].np_dtype

    def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if x.is_cpu:
            return torch.from_numpy(count_both(x.numpy(), y.numpy()).astype(to))
        return torch.logical_and(x, y).sum(1, dtype=dtype)

    return compute
