"""Histograms in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text


@host_kernel("HistogramFixedWidth", large=True)
def histogram_fixed_width(c: OpKernelConstruction) -> Compute:
    """Counts the values in bins of equal width."""
    from tensorloom.kernels.loops.reductions.histograms import count_in_bins

    dtype = c["dtype"].as_numpy_dtype

    def compute(values: Any, value_range: Any, nbins: Any) -> Any:
        low, high, count = _checked(np.asarray(value_range), np.asarray(nbins))
        check_shape((count,), c["dtype"], c.device)
        flat = np.ascontiguousarray(values).reshape(-1)
        # Where an integer dtype has no fractions, neither has the width of a bin.
        step = np.float64((high - low) / count)
        counts = np.zeros(count, np.int64)
        count_in_bins(flat, float(low), step, counts)
        return counts.astype(dtype)

    return compute


def _checked(value_range: Any, nbins: Any) -> tuple[float, float, int]:
    if value_range.shape != (2,):
        raise invalid_argument(
            "value_range should be a vector of 2 elements, but got shape "
            f"{shape_text(value_range.shape)}"
        )
    if nbins.ndim:
        raise invalid_argument(
            f"nbins should be a scalar, but got shape {shape_text(nbins.shape)}"
        )
    low, high = value_range.tolist()
    if not low < high:
        raise invalid_argument(
            "value_range should satisfy value_range[0] < value_range[1], but got "
            f"'[{low:g}, {high:g}]'"
        )
    count = int(nbins)
    if count <= 0:
        raise invalid_argument(f"nbins should be a positive number, but got '{count}'")
    return low, high, count
