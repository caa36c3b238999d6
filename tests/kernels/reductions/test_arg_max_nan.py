"""ArgMax and ArgMin pass over NaN, as TensorFlow's comparisons do."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf

NAN, INF = float("nan"), float("inf")
ROWS = [
    [1.0, 3.0, 2.0, 3.0],
    [NAN, 1.0, 2.0, -1.0],
    [-1.0, NAN, -2.0, NAN],
    [-INF, INF, INF, 0.0],
    [INF, NAN, -INF, 1.0],
    [3e38, -3e38, 2e38, 0.0],
]
LARGEST = [1, 2, 0, 1, 0, 0]
SMALLEST = [0, 3, 2, 0, 2, 1]


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64, tf.bfloat16])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_positions(dtype: tf.DType, known: bool, axis: int) -> None:
    rows = np.array(ROWS)
    x = rows if axis else rows.T
    fed = tf.placeholder(dtype, x.shape if known else None)
    found = [tf.argmax(fed, axis), tf.argmin(fed, axis, output_type=tf.int32)]
    with tf.Session() as sess:
        largest, smallest = sess.run(found, {fed: x})
    assert largest.tolist() == LARGEST
    assert smallest.tolist() == SMALLEST


@pytest.mark.parametrize("place", [0, 500, 1499])
def test_one_nan_of_many(place: int) -> None:
    x = np.linspace(-1e30, 1e30, 1500, dtype=np.float32)
    x[place] = NAN
    fed = tf.placeholder(tf.float32, x.shape)
    with tf.Session() as sess:
        largest, smallest = sess.run([tf.argmax(fed), tf.argmin(fed)], {fed: x})
    assert largest == (1498 if place == 1499 else 1499)
    assert smallest == (1 if place == 0 else 0)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64", "uint8"])
@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize(
    ("shape", "axis"),
    [
        ((9000, 3), 1),
        ((40000, 2), 1),
        ((3, 9000), 0),
        ((300, 20000), 0),
        ((7, 4, 5000), 1),
        ((2, 1000, 5, 2), 2),
        ((900, 1), 1),
    ],
)
def test_many_short_rows(
    dtype: str, shape: tuple[int, ...], axis: int, known: bool
) -> None:
    """Places of all rows are compared together: the first of equal ones, no NaN."""
    x = np.random.RandomState(0).randint(0, 5, shape).astype(np.float64)
    if dtype.startswith("float"):
        x[x == 4] = NAN
        x[x == 0] = -INF
    fed = tf.placeholder(dtype, shape if known else None)
    with tf.Session() as sess:
        found = sess.run([tf.argmax(fed, axis), tf.argmin(fed, axis)], {fed: x})
    for places, sign in zip(found, (1, -1), strict=True):
        expected = np.where(np.isnan(x), -INF, sign * x).argmax(axis)
        np.testing.assert_array_equal(places, expected)
