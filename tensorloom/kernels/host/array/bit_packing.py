"""Comparisons packed into bits in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_text


@host_kernel("CompareAndBitpack", large=True)
def compare_and_bitpack(c: OpKernelConstruction) -> Compute:
    """Bits [..., n / 8] of values [..., n]; booleans stand for themselves."""
    takes_bits = c["T"].is_bool

    def compute(values: Any, threshold: Any) -> Any:
        shape = np.shape(values)
        if not shape:
            raise invalid_argument(
                "Input should be at least a vector, but saw a scalar."
            )
        if np.ndim(threshold):
            raise invalid_argument(
                f"Compare must be a scalar, but saw shape: "
                f"{shape_text(np.shape(threshold))}"
            )
        if shape[-1] % 8:
            raise invalid_argument(
                "Inner dimension of input should be divisible by 8, but saw shape: "
                + shape_text(shape)
            )
        return np.packbits(values if takes_bits else values > threshold, axis=-1)

    return compute
