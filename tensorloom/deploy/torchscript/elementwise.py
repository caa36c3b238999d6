"""Ops that work on each element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.deploy.program import Unexportable
from tensorloom.deploy.torchscript.registry import writer
from tensorloom.framework.types import dtypes

if TYPE_CHECKING:
    from tensorloom.deploy.torchscript.source import Line

# The expression of an op, with {0}, {1}, ... for its inputs.
_EXPRESSIONS: Final = {
    "Abs": "torch.abs({0})",
    "Acos": "torch.acos({0})",
    "Acosh": "torch.acosh({0})",
    "Add": "torch.add({0}, {1})",
    "AddV2": "torch.add({0}, {1})",
    "Asin": "torch.asin({0})",
    "Asinh": "torch.asinh({0})",
    "Atan": "torch.atan({0})",
    "Atan2": "torch.atan2({0}, {1})",
    "Atanh": "torch.atanh({0})",
    "Ceil": "torch.ceil({0})",
    "ClipByValue": "torch.minimum(torch.maximum({0}, {1}), {2})",
    "Cos": "torch.cos({0})",
    "Cosh": "torch.cosh({0})",
    "DivNoNan": "torch.where({1} == 0, torch.zeros_like({0}), torch.div({0}, {1}))",
    "Elu": "torch.nn.functional.elu({0})",
    "Equal": "torch.eq({0}, {1})",
    "Erf": "torch.erf({0})",
    "Erfc": "torch.erfc({0})",
    "Exp": "torch.exp({0})",
    "Expm1": "torch.expm1({0})",
    "Floor": "torch.floor({0})",
    "FloorDiv": "torch.div({0}, {1}, rounding_mode='floor')",
    "FloorMod": "torch.remainder({0}, {1})",
    "Greater": "torch.gt({0}, {1})",
    "GreaterEqual": "torch.ge({0}, {1})",
    "Inv": "torch.reciprocal({0})",
    "IsFinite": "torch.isfinite({0})",
    "IsInf": "torch.isinf({0})",
    "IsNan": "torch.isnan({0})",
    "Less": "torch.lt({0}, {1})",
    "LessEqual": "torch.le({0}, {1})",
    "Lgamma": "torch.lgamma({0})",
    "Log": "torch.log({0})",
    "Log1p": "torch.log1p({0})",
    "LogicalAnd": "torch.logical_and({0}, {1})",
    "LogicalNot": "torch.logical_not({0})",
    "LogicalOr": "torch.logical_or({0}, {1})",
    "Maximum": "torch.maximum({0}, {1})",
    "Minimum": "torch.minimum({0}, {1})",
    "Mod": "torch.fmod({0}, {1})",
    "Mul": "torch.mul({0}, {1})",
    "Neg": "torch.neg({0})",
    "NotEqual": "torch.ne({0}, {1})",
    "OnesLike": "torch.ones_like({0})",
    "Pow": "torch.pow({0}, {1})",
    "RealDiv": "torch.div({0}, {1})",
    "Reciprocal": "torch.reciprocal({0})",
    "Relu": "torch.relu({0})",
    "Relu6": "torch.nn.functional.relu6({0})",
    "Rint": "torch.round({0})",
    "Round": "torch.round({0})",
    "Rsqrt": "torch.rsqrt({0})",
    "Select": "chosen_rows({0}, {1}, {2})",
    "SelectV2": "torch.where({0}, {1}, {2})",
    "Selu": "torch.nn.functional.selu({0})",
    "Sigmoid": "torch.sigmoid({0})",
    "Sign": "torch.sign({0})",
    "Sin": "torch.sin({0})",
    "Sinh": "torch.sinh({0})",
    "Softplus": "torch.nn.functional.softplus({0})",
    "Softsign": "torch.nn.functional.softsign({0})",
    "Sqrt": "torch.sqrt({0})",
    "Square": "torch.mul({0}, {0})",
    "SquaredDifference": "torch.square(torch.sub({0}, {1}))",
    "Sub": "torch.sub({0}, {1})",
    "Tan": "torch.tan({0})",
    "Tanh": "torch.tanh({0})",
    "TruncateDiv": "torch.div({0}, {1}, rounding_mode='trunc')",
    "TruncateMod": "torch.fmod({0}, {1})",
    "ZerosLike": "torch.zeros_like({0})",
}
_PASSING: Final = (
    *("Identity", "StopGradient", "PreventGradient", "CheckNumerics", "Snapshot"),
    *("EnsureShape", "PlaceholderWithDefault"),
)


@writer(*_EXPRESSIONS)
def _expression(line: Line) -> str:
    return _EXPRESSIONS[line.node.op].format(*line.inputs)


@writer("Div")
def _division(line: Line) -> str:
    if line.node.output_types[0].is_floating:
        return f"torch.div({line[0]}, {line[1]})"
    return f"torch.div({line[0]}, {line[1]}, rounding_mode='trunc')"


@writer("LeakyRelu")
def _leaky_relu(line: Line) -> str:
    return f"torch.nn.functional.leaky_relu({line[0]}, {line.attr('alpha')!r})"


@writer("AddN")
def _add_n(line: Line) -> str:
    return " + ".join(line.inputs)


@writer("Cast")
def _cast(line: Line) -> str:
    if line.node.attrs.get("Truncate") or dtypes.string == line.input_dtype(0):
        raise Unexportable("torch casts otherwise")
    return f"{line[0]}.to({line.type()})"


@writer(*_PASSING)
def _passing(line: Line) -> str:
    return line[0]
