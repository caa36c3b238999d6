"""UnravelIndex in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text


@host_kernel("UnravelIndex", large=True)
def unravel_index(c: OpKernelConstruction) -> Compute:
    """Divides by the stride of each axis; positions beyond the array wrap around."""

    def compute(indices: Any, dims: Any) -> Any:
        flat, sizes = np.asarray(indices), np.asarray(dims)
        _check(flat, sizes)
        strides = np.ones(sizes.size, sizes.dtype)
        strides[:-1] = np.cumprod(sizes[:0:-1], dtype=sizes.dtype)[::-1]
        columns = (-1, *[1] * flat.ndim)
        # As the C operators do, toward zero for negative positions.
        quotients = _toward_zero(flat, strides.reshape(columns))
        return np.fmod(quotients, sizes.reshape(columns))

    return compute


def _toward_zero(value: Any, divisor: Any) -> Any:
    return (value - np.fmod(value, divisor)) // divisor


def _check(indices: Any, dims: Any) -> None:
    if indices.ndim > 1:
        raise invalid_argument(
            "The indices can only be scalar or vector, got "
            f'"{shape_text(indices.shape)}"'
        )
    if dims.ndim != 1:
        raise invalid_argument(
            f'The dims can only be 1-D, got "{shape_text(dims.shape)}"'
        )
    if not dims.all():
        zero = int(np.argmin(dims != 0))
        raise invalid_argument(
            "Input dims cannot contain a dim of zero, but dims contains zero at index "
            f"{zero}"
        )
