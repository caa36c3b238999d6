"""Gradients of Select, SelectV2 and ClipByValue."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("Select")
def _select_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    cond, x = op.inputs[0], op.inputs[1]
    zeros = array_ops.zeros_like(x)
    return [
        None,
        array_ops.where(cond, grad, zeros),
        array_ops.where(cond, zeros, grad),
    ]


@RegisterGradient("SelectV2")
def _select_v2_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    cond, x, y = op.inputs
    zeros = array_ops.zeros([], dtype=grad.dtype.base_dtype)
    grad_x = array_ops.where_v2(cond, grad, zeros)
    shape_x = array_ops.shape(x)
    shape_out = array_ops.shape(op.outputs[0])
    axes_x, _ = array_ops.broadcast_gradient_args(shape_x, shape_out)
    grad_x = math_ops.reduce_sum(grad_x, keepdims=True, axis=axes_x)
    grad_x = array_ops.reshape(grad_x, shape_x)
    grad_y = array_ops.where_v2(cond, zeros, grad)
    shape_y = array_ops.shape(y)
    axes_y, _ = array_ops.broadcast_gradient_args(shape_y, shape_out)
    grad_y = math_ops.reduce_sum(grad_y, keepdims=True, axis=axes_y)
    return [None, grad_x, array_ops.reshape(grad_y, shape_y)]


@RegisterGradient("ClipByValue")
def _clip_by_value_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, low, high = op.inputs
    shape_x = array_ops.shape(x)
    shape_low = array_ops.shape(low)
    shape_high = array_ops.shape(high)
    zeros = array_ops.zeros(array_ops.shape(grad), grad.dtype)
    below = math_ops.less(x, low)
    above = math_ops.greater(x, high)
    axes_x, axes_low = array_ops.broadcast_gradient_args(shape_x, shape_low)
    axes_x, axes_high = array_ops.broadcast_gradient_args(shape_x, shape_high)
    grad_x = array_ops.where(math_ops.logical_or(below, above), zeros, grad)
    grad_low = array_ops.where(below, grad, zeros)
    grad_high = array_ops.where(above, grad, zeros)
    return [
        array_ops.reshape(math_ops.reduce_sum(grad_x, axes_x), shape_x),
        array_ops.reshape(math_ops.reduce_sum(grad_low, axes_low), shape_low),
        array_ops.reshape(math_ops.reduce_sum(grad_high, axes_high), shape_high),
    ]
