"""Host kernels of the binary elementwise ops: arithmetic, comparison, logic, bits."""

from __future__ import annotations

import operator
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
from tensorloom.kernels.host.indexing.bit_select import where
from tensorloom.kernels.host.math.elementwise import NATIVE_FLOATS
from tensorloom.kernels.host.math.errors import (
    broadcasting,
    check_precision,
    clip_checked,
    division_by_zero,
    negative_exponent,
    same_shapes,
    shape_text,
)

FLOATS = {
    "T": {
        *(dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64),
        *(dtypes.complex64, dtypes.complex128),
    }
}
REAL_FLOATS = {"T": {t for t in FLOATS["T"] if t.is_floating}}
INTEGERS = {
    "T": {
        *(dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64),
        *(dtypes.uint8, dtypes.uint16, dtypes.uint32, dtypes.uint64),
    }
}
# torch has too few functions for these: their host kernels serve any size.
WIDE_UNSIGNED = {"T": {dtypes.uint16, dtypes.uint32, dtypes.uint64}}
STRINGS = {"T": {dtypes.string}}


def _binary(
    op: str,
    function: Compute,
    inline: str = "",
    types: dict[str, set[dtypes.DType]] | None = None,
) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        return broadcasting(c, function)

    host_kernel(op, types=types, inline=inline)(factory)
    if types is None or types is INTEGERS:
        host_kernel(op, types=WIDE_UNSIGNED, inline=inline, large=True)(factory)


# --- arithmetic --------------------------------------------------------------
# `operator` functions: on NumPy scalars they cost a tenth of the ufunc.

for _op in ("Add", "AddV2"):
    _binary(_op, operator.add, "({0} + {1})")


@host_kernel("Add", types=STRINGS, large=True)
def _concatenate(c: OpKernelConstruction) -> Compute:
    def compute(x: Any, y: Any) -> Any:
        return np.asarray(np.add(x, y), object)

    return broadcasting(c, compute)


_binary("Sub", operator.sub, "({0} - {1})")
_binary("Mul", operator.mul, "({0} * {1})")
for _op in ("RealDiv", "Div", "TruncateDiv"):
    _binary(_op, operator.truediv, "({0} / {1})", types=FLOATS)


@makes_array
def _maximum(x: Any, y: Any) -> Any:
    # TensorFlow returns x unless x < y, so a NaN in y is passed over. NumPy's keeps it.
    result = np.maximum(x, y)
    return np.where(np.less(x, y), y, x)[()] if _may_have_nan(result) else result


@makes_array
def _minimum(x: Any, y: Any) -> Any:
    result = np.minimum(x, y)
    return np.where(np.less(y, x), y, x)[()] if _may_have_nan(result) else result


def _may_have_nan(x: Any) -> bool:
    if x.dtype.char not in "fd":
        return x.dtype.kind not in "iu"
    # The fastest way to see one: a sum of squares has no other reason to be NaN.
    total = np.vdot(x, x)
    return bool(total != total)


_binary("Maximum", _maximum, "({1} if {0} < {1} else {0})")
_binary("Minimum", _minimum, "({1} if {1} < {0} else {0})")


@makes_array
def _squared_difference(x: Any, y: Any) -> Any:
    d = x - y
    return d * np.conj(d) if np.iscomplexobj(d) else d * d


_binary("SquaredDifference", _squared_difference)


def _floor_div(x: Any, y: Any) -> Any:
    return np.floor(x / y)


def _masked(function: Callable[[Any, Any], Any], by_x: bool) -> Compute:
    """`function`, but 0 where x (or y) is 0, whatever the function says there."""

    def compute(x: Any, y: Any) -> Any:
        out = function(x, y)
        return np.where((x if by_x else y) == 0, out.dtype.type(0), out)[()]

    return compute


_binary("FloorDiv", _floor_div, "np.floor({0} / {1})", types=REAL_FLOATS)
_binary("FloorMod", np.mod, types=FLOATS)
_binary("Mod", np.fmod, types=FLOATS)
_binary("TruncateMod", np.fmod, types=FLOATS)
_binary("DivNoNan", _masked(operator.truediv, by_x=False))
_binary("MulNoNan", _masked(operator.mul, by_x=False))
_binary("Xdivy", _masked(operator.truediv, by_x=True))
_binary("Xlogy", _masked(lambda x, y: x * np.log(y), by_x=True))
_binary("Atan2", np.arctan2)
_binary("Pow", operator.pow, "({0} ** {1})", types=FLOATS)
_binary("NextAfter", np.nextafter)


def _truncated_quotient(x: Any, y: Any) -> Any:
    quotient = x // y
    # Floor and truncation differ where a negative quotient has a remainder.
    return quotient + ((quotient * y != x) & ((x < 0) != (y < 0)))


def _checked_division(
    op: str, function: Callable[[Any, Any], Any], unsigned: Callable[[Any, Any], Any]
) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        fail = division_by_zero(op)
        divide = unsigned if c["T"].is_unsigned else function
        dtype = c["T"].np_dtype
        if all(s.rank == 0 for s in c.input_shapes):
            return lambda x, y: divide(x, y).astype(dtype) if y else fail()

        def compute(x: Any, y: Any) -> Any:
            out = divide(x, y)
            if out.size and not y.all():
                fail()
            return out.astype(dtype, copy=False) if out.ndim else dtype.type(out)

        return broadcasting(c, compute)

    host_kernel(op, types=INTEGERS)(factory)
    host_kernel(op, types=WIDE_UNSIGNED, large=True)(factory)


_checked_division("FloorDiv", operator.floordiv, operator.floordiv)
_checked_division("FloorMod", operator.mod, operator.mod)
for _op in ("Div", "TruncateDiv"):
    _checked_division(_op, _truncated_quotient, operator.floordiv)
for _op in ("Mod", "TruncateMod"):
    _checked_division(_op, np.fmod, operator.mod)


@host_kernel("Pow", types=INTEGERS)
def _integer_pow(c: OpKernelConstruction) -> Compute:
    dtype = c["T"].np_dtype

    def compute(x: Any, y: Any) -> Any:
        if np.any(y < 0):
            negative_exponent()
        return np.power(x, y, dtype=dtype)

    return broadcasting(c, compute)


# --- comparison and logic ----------------------------------------------------

_COMPARISONS: tuple[tuple[str, Compute, str], ...] = (
    ("Less", operator.lt, "({0} < {1})"),
    ("LessEqual", operator.le, "({0} <= {1})"),
    ("Greater", operator.gt, "({0} > {1})"),
    ("GreaterEqual", operator.ge, "({0} >= {1})"),
)
for _op, _function, _inline in _COMPARISONS:
    _binary(_op, _function, _inline)


def _equality(op: str, function: Compute, ufunc: Compute, inline: str) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        return _or_different(c, function, op == "NotEqual")

    def strings(c: OpKernelConstruction) -> Compute:
        # Object arrays compare to objects; rank 0 comes back as a Python bool.
        def compute(x: Any, y: Any) -> Any:
            return np.asarray(ufunc(x, y), np.bool_)[()]

        return _or_different(c, compute, op == "NotEqual")

    host_kernel(op, inline=inline)(factory)
    host_kernel(op, types=WIDE_UNSIGNED, inline=inline, large=True)(factory)
    host_kernel(op, types=STRINGS, large=True)(strings)


def _or_different(
    c: OpKernelConstruction, function: Compute, different: bool
) -> Compute:
    """With incompatible_shape_error=False, shapes that do not broadcast differ."""
    checked = broadcasting(c, function)
    if c.get("incompatible_shape_error", True):
        return checked

    def compute(x: Any, y: Any) -> Any:
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError:
            return np.bool_(different)
        return function(x, y)

    return compute


_equality("Equal", operator.eq, np.equal, "({0} == {1})")
_equality("NotEqual", operator.ne, np.not_equal, "({0} != {1})")

_binary("LogicalAnd", operator.and_, "({0} & {1})")
_binary("LogicalOr", operator.or_, "({0} | {1})")


@host_kernel("ApproximateEqual")
def _approximate_equal(c: OpKernelConstruction) -> Compute:
    tolerance = c["tolerance"]

    def compute(x: Any, y: Any) -> Any:
        return abs(x - y) < tolerance

    return same_shapes(c, compute)


@host_kernel("Select")
def _select(c: OpKernelConstruction) -> Compute:
    cond, x, y = c.input_shapes
    if x.is_fully_defined() and x.dims_tuple == y.dims_tuple:
        if cond.dims_tuple == x.dims_tuple:
            return _where
        if x.dims_tuple and cond.dims_tuple == x.dims_tuple[:1]:
            return _select_rows
    return makes_array(lambda cond, x, y: select(cond, x, y, _where))


@makes_array
def _select_rows(cond: Any, x: Any, y: Any) -> Any:
    # `np.where` asks for the condition of each element.
    result = y.copy()
    np.copyto(result, x, where=cond.reshape((-1,) + (1,) * (x.ndim - 1)))
    return result


@makes_array
def _where(cond: Any, x: Any, y: Any) -> Any:
    out = where(cond, x, y)
    # Rank 0 is a NumPy scalar in host memory, except for strings.
    return out if out.ndim or out.dtype == object else out[()]


host_kernel("Select", types=STRINGS, large=True)(_select)
host_kernel("Select", types=WIDE_UNSIGNED, large=True)(_select)
host_kernel("Select", types=NATIVE_FLOATS, inline="({1} if {0} else {2})")(_select)


def select(cond: Any, x: Any, y: Any, where: Callable[[Any, Any, Any], Any]) -> Any:
    """Rows (or elements) of x where `cond`, of y elsewhere; no broadcasting.

    Raises:
      InvalidArgumentError: the shapes do not fit.
    """
    if cond.shape != x.shape and len(cond.shape) > 0:
        cond = _row_condition(cond, x.shape)
    if x.shape != y.shape:
        raise invalid_argument(
            "'then' and 'else' must have the same size.  but received: "
            f"{shape_text(x.shape)} vs. {shape_text(y.shape)}"
        )
    return where(cond, x, y)


def _row_condition(cond: Any, shape: tuple[int, ...]) -> Any:
    if len(cond.shape) != 1:
        raise invalid_argument(
            "'cond' must be a vector, but saw shape: " + shape_text(cond.shape)
        )
    if not shape:
        raise invalid_argument("'then' must be at least a vector, but saw shape: []")
    if cond.shape[0] != shape[0]:
        raise invalid_argument(
            "Number of batches of 'then' must match size of 'cond', but saw: "
            f"{shape[0]} vs. {cond.shape[0]}"
        )
    return cond.reshape((-1,) + (1,) * (len(shape) - 1))


@host_kernel("SelectV2")
def _select_v2(c: OpKernelConstruction) -> Compute:
    def compute(cond: Any, x: Any, y: Any) -> Any:
        check_select_v2(cond.shape, x.shape, y.shape)
        return _where(cond, x, y)

    return compute


host_kernel("SelectV2", types=STRINGS, large=True)(_select_v2)
host_kernel("SelectV2", types=WIDE_UNSIGNED, large=True)(_select_v2)


def check_select_v2(
    cond: tuple[int, ...], x: tuple[int, ...], y: tuple[int, ...]
) -> None:
    """Raises InvalidArgumentError unless the three shapes broadcast."""
    try:
        np.broadcast_shapes(tuple(cond), tuple(x), tuple(y))
    except ValueError:
        raise invalid_argument(
            f"condition {shape_text(cond)}, then {shape_text(x)}, and "
            f"else {shape_text(y)} must be broadcastable"
        ) from None


@host_kernel("ClipByValue", types={"T": REAL_FLOATS["T"] | INTEGERS["T"]})
def _clip_by_value(c: OpKernelConstruction) -> Compute:
    return clip_checked(c, lambda t, low, high: np.maximum(np.minimum(t, high), low))


@host_kernel("Complex")
def _complex(c: OpKernelConstruction) -> Compute:
    check_precision(c)
    dtype = c["Tout"].np_dtype

    def compute(real: Any, imag: Any) -> Any:
        shape = np.broadcast_shapes(real.shape, imag.shape)
        out = np.empty(shape, dtype)
        out.real, out.imag = real, imag
        return out[()]

    return broadcasting(c, compute)


# --- bits --------------------------------------------------------------------


def _shift(op: str, function: Compute) -> None:
    def factory(c: OpKernelConstruction) -> Compute:
        bits = c["T"].size * 8 - 1

        def compute(x: Any, y: Any) -> Any:
            # Out of range is clamped, as in TensorFlow's kernel.
            return function(x, np.clip(y, 0, bits))

        return broadcasting(c, compute)

    host_kernel(op)(factory)
    host_kernel(op, types=WIDE_UNSIGNED, large=True)(factory)


_binary("BitwiseAnd", operator.and_, "({0} & {1})")
_binary("BitwiseOr", operator.or_, "({0} | {1})")
_binary("BitwiseXor", operator.xor, "({0} ^ {1})")
_shift("LeftShift", np.left_shift)
_shift("RightShift", np.right_shift)
