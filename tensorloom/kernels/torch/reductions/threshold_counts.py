"""The kernel of `_ThresholdCounts`."""

from __future__ import annotations

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.reductions.threshold_counts import threshold_counts
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES


@kernel("_ThresholdCounts")
def threshold_counts_of_tensors(c: OpKernelConstruction) -> Compute:
    """The counts, in the dtype of the sums; on a CPU by NumPy, which sorts faster."""
    dtype, to = TORCH_DTYPES[c["T"]], c["T"].np_dtype

    def compute(
        labels: torch.Tensor, scores: torch.Tensor, thresholds: torch.Tensor
    ) -> tuple[torch.Tensor, ...]:
        if labels.is_cpu:
            arrays = labels.numpy(), scores.numpy(), thresholds.numpy()
            return tuple(map(torch.from_numpy, threshold_counts(*arrays, to)))
        above = scores > thresholds
        return tuple(
            torch.logical_and(is_label, is_above).sum(1, dtype=dtype)
            for is_label, is_above in (
                (labels, above),
                (labels, ~above),
                (~labels, ~above),
                (~labels, above),
            )
        )

    return compute
