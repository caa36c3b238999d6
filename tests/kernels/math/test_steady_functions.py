"""Square roots, logarithms and exponentials of special values among plain ones."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf

INF, NAN = float("inf"), float("nan")
SPECIAL = {
    "none": [],
    "zero": [0.0, -0.0],
    "negative": [-1.0, -1e30],
    "infinite": [INF, -INF],
    "large": [88.8, 1e9, -88.0, -104.0, -1e9],
    "nan": [NAN],
    "denormal": [1e-40],
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("size", [7, 3000, 9000])
@pytest.mark.parametrize("special", SPECIAL)
def test_values(dtype: str, size: int, special: str) -> None:
    to = tf.as_dtype(dtype).as_numpy_dtype
    x = np.random.RandomState(0).rand(size) + 0.1
    for i, value in enumerate(SPECIAL[special]):
        x[i::7] = value
    with np.errstate(over="ignore"):
        x = x.astype(to)
    fed = tf.placeholder(dtype, [None])
    with tf.Session() as sess:
        found = sess.run([tf.sqrt(fed), tf.log(fed), tf.exp(fed)], {fed: x})
    wide = x.astype(np.float64)
    tolerance = {"float64": 1e-14, "float32": 1e-6, "float16": 2e-3}.get(dtype, 2e-2)
    with np.errstate(all="ignore"):
        for result, function in zip(found, (np.sqrt, np.log, np.exp), strict=True):
            assert result.dtype == to
            expected = function(wide).astype(to).astype(np.float64)
            # What is less than any normal number may be zero.
            np.testing.assert_allclose(
                result.astype(np.float64), expected, rtol=tolerance, atol=2e-38
            )


def test_the_sign_of_zero_stays() -> None:
    x = np.resize(np.array([-0.0, 4.0], np.float32), 4000)
    fed = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        roots = sess.run(tf.sqrt(fed), {fed: x})
    np.testing.assert_array_equal(np.signbit(roots), np.signbit(x))


def test_other_layouts() -> None:
    x = np.random.RandomState(0).rand(90, 100).astype(np.float32)
    x[::3] = 0
    fed = tf.placeholder(tf.float32, [None, None])
    with tf.Session() as sess:
        found = sess.run([tf.sqrt(tf.transpose(fed)), tf.exp(fed[::2, ::3])], {fed: x})
    np.testing.assert_allclose(found[0], np.sqrt(x.T), rtol=1e-6)
    np.testing.assert_allclose(found[1], np.exp(x[::2, ::3]), rtol=1e-6)
