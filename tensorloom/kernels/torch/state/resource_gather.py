"""Gathers from resource variables that hold torch tensors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from tensorloom.framework.registry.op_kernel import kernel
from tensorloom.kernels.host.state.resource_gather import (
    check_rows,
    flat_indices,
    held_value,
)
from tensorloom.kernels.torch.state.variable_value import to_host, to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_kernel import Compute, OpKernelConstruction
    from tensorloom.framework.runtime.resource import Variable


# torch only stores these: their bits are selected as those of signed integers.
_SIGNED = {
    torch.uint16: torch.int16,
    torch.uint32: torch.int32,
    torch.uint64: torch.int64,
}


def _rows(params: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    signed = _SIGNED.get(params.dtype)
    if signed is None:
        return params.index_select(0, index)
    return params.view(signed).index_select(0, index).view(params.dtype)


@kernel("ResourceGather", any_inputs=("indices",))
def resource_gather(c: OpKernelConstruction) -> Compute:
    """Rows of the variable, batch by batch with batch_dims."""
    batch_dims: int = c["batch_dims"]
    on_cpu = c.device_type == "CPU"

    def compute(handle: Variable, indices: Any) -> torch.Tensor:
        params = to_tensor(held_value(handle))
        if on_cpu:
            check_rows(to_host(indices), params.shape[batch_dims])
        index = to_tensor(indices, params.device).to(torch.int64)
        if batch_dims:
            extra = (1,) * (index.dim() - batch_dims)
            grid = torch.meshgrid(
                *(
                    torch.arange(s, device=params.device)
                    for s in index.shape[:batch_dims]
                ),
                indexing="ij",
            )
            return params[(*(g.reshape(g.shape + extra) for g in grid), index)]
        if index.dim() == 1:
            return _rows(params, index)
        rows = _rows(params, index.reshape(-1))
        return rows.reshape(index.shape + params.shape[1:])

    return compute


@kernel("ResourceGatherNd", any_inputs=("indices",))
def resource_gather_nd(c: OpKernelConstruction) -> Compute:
    """Slices of the variable at index vectors."""

    def compute(handle: Variable, indices: Any) -> torch.Tensor:
        params = to_tensor(held_value(handle))
        shape = tuple(params.shape)
        flat, depth = flat_indices(to_host(indices), shape)
        index = to_tensor(flat, params.device)
        slices = _rows(params.reshape(math.prod(shape[:depth]), *shape[depth:]), index)
        return slices.reshape((*indices.shape[:-1], *shape[depth:]))

    return compute
