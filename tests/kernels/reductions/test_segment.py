"""Reductions of segments, of few elements and of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_FUNCTIONS: dict[str, tuple[Any, Any, float]] = {
    "max": (tf.segment_max, np.max, 0.0),
    "min": (tf.segment_min, np.min, 0.0),
    "prod": (tf.segment_prod, np.prod, 1.0),
    "mean": (tf.segment_mean, np.mean, 0.0),
    "sum": (tf.segment_sum, np.sum, 0.0),
}


@pytest.mark.parametrize("name", _FUNCTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64"])
@pytest.mark.parametrize("inner", [(), (1,), (3,), (4, 4), (40,), (0,)])
@pytest.mark.parametrize("rows", [0, 1, 400, 2000])
def test_sorted_segments_with_gaps(
    name: str, dtype: str, inner: tuple[int, ...], rows: int
) -> None:
    random = np.random.RandomState(0)
    data = random.choice([-2.0, -1.0, 0.5, 1.0], (rows, *inner)).astype(dtype)
    ids = np.sort(random.randint(3, 90, rows)).astype(np.int32)
    function, reference, gap = _FUNCTIONS[name]
    fed = tf.placeholder(dtype, [None, *inner])
    with tf.Session() as sess:
        found = sess.run(function(fed, tf.constant(ids)), {fed: data})
    expected = np.full((ids[-1] + 1 if rows else 0, *inner), gap, dtype)
    for segment in set(ids.tolist()):
        # The mean of integers is truncated.
        expected[segment] = reference(data[ids == segment].astype(float), axis=0)
    np.testing.assert_allclose(
        found, expected, rtol=1e-3 if dtype == "float16" else 1e-6
    )
    assert found.dtype == expected.dtype


_UNSORTED: dict[str, tuple[Any, Any]] = {
    "max": (tf.math.unsorted_segment_max, np.maximum),
    "min": (tf.math.unsorted_segment_min, np.minimum),
    "prod": (tf.math.unsorted_segment_prod, np.multiply),
    "sum": (tf.math.unsorted_segment_sum, np.add),
}


@pytest.mark.parametrize("name", _UNSORTED)
@pytest.mark.parametrize(
    "dtype", ["float32", "float64", "bfloat16", "uint8", "int8", "int32", "int64"]
)
@pytest.mark.parametrize("inner", [(), (3,), (40,), (0,)])
@pytest.mark.parametrize("rows", [0, 5, 600])
def test_unsorted_segments_without_rows_of_no_segment(
    name: str, dtype: str, inner: tuple[int, ...], rows: int
) -> None:
    random = np.random.RandomState(0)
    dtype = tf.as_dtype(dtype).as_numpy_dtype
    data = random.randint(1, 3, (rows, *inner)).astype(dtype)
    ids = random.randint(-2, 9, rows).astype(np.int32)
    function, reference = _UNSORTED[name]
    fed = tf.placeholder(dtype, [None, *inner])
    with tf.Session() as sess:
        found = sess.run(function(fed, tf.constant(ids), 12), {fed: data})
        empty = sess.run(function(fed, tf.constant(ids), 12), {fed: data})[11]
    expected = np.broadcast_to(empty, (12, *inner)).copy()
    for row, segment in zip(data, ids.tolist(), strict=True):
        if segment >= 0:
            # A product of many twos is 0 or infinite on either side.
            with np.errstate(over="ignore"):
                expected[segment] = reference(expected[segment], row)
    np.testing.assert_array_equal(found.astype(float), expected.astype(float))


_NAN = np.nan


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("inner", [(), (2,), (4000,)])
@pytest.mark.parametrize("times", [1, 20])
@pytest.mark.parametrize(
    ("data", "greatest", "least", "last_greatest", "last_least"),
    [
        pytest.param([_NAN, 1, 2], 2, 1, 2, 1, id="first"),
        pytest.param([2, _NAN, 1], 2, 1, 1, 1, id="between"),
        pytest.param([1, 2, _NAN], 2, 1, _NAN, _NAN, id="last"),
        pytest.param([_NAN, 1, _NAN, 2, 3], 3, 1, 3, 2, id="several"),
        pytest.param([_NAN, _NAN], -np.inf, np.inf, _NAN, _NAN, id="nothing else"),
    ],
)
def test_nan_as_in_tensorflow(
    dtype: str,
    inner: tuple[int, ...],
    times: int,
    data: list[float],
    greatest: float,
    least: float,
    last_greatest: float,
    last_least: float,
) -> None:
    """Sorted segments pass over NaN, unsorted ones begin anew behind it."""
    values = np.repeat(np.array([7, *data], dtype), times)
    column = values.reshape(-1, *[1] * len(inner))
    fed = np.broadcast_to(column, (len(column), *inner))
    ids = [0] * times + [1] * len(data) * times
    wanted = {
        tf.segment_max: greatest,
        tf.segment_min: least,
        lambda x, i: tf.math.unsorted_segment_max(x, i, 2): last_greatest,
        lambda x, i: tf.math.unsorted_segment_min(x, i, 2): last_least,
    }
    with tf.Session() as sess:
        for function, expected in wanted.items():
            found = sess.run(function(tf.constant(fed), ids))
            np.testing.assert_array_equal(found[0], np.full(inner, 7, dtype))
            np.testing.assert_array_equal(found[1], np.full(inner, expected, dtype))
