"""Specs of Abs, Acos, Acosh, Add, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.spec import Tolerance, call, spec
from tests.peer.ops.specs.shared.elementwise import (
    POLYNOMIALS,
    plain,
    same,
    special,
    unary,
)

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def pair(
    low: float | None = None, high: float | None = None, specials: bool = True
) -> Any:
    """Two inputs that broadcast."""

    def make(d: Draw) -> Any:
        shape = d.shape()
        x = d.array(d.broadcast(shape), low=low, high=high)
        y = d.array(shape, low=low, high=high)
        if specials:
            x, y = special(d, x), special(d, y)
        return (x, y) if d.maybe() else (y, x)

    return make


def nonzero(d: Draw) -> Any:
    """Two inputs; the second has no zeros where that is an error."""
    shape = d.shape()
    x, y = d.array(d.broadcast(shape)), np.asarray(d.array(shape))
    if not d.dtype.is_floating:
        y[y == 0] = 3
    return special(d, x), special(d, y)


def zero_divisor(d: Draw) -> Any:
    return d.array((4,)), np.zeros((4,), d.dtype.np_dtype)


def not_broadcastable(d: Draw) -> Any:
    return d.array((2, 3)), d.array((2, 4))


DIFFERENT = (not_broadcastable,)


spec("Neg Abs Square Sign", unary())


spec("Exp Expm1", unary(-4, 4))


spec("Sin Cos Tan", plain(-1.5, 1.5), tolerance=POLYNOMIALS)


spec(
    "Tanh Sigmoid Sinh Cosh Asinh Atan Erf Erfc",
    unary(),
    tolerance=POLYNOMIALS,
)


spec("Sqrt Rsqrt Log", unary(0.1, 9))


spec("Log1p", unary(-0.9, 9))


spec("Reciprocal Inv", unary(0.1, 9))


spec("Acos Asin Atanh", plain(-0.95, 0.95), tolerance=POLYNOMIALS)


spec("Acosh", plain(1.1, 9), tolerance=POLYNOMIALS)


spec("Lgamma Digamma", plain(0.2, 9), tolerance=POLYNOMIALS)


spec("Floor Ceil Round Rint IsFinite IsInf IsNan", unary())


spec("BesselI0e BesselI1e", plain(-8, 8), tolerance=POLYNOMIALS)


spec("Invert PopulationCount", plain(-100, 100))


spec("LogicalNot", lambda d: (d.array(dtype="bool"),), types=())


spec("Add AddV2 Sub Mul", pair(), bad=DIFFERENT)


spec("Maximum Minimum", pair(), bad=DIFFERENT)


spec("SquaredDifference", pair(), bad=DIFFERENT)


spec("Less LessEqual Greater GreaterEqual Equal NotEqual", pair(), bad=DIFFERENT)


spec("Div RealDiv", nonzero, bad=(*DIFFERENT, zero_divisor))


spec("FloorDiv", nonzero, bad=(*DIFFERENT, zero_divisor))


spec("FloorMod Mod TruncateMod TruncateDiv", nonzero, bad=(*DIFFERENT, zero_divisor))


spec("DivNoNan MulNoNan Xdivy", pair(), bad=DIFFERENT)


spec("Xlogy", pair(0.1, 5, specials=False), bad=DIFFERENT)


spec("Atan2", pair(specials=False), bad=DIFFERENT)


spec("NextAfter", pair(), bad=DIFFERENT)


spec("BitwiseAnd BitwiseOr BitwiseXor", pair(-100, 100), bad=DIFFERENT)


spec("ApproximateEqual", same(), bad=DIFFERENT)


def shift(d: Draw) -> Any:
    shape = d.shape()
    return d.array(shape, low=-100, high=100), d.array(
        d.broadcast(shape), low=0, high=7
    )


spec("LeftShift RightShift", shift, bad=DIFFERENT)


def power(d: Draw) -> Any:
    shape = d.shape()
    base = d.array(shape, low=0.1 if d.dtype.is_floating else -5, high=4)
    high = 3
    return base, d.array(
        d.broadcast(shape), low=-2 if d.dtype.is_floating else 0, high=high
    )


def negative_power(d: Draw) -> Any:
    return d.array((3,)), np.full((3,), -2, d.dtype.np_dtype)


spec("Pow", power, bad=(*DIFFERENT, negative_power))


def logical(d: Draw) -> Any:
    shape = d.shape()
    return d.array(d.broadcast(shape), dtype="bool"), d.array(shape, dtype="bool")


spec("LogicalAnd LogicalOr", logical, types=())


spec("Igamma Igammac", pair(0.2, 5, specials=False), tolerance=POLYNOMIALS)


spec(
    "IgammaGradA",
    pair(0.2, 5, specials=False),
    tolerance=Tolerance(1e-4, 1e-5, "series"),
)


spec("Zeta", pair(1.2, 5, specials=False), tolerance=POLYNOMIALS)


def polygamma(d: Draw) -> Any:
    shape = d.shape()
    order = d.rng.integers(0, 4, shape).astype(d.dtype.np_dtype)
    return order, d.array(shape, low=0.3, high=5)


spec(
    "Polygamma",
    polygamma,
    tolerance=Tolerance(1e-4, 1e-5, "series of the zeta function"),
)


def betainc(d: Draw) -> Any:
    shape = d.shape(0, 2)
    return tuple(d.array(shape, low=0.2, high=h) for h in (4, 4, 0.9))


spec("Betainc", betainc, tolerance=Tolerance(1e-4, 1e-5, "continued fractions"))


# TensorFlow reads beyond the smaller of two inputs of different sizes.
EQUAL = ("dtype",)


spec("TanhGrad SigmoidGrad", same(-0.9, 0.9), mutate=EQUAL)


spec("SqrtGrad RsqrtGrad InvGrad ReciprocalGrad", same(0.2, 4), mutate=EQUAL)


def complex_parts(d: Draw) -> Any:
    shape = d.shape()
    return d.array(d.broadcast(shape)), d.array(shape)


def complex_input(d: Draw) -> Any:
    return call(d.array(), Tout=d.dtype.real_dtype)


spec("Complex", complex_parts, bad=DIFFERENT)


spec("Conj", plain())


spec("Real Imag Angle ComplexAbs", complex_input)


def clip(d: Draw) -> Any:
    shape = d.shape()
    bound = shape if d.maybe(0.4) else ()
    low = d.array(bound, low=0, high=3)
    return special(d, d.array(shape)), low, np.asarray(low + np.asarray(2, low.dtype))


spec("ClipByValue", clip, without=["qint8", "quint8", "qint32"])


def cast(d: Draw) -> Any:
    targets = [
        "float16 bfloat16 float32 float64 int8 int16 int32 int64",
        "uint8 uint16 uint32 uint64 complex64 complex128 bool",
    ]
    target = d.choice(" ".join(targets).split())
    low = 0 if target.startswith("u") else -9
    return call(d.array(low=low, high=100), DstT=target, Truncate=d.maybe())


spec(
    "Cast",
    cast,
    attr="SrcT",
    without=["string", "qint8", "quint8", "qint32"],
    examples=15,
)


def select(d: Draw) -> Any:
    shape = d.shape()
    kind = d.integer(0, 2)
    condition = shape if kind == 0 or not shape else () if kind == 1 else shape[:1]
    return d.array(condition, dtype="bool"), d.array(shape), d.array(shape)


def select_v2(d: Draw) -> Any:
    shape = d.shape()
    parts = [d.broadcast(shape), d.broadcast(shape), shape]
    a, b, c = (parts[i] for i in d.rng.permutation(3))
    return d.array(a, dtype="bool"), d.array(b), d.array(c)


spec("Select", select)


spec("SelectV2", select_v2)
