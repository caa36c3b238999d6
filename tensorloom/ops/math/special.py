"""Special functions of several arguments: gamma, beta, zeta, polygamma."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    name_scope,
)
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    InferenceContext,
    broadcast_binary_shape,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.math import elementwise as elementwise_ops
from tensorloom.ops.reductions import reductions as reductions_ops

# --- definitions -------------------------------------------------------------


def _register(
    op: str,
    inputs: tuple[str, str],
    doc: str,
    types: str = "float, double",
) -> None:
    register_op(
        op,
        inputs=[f"{name}: T" for name in inputs],
        outputs=["z: T"],
        attrs=[f"T: {{{types}}}"],
        shape_fn=broadcast_binary_shape,
        doc=doc,
    )


_REALS = "float, double, bfloat16, half"
_register(
    "Igamma",
    ("a", "x"),
    "The lower regularized incomplete gamma function.",
    _REALS,
)
_register(
    "Igammac",
    ("a", "x"),
    "The upper regularized incomplete gamma function.",
    _REALS,
)
_register("IgammaGradA", ("a", "x"), "The derivative of Igamma by a.")
_register("Zeta", ("x", "q"), "The Hurwitz zeta function.")
_register("Polygamma", ("a", "x"), "The a-th derivative of digamma.")


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
        product = reductions_ops.reduce_sum(elementwise_ops.lgamma(x), axis=[-1])
        total = reductions_ops.reduce_sum(x, axis=[-1])
        return product - elementwise_ops.lgamma(total)


@export("math.bessel_i0")
def bessel_i0(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 0."""
    with name_scope(name, "bessel_i0", [x]):
        return elementwise_ops.exp(elementwise_ops.abs(x)) * elementwise_ops.bessel_i0e(
            x
        )


@export("math.bessel_i1")
def bessel_i1(x: Any, name: str | None = None) -> Tensor:
    """The modified Bessel function of the first kind of order 1."""
    with name_scope(name, "bessel_i1", [x]):
        return elementwise_ops.exp(elementwise_ops.abs(x)) * elementwise_ops.bessel_i1e(
            x
        )
