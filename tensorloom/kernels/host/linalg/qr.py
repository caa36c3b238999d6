"""The QR decomposition in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes

_TYPES = {dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128}


@host_kernel("Qr", types={"T": _TYPES})
def qr(c: OpKernelConstruction) -> Compute:
    """(q, r) of the innermost matrices."""
    mode: Any = "complete" if c["full_matrices"] else "reduced"

    def compute(value: Any) -> tuple[Any, Any]:
        if value.ndim < 2:
            raise errors.InvalidArgumentError(
                None, None, f"Input must have rank >= 2, got {value.ndim}"
            )
        q, r = np.linalg.qr(value, mode=mode)
        return q, r

    return compute
