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
from tensorloom.kernels.torch.array.bits import as_signed
from tensorloom.kernels.torch.state.variable_value import tensors_for

_NUMPY_TYPES = frozenset([dtypes.float32, dtypes.float64, dtypes.int32, dtypes.int64])


def _rows(indices: Any, size: int, on: torch.Tensor, off: torch.Tensor) -> Any:
    """The rows of numbers on a CPU: a fraction of the time that torch takes for it."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.indexing import hot_rows

    on_value, off_value = on.numpy()[()], off.numpy()[()]
    shape = (*indices.shape, size)
    out = np.full(shape, off_value) if off_value else np.zeros(shape, off_value.dtype)
    if out.size:
        numbers = np.ascontiguousarray(indices).reshape(-1)
        hot_rows.put_hot(numbers, on_value, out.reshape(-1, size))
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


@kernel("_CountedHot", host_inputs=("indices", "depth"))
def _counted_hot(c: OpKernelConstruction) -> Compute:
    """Counts in host memory: their columns are few, and the numbers come from there."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.indexing import hot_rows

    dtype, device = c["T"], c.device
    numpy_type, as_tensor = dtype.np_dtype, tensors_for(c)
    one = np.ones((), numpy_type)

    def compute(indices: Any, depth: Any) -> torch.Tensor:
        size, _ = one_hot_place(indices.shape, depth, one, one, -1)
        shape = (*indices.shape[:-1], size)
        check_shape((*indices.shape, size), dtype, device)
        out = np.zeros(shape, numpy_type)
        if indices.size and size:
            numbers = np.ascontiguousarray(indices)
            numbers = numbers.reshape(-1, numbers.shape[-1])
            hot_rows.count_hot(numbers, out.reshape(-1, size))
        return as_tensor(out)

    return compute
