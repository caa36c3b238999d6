"""Ops that work on each element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np

from tensorloom.deploy.onnx.registry import BUILDERS, builder
from tensorloom.deploy.program import Unexportable
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.deploy.onnx.scope import Site

_UNARY: Final = {
    "Abs": "Abs",
    "Acos": "Acos",
    "Acosh": "Acosh",
    "Asin": "Asin",
    "Asinh": "Asinh",
    "Atan": "Atan",
    "Atanh": "Atanh",
    "Ceil": "Ceil",
    "Cos": "Cos",
    "Cosh": "Cosh",
    "Elu": "Elu",
    "Erf": "Erf",
    "Exp": "Exp",
    "Floor": "Floor",
    "IsNan": "IsNaN",
    "IsInf": "IsInf",
    "Log": "Log",
    "LogicalNot": "Not",
    "Neg": "Neg",
    "Reciprocal": "Reciprocal",
    "Inv": "Reciprocal",
    "Relu": "Relu",
    "Rint": "Round",
    "Round": "Round",
    "Selu": "Selu",
    "Sigmoid": "Sigmoid",
    "Sign": "Sign",
    "Sin": "Sin",
    "Sinh": "Sinh",
    "Softplus": "Softplus",
    "Softsign": "Softsign",
    "Sqrt": "Sqrt",
    "Tan": "Tan",
    "Tanh": "Tanh",
}
_BINARY: Final = {
    "Add": "Add",
    "AddV2": "Add",
    "Equal": "Equal",
    "Greater": "Greater",
    "GreaterEqual": "GreaterOrEqual",
    "Less": "Less",
    "LessEqual": "LessOrEqual",
    "LogicalAnd": "And",
    "LogicalOr": "Or",
    "Maximum": "Max",
    "Minimum": "Min",
    "Mul": "Mul",
    "Pow": "Pow",
    "RealDiv": "Div",
    "Sub": "Sub",
}
_PASSING: Final = (
    *("Identity", "StopGradient", "PreventGradient", "CheckNumerics", "Snapshot"),
    *("EnsureShape", "PlaceholderWithDefault"),
)


@builder(*_UNARY)
def _unary(site: Site) -> str:
    op = _UNARY[site.node.op]
    first = site.scope.channels_first.get(site[0])
    # Between convolutions the channels stay in front.
    if first is not None:
        return site.to_channels_last(site.op(op, first), site.rank(0))
    return site.op(op, site[0])


@builder("Relu6")
def _relu6(site: Site) -> str:
    ends = [site.like(0.0, site.dtype()), site.like(6.0, site.dtype())]
    first = site.scope.channels_first.get(site[0])
    if first is not None:
        return site.to_channels_last(site.op("Clip", first, *ends), site.rank(0))
    return site.op("Clip", site[0], *ends)


@builder("LeakyRelu")
def _leaky_relu(site: Site) -> str:
    return site.op("LeakyRelu", site[0], alpha=site.attr("alpha"))


@builder(*_BINARY)
def _binary(site: Site) -> str:
    return site.op(_BINARY[site.node.op], site[0], site[1])


@builder("NotEqual")
def _not_equal(site: Site) -> str:
    return site.op("Not", site.op("Equal", site[0], site[1]))


@builder("Div", "TruncateDiv")
def _division(site: Site) -> str:
    # ONNX cuts off what is behind the point, of negative integers too.
    return site.op("Div", site[0], site[1])


@builder("FloorDiv")
def _floor_division(site: Site) -> str:
    if site.dtype().is_floating:
        return site.op("Floor", site.op("Div", site[0], site[1]))
    rest = site.op("Mod", site[0], site[1])
    return site.op("Div", site.op("Sub", site[0], rest), site[1])


@builder("FloorMod")
def _floor_mod(site: Site) -> str:
    if not site.dtype().is_floating:
        return site.op("Mod", site[0], site[1])
    whole = site.op("Floor", site.op("Div", site[0], site[1]))
    return site.op("Sub", site[0], site.op("Mul", whole, site[1]))


@builder("Mod", "TruncateMod")
def _mod(site: Site) -> str:
    return site.op("Mod", site[0], site[1], fmod=1)


@builder("DivNoNan")
def _div_no_nan(site: Site) -> str:
    zero = site.like(0.0, site.dtype())
    is_zero = site.op("Equal", site[1], zero)
    one = site.op("Where", is_zero, site.like(1.0, site.dtype()), site[1])
    return site.op("Where", is_zero, zero, site.op("Div", site[0], one))


@builder("SquaredDifference")
def _squared_difference(site: Site) -> str:
    away = site.op("Sub", site[0], site[1])
    return site.op("Mul", away, away)


@builder("Square")
def _square(site: Site) -> str:
    return site.op("Mul", site[0], site[0])


@builder("Rsqrt")
def _rsqrt(site: Site) -> str:
    return site.op("Reciprocal", site.op("Sqrt", site[0]))


@builder("Expm1")
def _expm1(site: Site) -> str:
    return site.op("Sub", site.op("Exp", site[0]), site.like(1.0, site.dtype()))


@builder("Log1p")
def _log1p(site: Site) -> str:
    return site.op("Log", site.op("Add", site[0], site.like(1.0, site.dtype())))


@builder("Erfc")
def _erfc(site: Site) -> str:
    return site.op("Sub", site.like(1.0, site.dtype()), site.op("Erf", site[0]))


@builder("AddN")
def _add_n(site: Site) -> str:
    return site.op("Sum", *site.inputs)


@builder("ClipByValue")
def _clip(site: Site) -> str:
    return site.op("Min", site.op("Max", site[0], site[1]), site[2])


@builder("Select", "SelectV2")
def _select(site: Site) -> str:
    chosen = site[0]
    if site.node.op == "Select":
        rank, values = site.shape(0).ndims, site.rank(1)
        if rank == 1 and values > 1:
            # A vector chooses rows.
            chosen = site.op("Reshape", chosen, site.ints(-1, *[1] * (values - 1)))
        elif rank is None:
            raise Unexportable("the rank of its condition is not known")
    return site.op("Where", chosen, site[1], site[2])


@builder("Cast")
def _cast(site: Site) -> str:
    source, dtype = site.input_dtype(0), site.dtype()
    if site.node.attrs.get("Truncate"):
        raise Unexportable("ONNX rounds where this cast truncates")
    if dtypes.string in (source, dtype):
        raise Unexportable("numbers as texts look different in ONNX")
    return site.cast(site[0], dtype)


@builder(*_PASSING)
def _passing(site: Site) -> str:
    return site[0]


@builder("ZerosLike")
def _zeros_like(site: Site) -> str:
    zero = np.zeros([1], site.dtype().as_numpy_dtype)
    return _filled(site, zero)


@builder("OnesLike")
def _ones_like(site: Site) -> str:
    return _filled(site, np.ones([1], site.dtype().as_numpy_dtype))


def _filled(site: Site, value: object) -> str:
    shape = site.op("Shape", site[0])
    return site.op("Expand", site.value(value), shape)


OPS: Final = frozenset(BUILDERS)
