"""Memory of a GPU as torch's allocator counts it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)


def _of(c: OpKernelConstruction) -> Any:
    return torch.get_device_module(c.torch_device)  # torch.cuda


@kernel("BytesInUse", devices=("GPU",), host_outputs=("out",))
def bytes_in_use(c: OpKernelConstruction) -> Compute:
    """What tensors take now."""
    return lambda: np.int64(_of(c).memory_allocated(c.torch_device))


@kernel("MaxBytesInUse", devices=("GPU",), host_outputs=("out",))
def max_bytes_in_use(c: OpKernelConstruction) -> Compute:
    """The most that tensors took."""
    return lambda: np.int64(_of(c).max_memory_allocated(c.torch_device))


@kernel("BytesLimit", devices=("GPU",), host_outputs=("out",))
def bytes_limit(c: OpKernelConstruction) -> Compute:
    """The memory of the GPU, or the share of it that the process may take."""
    device, module = c.torch_device, _of(c)

    def compute() -> np.int64:
        total = module.get_device_properties(device).total_memory
        share = module.get_per_process_memory_fraction(device)
        return np.int64(int(total * share))

    return compute
