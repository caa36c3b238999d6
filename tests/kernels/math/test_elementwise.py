"""Elementwise kernels of both memories against NumPy, and TensorFlow at the edges."""

from __future__ import annotations

import itertools
import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework import errors
from tests.kernels.math.math_ops_calls import (
    call_host,
    call_inline,
    call_torch,
    has_torch,
)

F = np.float32
NAN, INF = F("nan"), F("inf")
FLOATS = (np.float16, ml_dtypes.bfloat16, np.float32, np.float64)
INTEGERS = (np.int8, np.int16, np.int32, np.int64, np.uint8)
WIDE = (np.uint16, np.uint32, np.uint64)
TOLERANCE = {2: 2e-2, 4: 2e-6, 8: 1e-12}

REAL_VALUES = np.array([0.25, -0.5, 0.75, 0.9, 0.125, 1.0])
POSITIVE_VALUES = np.array([1.25, 2.0, 3.5, 1.0, 7.0, 20.0])
# (op, reference, domain)
UNARY: list[tuple[str, Any, Any]] = [
    *((name, getattr(np, name.lower()), REAL_VALUES) for name in ("Sin", "Cos", "Tan")),
    ("Asin", np.arcsin, REAL_VALUES),
    ("Acos", np.arccos, REAL_VALUES),
    ("Atan", np.arctan, REAL_VALUES),
    *((n, getattr(np, n.lower()), REAL_VALUES) for n in ("Sinh", "Cosh", "Tanh")),
    ("Asinh", np.arcsinh, REAL_VALUES),
    ("Acosh", np.arccosh, POSITIVE_VALUES),
    ("Atanh", np.arctanh, REAL_VALUES[:-1]),
    ("Exp", np.exp, REAL_VALUES),
    ("Expm1", np.expm1, REAL_VALUES),
    ("Log", np.log, POSITIVE_VALUES),
    ("Log1p", np.log1p, POSITIVE_VALUES),
    ("Sqrt", np.sqrt, POSITIVE_VALUES),
    ("Rsqrt", lambda x: 1 / np.sqrt(x), POSITIVE_VALUES),
    ("Reciprocal", lambda x: 1 / x, POSITIVE_VALUES),
    ("Sigmoid", lambda x: 1 / (1 + np.exp(-x)), REAL_VALUES),
    ("Floor", np.floor, REAL_VALUES * 7),
    ("Ceil", np.ceil, REAL_VALUES * 7),
    ("Rint", np.rint, REAL_VALUES * 6),
    ("Round", np.rint, REAL_VALUES * 6),
    ("Erf", np.vectorize(math.erf), REAL_VALUES),
    ("Erfc", np.vectorize(math.erfc), REAL_VALUES),
    ("Lgamma", np.vectorize(math.lgamma), POSITIVE_VALUES),
    ("Neg", np.negative, REAL_VALUES),
    ("Abs", np.abs, REAL_VALUES),
    ("Sign", np.sign, REAL_VALUES),
    ("Square", np.square, REAL_VALUES),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
@pytest.mark.parametrize(
    ("op", "reference", "domain"), UNARY, ids=[u[0] for u in UNARY]
)
def test_unary(op: str, reference: Any, domain: Any, dtype: Any) -> None:
    x = domain.astype(dtype)
    expected = reference(x.astype(np.float64))
    tolerance = TOLERANCE[x.dtype.itemsize]
    for got in (call_host(op, x), call_torch(op, x)):
        assert got.dtype == x.dtype
        np.testing.assert_allclose(
            got.astype(np.float64), expected, rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize(
    ("op", "reference", "domain"), UNARY, ids=[u[0] for u in UNARY]
)
def test_unary_scalars_stay_numpy_scalars(op: str, reference: Any, domain: Any) -> None:
    for dtype in (np.float32, np.float64):
        x = dtype(domain[2])
        for got in (call_host(op, x), call_inline(op, x)):
            if got is not None:
                assert type(got) is dtype
                np.testing.assert_allclose(got, reference(x), rtol=2e-6)


@pytest.mark.parametrize("op", ["Neg", "Abs", "Square", "Sign"])
def test_unary_integers_wrap(op: str) -> None:
    x = np.array([-(2**31), 5, -7, 70000], np.int32)
    expected = {
        "Neg": [-(2**31), -5, 7, -70000],
        "Abs": [-(2**31), 5, 7, 70000],
        "Square": [0, 25, 49, 605032704],
        "Sign": [-1, 1, -1, 1],
    }[op]
    assert call_host(op, x).tolist() == expected
    assert call_torch(op, x).tolist() == expected


def test_sign_of_nan_is_zero() -> None:
    x = np.array([NAN, -0.0, -INF, 3])
    assert call_host("Sign", x).tolist() == [0, 0, -1, 1]
    assert call_torch("Sign", x).tolist() == [0, 0, -1, 1]


def test_digamma_at_poles_is_infinite() -> None:
    got = call_torch("Digamma", np.array([0, -1, 1, -INF], F))
    assert got[[0, 1, 3]].tolist() == [np.inf] * 3
    np.testing.assert_allclose(got[2], -0.5772157, rtol=1e-6)


# --- binary ------------------------------------------------------------------

A = np.array([7, -7, 7, -7, 5, -5, 0, 5.5, 1.5, 2.0])
B = np.array([2, 2, -2, -2, 3, 3, 3, 0.5, 4.0, 2.0])
BINARY: list[tuple[str, Any]] = [
    ("AddV2", np.add),
    ("Sub", np.subtract),
    ("Mul", np.multiply),
    ("RealDiv", np.divide),
    ("Div", np.divide),
    ("FloorDiv", lambda x, y: np.floor(x / y)),
    ("FloorMod", np.mod),
    ("TruncateMod", np.fmod),
    ("Mod", np.fmod),
    ("Maximum", np.maximum),
    ("Minimum", np.minimum),
    ("SquaredDifference", lambda x, y: (x - y) ** 2),
    ("Atan2", np.arctan2),
    ("DivNoNan", np.divide),
    ("MulNoNan", np.multiply),
    ("Xdivy", np.divide),
]


@pytest.mark.parametrize("dtype", FLOATS, ids=lambda d: d.__name__)
@pytest.mark.parametrize(("op", "reference"), BINARY, ids=[b[0] for b in BINARY])
def test_binary(op: str, reference: Any, dtype: Any) -> None:
    x, y = A.astype(dtype), B.astype(dtype)
    expected = reference(x.astype(np.float64), y.astype(np.float64))
    tolerance = TOLERANCE[x.dtype.itemsize]
    for got in (call_host(op, x, y), call_torch(op, x, y)):
        assert got.dtype == x.dtype
        np.testing.assert_allclose(
            got.astype(np.float64), expected, rtol=tolerance, atol=tolerance
        )


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([b[0] for b in BINARY]),
    st.lists(st.integers(0, 3), max_size=3),
    st.data(),
)
def test_broadcasting(op: str, dims: list[int], data: st.DataObject) -> None:
    keep = [data.draw(st.booleans()) for _ in dims]
    other = [d if k else 1 for d, k in zip(dims, keep, strict=True)]
    other = other[data.draw(st.integers(0, len(other))) :]
    x = np.full(dims, 3.0, F)
    y = np.full(other, 2.0, F)
    for left, right in ((x, y), (y, x)):
        host = call_host(op, left, right)
        assert host.shape == np.broadcast_shapes(x.shape, y.shape)
        device = call_torch(op, left, right)
        assert device.shape == host.shape
        np.testing.assert_allclose(device, host, rtol=1e-6)


@pytest.mark.parametrize("op", [b[0] for b in BINARY] + ["Less", "Equal", "Xlogy"])
def test_shapes_that_do_not_broadcast(op: str) -> None:
    x, y = np.ones((2, 3), F), np.ones((4, 3), F)
    for call in (call_host, call_torch):
        with pytest.raises(errors.InvalidArgumentError) as raised:
            call(op, x, y)
        assert raised.value.message == "Incompatible shapes: [2,3] vs. [4,3]"


# TensorFlow keeps x unless y is strictly beyond it, so a NaN in y is passed over.
@pytest.mark.parametrize("size", [1, 3000])
@pytest.mark.parametrize(("op", "beyond"), [("Maximum", 2), ("Minimum", 1)])
def test_extremes_and_nan(op: str, beyond: int, size: int) -> None:
    x = np.tile(np.array([NAN, 1, NAN, 1, 2], F), size)
    y = np.tile(np.array([1, NAN, NAN, 2, 1], F), size)
    expected = np.tile(np.array([NAN, 1, NAN, beyond, beyond], F), size)
    for call in (call_host, call_torch):
        np.testing.assert_array_equal(call(op, x, y), expected)
        np.testing.assert_array_equal(call(op, x, NAN), x)
    assert [call_inline(op, F(1), NAN), call_inline(op, F(1), F(2))] == [
        1,
        2 if op == "Maximum" else 1,
    ]


@pytest.mark.parametrize("size", [1, 3000])
@pytest.mark.parametrize(
    ("op", "x", "y", "expected"),
    [
        ("DivNoNan", [1, NAN, 6, INF], [0, 0, 3, 0], [0, 0, 2, 0]),
        ("MulNoNan", [1, NAN, INF, 2], [0, 0, 0, 3], [0, 0, 0, 6]),
        ("Xdivy", [0, 0, 6, 0], [0, NAN, 3, INF], [0, 0, 2, 0]),
        ("Xlogy", [0, 0, 1, 0], [0, NAN, 1, INF], [0, 0, 0, 0]),
    ],
)
def test_zero_wins(op: str, x: Any, y: Any, expected: Any, size: int) -> None:
    x, y = np.tile(np.array(x, F), size), np.tile(np.array(y, F), size)
    for call in (call_host, call_torch):
        np.testing.assert_array_equal(call(op, x, y), np.tile(expected, size))


# --- integers ----------------------------------------------------------------

IA = np.array([7, -7, 7, -7, 0, 127, 5])
IB = np.array([2, 2, -2, -2, 5, 3, 1])
INTEGER_RESULTS = {
    "AddV2": [9, -5, 5, -9, 5, 130, 6],
    "Sub": [5, -9, 9, -5, -5, 124, 4],
    "Mul": [14, -14, -14, 14, 0, 381, 5],
    "FloorDiv": [3, -4, -4, 3, 0, 42, 5],
    "Div": [3, -3, -3, 3, 0, 42, 5],
    "TruncateDiv": [3, -3, -3, 3, 0, 42, 5],
    "FloorMod": [1, 1, -1, -1, 0, 1, 0],
    "TruncateMod": [1, -1, 1, -1, 0, 1, 0],
    "Maximum": [7, 2, 7, -2, 5, 127, 5],
    "Minimum": [2, -7, -2, -7, 0, 3, 1],
}


@pytest.mark.parametrize("dtype", INTEGERS + WIDE, ids=lambda d: d.__name__)
@pytest.mark.parametrize("op", INTEGER_RESULTS)
def test_integers(op: str, dtype: Any) -> None:
    if np.dtype(dtype).kind == "u":
        x, y = np.abs(IA).astype(dtype), np.abs(IB).astype(dtype)
        with np.errstate(all="ignore"):
            unsigned = {
                "AddV2": x + y,
                "Sub": x - y,
                "Mul": x * y,
                "Maximum": np.maximum(x, y),
                "Minimum": np.minimum(x, y),
            }
            is_mod = op.endswith("Mod")
            expected = unsigned.get(op, x % y if is_mod else x // y)
    else:
        x, y = IA.astype(dtype), IB.astype(dtype)
        expected = np.array(INTEGER_RESULTS[op]).astype(dtype)
    assert np.array_equal(call_host(op, x, y), expected)
    for i, value in enumerate(expected):
        assert call_host(op, x[i], y[i]) == value
        assert call_host(op, x[i], y[i]).dtype == dtype
    if dtype not in WIDE:
        assert np.array_equal(call_torch(op, x, y), expected)
    else:
        assert not has_torch(op, x, y)


@pytest.mark.parametrize("op", ["Div", "FloorDiv", "FloorMod", "Mod"])
def test_integer_division_by_zero(op: str) -> None:
    x, zero = np.array([1, 2], np.int32), np.array([1, 0], np.int32)
    message = "Integer division by zero"
    for call, right in itertools.product((call_host, call_torch), (zero, zero[1])):
        with pytest.raises(errors.InvalidArgumentError, match=message):
            call(op, x, right)
    with pytest.raises(errors.InvalidArgumentError, match=message):
        call_host(op, x[0], zero[1])
    # Nothing is divided.
    for call in (call_host, call_torch):
        assert call(op, x[:0], zero[1]).shape == (0,)


def test_truncating_division_by_zero_is_an_internal_error() -> None:
    for call in (call_host, call_torch):
        with pytest.raises(errors.InternalError):
            call("TruncateDiv", np.int32(1), np.int32(0))


def test_integer_powers() -> None:
    x, y = np.array([2, -2, 3, 0], np.int32), np.array([3, 3, 40, 0], np.int32)
    for call in (call_host, call_torch):
        assert call("Pow", x, y).tolist() == [8, -8, 689956897, 1]
        with pytest.raises(
            errors.InvalidArgumentError, match="negative integer powers"
        ):
            call("Pow", x, -y)


# --- comparison, logic, choice, bits --------------------------------------------


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        ("Less", [True, False, False, False]),
        ("LessEqual", [True, True, False, False]),
        ("Greater", [False, False, True, False]),
        ("GreaterEqual", [False, True, True, False]),
        ("Equal", [False, True, False, False]),
        ("NotEqual", [True, False, True, True]),
    ],
)
def test_comparison(op: str, expected: list[bool]) -> None:
    x, y = np.array([1, 2, 3, NAN], F), np.array([2, 2, 2, NAN], F)
    for call in (call_host, call_torch):
        assert call(op, x, y).tolist() == expected
    assert type(call_inline(op, x[0], y[0])) is np.bool_


def test_strings() -> None:
    x = np.array([b"a", b"b"], object)
    assert call_host("Equal", x, np.array(b"a", object)).tolist() == [True, False]
    scalar = call_host("NotEqual", np.array(b"a", object), np.array(b"b", object))
    assert scalar == np.True_
    assert type(scalar) is np.bool_
    joined = call_host("Add", np.array(b"a", object), np.array(b"b", object))
    assert (joined.shape, joined.item()) == ((), b"ab")


def test_equality_of_shapes_that_do_not_fit() -> None:
    x, y = np.ones((2, 3), F), np.ones((4,), F)
    for call in (call_host, call_torch):
        assert not call("Equal", x, y, incompatible_shape_error=False)
        assert call("NotEqual", x, y, incompatible_shape_error=False)


def test_select() -> None:
    x = np.arange(6, dtype=F).reshape(3, 2)
    rows = np.array([True, False, True])
    for call in (call_host, call_torch):
        assert call("Select", rows, x, -x).tolist() == [[0, 1], [-2, -3], [4, 5]]
        assert call("Select", x > 2, x, -x).tolist() == [[0, -1], [-2, 3], [4, 5]]
        assert call("Select", np.True_, x, -x).tolist() == x.tolist()
        assert call("SelectV2", x > 2, x, F(0)).tolist() == [[0, 0], [0, 3], [4, 5]]
        with pytest.raises(errors.InvalidArgumentError, match="Number of batches"):
            call("Select", rows[:2], x, -x)
        with pytest.raises(errors.InvalidArgumentError, match="must be broadcastable"):
            call("SelectV2", rows, x, F(0))


def test_shifts_are_clamped() -> None:
    x, by = np.array([1, 1, -1, -8], np.int32), np.array([31, 33, -1, 1], np.int32)
    for call in (call_host, call_torch):
        assert call("LeftShift", x, by).tolist() == [-(2**31), -(2**31), -1, -16]
        assert call("RightShift", x, by).tolist() == [0, 0, -1, -4]
    assert call_host("PopulationCount", np.array([-1, 7], np.int32)).tolist() == [32, 3]


def test_complex_parts() -> None:
    re, im = np.array([3, 0], F), np.array([4, 0], F)
    for call in (call_host, call_torch):
        z = call("Complex", re, im, Tout="complex64")
        assert z.tolist() == [3 + 4j, 0]
        z = np.array([3 + 4j, 0], np.complex64)
        assert call("ComplexAbs", z, Tout="float32").tolist() == [5, 0]
        np.testing.assert_allclose(call("Sign", z), [0.6 + 0.8j, 0])
        assert call("Conj", z).tolist() == [3 - 4j, 0]
        assert call("Imag", z, Tout="float32").tolist() == [4, 0]


# --- Cast ---------------------------------------------------------------------

BEYOND = np.array([3e9, -3e9, 1e20, NAN, 300.7, -300.7, -1.5, 4294967296.0])
LOW = -(2**31)
# Recorded from TensorFlow 1.15.0 on x86.
CASTS = {
    "int8": [0, 0, 0, 0, 44, -44, -1, 0],
    "uint8": [0, 0, 0, 0, 44, 212, 255, 0],
    "int16": [0, 0, 0, 0, 300, -300, -1, 0],
    "uint16": [0, 0, 0, 0, 300, 65236, 65535, 0],
    "int32": [LOW, LOW, LOW, LOW, 300, -300, -1, LOW],
    "uint32": [3000000000, 1294967296, 0, 0, 300, 4294966996, 4294967295, 0],
    "int64": [
        *(3000000000, -3000000000, -(2**63), -(2**63)),
        *(300, -300, -1, 4294967296),
    ],
}


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", CASTS)
def test_casts_out_of_range(source: str, target: str) -> None:
    x = np.tile(BEYOND.astype(source), 40)
    for call in (call_host, call_torch):
        got = call("Cast", x, DstT=target)
        assert got.dtype == target
        assert got.tolist() == CASTS[target] * 40


def test_casts_of_scalars() -> None:
    assert call_host("Cast", F(2.7), DstT="int32") == 2
    assert type(call_inline("Cast", np.int32(3), DstT="float32")) is F
    assert type(call_inline("Cast", np.True_, DstT="int64")) is np.int64
    assert call_host("Cast", np.complex64(2 + 3j), DstT="float32") == 2


def test_cast_to_bfloat16_rounds_unless_it_truncates() -> None:
    x = np.array([1.01171875, 1.0078], F)
    for call in (call_host, call_torch):
        assert call("Cast", x, DstT="bfloat16").astype(F).tolist() == [
            1.015625,
            1.0078125,
        ]
        cut = call("Cast", x, DstT="bfloat16", Truncate=True)
        assert cut.astype(F).tolist() == [1.0078125, 1.0]


@pytest.mark.parametrize("size", [3, 3000])  # in host memory, and by torch
def test_gradients_have_the_shape_of_the_first_input(size: int) -> None:
    """TensorFlow takes as many elements of dy as there are of y, in order."""
    y = np.linspace(0.25, 0.75, size, dtype=F)
    rules = {
        "TanhGrad": lambda dy: dy * (1 - y * y),
        "SigmoidGrad": lambda dy: dy * y * (1 - y),
        "SqrtGrad": lambda dy: dy * 0.5 / y,
        "RsqrtGrad": lambda dy: dy * -0.5 * y**3,
        "ReciprocalGrad": lambda dy: -dy * y * y,
    }
    longer = np.arange(2.0 * size, dtype=F).reshape(2, size, 1)
    fed = tf.placeholder(tf.float32)
    for name, rule in rules.items():
        for dy in (longer, tf.constant(longer), fed):
            result = getattr(tf.raw_ops, name)(y=y, dy=dy)
            with tf.Session() as session:
                found = session.run(result, {fed: longer})
            assert result.shape.as_list() == [size]
            np.testing.assert_allclose(found, rule(longer[0, :, 0]), rtol=1e-5)


@pytest.mark.parametrize("op", ["SqrtGrad", "RsqrtGrad", "ReciprocalGrad", "InvGrad"])
@pytest.mark.parametrize(
    ("call", "dtypes"),
    [
        (call_host, (F, np.float64)),
        (call_torch, (F, np.float64, np.float16, np.complex64)),
    ],
)
def test_no_gradient_stays_none_at_infinity(call: Any, dtypes: Any, op: str) -> None:
    """TensorFlow gives 0 for a dy of 0 whatever y is, so that a mask masks."""
    y = np.array([np.inf, 0, 1, np.nan, -np.inf, 2], F)
    dy = np.array([0, -0.0, 0, 0, 0, 1], F)
    for dtype in dtypes:
        found = call(op, y.astype(dtype), dy.astype(dtype))
        assert found.dtype == dtype
        assert found[:5].tolist() == [0] * 5
        assert found[5] != 0
    assert call(op, F(0), F(0)) == 0


def test_no_gradient_of_a_root_in_generated_code() -> None:
    found = call_inline("SqrtGrad", F(0), F(0))
    assert type(found) is F
    assert found == 0
    assert call_inline("SqrtGrad", F(2), F(1)) == 0.25


@pytest.mark.parametrize(
    ("x", "y", "wanted"),
    [
        ([None], [], [None]),
        ([None], [1], [None]),
        ([None, 3], [], [None, 3]),
        ([2, None], [2, 1], [2, None]),
        ([None], [2], None),
        ([None], [None], None),
        ([2], [3], []),
    ],
)
def test_equality_without_a_shape_error_knows_its_rank(
    x: Any, y: Any, wanted: Any
) -> None:
    left, right = tf.placeholder(tf.string, x), tf.placeholder(tf.string, y)
    z = tf.raw_ops.Equal(x=left, y=right, incompatible_shape_error=False)
    assert (None if z.shape.rank is None else z.shape.as_list()) == wanted
    with tf.Session() as session:  # the master asks again, for what is fed
        fed = {
            t: np.full([d or 1 for d in t.shape.as_list()], b"a") for t in (left, right)
        }
        assert np.all(session.run(z, fed)) == (wanted != [])
