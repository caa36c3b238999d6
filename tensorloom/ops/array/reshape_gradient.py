"""Gradients of Reshape, ExpandDims, Squeeze and BroadcastTo."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.types.indexed_slices import IndexedSlices
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("Squeeze")
def _reshape_to_input(op: Operation, grad: Any) -> Tensor:
    shape = shape_ops.shape(op.inputs[0])
    if not isinstance(grad, IndexedSlices):
        return reshape(grad, shape)
    with warnings.catch_warnings():
        # That the gradient becomes dense here is no fault of the user's.
        warnings.filterwarnings("ignore", "Converting sparse IndexedSlices")
        return reshape(grad, shape)


@RegisterGradient("Reshape")
@RegisterGradient("ExpandDims")
def _reshape_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    return [_reshape_to_input(op, grad), None]


@RegisterGradient("BroadcastTo")
def _broadcast_to_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    value, new_shape = op.inputs
    old_shape = shape_ops.shape(value)
    _, axes = shape_ops.broadcast_gradient_args(new_shape, old_shape)
    summed = math_ops.reduce_sum(grad, axis=axes, keepdims=True)
    return [reshape(summed, old_shape), None]
