"""Gradients of the binary arithmetic ops, with the nodes that TensorFlow 1.15 makes."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Operation, Tensor, control_dependencies
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.broadcast_gradient import (
    equal_static_shapes,
    reductions,
    smart_reductions,
)

_Grads = list[Any]


@RegisterGradient("FloorDiv")
@RegisterGradient("TruncateDiv")
def no_grads(op: Operation, grad: Tensor) -> list[None]:
    """A step function of both inputs."""
    return [None, None]


# --- sums and products -------------------------------------------------------


@RegisterGradient("Add")
@RegisterGradient("AddV2")
def add_grad(op: Operation, grad: Any) -> _Grads:
    """[dz, dz], each summed to its input's shape."""
    x, y = op.inputs
    if equal_static_shapes(x, y, grad):
        return [grad, grad]
    to_x, to_y = smart_reductions(x, y, grad)
    return [to_x.if_needed(grad), to_y.if_needed(grad)]


@RegisterGradient("Sub")
def sub_grad(op: Operation, grad: Any) -> _Grads:
    """[dz, -dz]."""
    x, y = op.inputs
    if equal_static_shapes(x, y, grad):
        return [grad, -grad]
    to_x, to_y = smart_reductions(x, y, grad)
    return [to_x.if_needed(grad), to_y.if_needed(-grad)]


@RegisterGradient("Mul")
def mul_grad(op: Operation, grad: Any) -> _Grads:
    """[dz * y, x * dz]."""
    x, y = op.inputs
    if equal_static_shapes(x, y, grad) and grad.dtype in (
        dtypes.int32,
        dtypes.float32,
    ):
        return [math_ops.multiply(grad, y), math_ops.multiply(grad, x)]
    to_x, to_y = smart_reductions(x, y, grad)
    x, y = math_ops.conj(x), math_ops.conj(y)
    return [
        to_x.if_needed(math_ops.multiply(grad, y)),
        to_y.if_needed(math_ops.multiply(x, grad)),
    ]


@RegisterGradient("MulNoNan")
def mul_no_nan_grad(op: Operation, grad: Any) -> _Grads:
    """[dz * y, x * dz], without NaN."""
    x, y = op.inputs
    if equal_static_shapes(x, y, grad):
        return [math_ops.mul_no_nan(grad, y), math_ops.mul_no_nan(x, grad)]
    to_x, to_y = reductions(x, y)
    return [
        to_x(math_ops.mul_no_nan(grad, y)),
        to_y(math_ops.mul_no_nan(x, grad)),
    ]


@RegisterGradient("SquaredDifference")
def squared_difference_grad(op: Operation, grad: Any) -> _Grads:
    """[2 dz (x - y), -2 dz (x - y)]."""
    x, y = op.inputs
    with control_dependencies([grad]):
        # scalar_mul turns IndexedSlices into the kind of product that stays sparse.
        x_grad = math_ops.scalar_mul(2.0, grad) * (x - y)
    if equal_static_shapes(x, y, grad):
        return [x_grad, -x_grad]
    to_x, to_y = smart_reductions(x, y, grad)
    return [to_x.if_needed(x_grad), -to_y.if_needed(x_grad)]


# --- quotients ---------------------------------------------------------------


def _quotient_grad(op: Operation, grad: Any, divide: Any) -> _Grads:
    """[dz / y, dz * (-x / y / y)]; the divisions are the op's own kind."""
    x, y = op.inputs
    to_x, to_y = reductions(x, y)
    x, y = math_ops.conj(x), math_ops.conj(y)
    return [
        to_x(divide(grad, y)),
        to_y(grad * divide(divide(-x, y), y)),
    ]


@RegisterGradient("RealDiv")
def real_div_grad(op: Operation, grad: Any) -> _Grads:
    """Of RealDiv."""
    return _quotient_grad(op, grad, math_ops.realdiv)


@RegisterGradient("Div")
def div_grad(op: Operation, grad: Any) -> _Grads:
    """Of Div."""
    return _quotient_grad(op, grad, math_ops.divide)


@RegisterGradient("DivNoNan")
def div_no_nan_grad(op: Operation, grad: Any) -> _Grads:
    """Of DivNoNan."""
    return _quotient_grad(op, grad, math_ops.div_no_nan)


@RegisterGradient("FloorMod")
def floor_mod_grad(op: Operation, grad: Any) -> _Grads:
    """[dz, -dz * floor(x / y)]."""
    x, y = math_ops.conj(op.inputs[0]), math_ops.conj(op.inputs[1])
    to_x, to_y = reductions(x, y)
    quotient = math_ops.floor_div(x, y)
    return [to_x(grad), to_y(grad * math_ops.negative(quotient))]


def _not_zero(x: Tensor) -> Tensor:
    """1 where x is not 0."""
    zero = math_ops.cast(0.0, dtype=x.dtype)
    ones: Tensor = math_ops.cast(math_ops.not_equal(x, zero), dtype=x.dtype)
    return ones


@RegisterGradient("Xlogy")
def xlogy_grad(op: Operation, grad: Any) -> _Grads:
    """[dz log y, dz x / y], 0 where x is 0."""
    x, y = op.inputs
    to_x, to_y = reductions(x, y)
    with control_dependencies([grad]):
        partial_x = math_ops.xlogy(_not_zero(x), y)
        partial_y = math_ops.xdivy(x, y)
        return [to_x(partial_x * grad), to_y(partial_y * grad)]


@RegisterGradient("Xdivy")
def xdivy_grad(op: Operation, grad: Any) -> _Grads:
    """[dz / y, -dz x / y**2], 0 where x is 0."""
    x, y = op.inputs
    to_x, to_y = reductions(x, y)
    with control_dependencies([grad]):
        partial_x = math_ops.xdivy(_not_zero(x), y)
        partial_y = math_ops.xdivy(math_ops.negative(x), y**2)
        return [to_x(partial_x * grad), to_y(partial_y * grad)]


# --- powers, extremes, angles ------------------------------------------------


@RegisterGradient("Pow")
def pow_grad(op: Operation, grad: Any) -> _Grads:
    """[dz y x**(y - 1), dz z log x], where the logarithm of what is <= 0 counts 0."""
    x, y = op.inputs
    to_x, to_y = smart_reductions(x, y, grad)
    x, y = math_ops.conj(x), math_ops.conj(y)
    grad_x = grad * y * math_ops.pow(x, y - 1)
    grad_x = to_x.if_needed(grad_x)
    z = math_ops.conj(op.outputs[0])
    mask = math_ops.not_equal(x, 0) if x.dtype.is_complex else x > 0
    safe_x = array_ops.where(mask, x, array_ops.ones_like(x))
    log_x = array_ops.where(mask, math_ops.log(safe_x), array_ops.zeros_like(x))
    return [grad_x, to_y.if_needed(grad * z * log_x)]


def _extreme_grad(op: Operation, grad: Any, x_wins: Any) -> _Grads:
    x, y = op.inputs
    shape_x = array_ops.shape(x)
    shape_y = array_ops.shape(y)
    zeros = array_ops.zeros(array_ops.shape(grad), grad.dtype)
    mask = x_wins(x, y)
    axes_x, axes_y = array_ops.broadcast_gradient_args(shape_x, shape_y)
    grad_x = array_ops.where(mask, grad, zeros)
    grad_x = array_ops.reshape(math_ops.reduce_sum(grad_x, axes_x), shape_x)
    grad_y = array_ops.where(mask, zeros, grad)
    grad_y = array_ops.reshape(math_ops.reduce_sum(grad_y, axes_y), shape_y)
    return [grad_x, grad_y]


@RegisterGradient("Maximum")
def maximum_grad(op: Operation, grad: Any) -> _Grads:
    """The gradient goes to the larger input, to x where they are equal."""
    return _extreme_grad(op, grad, math_ops.greater_equal)


@RegisterGradient("Minimum")
def minimum_grad(op: Operation, grad: Any) -> _Grads:
    """The gradient goes to the smaller input, to x where they are equal."""
    return _extreme_grad(op, grad, math_ops.less_equal)


@RegisterGradient("Atan2")
def atan2_grad(op: Operation, grad: Any) -> _Grads:
    """[dz x / (x**2 + y**2), -dz y / (x**2 + y**2)] for the inputs (y, x)."""
    y, x = op.inputs
    with control_dependencies([grad]):
        scaled = grad / (math_ops.square(x) + math_ops.square(y))
        return [x * scaled, -y * scaled]


@RegisterGradient("NextAfter")
def next_after_grad(op: Operation, grad: Any) -> _Grads:
    """[dz, 0]: the step is constant."""
    x1, x2 = op.inputs
    to_x1, to_x2 = reductions(x1, x2)
    with control_dependencies([grad]):
        partial_1 = array_ops.ones(to_x1.shape, dtype=x1.dtype)
        partial_2 = array_ops.zeros(to_x2.shape, dtype=x2.dtype)
        return [to_x1(partial_1 * grad), to_x2(partial_2 * grad)]
