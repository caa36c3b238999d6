"""RaggedRange in host memory."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_memory
from tensorloom.kernels.host.ragged.ragged_ops import splits_of, spread

_Array = NDArray[Any]
# Differences of integers between it and its negative do not overflow.
_PLAIN: Final = 1 << 61


@host_kernel("RaggedRange", large=True)
def ragged_range(c: OpKernelConstruction) -> Compute:
    """A range for each row."""
    kind, splits_type = c["T"], c["Tsplits"]

    def compute(starts: Any, limits: Any, deltas: Any) -> tuple[Any, Any]:
        inputs = [np.asarray(x) for x in (starts, limits, deltas)]
        for name, value in zip(("starts", "limits", "deltas"), inputs, strict=True):
            if value.ndim > 1:
                raise invalid_argument(f"{name} must be a scalar or vector")
        sizes = {x.shape[0] for x in inputs if x.ndim}
        if len(sizes) > 1:
            raise invalid_argument(
                "starts, limits, and deltas must have the same shape"
            )
        rows = sizes.pop() if sizes else 1
        start, limit = (np.broadcast_to(x, (rows,)) for x in inputs[:2])
        delta = inputs[2]
        if (delta == 0).any():
            raise invalid_argument("Requires delta != 0")
        counts = _range_counts(start, limit, delta, kind.is_floating)
        most = np.iinfo(splits_type.np_dtype).max
        if _total(counts) > most:
            raise invalid_argument(f"Requires ((limit - start) / delta) <= {most}")
        counts = counts.astype(np.int64, copy=False)
        total = int(counts.sum())
        check_memory((total,), dtypes.int64, c.device)
        values = _range_values(start, delta, counts, total)
        return splits_of(counts, splits_type.np_dtype), values.astype(kind.np_dtype)

    return compute


def _range_values(start: _Array, delta: _Array, counts: _Array, total: int) -> _Array:
    if delta.dtype.kind == "i" and (delta == 1).all():
        return spread(start, counts)
    index = spread(np.zeros(1, np.int64), counts).astype(start.dtype)
    steps = np.repeat(delta, counts) if delta.ndim else delta
    values: _Array = np.repeat(start, counts) + index * steps
    return values


def _range_counts(start: _Array, limit: _Array, delta: _Array, floating: bool) -> Any:
    """How many elements each row has, as int64 or, where that is not enough, floats."""
    if floating:
        exact = np.ceil(np.abs((limit.astype(float) - start) / delta))
    elif all(x.min() > -_PLAIN and x.max() < _PLAIN for x in (start, limit) if x.size):
        gap = limit.astype(np.int64) - start
        if (delta != 1).any():
            gap = -(-gap // delta)
        return np.maximum(gap, 0)
    else:
        # In floats only where integers could overflow: the sizes are checked next.
        low, high = np.minimum(start, limit), np.maximum(start, limit)
        gap = high.astype(float) - low.astype(float)
        step = np.abs(delta.astype(float))
        small = gap < 2.0**52
        whole = high.astype(np.int64) - low.astype(np.int64)
        divisor = np.maximum(np.abs(delta.astype(np.int64)), 1)
        exact = np.where(small, -(-whole // divisor), np.ceil(gap / step))
    empty = ((delta > 0) & (limit <= start)) | ((delta < 0) & (limit >= start))
    return np.where(empty, 0, exact)


def _total(counts: _Array) -> float:
    """The sum, which may be too much for an integer."""
    total = counts.sum(dtype=np.float64)
    # Below, floats are exact.
    return float(total) if total < 1 << 53 else math.fsum(counts.tolist())
