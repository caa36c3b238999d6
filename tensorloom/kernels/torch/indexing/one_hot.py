"""The kernel of OneHot."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.indexing.one_hot import one_hot_place
from tensorloom.kernels.host.state.array_scatter import are_inside
from tensorloom.kernels.torch.array.bits import as_signed

_NUMPY_TYPES = frozenset([dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64])


def _rows(indices: Any, size: int, on: torch.Tensor, off: torch.Tensor) -> Any:
    """The rows of numbers on a CPU: a fraction of the time that torch takes for it."""
    on_value, off_value = on.numpy()[()], off.numpy()[()]
    shape = (*indices.shape, size)
    out = np.full(shape, off_value) if off_value else np.zeros(shape, off_value.dtype)
    if not out.size:
        return out
    numbers = indices.reshape(-1).astype(np.int64, copy=False)
    places = np.arange(0, out.size, size)
    places += numbers
    if not are_inside(numbers, size):  # those have no entry that is on
        places = places[(numbers >= 0) & (numbers < size)]
    out.reshape(-1)[places] = on_value
    return out


@kernel("OneHot", host_inputs=("depth",))
def _one_hot(c: OpKernelConstruction) -> Compute:
    axis, dtype, device = c["axis"], c["T"], c.device

    def compute(
        indices: torch.Tensor, depth: Any, on: torch.Tensor, off: torch.Tensor
    ) -> torch.Tensor:
        shape = tuple(indices.shape)
        size, at = one_hot_place(shape, depth, on, off, axis)
        check_shape((*shape[:at], size, *shape[at:]), dtype, device)
        if at == len(shape) and on.is_cpu and dtype in _NUMPY_TYPES:
            return torch.from_numpy(_rows(indices.numpy(), size, on, off))
        out = off.new_empty((*shape[:at], size, *shape[at:]))
        as_signed(out).fill_(as_signed(off))
        if out.numel():
            places = indices.long().unsqueeze(at)
            # An index out of range has no entry that is on.
            values = torch.where((places >= 0) & (places < size), on, off)
            as_signed(out).scatter_(at, places.clamp(0, size - 1), as_signed(values))
        return out

    return compute
