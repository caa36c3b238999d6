"""The host kernel of `_CountBoth`, and counting in words."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)

Bools = np.ndarray[Any, np.dtype[np.bool_]]
# NumPy 1 has no such function.
_count_bits: Any = getattr(np, "bitwise_count", None)


def count_both(x: Bools, y: Bools) -> np.ndarray[Any, Any]:
    """In how many places of each row both are true: eight are a word of eight bits."""
    if _count_bits is None or x.shape[1] % 8 or not (_is_whole(x) and _is_whole(y)):
        return np.logical_and(x, y).sum(1)  # type: ignore[no-any-return]
    words = np.bitwise_and(x.view(np.uint64), y.view(np.uint64))
    return _count_bits(words).sum(1)  # type: ignore[no-any-return]


def _is_whole(x: Bools) -> bool:
    return bool(x.size) and x.flags.c_contiguous and x.ctypes.data % 8 == 0


@host_kernel("_CountBoth")
def count_both_on_host(c: OpKernelConstruction) -> Compute:
    """The counts, in the dtype of the sum."""
    dtype = c["T"].np_dtype

    def compute(x: Bools, y: Bools) -> np.ndarray[Any, Any]:
        return count_both(x, y).astype(dtype)

    return compute
