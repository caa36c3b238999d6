"""`tf.contrib.sparsemax`: projections, losses, their gradients, and rows of no use."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf

sparsemax = tf.contrib.sparsemax


def _projected(row: list[float]) -> np.ndarray:
    """By halving: the threshold at which the rest adds up to one."""
    logits = np.array(row)
    low, high = logits.max() - 1.0, logits.max()
    for _ in range(100):
        middle = (low + high) / 2
        is_more = np.maximum(logits - middle, 0).sum() > 1
        low, high = (middle, high) if is_more else (low, middle)
    return np.maximum(logits - low, 0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_projection_and_loss(dtype: type) -> None:
    logits = np.array([[1, 2, 3], [0, 0, 0.5], [0.3, 0.2, 0.1]], dtype)
    labels = np.eye(3, dtype=dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        z = tf.constant(logits)
        p = sparsemax.sparsemax(z)
        loss = sparsemax.sparsemax_loss(z, p, tf.constant(labels))
        (gradient,) = tf.gradients(loss, z)
        probabilities, losses, slopes = session.run([p, loss, gradient])
    expected = np.array([_projected(list(row)) for row in logits])
    np.testing.assert_allclose(probabilities, expected, atol=1e-6)
    # TensorFlow 1.15's numbers for the first two rows.
    np.testing.assert_allclose(losses[:2], [2.0, 0.5833333], rtol=1e-6)
    np.testing.assert_allclose(slopes, probabilities - labels, atol=1e-6)


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ([np.nan, 0.0, 1.0], [np.nan] * 3),
        ([-np.inf, -np.inf, -np.inf], [np.nan] * 3),
        ([-np.inf, 0.0, 5.0], [0.0, 0.0, 1.0]),
    ],
)
def test_rows_without_numbers(row: list[float], expected: list[float]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(sparsemax.sparsemax(tf.constant([row])))
    np.testing.assert_array_equal(found, [expected])
