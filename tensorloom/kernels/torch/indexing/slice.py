"""Kernels of Slice, StridedSlice and its inverses, on tensors and on variables.

torch has no negative steps: such an axis is taken forwards and flipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.indexing.slice import (
    check_gradient_shape,
    make_resolver,
    update_value,
)
from tensorloom.kernels.host.indexing.slice_assign import strided_slice_assign
from tensorloom.kernels.torch.array.bits import move_bits
from tensorloom.kernels.torch.indexing.slice_writes import forward_index, put
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES

if TYPE_CHECKING:
    from tensorloom.framework.types.strided_slice import ResolvedSlice


@kernel("Slice", host_inputs=("begin", "size"), aliases=True)
def _slice(c: OpKernelConstruction) -> Compute:
    index_of = checks.keep_last_slice()

    def compute(value: torch.Tensor, begin: Any, size: Any) -> torch.Tensor:
        index = index_of(value.shape, begin, size)
        return value[index] if index else value

    return compute


def _take(value: torch.Tensor, resolved: ResolvedSlice) -> torch.Tensor:
    index, flipped = forward_index(resolved)
    taken = value[index] if index else value
    if flipped:
        taken = move_bits(taken, lambda v: v.flip(flipped))
    final = resolved.final_dims
    # Only a dropped or a new axis changes the shape; a view of it always exists.
    return taken if taken.shape == final else taken.reshape(final)  # type: ignore[arg-type]


@kernel("StridedSlice", host_inputs=("begin", "end", "strides"), aliases=True)
def _strided_slice(c: OpKernelConstruction) -> Compute:
    resolve_slice = make_resolver(c)

    def compute(
        value: torch.Tensor, begin: Any, end: Any, strides: Any
    ) -> torch.Tensor:
        return _take(value, resolve_slice(value.shape, begin, end, strides))

    return compute


kernel(
    ["StridedSliceAssign", "ResourceStridedSliceAssign"],
    host_inputs=("begin", "end", "strides"),
    any_inputs=("value",),
)(strided_slice_assign)


@kernel("StridedSliceGrad", host_inputs=("shape", "begin", "end", "strides"))
def _strided_slice_grad(c: OpKernelConstruction) -> Compute:
    resolve_slice = make_resolver(c)
    dtype, device = c["T"], c.device
    to = TORCH_DTYPES[dtype]

    def compute(
        shape: Any, begin: Any, end: Any, strides: Any, dy: torch.Tensor
    ) -> torch.Tensor:
        sizes = checks.shape_vector(shape, dtype, device, "shape")
        resolved = resolve_slice(sizes, begin, end, strides)
        check_gradient_shape(dy.shape, resolved)
        result = torch.zeros(sizes, dtype=to, device=dy.device)
        put(result, dy.reshape(resolved.processing_dims), resolved)  # type: ignore[arg-type]
        return result

    return compute


@kernel("TensorStridedSliceUpdate", host_inputs=("begin", "end", "strides"))
def _tensor_strided_slice_update(c: OpKernelConstruction) -> Compute:
    resolve_slice = make_resolver(c)

    def compute(
        value: torch.Tensor, begin: Any, end: Any, strides: Any, new: torch.Tensor
    ) -> torch.Tensor:
        resolved = resolve_slice(value.shape, begin, end, strides)
        result = value.clone()
        put(result, update_value(torch, new, resolved), resolved)
        return result

    return compute
