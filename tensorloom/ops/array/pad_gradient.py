"""Gradients of Pad, MirrorPad and Tile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import permute as permute_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.indexing import slice as slice_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("Pad")
@RegisterGradient("PadV2")
def _pad_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    value, paddings = op.inputs[:2]
    column = stack_ops.stack([shape_ops.rank(value), 1])
    before = slice_ops.slice(paddings, [0, 0], column)
    begin = reshape_ops.reshape(before, [-1])
    taken = slice_ops.slice(grad, begin, shape_ops.shape(value))
    return [taken, *[None] * (len(op.inputs) - 1)]


@RegisterGradient("MirrorPad")
def _mirror_pad_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    mode, paddings = op.get_attr("mode"), op.inputs[1]
    return [apply_op("MirrorPadGrad", input=grad, paddings=paddings, mode=mode), None]


@RegisterGradient("MirrorPadGrad")
def _mirror_pad_grad_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    mode, paddings = op.get_attr("mode"), op.inputs[1]
    return [apply_op("MirrorPad", input=grad, paddings=paddings, mode=mode), None]


@RegisterGradient("Tile")
def _tile_grad(op: Operation, grad: Any) -> list[Tensor | None]:
    """Sums over the copies: [a, b] times [m, n] is reshaped to [m, a, n, b]."""
    value, multiples = op.inputs
    input_shape = shape_ops.shape(value, out_type=multiples.dtype)
    pairs = permute_ops.transpose(stack_ops.stack([multiples, input_shape]))
    split_shape = reshape_ops.reshape(pairs, [-1])
    axes = math_ops.range(0, shape_ops.size(split_shape), 2)
    if isinstance(grad, IndexedSlices):
        rows = math_ops.cast(input_shape[0], grad.indices.dtype)
        grad = math_ops.unsorted_segment_sum(
            grad.values, math_ops.mod(grad.indices, rows), rows
        )
        split_shape = concat_ops.concat([[1], split_shape[1:]], axis=0)
    result = math_ops.reduce_sum(reshape_ops.reshape(grad, split_shape), axes)
    result.set_shape(value.shape)
    return [result, None]
