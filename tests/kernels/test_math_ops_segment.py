"""Reductions of sorted segments, whichever of torch's functions makes them."""

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
@pytest.mark.parametrize("rows", [0, 1, 400])
def test_sorted_segments_with_gaps(
    name: str, dtype: str, inner: tuple[int, ...], rows: int
) -> None:
    random = np.random.RandomState(0)
    data = random.choice([-2.0, -1.0, 1.0], (rows, *inner)).astype(dtype)
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
