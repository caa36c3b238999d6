"""The host kernel of OneHot."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.array.fill import string_array
from tensorloom.kernels.host.math.errors import shape_text


@host_kernel("OneHot")
def _one_hot(c: OpKernelConstruction) -> Compute:
    axis, dtype, device = c["axis"], c["T"], c.device

    def compute(indices: Any, depth: Any, on: Any, off: Any) -> Any:
        size, at = one_hot_place(np.shape(indices), depth, on, off, axis)
        shape = (*np.shape(indices)[:at], size, *np.shape(indices)[at:])
        check_shape(shape, dtype, device)
        positions = np.arange(size).reshape((size,) + (1,) * (len(shape) - at - 1))
        chosen = np.expand_dims(indices, at) == positions
        if dtype == dtypes.string:
            result = string_array(shape, off[()])
            result[chosen] = on[()]
            return result
        return np.where(chosen, on, off)

    return compute


def one_hot_place(
    shape: tuple[int, ...], depth: Any, on: Any, off: Any, axis: int
) -> tuple[int, int]:
    """(size of the new axis, its place).

    Raises:
      InvalidArgumentError: depth, a value or the axis is not what it must be.
    """
    for name, value in (("depth", depth), ("on_value", on), ("off_value", off)):
        if tuple(value.shape) != ():
            raise invalid_argument(
                f"{name} must be a scalar, but got: {shape_text(value.shape)}"
            )
    if not -1 <= axis <= len(shape):
        raise invalid_argument(
            f"Expected axis to be -1 or between [0, {len(shape) + 1}).  But received: "
            f"{axis}"
        )
    if depth < 0:
        raise invalid_argument(f"depth must be non-negative, got: {int(depth)}")
    return int(depth), len(shape) if axis == -1 else axis
