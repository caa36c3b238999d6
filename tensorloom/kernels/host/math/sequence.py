"""Host kernels of Range, LinSpace and Cross."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text


def _require_scalar(name: str, value: Any) -> None:
    if value.shape != ():
        raise invalid_argument(
            f"{name} must be a scalar, not shape {shape_text(value.shape)}"
        )


def range_size(start: Any, limit: Any, delta: Any, is_integer: bool) -> int:
    """How many values lie in [start, limit) in steps of delta.

    Raises:
      InvalidArgumentError: delta is 0 or leads away from the limit.
    """
    if delta == 0:
        raise invalid_argument(f"Requires delta != 0: {delta}")
    if delta > 0 and start > limit:
        raise invalid_argument(
            f"Requires start <= limit when delta > 0: {start}/{limit}"
        )
    if delta < 0 and start < limit:
        raise invalid_argument(
            f"Requires start >= limit when delta < 0: {start}/{limit}"
        )
    if is_integer:
        return -(-abs(int(limit) - int(start)) // abs(int(delta)))
    size = abs((float(limit) - float(start)) / float(delta))
    if not size < 2.0**63:  # NaN too
        raise invalid_argument(
            f"Requires a finite number of values: {start}, {limit}, {delta}"
        )
    return math.ceil(size)


@host_kernel("Range", large=True)
def _range(c: OpKernelConstruction) -> Compute:
    dtype = c["Tidx"]
    to = dtype.np_dtype

    def compute(start: Any, limit: Any, delta: Any) -> Any:
        for name, value in (("start", start), ("limit", limit), ("delta", delta)):
            _require_scalar(name, value)
        size = range_size(start, limit, delta, dtype.is_integer)
        check_shape((size,), dtype, c.device)
        if dtype.is_integer:
            return np.arange(size, dtype=to) * delta + start
        # TensorFlow adds delta again and again; the rounding is part of the result.
        steps = np.full(size, delta, to)
        steps[:1] = start
        return np.add.accumulate(steps)

    return compute


@host_kernel("LinSpace", large=True)
def _lin_space(c: OpKernelConstruction) -> Compute:
    def compute(start: Any, stop: Any, num: Any) -> Any:
        for name, value in (("start", start), ("stop", stop), ("num", num)):
            _require_scalar(name, value)
        if num <= 0:
            raise invalid_argument(f"Requires num > 0: {num}")
        if num == 1:
            return np.array([start])
        check_shape((int(num),), c["T"], c.device)
        step = (stop - start) / start.dtype.type(num - 1)
        out = start + step * np.arange(num).astype(start.dtype)
        out[0], out[-1] = start, stop
        return out

    return compute


@host_kernel("Cross")
def _cross(c: OpKernelConstruction) -> Compute:
    def compute(a: Any, b: Any) -> Any:
        check_cross(a.shape, b.shape)
        return np.cross(a, b)

    return compute


def check_cross(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """Raises what Cross raises unless both are equal stacks of 3-vectors."""
    if a != b:
        raise invalid_argument(
            f"Both inputs must be of same shape: {shape_text(a)} vs. {shape_text(b)}"
        )
    if not a:
        raise invalid_argument(f"Input must be at least 1D{shape_text(a)}")
    if a[-1] != 3:
        raise errors.FailedPreconditionError(
            None, None, "Cross-products are only defined for 3-element vectors."
        )
