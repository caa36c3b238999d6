"""The kernel of OneHot."""

from __future__ import annotations

from typing import Any

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.indexing.one_hot import one_hot_place
from tensorloom.kernels.torch.array.bits import as_signed


@kernel("OneHot", host_inputs=("depth",))
def _one_hot(c: OpKernelConstruction) -> Compute:
    axis, dtype, device = c["axis"], c["T"], c.device

    def compute(
        indices: torch.Tensor, depth: Any, on: torch.Tensor, off: torch.Tensor
    ) -> torch.Tensor:
        shape = tuple(indices.shape)
        size, at = one_hot_place(shape, depth, on, off, axis)
        check_shape((*shape[:at], size, *shape[at:]), dtype, device)
        out = off.new_empty((*shape[:at], size, *shape[at:]))
        as_signed(out).fill_(as_signed(off))
        if out.numel():
            places = indices.long().unsqueeze(at)
            # An index out of range has no entry that is on.
            values = torch.where((places >= 0) & (places < size), on, off)
            as_signed(out).scatter_(at, places.clamp(0, size - 1), as_signed(values))
        return out

    return compute
