"""ImmutableConst: a constant whose bytes are those of a file."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)


@host_kernel("ImmutableConst", devices=("CPU",), large=True)
def immutable_const(c: OpKernelConstruction) -> Compute:
    """The file, mapped into memory read-only, as a tensor."""
    dtype, dims = c["dtype"], c["shape"].dims_tuple
    name = c["memory_region_name"].decode()
    numpy_dtype = np.dtype(dtype.as_numpy_dtype)
    if numpy_dtype.kind == "O" or dims is None or None in dims:
        raise errors.UnimplementedError(
            None, None, f"no constant of {dtype.name} and shape {c['shape']} in a file"
        )
    held: list[Any] = []

    def compute() -> Any:
        if not held:
            held.append(_map(name, numpy_dtype, dims))
        return held[0]

    return compute


def _map(name: str, dtype: np.dtype[Any], dims: tuple[int, ...]) -> Any:
    count = math.prod(dims)
    if not count:
        return np.zeros(dims, dtype)
    try:
        data = np.memmap(name, np.uint8, mode="r")
    except (OSError, ValueError) as error:
        raise errors.NotFoundError(None, None, f"{name}: {error}") from None
    if len(data) < count * dtype.itemsize:
        raise errors.ResourceExhaustedError(
            None, None, f"{name} has {len(data)} bytes, {count * dtype.itemsize} needed"
        )
    # A copy: fetched values may be written, the mapping may not.
    return np.array(data[: count * dtype.itemsize]).view(dtype).reshape(dims)
