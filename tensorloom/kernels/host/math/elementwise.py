"""Host kernels of the unary elementwise ops."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.buffer_forwarding import makes_array
from tensorloom.kernels.host.math.errors import check_precision, shape_text

NATIVE_FLOATS = {"T": {dtypes.float32, dtypes.float64}}
_COMPLEX = {"T": {dtypes.complex64, dtypes.complex128}}
# NumPy would make float64 of integers; TensorFlow has no such kernels.
_FLOATS = {"T": NATIVE_FLOATS["T"] | _COMPLEX["T"] | {dtypes.float16, dtypes.bfloat16}}
_INTEGERS = {"T": {dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64}}


def _unary(op: str, function: Compute, inline: str = "") -> None:
    """Registers `function`; `inline` serves the dtypes that have NumPy scalars."""
    host_kernel(op, types=_FLOATS)(lambda c: function)
    if inline:
        host_kernel(op, types=NATIVE_FLOATS, inline=inline)(lambda c: function)


@makes_array
def _sigmoid(x: Any) -> Any:
    if not isinstance(x, np.ndarray) or not x.ndim:
        return 1 / (1 + np.exp(-x))
    y = np.negative(x)
    np.exp(y, y)
    one = _ONES.get(y.dtype)
    if one is None:
        return 1 / (1 + y)
    return np.reciprocal(np.add(y, one, y), y)


# As arrays: NumPy takes longer over a scalar of its own, and over one of Python's.
_ONES = {np.dtype(t): np.array(1, t) for t in (np.float16, np.float32, np.float64)}


@makes_array
def _reciprocal(x: Any) -> Any:
    return 1 / x


@makes_array
def _rsqrt(x: Any) -> Any:
    return 1 / np.sqrt(x)


@makes_array
def _square(x: Any) -> Any:
    return x * x


@makes_array
def _tanh_grad(y: Any, dy: Any) -> Any:
    return dy * (1 - y * y)


@makes_array
def _sigmoid_grad(y: Any, dy: Any) -> Any:
    return dy * ((1 - y) * y)


def _zero_for_zero(dy: Any, gradient: Any) -> Any:
    """0 where dy is 0, whatever it was multiplied by: infinity or NaN, too."""
    return np.where(dy == 0, dy.dtype.type(0), gradient)[()]


@makes_array
def _sqrt_grad(y: Any, dy: Any) -> Any:
    return _zero_for_zero(dy, dy / (np.conj(y) * 2))


@makes_array
def _rsqrt_grad(y: Any, dy: Any) -> Any:
    y = np.conj(y)
    return _zero_for_zero(dy, -dy * (y * y * y) / 2)


@makes_array
def _reciprocal_grad(y: Any, dy: Any) -> Any:
    y = np.conj(y)
    return _zero_for_zero(dy, -dy * (y * y))


def like_first(c: OpKernelConstruction, compute: Compute) -> Compute:
    """The gradient `compute(y, dy)` for a `dy` that may not have the shape of y.

    TensorFlow's result has the shape of y: it takes as many elements of dy as y has, in
    order, and reads past its end where there are not so many. Those are refused here.
    Both may be NumPy values or torch tensors.

    Raises:
      InvalidArgumentError: when run, dy has fewer elements than y.
    """
    shape, other = c.input_shapes
    if shape.is_fully_defined() and shape.dims_tuple == other.dims_tuple:
        return compute

    @makes_array
    def fitted(y: Any, dy: Any) -> Any:
        if y.shape == dy.shape:
            return compute(y, dy)
        count = math.prod(y.shape)
        if math.prod(dy.shape) < count:
            raise invalid_argument(
                f"A gradient of {math.prod(dy.shape)} elements for {count}: shapes "
                f"{shape_text(dy.shape)} and {shape_text(y.shape)}"
            )
        return compute(y, dy.reshape(-1)[:count].reshape(y.shape))

    return fitted


for _op in ("Sin", "Cos", "Tan", "Sinh", "Cosh", "Tanh", "Exp", "Log"):
    _unary(_op, getattr(np, _op.lower()), f"np.{_op.lower()}({{0}})")
host_kernel("Expm1", types=NATIVE_FLOATS, inline="np.expm1({0})")(lambda c: np.expm1)
host_kernel("Expm1", types={"T": _FLOATS["T"] - _COMPLEX["T"]})(lambda c: np.expm1)
for _op in ("Log1p", "Sqrt", "Floor", "Ceil"):
    _unary(_op, getattr(np, _op.lower()), f"np.{_op.lower()}({{0}})")
_unary("Rint", np.rint, "np.rint({0})")
_unary("Round", np.rint, "np.rint({0})")
host_kernel("Round", types=_INTEGERS)(lambda c: np.positive)
_unary("Sigmoid", _sigmoid, "(1 / (1 + np.exp(-{0})))")
_unary("Rsqrt", _rsqrt, "(1 / np.sqrt({0}))")
for _op in ("Reciprocal", "Inv"):
    _unary(_op, _reciprocal, "(1 / {0})")
for _op, _name in (
    ("Asin", "arcsin"),
    ("Acos", "arccos"),
    ("Atan", "arctan"),
    ("Asinh", "arcsinh"),
    ("Acosh", "arccosh"),
    ("Atanh", "arctanh"),
):
    _unary(_op, getattr(np, _name), f"np.{_name}({{0}})")

# Negation, squares and absolute values hold for integers too, and wrap there.
host_kernel("Neg", inline="(-{0})")(lambda c: np.negative)
host_kernel("Square", inline="({0} * {0})")(lambda c: _square)
host_kernel("Abs", inline="abs({0})")(lambda c: np.abs)

host_kernel("IsNan")(lambda c: np.isnan)
host_kernel("IsInf")(lambda c: np.isinf)
host_kernel("IsFinite")(lambda c: np.isfinite)
host_kernel("IsNan", types=NATIVE_FLOATS, inline="({0} != {0})")(lambda c: np.isnan)
host_kernel("TanhGrad", inline="({1} * (1 - {0} * {0}))", types=NATIVE_FLOATS)(
    lambda c: like_first(c, _tanh_grad)
)
host_kernel("SigmoidGrad", inline="({1} * ((1 - {0}) * {0}))", types=NATIVE_FLOATS)(
    lambda c: like_first(c, _sigmoid_grad)
)
host_kernel(
    "SqrtGrad",
    inline="({1} / ({0} * 2) if {1} else {1} * {1})",
    types=NATIVE_FLOATS,
)(lambda c: like_first(c, _sqrt_grad))
host_kernel("RsqrtGrad")(lambda c: like_first(c, _rsqrt_grad))
for _op in ("ReciprocalGrad", "InvGrad"):
    host_kernel(_op)(lambda c: like_first(c, _reciprocal_grad))


@host_kernel("Sign")
def _sign(c: OpKernelConstruction) -> Compute:
    dtype = c["T"].np_dtype

    def compute(x: Any) -> Any:
        # NaN has sign zero in TensorFlow, and is NaN in NumPy.
        return np.subtract(np.greater(x, 0), np.less(x, 0), dtype=np.int8).astype(dtype)

    return compute


@host_kernel("Sign", types=_COMPLEX)
def _sign_complex(c: OpKernelConstruction) -> Compute:
    return np.sign


def _by_element(op: str, function: Callable[[float], float]) -> None:
    """A function of the `math` module, element by element: good for a few of them."""

    @host_kernel(op)
    def _factory(c: OpKernelConstruction) -> Compute:
        dtype = c["T"].np_dtype

        def compute(x: Any) -> Any:
            if x.ndim == 0:
                return dtype.type(function(float(x)))
            values = [function(v) for v in x.astype(np.float64).ravel().tolist()]
            return np.array(values, dtype).reshape(x.shape)

        return compute


def _lgamma(x: float) -> float:
    try:
        return math.lgamma(x)
    except ValueError:  # at a pole
        return math.inf


_by_element("Erf", math.erf)
_by_element("Erfc", math.erfc)
_by_element("Lgamma", _lgamma)


@host_kernel("LogicalNot", inline="(np.False_ if {0} else np.True_)")
def _logical_not(c: OpKernelConstruction) -> Compute:
    return np.logical_not


@host_kernel("Invert")
def _invert(c: OpKernelConstruction) -> Compute:
    return np.invert


@host_kernel("PopulationCount", large=True)
def _population_count(c: OpKernelConstruction) -> Compute:
    dtype = c["T"].np_dtype
    unsigned = np.dtype(f"u{dtype.itemsize}")

    def compute(x: Any) -> Any:
        return np.bitwise_count(x.view(unsigned))

    return compute


@host_kernel("Conj")
def _conj(c: OpKernelConstruction) -> Compute:
    return np.conj


@host_kernel("Real", aliases=True)
def _real(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    return lambda x: x.real


@host_kernel("Imag", aliases=True)
def _imag(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    return lambda x: x.imag


@host_kernel("Angle")
def _angle(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    return np.angle


@host_kernel("ComplexAbs")
def _complex_abs(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    return np.abs


def bucket_boundaries(c: OpKernelConstruction) -> list[float]:
    """The boundaries of Bucketize.

    Raises:
      InvalidArgumentError: they are not in order.
    """
    boundaries: list[float] = c["boundaries"]
    return _in_order(boundaries)


def _in_order(boundaries: list[float]) -> list[float]:
    if any(b < a for a, b in itertools.pairwise(boundaries)):
        raise invalid_argument("Expected sorted boundaries")
    return boundaries


@host_kernel("Bucketize")
def _bucketize(c: OpKernelConstruction) -> Compute:
    boundaries = np.array(bucket_boundaries(c), np.float32)

    def compute(x: Any) -> Any:
        return np.searchsorted(boundaries, x, side="right").astype(np.int32)

    return compute


@host_kernel("BucketizeWithInputBoundaries", large=True)
def _bucketize_with_input(c: OpKernelConstruction) -> Compute:
    dtype = c["T"].as_numpy_dtype

    def compute(x: Any, boundaries: Any) -> Any:
        ends = np.asarray(boundaries).reshape(-1)
        _in_order(ends.tolist())
        # Compared as numbers of the input's dtype, as TensorFlow does.
        places = np.searchsorted(ends.astype(dtype), x, side="right")
        return places.astype(np.int32)

    return compute
