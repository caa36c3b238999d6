"""Ops of TensorFlow 2.x; the values are those of TensorFlow 2.21."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def run(*fetches: Any) -> list[Any]:
    with tf.Session() as sess:
        return [v.tolist() for v in sess.run(list(fetches))]


def test_sobol() -> None:
    points = tf.raw_ops.SobolSample(dim=2, num_results=5, skip=3)
    assert points.shape == [5, 2]
    assert run(points) == [
        [
            [0.375, 0.375],
            [0.875, 0.875],
            [0.625, 0.125],
            [0.125, 0.625],
            [0.1875, 0.3125],
        ]
    ]
    many = tf.raw_ops.SobolSample(dim=3667, num_results=2, skip=100, dtype=tf.float64)
    assert run(many[-1, -3:]) == [[0.7421875, 0.7890625, 0.7578125]]


@pytest.mark.parametrize(
    ("dim", "count", "skip"), [(0, 1, 0), (2, 0, 0), (2, 1, -1), (99999, 1, 0)]
)
def test_sobol_refuses(dim: int, count: int, skip: int) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        run(tf.raw_ops.SobolSample(dim=dim, num_results=count, skip=skip))


@pytest.mark.parametrize(
    ("row", "fitted", "segments"),
    [
        ([3, 1, 2, 5, 4], [3, 3, 3, 3, 3], [0, 1, 1, 1, 1]),
        ([1, 2, 3, 2, 2], [2, 2, 2, 2, 2], [0, 0, 0, 1, 2]),
        ([1, 5, 2, 4, 0, 2], [3, 3, 3, 3, 1, 1], [0, 0, 1, 1, 2, 2]),
    ],
)
def test_isotonic_regression(
    row: list[float], fitted: list[float], segments: list[int]
) -> None:
    result = tf.raw_ops.IsotonicRegression(input=tf.constant([row], tf.float32))
    assert run(*result) == [[fitted], [segments]]


def test_gradient_of_isotonic_regression() -> None:
    x = tf.constant([[3.0, 1, 2, 5, 4], [1.0, 2, 3, 2, 2]])
    y = -tf.raw_ops.IsotonicRegression(input=-x)[0]  # never falls
    (slope,) = tf.gradients(y * y * [1.0, 2, 3, 4, 5], x)
    np.testing.assert_allclose(
        run(slope)[0],
        [[6.0, 6.0, 12.0, 40.5, 40.5], [2.0, 8.0, 56 / 3, 56 / 3, 56 / 3]],
        rtol=1e-6,
    )


def test_approximate_top_k() -> None:
    x = tf.constant([[3.0, 1, 2, 5, 4], [1.0, 2, 3, 2, 2]])
    assert run(*tf.raw_ops.ApproxTopK(input=x, k=2)) == [
        [[5, 4], [3, 2]],
        [[3, 4], [2, 1]],
    ]
    values, indices = tf.raw_ops.ApproxTopK(
        input=x, k=1, reduction_dimension=0, is_max_k=False
    )
    slope = tf.gradients(values * [[1.0, 2, 3, 4, 5]], x)[0]
    assert run(values, indices, slope) == [
        [[1, 1, 2, 2, 2]],
        [[1, 0, 0, 1, 1]],
        [[0, 2, 3, 0, 0], [1, 0, 0, 4, 5]],
    ]


def test_queries() -> None:
    raw = tf.raw_ops
    values = [0.0, 2.0, b"", b"a", True, [], [0]]
    assert run(*[raw.ToBool(input=tf.constant(v)) for v in values]) == [
        *(False, True, False, True, True, False, True)
    ]
    indices = [["CPU", "GPU"], ["GPU", "CPU"], ["TPU", "GPU"]]
    assert run(*[raw.DeviceIndex(device_names=names) for names in indices]) == [0, 1, 2]
