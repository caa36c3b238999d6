"""Special functions of several arguments: gamma, beta, zeta, polygamma."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Operation,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import GradientFn, register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    broadcast_binary_shape,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.broadcast_grad import reductions

_Grads = list[Tensor | None]

# --- gradients ---------------------------------------------------------------


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


def _igammac_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    grad_a, grad_x = _igamma_grad(op, grad)
    return [-grad_a, -grad_x]


def _zeta_grad(op: Operation, grad: Tensor) -> _Grads:
    """Of q alone; the derivative by x is not implemented in TensorFlow either."""
    x, q = op.inputs
    _, to_q = reductions(x, q)
    with control_dependencies([grad]):
        x, q = math_ops.conj(x), math_ops.conj(q)
        partial_q = -x * zeta(x + 1, q)
        return [None, to_q(partial_q * grad)]


def _polygamma_grad(op: Operation, grad: Tensor) -> _Grads:
    n, x = op.inputs
    _, to_x = reductions(n, x)
    with control_dependencies([grad]):
        n, x = math_ops.conj(n), math_ops.conj(x)
        partial_x = polygamma(n + 1, x)
        return [None, to_x(partial_x * grad)]


def _betainc_grad(op: Operation, grad: Tensor) -> _Grads:
    a, b, x = op.inputs
    _, to_x = reductions(a, x)
    log_beta = math_ops.lgamma(a) + math_ops.lgamma(b) - math_ops.lgamma(a + b)
    partial_x = math_ops.exp(
        (b - 1) * math_ops.log(1 - x) + (a - 1) * math_ops.log(x) - log_beta
    )
    return [None, None, to_x(partial_x * grad)]


# --- definitions -------------------------------------------------------------


def _register(
    op: str,
    inputs: tuple[str, str],
    gradient: GradientFn | None,
    doc: str,
    types: str = "float, double",
) -> None:
    register_op(
        op,
        inputs=[f"{name}: T" for name in inputs],
        outputs=["z: T"],
        attrs=[f"T: {{{types}}}"],
        shape_fn=broadcast_binary_shape,
        gradient=gradient,
        doc=doc,
    )


_REALS = "float, double, bfloat16, half"
_register(
    "Igamma",
    ("a", "x"),
    _igamma_grad,
    "The lower regularized incomplete gamma function.",
    _REALS,
)
_register(
    "Igammac",
    ("a", "x"),
    _igammac_grad,
    "The upper regularized incomplete gamma function.",
    _REALS,
)
_register("IgammaGradA", ("a", "x"), None, "The derivative of Igamma by a.")
_register("Zeta", ("x", "q"), _zeta_grad, "The Hurwitz zeta function.")
_register("Polygamma", ("a", "x"), _polygamma_grad, "The a-th derivative of digamma.")


def _betainc_shape(c: InferenceContext) -> TensorShape:
    merged = TensorShape.of(None)
    for i in (0, 1, 2):
        shape = c.input_shape(i)
        if shape.rank != 0:  # scalars broadcast, other shapes must be equal
            merged = c.merge(merged, shape)
    if all(c.input_shape(i).rank == 0 for i in (0, 1, 2)):
        return TensorShape.of(())
    return merged


register_op(
    "Betainc",
    inputs=["a: T", "b: T", "x: T"],
    outputs=["z: T"],
    attrs=["T: {float, double}"],
    shape_fn=_betainc_shape,
    gradient=_betainc_grad,
    doc="The regularized incomplete beta function.",
)

# --- builders ----------------------------------------------------------------


@export("math.igamma", "igamma")
def igamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The lower regularized incomplete gamma function P(a, x)."""
    return apply_op("Igamma", name, a=a, x=x)  # type: ignore[no-any-return]


@export("math.igammac", "igammac")
def igammac(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The upper regularized incomplete gamma function Q(a, x)."""
    return apply_op("Igammac", name, a=a, x=x)  # type: ignore[no-any-return]


@export("math.zeta", "zeta")
def zeta(x: Any, q: Any, name: str | None = None) -> Tensor:
    """The Hurwitz zeta function, the sum of (q + n) ** -x."""
    return apply_op("Zeta", name, x=x, q=q)  # type: ignore[no-any-return]


@export("math.polygamma", "polygamma")
def polygamma(a: Any, x: Any, name: str | None = None) -> Tensor:
    """The a-th derivative of digamma, at x."""
    return apply_op("Polygamma", name, a=a, x=x)  # type: ignore[no-any-return]


@export("math.betainc", "betainc")
def betainc(a: Any, b: Any, x: Any, name: str | None = None) -> Tensor:
    """The regularized incomplete beta function I_x(a, b)."""
    return apply_op("Betainc", name, a=a, b=b, x=x)  # type: ignore[no-any-return]


@export("math.lbeta", "lbeta")
def lbeta(x: Any, name: str | None = None) -> Tensor:
    """ln of the beta function of the last axis."""
    with name_scope(name, "lbeta", [x]):
        x = convert_to_tensor(x, name="x")
        product = math_ops.reduce_sum(math_ops.lgamma(x), axis=[-1])
        total = math_ops.reduce_sum(x, axis=[-1])
        return product - math_ops.lgamma(total)


@export("math.bessel_i0")
def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
    with name_scope(name, "bessel_i0", [x]):
        return math_ops.exp(math_ops.abs(x)) * math_ops.bessel_i0e(x)


@export("math.bessel_i1")
def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
    with name_scope(name, "bessel_i1", [x]):
        return math_ops.exp(math_ops.abs(x)) * math_ops.bessel_i1e(x)
