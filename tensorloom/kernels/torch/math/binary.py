"""Kernels of the binary elementwise ops: arithmetic, comparison, logic, bits."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.math.binary import check_select_v2, select
from tensorloom.kernels.host.math.errors import (
    broadcasting,
    check_broadcast,
    check_precision,
    clip_checked,
    division_by_zero,
    negative_exponent,
    same_shapes,
)
from tensorloom.kernels.torch.indexing.quick_select import where, zero_where_zero
from tensorloom.kernels.torch.math import vectorized_comparisons
from tensorloom.kernels.torch.math.complex_division import divide
from tensorloom.kernels.torch.math.dtypes import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REAL_FLOATS,
    REALS,
)
from tensorloom.kernels.torch.math.steady_functions import log

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_Binary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
# Up to here an extra pass costs less than asking whether it is needed.
_SMALL = 4096


def _binary(op: str, function: _Binary, types: frozenset[DType] | None) -> None:
    @kernel(op, types=None if types is None else {"T": types})
    def _factory(c: OpKernelConstruction) -> Compute:
        return broadcasting(c, function)


_binary("Add", torch.add, NUMBERS)
_binary("AddV2", torch.add, NUMBERS)
_binary("Sub", torch.sub, NUMBERS)
_binary("Mul", torch.mul, NUMBERS)
for _op in ("RealDiv", "Div", "TruncateDiv"):
    _binary(_op, torch.div, REAL_FLOATS)
    _binary(_op, divide, COMPLEX)
_binary("Atan2", torch.atan2, REAL_FLOATS)
_binary("FloorMod", torch.remainder, REAL_FLOATS)
_binary("Mod", torch.fmod, REAL_FLOATS)
_binary("TruncateMod", torch.fmod, REAL_FLOATS)
_binary("NextAfter", torch.nextafter, REAL_FLOATS)
_binary("Igamma", torch.special.gammainc, REAL_FLOATS)
_binary("Igammac", torch.special.gammaincc, REAL_FLOATS)


def _floor_div(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.div(x, y).floor_()


def _squared_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    d = torch.sub(x, y)
    return torch.mul(d, d, out=d)


def _squared_complex_difference(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    d = torch.sub(x, y)
    return d * torch.conj_physical(d)


_binary("FloorDiv", _floor_div, REAL_FLOATS)
_binary("SquaredDifference", _squared_difference, REALS)
_binary("SquaredDifference", _squared_complex_difference, COMPLEX)


# Powers that torch computes by products when it knows them: 20 times as fast.
_PLAIN_POWERS = frozenset([-2.0, -1.0, 1.0, 2.0, 3.0])


def _pow(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    if y.dim() == 0 and x.dim() > 0 and (power := y.item()) in _PLAIN_POWERS:
        return torch.pow(x, power)
    return torch.pow(x, y)


@kernel("Pow", types={"T": FLOATS})
def _float_pow(c: OpKernelConstruction) -> Compute:
    # Asking a GPU for the power would wait for it.
    return broadcasting(c, _pow if c.device_type == "CPU" else torch.pow)


# --- integer division --------------------------------------------------------


def _integer_division(op: str, function: _Binary) -> None:
    @kernel(op, types={"T": INTEGERS})
    def _factory(c: OpKernelConstruction) -> Compute:
        if c.device_type == "GPU":
            # As in TensorFlow, the device does not report a zero.
            return broadcasting(c, function)
        fail = division_by_zero(op)

        def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            if not y.all():
                check_broadcast(x.shape, y.shape)
                if x.numel():
                    fail()
            return function(x, y)

        return broadcasting(c, compute)


def _truncated_quotient(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return torch.div(x, y, rounding_mode="trunc")


_integer_division("FloorDiv", torch.floor_divide)
_integer_division("FloorMod", torch.remainder)
for _op in ("Div", "TruncateDiv"):
    _integer_division(_op, _truncated_quotient)
for _op in ("Mod", "TruncateMod"):
    _integer_division(_op, torch.fmod)


@kernel("Pow", types={"T": INTEGERS})
def _integer_pow(c: OpKernelConstruction) -> Compute:
    def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        if y.lt(0).any():
            negative_exponent()
        return torch.pow(x, y)

    return broadcasting(c, compute)


# --- where one operand decides -----------------------------------------------


def _extreme(op: str, function: _Binary, wins: _Binary) -> None:
    """Maximum or Minimum: y where it `wins` over x, else x; so a NaN in y loses."""

    def exact(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return where(wins(y, x), y, x)

    def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        # torch's own function differs only for a NaN in y. The sum tells of one, and
        # reads y in a fraction of the time that writing an output takes.
        if max(x.numel(), y.numel()) > _SMALL or y.dim() == 0:
            total = y.sum().item()
            return function(x, y) if total == total else exact(x, y)
        return exact(x, y)

    @kernel(op, types={"T": REAL_FLOATS})
    def _floats(c: OpKernelConstruction) -> Compute:
        return broadcasting(c, exact if c.device_type == "GPU" else compute)

    _binary(op, function, INTEGERS)


_extreme("Maximum", torch.maximum, torch.gt)
_extreme("Minimum", torch.minimum, torch.lt)


def _zero_where(op: str, function: _Binary, by_x: bool) -> None:
    """`function`, but 0 where x (or y) is 0, whatever the function says there."""

    def exact(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return zero_where_zero(function(x, y), x if by_x else y)

    def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        out = function(x, y)
        # A 0 there changes nothing unless the function says inf or NaN somewhere, and
        # then the sum is not finite.
        if out.numel() > _SMALL and abs(out.sum().item()) < float("inf"):
            return out
        return zero_where_zero(out, x if by_x else y)

    @kernel(op, types={"T": FLOATS})
    def _factory(c: OpKernelConstruction) -> Compute:
        return broadcasting(c, exact if c.device_type == "GPU" else compute)


def _x_log_y(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return x * log(y)


_zero_where("DivNoNan", torch.div, by_x=False)
_zero_where("MulNoNan", torch.mul, by_x=False)
_zero_where("Xdivy", torch.div, by_x=True)
_zero_where("Xlogy", _x_log_y, by_x=True)


# --- comparison and logic ----------------------------------------------------

_binary("Less", vectorized_comparisons.less, REALS)
_binary("LessEqual", vectorized_comparisons.less_equal, REALS)
_binary("Greater", vectorized_comparisons.greater, REALS)
_binary("GreaterEqual", vectorized_comparisons.greater_equal, REALS)
_binary("LogicalAnd", torch.logical_and, None)
_binary("LogicalOr", torch.logical_or, None)


def _equality(op: str, function: _Binary) -> None:
    @kernel(op)
    def _factory(c: OpKernelConstruction) -> Compute:
        checked = broadcasting(c, function)
        if c.get("incompatible_shape_error", True):
            return checked

        def compute(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            try:
                np.broadcast_shapes(x.shape, y.shape)
            except ValueError:
                return torch.tensor(op == "NotEqual", device=x.device)
            return function(x, y)

        return compute


_equality("Equal", vectorized_comparisons.equal)
_equality("NotEqual", vectorized_comparisons.not_equal)


@kernel("ApproximateEqual", types={"T": NUMBERS})
def _approximate_equal(c: OpKernelConstruction) -> Compute:
    tolerance = c["tolerance"]
    return same_shapes(c, lambda x, y: torch.sub(x, y).abs() < tolerance)


@kernel("Select")
def _select(c: OpKernelConstruction) -> Compute:
    shapes = [s.dims_tuple for s in c.input_shapes]
    if None not in shapes and len(set(shapes)) == 1 and None not in shapes[0]:  # type: ignore[operator]
        return where
    return lambda cond, x, y: select(cond, x, y, where)


@kernel("SelectV2")
def _select_v2(c: OpKernelConstruction) -> Compute:
    def compute(cond: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        try:
            return where(cond, x, y)
        except RuntimeError:
            check_select_v2(cond.shape, x.shape, y.shape)
            raise

    return compute


@kernel("ClipByValue", types={"T": REALS})
def _clip_by_value(c: OpKernelConstruction) -> Compute:
    # Where the bounds are the wrong way round, the lower one wins; in torch's clamp the
    # upper one.
    def compute(t: torch.Tensor, low: torch.Tensor, high: torch.Tensor) -> torch.Tensor:
        return torch.clamp(t, low, torch.maximum(low, high))

    return clip_checked(c, compute)


@kernel("Complex")
def _complex(c: OpKernelConstruction) -> Compute:
    check_precision(c)

    def compute(real: torch.Tensor, imag: torch.Tensor) -> torch.Tensor:
        parts = torch.broadcast_tensors(real, imag)  # type: ignore[no-untyped-call]
        return torch.complex(*parts)

    return broadcasting(c, compute)


# --- bits --------------------------------------------------------------------

_binary("BitwiseAnd", torch.bitwise_and, INTEGERS)
_binary("BitwiseOr", torch.bitwise_or, INTEGERS)
_binary("BitwiseXor", torch.bitwise_xor, INTEGERS)


def _shift(op: str, function: _Binary) -> None:
    @kernel(op, types={"T": INTEGERS})
    def _factory(c: OpKernelConstruction) -> Compute:
        bits = c["T"].size * 8 - 1
        # Out of range is clamped, as in TensorFlow's kernel.
        return broadcasting(c, lambda x, y: function(x, y.clamp(0, bits)))


_shift("LeftShift", operator.lshift)
_shift("RightShift", operator.rshift)
