"""The ReLU's gradient moves to the pool's side, with equal values."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.protos.rewriter_config_pb2 import RewriterConfig


def gradient(strides: int, optimized: bool) -> np.ndarray:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 8, 8, 3])
        pooled = tf.nn.max_pool(
            tf.nn.relu(x), [1, 2, 2, 1], [1, strides, strides, 1], "SAME"
        )
        (grad,) = tf.gradients(tf.reduce_sum(pooled * pooled), x)
        config = tf.ConfigProto()
        if not optimized:
            rewrites = config.graph_options.rewrite_options
            rewrites.disable_meta_optimizer = True
            rewrites.remapping = RewriterConfig.OFF
        value = np.random.RandomState(0).randn(2, 8, 8, 3).astype(np.float32)
        with tf.Session(config=config) as session:
            result: np.ndarray = session.run(grad, {x: value})
        return result


@pytest.mark.parametrize("strides", [1, 2])
def test_values_are_equal(strides: int) -> None:
    np.testing.assert_array_equal(gradient(strides, True), gradient(strides, False))
