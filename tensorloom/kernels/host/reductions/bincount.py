"""Host kernels of Bincount and DenseBincount."""

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


@host_kernel("Bincount", large=True)
def _bincount(c: OpKernelConstruction) -> Compute:
    to = c["T"].np_dtype

    def compute(arr: Any, size: Any, weights: Any) -> Any:
        if size.size != 1:
            raise invalid_argument(f"Shape must be rank 0 but is rank {size.ndim}")
        size = size.item()
        if size < 0:
            raise invalid_argument(f"size ({size}) must be non-negative")
        check_shape((size,), c["T"], c.device)
        flat = arr.ravel()
        if flat.size and flat.min() < 0:
            raise invalid_argument("Input arr must be non-negative!")
        if 0 < weights.size < flat.size:  # 1.15 would read beyond them
            raise invalid_argument(_weights_message(weights, arr))
        kept = flat < size
        out = np.zeros(size, to)
        counted = weights.ravel()[: flat.size][kept] if weights.size else to.type(1)
        np.add.at(out, flat[kept], counted)
        return out

    return compute


def _weights_message(weights: Any, values: Any) -> str:
    return (
        "`weights` must be the same shape as the values or a length-0 tensor, in which "
        f"case it acts as all weights equal to 1. Received {shape_text(weights.shape)} "
        f"for values of {shape_text(values.shape)}"
    )


@host_kernel("DenseBincount", large=True)
def _dense_bincount(c: OpKernelConstruction) -> Compute:
    to, binary = c["T"].np_dtype, c["binary_output"]

    def count(row: Any, size: int, weights: Any) -> Any:
        if row.size and row.min() < 0:
            raise invalid_argument("Input must be non-negative")
        kept = row < size
        out = np.zeros(size, to)
        if binary:
            out[row[kept]] = 1
        else:
            np.add.at(out, row[kept], weights[kept] if weights.size else to.type(1))
        return out

    def compute(values: Any, size: Any, weights: Any) -> Any:
        if values.ndim > 2:
            raise invalid_argument("Shape must be at most rank 2")
        if weights.size and weights.shape != values.shape:
            raise invalid_argument(_weights_message(weights, values))
        if values.ndim < 2:
            return count(values.reshape(-1), int(size), weights.reshape(-1))
        rows = weights if weights.size else [weights.reshape(-1)] * len(values)
        counts = [count(v, int(size), w) for v, w in zip(values, rows, strict=True)]
        return np.array(counts, to).reshape(len(values), int(size))

    return compute
