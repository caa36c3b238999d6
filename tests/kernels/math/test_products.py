"""Matrix products, segments and sequences in both memories."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tests.kernels.math.math_ops_calls import call_host, call_torch

F = np.float32
CALLS = (call_host, call_torch)
DTYPES = [F, np.float64, np.float16, ml_dtypes.bfloat16, np.int32, np.complex64]


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda d: d.__name__)
@pytest.mark.parametrize("transpose_a", [False, True])
@pytest.mark.parametrize("transpose_b", [False, True])
def test_mat_mul(dtype: Any, transpose_a: bool, transpose_b: bool) -> None:
    a, b = np.arange(6).reshape(2, 3), np.arange(12).reshape(3, 4)
    expected = (a @ b).astype(dtype)
    flags = {"transpose_a": transpose_a, "transpose_b": transpose_b}
    left = (a.T if transpose_a else a).astype(dtype)
    right = (b.T if transpose_b else b).astype(dtype)
    for call in CALLS:
        got = call("MatMul", left, right, **flags)
        assert got.dtype == dtype
        assert np.array_equal(got, expected)


def test_sums_of_half_products_are_not_rounded() -> None:
    """In float16 2048 + 1 would stay 2048."""
    a = np.array([[2048, 1, 1, 1, 1]], np.float16)
    for b in (np.ones((5, 1), np.float16), np.ones((3, 5, 1), np.float16)):
        op = "MatMul" if b.ndim == 2 else "BatchMatMulV2"
        assert call_torch(op, a, b).reshape(-1).tolist() == [2052] * (b.size // 5)


@pytest.mark.parametrize("largest", [9, 1 << 20, 1 << 31, 1 << 62])
@pytest.mark.parametrize("shape", [(20, 30), (3, 20, 30)])
def test_products_of_int64_are_exact(largest: int, shape: tuple[int, ...]) -> None:
    """Also where doubles would round, and modulo 2**64."""
    random = np.random.RandomState(0)
    a, b = (random.randint(-largest, largest, shape) for _ in range(2))
    b = np.swapaxes(b, -1, -2)
    op = "MatMul" if len(shape) == 2 else "BatchMatMulV2"
    assert np.array_equal(call_torch(op, a, b), a @ b)
    least = np.full_like(a, -(2**63))
    assert np.array_equal(call_torch(op, least, b), least @ b)


@pytest.mark.parametrize("size", [3, 70])
def test_products_of_bfloat16_are_rounded_once(size: int) -> None:
    random = np.random.RandomState(0)
    a, b = (random.randn(size, size).astype(ml_dtypes.bfloat16) for _ in range(2))
    expected = (a.astype(F) @ b.astype(F)).astype(ml_dtypes.bfloat16)
    result = call_torch("MatMul", a, b)
    assert result.dtype == expected.dtype
    np.testing.assert_allclose(result.astype(F), expected.astype(F), 1e-2, 1e-2)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.integers(1, 2), max_size=2),
    st.lists(st.integers(1, 2), max_size=2),
    st.booleans(),
    st.booleans(),
)
def test_batches(
    batch_x: list[int], batch_y: list[int], adj_x: bool, adj_y: bool
) -> None:
    try:
        np.broadcast_shapes(tuple(batch_x), tuple(batch_y))
    except ValueError:
        return
    rng = np.random.default_rng(0)
    x = rng.normal(size=(*batch_x, 2, 3)) + 1j
    y = rng.normal(size=(*batch_y, 3, 4)) + 1j
    left = np.conj(np.swapaxes(x, -1, -2)) if adj_x else x
    right = np.conj(np.swapaxes(y, -1, -2)) if adj_y else y
    for call in CALLS:
        got = call("BatchMatMulV2", left, right, adj_x=adj_x, adj_y=adj_y)
        np.testing.assert_allclose(got, x @ y)


@pytest.mark.parametrize(
    ("op", "a", "b", "message"),
    [
        (
            "MatMul",
            (2, 3),
            (4, 5),
            "Matrix size-incompatible: In[0]: [2,3], In[1]: [4,5]",
        ),
        ("MatMul", (3,), (3, 2), "In[0] is not a matrix. Instead it has shape [3]"),
        ("BatchMatMulV2", (2,), (3, 4), "In[0] ndims must be >= 2: 1"),
        (
            "BatchMatMulV2",
            (2, 3, 4),
            (3, 4, 6),
            "In[0] and In[1] must have compatible batch dimensions: "
            "[2,3,4] vs. [3,4,6]",
        ),
        (
            "BatchMatMulV2",
            (2, 3),
            (4, 5),
            "In[0] mismatch In[1] shape: 3 vs. 4: [2,3] [4,5] 0 0",
        ),
    ],
)
def test_products_that_do_not_fit(op: str, a: Any, b: Any, message: str) -> None:
    for call in CALLS:
        with pytest.raises(errors.InvalidArgumentError) as raised:
            call(op, np.ones(a, F), np.ones(b, F))
        assert raised.value.message == message


def test_empty_products() -> None:
    for call in CALLS:
        assert call("MatMul", np.ones((2, 0), F), np.ones((0, 3), F)).tolist() == [
            [0, 0, 0],
            [0, 0, 0],
        ]


# --- segments ------------------------------------------------------------------

DATA = np.arange(6).reshape(3, 2)
# Recorded from TensorFlow 1.15.0: the ids 0, 2, 2 leave segment 1 empty.
SORTED = {
    "SegmentSum": [[0, 1], [0, 0], [6, 8]],
    "SegmentMean": [[0, 1], [0, 0], [3, 4]],
    "SegmentProd": [[0, 1], [1, 1], [8, 15]],
    "SegmentMax": [[0, 1], [0, 0], [4, 5]],
    "SegmentMin": [[0, 1], [0, 0], [2, 3]],
}


@pytest.mark.parametrize("dtype", [F, np.float64, np.int32, np.int64])
@pytest.mark.parametrize("op", SORTED)
def test_sorted_segments(op: str, dtype: Any) -> None:
    for call in CALLS:
        got = call(op, DATA.astype(dtype), np.array([0, 2, 2], np.int32))
        assert (got.tolist(), got.dtype) == (SORTED[op], dtype)
        assert call(op, DATA[:0].astype(dtype), np.array([], np.int32)).shape == (0, 2)


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        ([1, 0, 1], "segment ids are not increasing"),
        (
            [-1, 0, 1],
            "Segment id -1 out of range [0, 2), possibly because 'segment_ids' "
            "input is not sorted.",
        ),
        ([0, 1], "segment_ids should be the same size as dimension 0 of input."),
        (0, "segment_ids should be a vector."),
    ],
)
def test_bad_sorted_segments(ids: Any, message: str) -> None:
    for call in CALLS:
        with pytest.raises(errors.InvalidArgumentError) as raised:
            call("SegmentSum", DATA.astype(F), np.array(ids, np.int32))
        assert raised.value.message == message


@pytest.mark.parametrize(
    ("op", "gap", "last"),
    [
        ("UnsortedSegmentSum", 0, [6, 8]),
        ("UnsortedSegmentProd", 1, [8, 15]),
        ("UnsortedSegmentMax", np.finfo(F).min, [4, 5]),
        ("UnsortedSegmentMin", np.finfo(F).max, [2, 3]),
    ],
)
def test_unsorted_segments(op: str, gap: float, last: list[int]) -> None:
    data = DATA.astype(F)
    for call in CALLS:
        got = call(op, data, np.array([-1, 1, 1], np.int32), np.int32(2))
        assert got.tolist() == [[gap, gap], last]
        folded = call(
            op, data, np.array([[0, 1], [1, 1], [-1, 1]], np.int32), np.int32(2)
        )
        assert folded.shape == (2,)
        with pytest.raises(errors.InvalidArgumentError) as raised:
            call(op, data, np.array([5, 0, 1], np.int32), np.int32(2))
        assert raised.value.message == "segment_ids[0] = 5 is out of range [0, 2)"


def test_sparse_segments() -> None:
    data, indices = DATA.astype(F), np.array([0, 2], np.int32)
    for op, expected in (
        ("SparseSegmentSum", [4, 6]),
        ("SparseSegmentMean", [2, 3]),
        ("SparseSegmentSqrtN", [4 / 2**0.5, 6 / 2**0.5]),
    ):
        got = call_torch(op, data, indices, np.array([0, 0], np.int32))
        np.testing.assert_allclose(got, [expected], rtol=1e-6)
        counted = call_torch(
            op + "WithNumSegments",
            data,
            indices,
            np.array([0, 0], np.int32),
            np.int32(3),
        )
        assert counted.shape == (3, 2)
        with pytest.raises(
            errors.InvalidArgumentError, match=r"Bad: indices\[1\] == 3"
        ):
            call_torch(op, data, np.array([0, 3], np.int32), np.array([0, 0], np.int32))


# --- sequences -------------------------------------------------------------------


def test_range_adds_up_rounding() -> None:
    got = call_host("Range", F(0), F(1), F(0.1))
    assert got.dtype == F
    assert got.tolist()[7:] == [F(0.70000005), F(0.8000001), F(0.9000001)]
    assert call_host("Range", np.int32(10), np.int32(0), np.int32(-3)).tolist() == [
        10,
        7,
        4,
        1,
    ]


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ((5, 1, 1), "Requires start <= limit when delta > 0: 5/1"),
        ((1, 5, -1), "Requires start >= limit when delta < 0: 1/5"),
        ((1, 5, 0), "Requires delta != 0: 0"),
    ],
)
def test_bad_range(values: Any, message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as raised:
        call_host("Range", *(np.int32(v) for v in values))
    assert raised.value.message == message


def test_lin_space_and_bincount() -> None:
    assert call_host("LinSpace", F(0), F(1), np.int32(1)).tolist() == [0]
    np.testing.assert_allclose(
        call_host("LinSpace", F(0), F(1), np.int32(4)), np.linspace(0, 1, 4), rtol=1e-6
    )
    arr, weights = np.array([1, 2, 2, 5], np.int32), np.array([1, 2, 3, 4], F)
    assert call_host("Bincount", arr, np.int32(4), weights[:0]).tolist() == [0, 1, 2, 0]
    assert call_host("Bincount", arr, np.int32(6), weights).tolist() == [
        0,
        1,
        5,
        0,
        0,
        4,
    ]


def test_sums_over_lists() -> None:
    x, y = np.ones((2, 2), F), np.ones((1, 2), F)
    for call in CALLS:
        assert call("AddN", x, x, x, N=3).tolist() == [[3, 3], [3, 3]]
        with pytest.raises(errors.InvalidArgumentError, match="same size and shape"):
            call("AddN", x, y, N=2)
        assert call("Cross", F([1, 2, 3]), F([3, 2, 1])).tolist() == [-4, 8, -4]
        with pytest.raises(errors.FailedPreconditionError):
            call("Cross", F([1, 2]), F([3, 2]))


def test_special_functions() -> None:
    np.testing.assert_allclose(
        call_torch("Betainc", F([1, 2, 30]), F([1, 3, 10]), F([0.3, 0.4, 0.8])),
        [0.3, 0.5248, 0.7586406],
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        call_torch("Polygamma", F([1, 2, 0]), F([0.5, 1, 2])),
        [4.934802, -2.404114, 0.42278433],
        rtol=1e-5,
    )
    np.testing.assert_allclose(
        call_torch("IgammaGradA", F([1, 2]), F([1, 2])),
        [-0.43172971, -0.29400469],
        rtol=1e-5,
    )
