"""Matrices in blocks: pooling in two steps, and blocks from single elements."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.model_pruning import blocks


@pytest.mark.parametrize("kind", ["MAX", "AVG"])
@pytest.mark.parametrize(
    ("shape", "window"), [([8, 6], [2, 3]), ([5, 7], [1, 4]), ([3, 2], [4, 1])]
)
def test_two_steps_pool_as_one(kind: str, shape: list[int], window: list[int]) -> None:
    values = np.random.RandomState(0).rand(*shape).astype(np.float32)
    whole = tf.nn.pool(values[None, :, :, None], window, kind, "SAME", strides=window)
    parts = blocks.factorized_pool(tf.constant(values), window, kind, window, "SAME")
    with tf.Session() as session:
        expected, found = session.run([whole, parts])
    assert found.shape == parts.shape
    np.testing.assert_allclose(found, expected[0, :, :, 0], rtol=1e-6)


def test_names_and_refusals() -> None:
    matrix = tf.ones([4, 4], name="weights")
    pooled = blocks.factorized_pool(matrix, [2, 2], "MAX", [2, 2], "VALID")
    assert pooled.op.name.startswith("Squeeze")
    names = [op.name for op in tf.get_default_graph().get_operations()]
    assert "factorized_pool/weights_aligned" in names
    with pytest.raises(ValueError, match="rank 2 only"):
        blocks.factorized_pool(tf.ones([2]), [1, 1], "MAX", [1, 1], "SAME")


def test_kronecker_product() -> None:
    a, b = np.arange(6).reshape(2, 3), np.array([[1, 10], [100, 1000]])
    product = blocks.kronecker_product(tf.constant(a), tf.constant(b))
    with tf.Session() as session:
        assert session.run(product).tolist() == np.kron(a, b).tolist()
