"""Second derivatives of fused batch normalization."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

# Sums of absolute values of the second derivatives by x, scale and offset, printed by
# TensorFlow 1.15.0, which differentiates another composition of ops.
EXPECTED = {
    True: [2872.907, 1041.0, 821.8698],
    False: [11402.22, 7256.601, 3574.809],
}


def _normal(seed: int, *shape: int) -> Any:
    return np.random.RandomState(seed).randn(*shape).astype(np.float32)


@pytest.mark.parametrize("training", [True, False])
def test_second_derivatives(training: bool) -> None:
    x = tf.placeholder(tf.float32, [2, 3, 3, 4])
    scale, offset = (tf.placeholder(tf.float32, [4]) for _ in range(2))
    moments: list[Any] = []
    if not training:
        variance = np.random.RandomState(9).rand(4) + 0.5
        moments = [tf.constant(_normal(8, 4)), tf.constant(variance, tf.float32)]
    y = tf.nn.fused_batch_norm(
        x, scale, offset, *moments, epsilon=0.1, is_training=training
    )[0]
    inputs = [x, scale, offset]
    loss = tf.reduce_sum(y * y * tf.constant(_normal(5, 2, 3, 3, 4)))
    first = tf.gradients(loss, inputs)
    weights = [tf.constant(_normal(6, *g.shape.as_list())) for g in first]
    total = sum(tf.reduce_sum(g**2 * w) for g, w in zip(first, weights, strict=True))
    second = tf.gradients(total, inputs)
    feeds = {x: _normal(0, 2, 3, 3, 4), scale: _normal(1, 4), offset: _normal(2, 4)}
    with tf.Session() as session:
        values = session.run(second, feeds)
    sums = [float(np.abs(v).sum()) for v in values]
    assert sums == pytest.approx(EXPECTED[training], rel=1e-4)
