"""Unary elementwise ops: y = f(x) with the shape of x."""

from __future__ import annotations

from typing import Any, Final, Protocol

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import (
    NOT_DIFFERENTIABLE,
    register_op,
)
from tensorloom.framework.registry.shape_inference import unchanged_shape
from tensorloom.framework.types.tensor_conversion import convert_to_tensor

_REALS: Final = "bfloat16, half, float, double"
_FLOATS: Final = f"{_REALS}, complex64, complex128"
_NUMBERS: Final = f"{_REALS}, int32, int64, complex64, complex128, int8, int16"
_LONG_NUMBERS: Final = f"{_REALS}, int32, int64, complex64, complex128"


class UnaryBuilder(Protocol):
    """`f(x, name=None)`: adds the op."""

    def __call__(self, x: Any, name: str | None = None) -> Tensor: ...


def _register(
    op: str, types: str, doc: str, output: str = "y: T", gradient: Any = None
) -> None:
    register_op(
        op,
        inputs=["x: T"],
        outputs=[output],
        attrs=[f"T: {{{types}}}"],
        shape_fn=unchanged_shape,
        gradient=gradient,
        doc=doc,
    )


def unary_builder(op: str, *names: str, doc: str) -> UnaryBuilder:
    """The public builder of a unary op, exported under `names`."""

    def build(x: Any, name: str | None = None) -> Tensor:
        return apply_op(op, name, x=x)  # type: ignore[no-any-return]

    build.__name__ = build.__qualname__ = names[0].rpartition(".")[2]
    build.__doc__ = doc
    return export(*names)(build)


def _unary(op: str, types: str, doc: str, *names: str) -> UnaryBuilder:
    _register(op, types, doc)
    return unary_builder(op, *names, doc=doc)


def _test(op: str, doc: str, *names: str) -> UnaryBuilder:
    _register(op, _REALS, doc, output="y: bool")
    return unary_builder(op, *names, doc=doc)


# --- signs and powers --------------------------------------------------------

_register(
    "Abs",
    f"{_REALS}, int8, int16, int32, int64",
    "The absolute value, elementwise.",
)
negative = _unary("Neg", _NUMBERS, "-x, elementwise.", "negative", "math.negative")
sign = _unary(
    "Sign",
    _NUMBERS,
    "-1, 0 or 1 by the sign of x; x / |x| for complex x.",
    "sign",
    "math.sign",
)
square = _unary(
    "Square",
    f"{_NUMBERS}, uint8, uint16, uint32, uint64",
    "x * x, elementwise.",
    "square",
    "math.square",
)
sqrt = _unary("Sqrt", _FLOATS, "The square root.", "sqrt", "math.sqrt")
rsqrt = _unary("Rsqrt", _FLOATS, "1 / sqrt(x).", "rsqrt", "math.rsqrt")
reciprocal = _unary(
    "Reciprocal",
    _NUMBERS,
    "1 / x, elementwise.",
    "math.reciprocal",
    "reciprocal",
)
_register("Inv", _NUMBERS, "1 / x, elementwise.")

# --- exponentials and logarithms ---------------------------------------------

exp = _unary("Exp", _FLOATS, "e ** x.", "exp", "math.exp")
expm1 = _unary("Expm1", _FLOATS, "e ** x - 1.", "math.expm1", "expm1")
log = _unary("Log", _FLOATS, "ln x.", "math.log", "log")
log1p = _unary("Log1p", _FLOATS, "ln(1 + x).", "math.log1p", "log1p")
_register("Sigmoid", _FLOATS, "1 / (1 + e ** -x).")
_register("Tanh", _FLOATS, "The hyperbolic tangent.")

# --- trigonometry ------------------------------------------------------------

sin = _unary("Sin", _FLOATS, "The sine.", "math.sin", "sin")
cos = _unary("Cos", _FLOATS, "The cosine.", "math.cos", "cos")
tan = _unary("Tan", _LONG_NUMBERS, "The tangent.", "math.tan", "tan")
asin = _unary("Asin", _LONG_NUMBERS, "The inverse sine.", "math.asin", "asin")
acos = _unary("Acos", _LONG_NUMBERS, "The inverse cosine.", "math.acos", "acos")
atan = _unary("Atan", _LONG_NUMBERS, "The inverse tangent.", "math.atan", "atan")
sinh = _unary("Sinh", _FLOATS, "The hyperbolic sine.", "math.sinh", "sinh")
cosh = _unary("Cosh", _FLOATS, "The hyperbolic cosine.", "math.cosh", "cosh")
asinh = _unary(
    "Asinh",
    _FLOATS,
    "The inverse hyperbolic sine.",
    "math.asinh",
    "asinh",
)
acosh = _unary(
    "Acosh",
    _FLOATS,
    "The inverse hyperbolic cosine.",
    "math.acosh",
    "acosh",
)
atanh = _unary(
    "Atanh",
    _FLOATS,
    "The inverse hyperbolic tangent.",
    "math.atanh",
    "atanh",
)

# --- rounding and tests ------------------------------------------------------

floor = _unary("Floor", _REALS, "The next integer below.", "floor", "math.floor")
ceil = _unary("Ceil", _REALS, "The next integer above.", "math.ceil", "ceil")
rint = _unary(
    "Rint",
    _REALS,
    "The nearest integer; halves go to the even one.",
    "math.rint",
    "rint",
)
_register("Round", _NUMBERS, "The nearest integer; halves go to the even one.")
is_nan = _test("IsNan", "Where x is NaN.", "math.is_nan", "debugging.is_nan", "is_nan")
is_inf = _test(
    "IsInf", "Where x is infinite.", "math.is_inf", "debugging.is_inf", "is_inf"
)
is_finite = _test(
    "IsFinite",
    "Where x is neither infinite nor NaN.",
    "math.is_finite",
    "debugging.is_finite",
    "is_finite",
)

# --- error and gamma functions -----------------------------------------------

erf = _unary("Erf", _REALS, "The error function.", "math.erf", "erf")
erfc = _unary("Erfc", _REALS, "1 - erf(x).", "math.erfc", "erfc")
lgamma = _unary(
    "Lgamma",
    _REALS,
    "ln |gamma(x)|.",
    "math.lgamma",
    "lgamma",
)
digamma = _unary(
    "Digamma",
    _REALS,
    "The derivative of ln gamma(x).",
    "math.digamma",
    "digamma",
)
bessel_i0e = _unary(
    "BesselI0e",
    _REALS,
    "The Bessel function I0(x), times e ** -|x|.",
    "math.bessel_i0e",
)
bessel_i1e = _unary(
    "BesselI1e",
    _REALS,
    "The Bessel function I1(x), times e ** -|x|.",
    "math.bessel_i1e",
)

# --- gradients that are ops --------------------------------------------------


def _register_gradient_op(op: str, doc: str) -> None:
    register_op(
        op,
        inputs=["y: T", "dy: T"],
        outputs=["z: T"],
        attrs=[f"T: {{{_FLOATS}}}"],
        shape_fn=unchanged_shape,
        doc=doc,
    )


_register_gradient_op("TanhGrad", "The gradient of Tanh: dy * (1 - y * y).")
_register_gradient_op("SigmoidGrad", "The gradient of Sigmoid: dy * y * (1 - y).")
_register_gradient_op("SqrtGrad", "The gradient of Sqrt: dy * 0.5 / y.")
_register_gradient_op("RsqrtGrad", "The gradient of Rsqrt: dy * -0.5 * y ** 3.")
for _op in ("ReciprocalGrad", "InvGrad"):
    _register_gradient_op(_op, "The gradient of Reciprocal: -dy * y * y.")


def reciprocal_grad(y: Any, dy: Any) -> Tensor:
    """The gradient of y = 1 / x."""
    return apply_op("ReciprocalGrad", y=y, dy=dy)  # type: ignore[no-any-return]


def sqrt_grad(y: Any, dy: Any) -> Tensor:
    """The gradient of y = sqrt(x)."""
    return apply_op("SqrtGrad", y=y, dy=dy)  # type: ignore[no-any-return]


def rsqrt_grad(y: Any, dy: Any) -> Tensor:
    """The gradient of y = 1 / sqrt(x)."""
    return apply_op("RsqrtGrad", y=y, dy=dy)  # type: ignore[no-any-return]


def tanh_grad(y: Any, dy: Any) -> Tensor:
    """The gradient of y = tanh(x)."""
    return apply_op("TanhGrad", y=y, dy=dy)  # type: ignore[no-any-return]


def sigmoid_grad(y: Any, dy: Any) -> Tensor:
    """The gradient of y = sigmoid(x)."""
    return apply_op("SigmoidGrad", y=y, dy=dy)  # type: ignore[no-any-return]


# --- builders with more to them ----------------------------------------------


@export("math.abs", "abs")
def abs(x: Any, name: str | None = None) -> Tensor:
    """The absolute value; of a complex x, its modulus as a real tensor."""
    with name_scope(name, "Abs", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_complex:
            return apply_op(  # type: ignore[no-any-return]
                "ComplexAbs", x=x, Tout=x.dtype.real_dtype, name=scope
            )
        return apply_op("Abs", x=x, name=scope)  # type: ignore[no-any-return]


@export("math.round", "round")
def round(x: Any, name: str | None = None) -> Tensor:
    """The nearest integer, halves to the even one; integers stay what they are."""
    x = convert_to_tensor(x, name="x")
    if x.dtype.is_integer:
        return x  # type: ignore[no-any-return]
    return apply_op("Round", x=x, name=name)  # type: ignore[no-any-return]


tanh = unary_builder(
    "Tanh", "math.tanh", "nn.tanh", "tanh", doc="The hyperbolic tangent."
)


@export("math.sigmoid", "nn.sigmoid", "sigmoid")
def sigmoid(x: Any, name: str | None = None) -> Tensor:
    """1 / (1 + e ** -x), elementwise."""
    with name_scope(name, "Sigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return apply_op("Sigmoid", x=x, name=scope)  # type: ignore[no-any-return]


@export("math.log_sigmoid", "log_sigmoid")
def log_sigmoid(x: Any, name: str | None = None) -> Tensor:
    """ln(sigmoid(x)), computed as -softplus(-x)."""
    with name_scope(name, "LogSigmoid", [x]) as scope:
        x = convert_to_tensor(x, name="x")
        return negative(apply_op("Softplus", features=-x), name=scope)


# --- bits --------------------------------------------------------------------

_INTEGERS: Final = "int8, int16, int32, int64, uint8, uint16, uint32, uint64"
_register("Invert", _INTEGERS, "Every bit flipped.", gradient=NOT_DIFFERENTIABLE)
invert = unary_builder("Invert", "bitwise.invert", doc="Every bit flipped.")
_register(
    "PopulationCount",
    _INTEGERS,
    "How many bits are set.",
    output="y: uint8",
    gradient=NOT_DIFFERENTIABLE,
)
