"""`tf.contrib.kernel_methods`: random features and the hinge loss."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import kernel_methods
from tensorloom.contrib.kernel_methods.mappers import InvalidShapeError


def test_products_of_features_are_nearly_the_kernel() -> None:
    x = np.random.RandomState(0).rand(3, 4).astype(np.float32)
    mapper = kernel_methods.RandomFourierFeatureMapper(4, 5000, stddev=1.5, seed=3)
    with tf.Graph().as_default(), tf.Session() as session:
        features = session.run(mapper.map(tf.constant(x)))
    kernel = np.exp(-((x[:, None] - x) ** 2).sum(-1) / (2 * 1.5**2))
    np.testing.assert_allclose(features @ features.T, kernel, atol=0.05)


def test_mappings_refuse_other_shapes() -> None:
    mapper = kernel_methods.RandomFourierFeatureMapper(4, 10)
    with tf.Graph().as_default():
        with pytest.raises(InvalidShapeError, match="expected 4 input features, got 3"):
            mapper.map(tf.ones([2, 3]))
        with pytest.raises(InvalidShapeError, match=r"should be 2\. Got 1"):
            mapper.map(tf.ones([4]))


def test_hinge_loss() -> None:
    logits = np.array([[1.0, 0.5, -1.0], [0.0, 3.0, 1.0]], np.float32)
    labels = np.array([0, 2])
    with tf.Graph().as_default(), tf.Session() as session:
        made = [
            kernel_methods.sparse_multiclass_hinge_loss(
                tf.constant(given), tf.constant(logits), weights
            )
            for given, weights in ((labels, 1.0), (labels[:, None], [[1.0], [0.0]]))
        ]
        assert tf.get_collection(tf.GraphKeys.LOSSES) == made
        values = session.run(made)
    # 0.5 of the first, 3 of the second.
    np.testing.assert_allclose(values, [1.75, 0.5])


@pytest.mark.parametrize(
    ("labels", "logits", "message"),
    [
        (tf.int32, [2], "logits should have rank 2"),
        (tf.float32, [2, 3], "Invalid dtype for labels: .*float32"),
    ],
)
def test_refusals(labels: Any, logits: list[int], message: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=message):
        kernel_methods.sparse_multiclass_hinge_loss(
            tf.zeros([2], labels), tf.zeros(logits)
        )
