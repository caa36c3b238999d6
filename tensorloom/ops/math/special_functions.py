"""Special functions of one argument: Bessel, Dawson, Fresnel and other integrals."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tensorloom.framework.graph.graph import Operation, Tensor, control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import (
    broadcast_binary_shape,
    unchanged_shape,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.broadcast_gradient import reductions

# Of a function: (x, y, derivative given x and y).
_Slope = Callable[[Tensor, Tensor], Tensor]


def _call(op: str, x: Tensor) -> Tensor:
    return apply_op(op, x=x)  # type: ignore[no-any-return]


def _over_x(first: str, x: Tensor, y: Tensor, at_zero: float) -> Tensor:
    """first(x) - y / x, and what TensorFlow says of 0."""
    slope = _call(first, x) - math_ops.div(y, x)
    value = array_ops.fill(array_ops.shape(x), math_ops.cast(at_zero, x.dtype))
    zero = math_ops.equal(x, math_ops.cast(0.0, x.dtype))
    return array_ops.where(zero, value, slope)


def _spence_slope(x: Tensor, _: Tensor) -> Tensor:
    slope = math_ops.log(x) / (1 - x)
    one = math_ops.equal(x, math_ops.cast(1.0, x.dtype))
    return array_ops.where(one, -array_ops.ones_like(x), slope)


_HALF_PI = math.pi / 2
_SLOPES: dict[str, tuple[_Slope, str]] = {
    "BesselI0": (
        lambda x, y: _call("BesselI1", x),
        "The modified Bessel function I0.",
    ),
    "BesselI1": (
        lambda x, y: _over_x("BesselI0", x, y, 1.0),
        "The modified Bessel function I1.",
    ),
    "BesselJ0": (lambda x, y: -_call("BesselJ1", x), "The Bessel function J0."),
    "BesselJ1": (
        lambda x, y: _over_x("BesselJ0", x, y, 0.5),
        "The Bessel function J1.",
    ),
    "BesselY0": (lambda x, y: -_call("BesselY1", x), "The Bessel function Y0."),
    "BesselY1": (
        lambda x, y: _call("BesselY0", x) - math_ops.div(y, x),
        "The Bessel function Y1.",
    ),
    "BesselK0": (
        lambda x, y: -_call("BesselK1", x),
        "The modified Bessel function K0.",
    ),
    "BesselK0e": (
        lambda x, y: y - _call("BesselK1e", x),
        "exp(x) times K0(x).",
    ),
    "BesselK1": (
        lambda x, y: -_call("BesselK0", x) - math_ops.div(y, x),
        "The modified Bessel function K1.",
    ),
    "BesselK1e": (
        lambda x, y: y * (1.0 - math_ops.reciprocal(x)) - _call("BesselK0e", x),
        "exp(x) times K1(x).",
    ),
    "Dawsn": (lambda x, y: 1.0 - 2 * x * y, "Dawson's integral."),
    "Expint": (lambda x, y: math_ops.exp(x) / x, "The exponential integral Ei."),
    "FresnelCos": (
        lambda x, y: math_ops.cos(_HALF_PI * math_ops.square(x)),
        "The Fresnel integral of the cosine.",
    ),
    "FresnelSin": (
        lambda x, y: math_ops.sin(_HALF_PI * math_ops.square(x)),
        "The Fresnel integral of the sine.",
    ),
    "Spence": (_spence_slope, "Spence's integral, the dilogarithm of 1 - x."),
    "Ndtri": (
        lambda x, y: math.sqrt(2 * math.pi) * math_ops.exp(math_ops.square(y) / 2.0),
        "The inverse of the normal distribution function.",
    ),
    "Erfinv": (
        lambda x, y: math.sqrt(math.pi) / 2 * math_ops.exp(math_ops.square(y)),
        "The inverse of the error function.",
    ),
}


def _gradient(slope: _Slope) -> Any:
    def gradient(op: Operation, grad: Tensor) -> Tensor:
        with control_dependencies([grad]):
            return grad * slope(op.inputs[0], op.outputs[0])

    return gradient


for _op, (_slope, _doc) in _SLOPES.items():
    register_op(
        _op,
        inputs=["x: T"],
        outputs=["y: T"],
        attrs=["T: {bfloat16, half, float, double}"],
        shape_fn=unchanged_shape,
        gradient=_gradient(_slope),
        doc=_doc,
    )


def _xlog1py_grad(op: Operation, grad: Tensor) -> list[Tensor | None]:
    x, y = op.inputs
    to_x, to_y = reductions(x, y)
    with control_dependencies([grad]):
        x, y = math_ops.conj(x), math_ops.conj(y)
        zero = math_ops.cast(0.0, x.dtype)
        not_zero = math_ops.cast(math_ops.not_equal(x, zero), x.dtype)
        partial_x = apply_op("Xlog1py", x=not_zero, y=y)
        partial_y = apply_op("Xdivy", x=x, y=y + 1.0)
        return [to_x(partial_x * grad), to_y(partial_y * grad)]


register_op(
    "Xlog1py",
    inputs=["x: T", "y: T"],
    outputs=["z: T"],
    attrs=["T: {half, bfloat16, float, double, complex64, complex128}"],
    shape_fn=broadcast_binary_shape,
    gradient=_xlog1py_grad,
    doc="x * log(1 + y), 0 where x is 0.",
)
