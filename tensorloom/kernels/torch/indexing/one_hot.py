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
# Elements up to which nobody waits for a loop to be compiled: Python serves so long.
_IN_LOOP = 1 << 15


def _rows(indices: Any, size: int, on: torch.Tensor, off: torch.Tensor) -> Any:
    """The rows of numbers on a CPU: a fraction of the time that torch takes for it."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.indexing import hot_rows

    on_value, off_value = on.numpy()[()], off.numpy()[()]
    shape = (*indices.shape, size)
    out = np.full(shape, off_value) if off_value else np.zeros(shape, off_value.dtype)
    if not out.size:
        return out
    numbers = np.ascontiguousarray(indices).reshape(-1)
    if out.size <= _IN_LOOP:
        hot_rows.put_hot(numbers, on_value, out.reshape(-1, size))
        return out
    (rows,) = ((numbers >= 0) & (numbers < size)).nonzero()
    out.reshape(-1, size)[rows, numbers[rows]] = on_value
    return out


def _count(numbers: Any, out: Any) -> None:
    """out[i, numbers[i, j]] += 1 for each j; out is [n, depth]."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.indexing import hot_rows

    width = out.shape[1] + numbers.shape[1]
    if width <= _IN_LOOP // 16:
        step = _IN_LOOP // width
        for begin in range(0, len(out), step):
            end = begin + step
            hot_rows.count_hot(numbers[begin:end], out[begin:end])
        return
    rows, places = ((numbers >= 0) & (numbers < out.shape[1])).nonzero()
    np.add.at(out, (rows, numbers[rows, places]), 1)


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
            _count(numbers, out.reshape(-1, size))
        return as_tensor(out)

    return compute
