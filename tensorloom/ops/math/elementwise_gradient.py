"""Gradients of the unary elementwise ops.

Each makes the operations that TensorFlow 1.15 makes, in the same order: the names of
the nodes of `tf.gradients` depend on both.
"""

from __future__ import annotations

import math

import numpy as np

from tensorloom.framework.graph.graph import Operation, Tensor, control_dependencies
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

_TWO_OVER_ROOT_PI = 2 / math.sqrt(math.pi)


@RegisterGradient("Floor")
@RegisterGradient("Ceil")
@RegisterGradient("Rint")
@RegisterGradient("Round")
def no_grad(op: Operation, grad: Tensor) -> list[None]:
    """A step function: its gradient is zero wherever there is one."""
    return [None]


@RegisterGradient("Abs")
def abs_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * sign(x)."""
    return grad * math_ops.sign(op.inputs[0])


@RegisterGradient("Neg")
def neg_grad(op: Operation, grad: Tensor) -> Tensor:
    """-dy."""
    return -grad


@RegisterGradient("Sign")
def sign_grad(op: Operation, grad: Tensor) -> Tensor:
    """Zeros."""
    x = op.inputs[0]
    return array_ops.zeros(array_ops.shape(x), dtype=x.dtype)


@RegisterGradient("Square")
def square_grad(op: Operation, grad: Tensor) -> Tensor:
    """2 x dy."""
    with control_dependencies([grad]):
        x = math_ops.conj(op.inputs[0])
        two = array_ops.constant(2.0, dtype=x.dtype)
        return math_ops.multiply(grad, math_ops.multiply(x, two))


# --- through the output ------------------------------------------------------


@RegisterGradient("Reciprocal")
@RegisterGradient("Inv")
def reciprocal_grad_of(op: Operation, grad: Tensor) -> Tensor:
    """-dy * y**2."""
    return math_ops.reciprocal_grad(op.outputs[0], grad)


@RegisterGradient("Sqrt")
def sqrt_grad_of(op: Operation, grad: Tensor) -> Tensor:
    """dy / 2y."""
    return math_ops.sqrt_grad(op.outputs[0], grad)


@RegisterGradient("Rsqrt")
def rsqrt_grad_of(op: Operation, grad: Tensor) -> Tensor:
    """-dy * y**3 / 2."""
    return math_ops.rsqrt_grad(op.outputs[0], grad)


@RegisterGradient("Sigmoid")
def sigmoid_grad_of(op: Operation, grad: Tensor) -> Tensor:
    """dy * y * (1 - y)."""
    with control_dependencies([grad]):
        return math_ops.sigmoid_grad(math_ops.conj(op.outputs[0]), grad)


@RegisterGradient("Tanh")
def tanh_grad_of(op: Operation, grad: Tensor) -> Tensor:
    """dy * (1 - y**2)."""
    with control_dependencies([grad]):
        return math_ops.tanh_grad(math_ops.conj(op.outputs[0]), grad)


@RegisterGradient("Exp")
def exp_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * y."""
    with control_dependencies([grad]):
        return grad * math_ops.conj(op.outputs[0])


# --- second gradients --------------------------------------------------------


@RegisterGradient("ReciprocalGrad")
@RegisterGradient("InvGrad")
def reciprocal_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    """Of z = -b * a**2 (a the output of Reciprocal, b its gradient)."""
    b = op.inputs[1]
    with control_dependencies([grad]):
        a = math_ops.conj(op.inputs[0])
        dz = math_ops.conj(grad)
        return [dz * -2.0 * b * a, math_ops.reciprocal_grad(a, grad)]


@RegisterGradient("SqrtGrad")
def sqrt_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    """Of z = b / 2a."""
    a, z = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        ratio = grad / a
        return [-math_ops.conj(ratio) * z, 0.5 * ratio]


@RegisterGradient("RsqrtGrad")
def rsqrt_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    """Of z = -b * a**3 / 2."""
    a, b = op.inputs
    with control_dependencies([grad]):
        a = math_ops.conj(a)
        dz = math_ops.conj(grad)
        grad_a = -1.5 * dz * b * math_ops.square(a)
        return [grad_a, math_ops.rsqrt_grad(a, grad)]


@RegisterGradient("TanhGrad")
def tanh_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    """Of z = b * (1 - a**2)."""
    with control_dependencies([grad]):
        a = math_ops.conj(op.inputs[0])
        b = math_ops.conj(op.inputs[1])
        return [grad * -2.0 * b * a, math_ops.tanh_grad(a, grad)]


@RegisterGradient("SigmoidGrad")
def sigmoid_grad_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    """Of z = b * a * (1 - a)."""
    with control_dependencies([grad]):
        a = math_ops.conj(op.inputs[0])
        b = math_ops.conj(op.inputs[1])
        dz_b = grad * b
        return [dz_b - 2.0 * dz_b * a, math_ops.sigmoid_grad(a, grad)]


# --- exponentials and logarithms ---------------------------------------------


@RegisterGradient("Expm1")
def expm1_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * e**x."""
    with control_dependencies([grad]):
        x = math_ops.conj(op.inputs[0])
        return grad * math_ops.exp(x)


@RegisterGradient("Log")
def log_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy / x."""
    with control_dependencies([grad]):
        return grad * math_ops.reciprocal(math_ops.conj(op.inputs[0]))


@RegisterGradient("Log1p")
def log1p_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy / (1 + x)."""
    with control_dependencies([grad]):
        return grad * math_ops.reciprocal(1 + math_ops.conj(op.inputs[0]))


# --- trigonometry ------------------------------------------------------------


@RegisterGradient("Sin")
def sin_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * cos(x)."""
    with control_dependencies([grad]):
        return grad * math_ops.cos(math_ops.conj(op.inputs[0]))


@RegisterGradient("Cos")
def cos_grad(op: Operation, grad: Tensor) -> Tensor:
    """-dy * sin(x)."""
    with control_dependencies([grad]):
        x = math_ops.conj(op.inputs[0])
        return -grad * math_ops.sin(x)


@RegisterGradient("Tan")
def tan_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy / cos(x)**2."""
    with control_dependencies([grad]):
        secant = math_ops.reciprocal(math_ops.cos(math_ops.conj(op.inputs[0])))
        return math_ops.square(secant) * grad


def _one_minus_square_root(op: Operation, grad: Tensor) -> Tensor:
    """sqrt(1 - x**2)."""
    x2 = math_ops.square(math_ops.conj(op.inputs[0]))
    one = array_ops.constant(1, dtype=grad.dtype)
    return math_ops.sqrt(math_ops.subtract(one, x2))


@RegisterGradient("Asin")
def asin_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy / sqrt(1 - x**2)."""
    with control_dependencies([grad]):
        return grad * math_ops.reciprocal(_one_minus_square_root(op, grad))


@RegisterGradient("Acos")
def acos_grad(op: Operation, grad: Tensor) -> Tensor:
    """-dy / sqrt(1 - x**2)."""
    with control_dependencies([grad]):
        inverse = math_ops.reciprocal(_one_minus_square_root(op, grad))
        return -grad * inverse


@RegisterGradient("Atan")
def atan_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy / (1 + x**2)."""
    with control_dependencies([grad]):
        x2 = math_ops.square(math_ops.conj(op.inputs[0]))
        one = array_ops.constant(1, dtype=grad.dtype)
        return grad * math_ops.reciprocal(math_ops.add(one, x2))


@RegisterGradient("Sinh")
def sinh_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * cosh(x)."""
    with control_dependencies([grad]):
        return grad * math_ops.cosh(math_ops.conj(op.inputs[0]))


@RegisterGradient("Cosh")
def cosh_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * sinh(x)."""
    with control_dependencies([grad]):
        return grad * math_ops.sinh(math_ops.conj(op.inputs[0]))


@RegisterGradient("Asinh")
def asinh_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy / cosh(y)."""
    with control_dependencies([grad]):
        return grad / math_ops.cosh(math_ops.conj(op.outputs[0]))


@RegisterGradient("Acosh")
def acosh_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy / sinh(y)."""
    with control_dependencies([grad]):
        return grad / math_ops.sinh(math_ops.conj(op.outputs[0]))


@RegisterGradient("Atanh")
def atanh_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy / (1 - x**2)."""
    with control_dependencies([grad]):
        x2 = math_ops.square(math_ops.conj(op.inputs[0]))
        one = array_ops.constant(1, dtype=grad.dtype)
        return grad * math_ops.reciprocal(math_ops.subtract(one, x2))


# --- error, gamma and Bessel functions ---------------------------------------


def _gaussian_grad(op: Operation, grad: Tensor, factor: float) -> Tensor:
    """dy * factor * e**(-x**2)."""
    scale = array_ops.constant(factor, dtype=grad.dtype)
    with control_dependencies([grad]):
        x = math_ops.conj(op.inputs[0])
        return grad * scale * math_ops.exp(-math_ops.square(x))


@RegisterGradient("Erf")
def erf_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * 2/sqrt(pi) * e**(-x**2)."""
    return _gaussian_grad(op, grad, _TWO_OVER_ROOT_PI)


@RegisterGradient("Erfc")
def erfc_grad(op: Operation, grad: Tensor) -> Tensor:
    """-dy * 2/sqrt(pi) * e**(-x**2)."""
    return _gaussian_grad(op, grad, -_TWO_OVER_ROOT_PI)


@RegisterGradient("Lgamma")
def lgamma_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * digamma(x)."""
    with control_dependencies([grad]):
        x = math_ops.conj(op.inputs[0])
        return grad * math_ops.digamma(x)


@RegisterGradient("Digamma")
def digamma_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * polygamma(1, x)."""
    with control_dependencies([grad]):
        x = math_ops.conj(op.inputs[0])
        order = array_ops.constant(1, dtype=x.dtype)
        return grad * math_ops.polygamma(order, x)


@RegisterGradient("BesselI0e")
def bessel_i0e_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * (i1e(x) - sign(x) y)."""
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        slope = math_ops.bessel_i1e(x) - math_ops.sign(x) * y
        return grad * slope


@RegisterGradient("BesselI1e")
def bessel_i1e_grad(op: Operation, grad: Tensor) -> Tensor:
    """dy * (i0e(x) - y (sign(x) + 1/x)), with the limit 1/2 at zero."""
    x, y = op.inputs[0], op.outputs[0]
    with control_dependencies([grad]):
        eps = np.finfo(x.dtype.as_numpy_dtype).eps
        zeros = array_ops.zeros_like(x)
        not_tiny = math_ops.abs(x) > eps
        safe_x = array_ops.where(not_tiny, x, eps + zeros)
        slope = math_ops.bessel_i0e(safe_x) - y * (
            math_ops.sign(safe_x) + math_ops.reciprocal(safe_x)
        )
        slope = array_ops.where(not_tiny, slope, 0.5 + zeros)
        return grad * slope
