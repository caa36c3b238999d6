"""Gradients of Slice, StridedSlice and TensorStridedSliceUpdate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import pad as pad_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.indexing.slice import MASKS, strided_slice

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("Slice")
def _slice_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    value, begin, _ = op.inputs
    rank = shape_ops.rank(value)
    slice_size = shape_ops.shape(op.outputs[0])
    column = stack_ops.stack([rank, 1])
    before = reshape_ops.reshape(begin, column)
    rest = shape_ops.shape(value) - slice_size - begin
    after = reshape_ops.reshape(rest, column)
    return [pad_ops.pad(grad, concat_ops.concat([before, after], 1)), None, None]


def _masks_of(op: Operation) -> dict[str, Any]:
    return {mask: op.get_attr(mask) for mask in MASKS}


@RegisterGradient("StridedSlice")
def _strided_slice_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    value, begin, end, strides = op.inputs
    grad_of_value = apply_op(
        "StridedSliceGrad",
        shape=shape_ops.shape(value, out_type=begin.dtype),
        begin=begin,
        end=end,
        strides=strides,
        dy=grad,
        name=None,
        **_masks_of(op),
    )
    return [grad_of_value, None, None, None]


@RegisterGradient("StridedSliceGrad")
def _strided_slice_grad_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    _, begin, end, strides, _ = op.inputs
    taken = strided_slice(grad, begin, end, strides, **_masks_of(op))
    return [None, None, None, None, taken]


@RegisterGradient("TensorStridedSliceUpdate")
def _update_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    _, begin, end, strides, value = op.inputs
    masks = _masks_of(op)
    kept = apply_op(
        "TensorStridedSliceUpdate",
        input=grad,
        begin=begin,
        end=end,
        strides=strides,
        value=fill_ops.zeros_like(value),
        **masks,
    )
    taken = strided_slice(grad, begin, end, strides, **masks)
    return [kept, None, None, None, taken]
