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
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.state.variable_value import to_tensor

if TYPE_CHECKING:
    from tensorloom.framework.types.strided_slice import ResolvedSlice


@kernel("Slice", host_inputs=("begin", "size"), aliases=True)
def _slice(c: OpKernelConstruction) -> Compute:
    index_of = checks.keep_last_slice()

    def compute(value: torch.Tensor, begin: Any, size: Any) -> torch.Tensor:
        index = index_of(value.shape, begin, size)
        return value[index] if index else value

    return compute


def _forward_index(resolved: ResolvedSlice) -> tuple[tuple[slice, ...], list[int]]:
    """(index with positive steps, axes to flip afterwards)."""
    index = []
    flipped = []
    for number, axis in enumerate(resolved.axes):
        part = axis.as_slice()
        if part.step < 0:
            flipped.append(number)
            assert axis.begin is not None
            assert axis.size is not None
            last = axis.begin + (axis.size - 1) * axis.stride
            part = slice(last, axis.begin + 1, -axis.stride)
        index.append(part)
    return tuple(index), flipped


def _take(value: torch.Tensor, resolved: ResolvedSlice) -> torch.Tensor:
    index, flipped = _forward_index(resolved)
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


def _put(target: torch.Tensor, value: torch.Tensor, resolved: ResolvedSlice) -> None:
    """Writes a value that has the slice's processing shape."""
    index, flipped = _forward_index(resolved)
    if flipped:
        value = move_bits(value, lambda v: v.flip(flipped))
    target[index] = value


def assign_slice(target: torch.Tensor, value: Any, resolved: ResolvedSlice) -> None:
    """Writes a value to a part of a tensor that is the caller's own."""
    new = update_value(torch, to_tensor(value, target.device), resolved)
    _put(target, new, resolved)


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
        _put(result, dy.reshape(resolved.processing_dims), resolved)  # type: ignore[arg-type]
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
        _put(result, update_value(torch, new, resolved), resolved)
        return result

    return compute
