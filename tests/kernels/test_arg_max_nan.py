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
