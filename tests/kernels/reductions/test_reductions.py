"""Reductions, positions and scans in both memories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.framework.registry.op_kernel import find_kernels
from tests.kernels.math.math_ops_calls import call_host, call_torch, construction

F = np.float32
NAN, INF = F("nan"), F("inf")
CALLS = (call_host, call_torch)
REFERENCES: dict[str, Any] = {
    "Sum": np.sum,
    "Prod": np.prod,
    "Mean": np.mean,
    "Max": np.max,
    "Min": np.min,
    "EuclideanNorm": lambda x, axis, keepdims: np.sqrt(
        np.sum(x * x, axis=axis, keepdims=keepdims)
    ),
}


@settings(max_examples=80, deadline=None)
@given(
    st.sampled_from(sorted(REFERENCES)),
    st.lists(st.integers(1, 3), min_size=1, max_size=4),
    st.booleans(),
    st.data(),
)
def test_reductions(op: str, dims: list[int], keep: bool, data: st.DataObject) -> None:
    rank = len(dims)
    axes = data.draw(st.lists(st.integers(-rank, rank - 1), max_size=rank))
    x = np.random.default_rng(0).uniform(0.5, 1.5, dims)
    distinct = tuple({a % rank for a in axes})
    expected = REFERENCES[op](x, axis=distinct, keepdims=keep) if distinct else x
    for call in CALLS:
        got = call(op, x, np.array(axes, np.int32), keep_dims=keep)
        assert got.shape == expected.shape
        np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("op", ["Sum", "Mean", "Max"])
def test_channels_last_input(op: str) -> None:
    x = torch.rand(2, 3, 4, 5).to(memory_format=torch.channels_last).permute(0, 2, 3, 1)
    axes = np.array([1, 2], np.int32)
    c = construction(op, [x.numpy(), axes])
    definition, _ = find_kernels(op, c.attrs, "CPU")
    assert definition is not None
    got = definition.factory(c)(x, axes)
    expected = REFERENCES[op](x.numpy(), axis=(1, 2), keepdims=False)
    np.testing.assert_allclose(got.numpy(), expected, rtol=1e-6)


def test_integers_stay_in_their_dtype_and_wrap() -> None:
    axis = np.int32(0)
    big = np.array([2**31 - 1, 2], np.int32)
    small = np.array([200, 200], np.uint8)
    for call in CALLS:
        assert call("Sum", big, axis) == -(2**31) + 1
        assert call("Sum", small, axis).dtype == np.uint8
        assert call("Mean", small, axis) == 72
        assert call("Mean", np.array([-3, -4], np.int32), axis) == -3
        assert call("Prod", np.array([100, 3], np.int8), axis) == 44


def test_nan_is_passed_over() -> None:
    x = np.array([[NAN, 1], [1, NAN], [NAN, NAN]], F)
    for call in CALLS:
        assert call("Max", x, np.int32(0)).tolist() == [1, 1]
        assert call("Max", x, np.int32(1)).tolist() == [1, 1, -INF]
        assert call("Min", x, np.int32(1)).tolist() == [1, 1, INF]
        assert call("ArgMax", x, np.int32(1)).tolist() == [1, 0, 0]
        assert call("ArgMin", x, np.int32(1)).tolist() == [1, 0, 0]


def test_empty_input() -> None:
    x, axis = np.zeros((0, 2), F), np.int32(0)
    for call in CALLS:
        assert call("Sum", x, axis).tolist() == [0, 0]
        assert call("Prod", x, axis).tolist() == [1, 1]
        assert call("Max", x, axis).tolist() == [-INF, -INF]
        assert call("Min", x, axis, keep_dims=True).tolist() == [[INF, INF]]
        assert call("Max", x.astype(np.int32), axis).tolist() == [-(2**31)] * 2
        assert np.isnan(call("Mean", x, axis)).all()


def test_logic() -> None:
    x = np.array([[True, False], [True, True]])
    for call in CALLS:
        assert call("All", x, np.int32(1)).tolist() == [False, True]
        assert call("Any", x, np.array([0, 1], np.int32))


def test_bad_axis() -> None:
    for call in CALLS:
        with pytest.raises(errors.InvalidArgumentError, match="reduction dimension"):
            call("Sum", np.ones((2, 3), F), np.int32(2))


@pytest.mark.parametrize("dtype", [F, np.float16, np.int32, np.uint8])
def test_first_of_equals(dtype: Any) -> None:
    x = np.array([[3, 1, 3], [2, 2, 2]], dtype)
    for call in CALLS:
        assert call("ArgMax", x, np.int32(-1)).tolist() == [0, 0]
        got = call("ArgMin", x, np.int32(0), output_type="int32")
        assert (got.tolist(), got.dtype) == ([1, 0, 1], np.int32)


@pytest.mark.parametrize(
    ("shape", "axis", "message"),
    [
        ((2, 0), 1, "Reduction axis 1 is empty in shape [2,0]"),
        ((2, 3), 5, "Expected dimension in the range [-2, 2), but got 5"),
        ((), 0, "Expected dimension in the range [0, 0), but got 0"),
    ],
)
def test_positions_that_do_not_exist(shape: Any, axis: int, message: str) -> None:
    for call in CALLS:
        with pytest.raises(errors.InvalidArgumentError) as raised:
            call("ArgMax", np.zeros(shape, F), np.int32(axis))
        assert raised.value.message == message


@pytest.mark.parametrize(
    ("exclusive", "reverse", "expected"),
    [
        (False, False, [1, 3, 6]),
        (True, False, [0, 1, 3]),
        (False, True, [6, 5, 3]),
        (True, True, [5, 3, 0]),
    ],
)
def test_cumsum(exclusive: bool, reverse: bool, expected: list[int]) -> None:
    flags = {"exclusive": exclusive, "reverse": reverse}
    for call, dtype in ((c, d) for c in CALLS for d in (F, np.int32, np.uint8)):
        got = call("Cumsum", np.array([1, 2, 3], dtype), np.int32(0), **flags)
        assert (got.tolist(), got.dtype) == (expected, dtype)
        assert got.strides[0] > 0


def test_other_scans() -> None:
    x = np.array([1, 2, 3], F)
    for call in CALLS:
        assert call("Cumprod", x, np.int32(-1), exclusive=True).tolist() == [1, 1, 2]
        np.testing.assert_allclose(
            call("CumulativeLogsumexp", x, np.int32(0)),
            np.log(np.cumsum(np.exp(x))),
            rtol=1e-6,
        )
        with pytest.raises(errors.InvalidArgumentError, match="scan axis"):
            call("Cumsum", x, np.int32(1))


@pytest.mark.parametrize("op", ["Max", "Min"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "float16"])
@pytest.mark.parametrize(
    ("shape", "axes"),
    [
        *(((3001, 3), [0]), ((40, 70, 5), [1, 0]), ((40, 70, 2, 2), [0, 1])),
        *(((700, 5), [1]), ((5000,), [0]), ((2100, 256), [0]), ((2000, 300), [0])),
    ],
)
@pytest.mark.parametrize("keep", [False, True])
def test_extremes_of_narrow_rows(
    op: str, dtype: str, shape: tuple[int, ...], axes: list[int], keep: bool
) -> None:
    x = (np.random.default_rng(0).normal(size=shape) * 1000).astype(dtype)
    expected = REFERENCES[op](x, axis=tuple(axes), keepdims=keep)
    got = call_torch(op, x, np.array(axes, np.int32), keep_dims=keep)
    np.testing.assert_array_equal(got, expected)
    if x.dtype.kind == "f":  # TensorFlow passes over NaN
        x[:: len(x) // 3] = NAN
        expected = REFERENCES[op](
            np.where(np.isnan(x), -INF if op == "Max" else INF, x), axis=tuple(axes)
        )
        got = call_torch(op, x, np.array(axes, np.int32), keep_dims=False)
        np.testing.assert_array_equal(got, expected)
