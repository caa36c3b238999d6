"""Gradients of the ops on complex numbers."""

from __future__ import annotations

from tensorloom.framework.graph.graph import Operation, Tensor, control_dependencies
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.broadcast_gradient import reductions


@RegisterGradient("Complex")
def _complex_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    to_real, to_imag = reductions(op.inputs[0], op.inputs[1])
    return [to_real(math_ops.real(grad)), to_imag(math_ops.imag(grad))]


@RegisterGradient("Real")
def _real_grad(op: Operation, grad: Tensor) -> Tensor:
    zero = array_ops.constant(0, dtype=grad.dtype)
    return math_ops.complex(grad, zero)


@RegisterGradient("Imag")
def _imag_grad(op: Operation, grad: Tensor) -> Tensor:
    zero = array_ops.constant(0, dtype=grad.dtype)
    return math_ops.complex(zero, grad)


@RegisterGradient("Angle")
def _angle_grad(op: Operation, grad: Tensor) -> Tensor:
    """-dy / (imag(x) + i real(x))."""
    x = op.inputs[0]
    with control_dependencies([grad]):
        re = math_ops.real(x)
        im = math_ops.imag(x)
        inverse = math_ops.reciprocal(math_ops.complex(im, re))
        zero = array_ops.constant(0, dtype=grad.dtype)
        return -math_ops.complex(grad, zero) * inverse


@RegisterGradient("ComplexAbs")
def _complex_abs_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * x / |x|, and 0 at 0."""
    return math_ops.div_no_nan(
        math_ops.complex(grad, array_ops.zeros_like(grad)) * op.inputs[0],
        math_ops.complex(op.outputs[0], array_ops.zeros_like(op.outputs[0])),
    )


@RegisterGradient("Conj")
def _conj_grad(op: Operation, grad: Tensor) -> Tensor:
    return math_ops.conj(grad)
