"""Gradients of the special functions of several arguments."""

from __future__ import annotations

from tensorloom.framework.graph.graph import Operation, Tensor, control_dependencies
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.broadcast_gradient import reductions
from tensorloom.ops.math.special import polygamma, zeta

_Grads = list[Tensor | None]


@RegisterGradient("Igamma")
def _igamma_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    a, x = op.inputs
    to_a, to_x = reductions(a, x)
    with control_dependencies([grad]):
        partial_a = apply_op("IgammaGradA", a=a, x=x)
        partial_x = math_ops.exp(-x + (a - 1) * math_ops.log(x) - math_ops.lgamma(a))
        return [
            to_a(partial_a * grad),
            to_x(partial_x * grad),
        ]


@RegisterGradient("Igammac")
def _igammac_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    grad_a, grad_x = _igamma_grad(op, grad)
    return [-grad_a, -grad_x]


@RegisterGradient("Zeta")
def _zeta_grad(op: Operation, grad: Tensor) -> _Grads:
    """Of q alone; the derivative by x is not implemented in TensorFlow either."""
    x, q = op.inputs
    _, to_q = reductions(x, q)
    with control_dependencies([grad]):
        x, q = math_ops.conj(x), math_ops.conj(q)
        partial_q = -x * zeta(x + 1, q)
        return [None, to_q(partial_q * grad)]


@RegisterGradient("Polygamma")
def _polygamma_grad(op: Operation, grad: Tensor) -> _Grads:
    n, x = op.inputs
    _, to_x = reductions(n, x)
    with control_dependencies([grad]):
        n, x = math_ops.conj(n), math_ops.conj(x)
        partial_x = polygamma(n + 1, x)
        return [None, to_x(partial_x * grad)]


@RegisterGradient("Betainc")
def _betainc_grad(op: Operation, grad: Tensor) -> _Grads:
    a, b, x = op.inputs
    _, to_x = reductions(a, x)
    log_beta = math_ops.lgamma(a) + math_ops.lgamma(b) - math_ops.lgamma(a + b)
    partial_x = math_ops.exp(
        (b - 1) * math_ops.log(1 - x) + (a - 1) * math_ops.log(x) - log_beta
    )
    return [None, None, to_x(partial_x * grad)]
