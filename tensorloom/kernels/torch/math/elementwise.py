"""Kernels of the unary elementwise ops, and of Cast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.math.cast import LOW_BITS, check_castable
from tensorloom.kernels.host.math.elementwise import bucket_boundaries, like_first
from tensorloom.kernels.host.math.errors import check_precision
from tensorloom.kernels.torch.math import vectorized_comparisons
from tensorloom.kernels.torch.math.dtypes import (
    COMPLEX,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REAL_FLOATS,
    TORCH_DTYPES,
)
from tensorloom.kernels.torch.math.half_tables import halves_by_table
from tensorloom.kernels.torch.math.quick_tanh import tanh
from tensorloom.kernels.torch.math.steady_functions import exp, log, sqrt

if TYPE_CHECKING:
    from tensorloom.framework.types.dtypes import DType

_Unary = Callable[[torch.Tensor], torch.Tensor]


def _unary(op: str, function: _Unary, types: frozenset[DType] = FLOATS) -> None:
    kernel(op, types={"T": types})(lambda c: function)


# What torch computes one element at a time, or in so many steps that looking a half up
# in a table is faster.
def _slow_unary(op: str, function: _Unary, types: frozenset[DType] = FLOATS) -> None:
    _unary(op, halves_by_table(function), types)


def _square(x: torch.Tensor) -> torch.Tensor:
    return torch.mul(x, x)


def _atan(x: torch.Tensor) -> torch.Tensor:
    # In half the time that `torch.atan` takes on a CPU.
    return torch.atan2(x, x.new_ones(()))


def _complex_expm1(x: torch.Tensor) -> torch.Tensor:
    # Eigen's formula, which leaves the strip of principal logarithms, as it is.
    u = torch.exp(x)
    um1 = u - 1
    result = torch.where(um1 == -1, um1, um1 * x / torch.log(u))
    return torch.where(u == 1, x, result)


def _digamma(x: torch.Tensor) -> torch.Tensor:
    # TensorFlow says +inf at every pole, and at minus infinity.
    poles = (x <= 0) & (x == torch.floor(x))
    return torch.digamma(x).masked_fill_(poles, float("inf"))


_FLOAT_FUNCTIONS: tuple[tuple[str, _Unary], ...] = (
    ("Sin", torch.sin),
    ("Cos", torch.cos),
    ("Asin", torch.asin),
    ("Acos", torch.acos),
    ("Exp", exp),
    ("Log", log),
    ("Log1p", torch.log1p),
    ("Sqrt", sqrt),
    ("Rsqrt", torch.rsqrt),
    ("Sigmoid", torch.sigmoid),
    ("Reciprocal", torch.reciprocal),
    ("Inv", torch.reciprocal),
)
_SLOW_FUNCTIONS: tuple[tuple[str, _Unary], ...] = (
    ("Tan", torch.tan),
    ("Sinh", torch.sinh),
    ("Cosh", torch.cosh),
    ("Tanh", tanh),
    ("Asinh", torch.asinh),
    ("Acosh", torch.acosh),
    ("Atanh", torch.atanh),
)
_REAL_FUNCTIONS: tuple[tuple[str, _Unary], ...] = (
    ("Floor", torch.floor),
    ("Ceil", torch.ceil),
    ("Rint", torch.round),
    ("Round", torch.round),
    ("Erf", torch.erf),
    ("IsNan", vectorized_comparisons.is_nan),
    ("IsInf", vectorized_comparisons.is_inf),
    ("IsFinite", vectorized_comparisons.is_finite),
)
_SLOW_REAL_FUNCTIONS: tuple[tuple[str, _Unary], ...] = (
    ("Expm1", torch.expm1),
    ("Atan", _atan),
    ("Erfc", torch.erfc),
    ("Lgamma", torch.lgamma),
    ("Digamma", _digamma),
    ("BesselI0e", torch.special.i0e),
    ("BesselI1e", torch.special.i1e),
)
for _op, _function in _FLOAT_FUNCTIONS:
    _unary(_op, _function)
for _op, _function in _SLOW_FUNCTIONS:
    _slow_unary(_op, _function)
for _op, _function in _SLOW_REAL_FUNCTIONS:
    _slow_unary(_op, _function, REAL_FLOATS)
_unary("Expm1", _complex_expm1, COMPLEX)
_unary("Atan", torch.atan, COMPLEX)
for _op, _function in _REAL_FUNCTIONS:
    _unary(_op, _function, REAL_FLOATS)
_unary("Round", torch.round, INTEGERS)
_unary("Neg", torch.neg, NUMBERS)
_unary("Square", _square, NUMBERS)
_unary("Abs", torch.abs, NUMBERS)
_unary("Sign", torch.sign, INTEGERS | REAL_FLOATS)
_unary("Sign", torch.sgn, COMPLEX)
_unary("Invert", torch.bitwise_not, INTEGERS)


@kernel("LogicalNot")
def _logical_not(c: OpKernelConstruction) -> Compute:
    return torch.logical_not


@kernel("Conj", types={"T": COMPLEX})
def _conj(c: OpKernelConstruction) -> Compute:
    # torch.conj would only mark the tensor, which NumPy cannot read.
    return torch.conj_physical


@kernel("Real", aliases=True)
def _real(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    return torch.real


@kernel("Imag", aliases=True)
def _imag(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    return torch.imag


@kernel("Angle")
def _angle(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    return torch.angle


@kernel("ComplexAbs")
def _complex_abs(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    return torch.abs


@kernel("Bucketize", types={"T": REAL_FLOATS | INTEGERS})
def _bucketize(c: OpKernelConstruction) -> Compute:
    boundaries = torch.tensor(
        bucket_boundaries(c), dtype=torch.float32, device=c.torch_device
    )
    return lambda x: torch.bucketize(x, boundaries, out_int32=True, right=True)


# --- gradients of unary ops: f'(x) dy from y = f(x) --------------------------

_tanh_backward = torch.ops.aten.tanh_backward.default
_sigmoid_backward = torch.ops.aten.sigmoid_backward.default


@kernel("TanhGrad", types={"T": FLOATS})
def _tanh_grad(c: OpKernelConstruction) -> Compute:
    if c["T"].is_complex:  # torch would conjugate
        return like_first(c, lambda y, dy: dy * (1 - y * y))
    return like_first(c, lambda y, dy: _tanh_backward(dy, y))


@kernel("SigmoidGrad", types={"T": FLOATS})
def _sigmoid_grad(c: OpKernelConstruction) -> Compute:
    if c["T"].is_complex:
        return like_first(c, lambda y, dy: dy * ((1 - y) * y))
    return like_first(c, lambda y, dy: _sigmoid_backward(dy, y))


def _conjugate(c: OpKernelConstruction) -> _Unary:
    return torch.conj_physical if c["T"].is_complex else lambda y: y


def _zero_for_zero(dy: torch.Tensor, gradient: torch.Tensor) -> torch.Tensor:
    """0 where dy is 0, whatever it was multiplied by: infinity or NaN, too."""
    return gradient.masked_fill_(dy == 0, 0)


@kernel("SqrtGrad", types={"T": FLOATS})
def _sqrt_grad(c: OpKernelConstruction) -> Compute:
    conj = _conjugate(c)

    def compute(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
        return _zero_for_zero(dy, (dy * 0.5).div_(conj(y)))

    return like_first(c, compute)


@kernel("RsqrtGrad", types={"T": FLOATS})
def _rsqrt_grad(c: OpKernelConstruction) -> Compute:
    conj = _conjugate(c)

    def compute(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
        y = conj(y)
        return _zero_for_zero(dy, (y * y).mul_(y).mul_(dy).mul_(-0.5))

    return like_first(c, compute)


@kernel(("ReciprocalGrad", "InvGrad"), types={"T": FLOATS})
def _reciprocal_grad(c: OpKernelConstruction) -> Compute:
    conj = _conjugate(c)

    def compute(y: torch.Tensor, dy: torch.Tensor) -> torch.Tensor:
        y = conj(y)
        return _zero_for_zero(dy, (y * y).mul_(dy).neg_())

    return like_first(c, compute)


# --- Cast --------------------------------------------------------------------


@kernel("Cast")
def _cast(c: OpKernelConstruction) -> Compute:
    source, target = c["SrcT"].base_dtype, c["DstT"].base_dtype
    check_castable(source, target)
    truncates = c.get("Truncate", False)
    if source.is_complex and not target.is_complex and not target.is_bool:
        inner = _real_cast(source.real_dtype, target, truncates)
        return lambda x: inner(x.real)
    if truncates and (source, target) == (dtypes.complex128, dtypes.complex64):
        inner = _real_cast(dtypes.float64, dtypes.float32, True)
        return lambda x: torch.view_as_complex(inner(torch.view_as_real(x)))
    return _real_cast(source, target, truncates)


def _real_cast(source: Any, target: Any, truncates: bool) -> Compute:
    to = TORCH_DTYPES[target]
    if truncates and (source, target) == (dtypes.float32, dtypes.bfloat16):
        return _truncate_to_bfloat16
    if truncates and (source, target) in LOW_BITS:
        mask = -(1 << LOW_BITS[source, target])
        return lambda x: _without_low_bits(x, mask).to(to)
    if source.is_floating and target is dtypes.uint32:
        # The low half of the signed conversion, as the CPU's instruction gives it.
        return lambda x: x.to(torch.int64).to(to)
    if source.is_bool and target.is_floating:
        # torch goes through these bytes in vectors, through bools one at a time.
        return lambda x: x.view(torch.uint8).to(to)
    if (source, target) == (dtypes.float32, dtypes.uint8):
        # In vectors too. What int32 does not hold has no low byte but 0.
        return lambda x: x.to(torch.int32).to(to)
    return lambda x: x.to(to, copy=True)


def _truncate_to_bfloat16(x: torch.Tensor) -> torch.Tensor:
    bits = x.to(torch.float32).view(torch.int32).bitwise_right_shift(16)
    return bits.to(torch.int16).view(torch.bfloat16)


def _without_low_bits(x: torch.Tensor, mask: int) -> torch.Tensor:
    bits = torch.int64 if x.dtype == torch.float64 else torch.int32
    kept = x.contiguous().view(bits).bitwise_and(mask).view(x.dtype)
    return torch.where(torch.isnan(x), x, kept)
