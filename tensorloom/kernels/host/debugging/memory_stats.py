"""Memory of the process, for nodes on a CPU."""

from __future__ import annotations

import os
import resource
from typing import Final

import numpy as np

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)

_UNLIMITED: Final = np.int64(-1)


def _resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@host_kernel("BytesInUse", devices=("CPU",), large=True)
def bytes_in_use(c: OpKernelConstruction) -> Compute:
    """The resident memory of the process: tensors lie among everything else."""
    return lambda: np.int64(_resident_bytes())


@host_kernel("MaxBytesInUse", devices=("CPU",), large=True)
def max_bytes_in_use(c: OpKernelConstruction) -> Compute:
    """The most resident memory that the process had."""

    def compute() -> np.int64:
        kilobytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return np.int64(max(kilobytes * 1024, _resident_bytes()))

    return compute


@host_kernel("BytesLimit", devices=("CPU",), large=True)
def bytes_limit(c: OpKernelConstruction) -> Compute:
    """A CPU has no limit of its own."""
    return lambda: _UNLIMITED
