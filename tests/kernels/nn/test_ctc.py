"""CTC losses and their gradients, by the definition: over all paths."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

STEPS, CLASSES = 5, 4


def _loss_and_gradient(
    logits: Any, labels: list[int], merge: bool
) -> tuple[float, Any]:
    """Of one sequence [time, classes], whose last class is blank."""
    exponentials = np.exp(logits)
    probabilities = exponentials / exponentials.sum(1, keepdims=True)
    total, expected = 0.0, np.zeros_like(probabilities)
    for path in itertools.product(range(CLASSES), repeat=len(logits)):
        kept = [label for label, _ in itertools.groupby(path)] if merge else path
        if [label for label in kept if label != CLASSES - 1] == labels:
            chance = np.prod(probabilities[range(len(path)), path])
            total += chance
            expected[range(len(path)), path] += chance
    if not total:
        return np.inf, probabilities
    return -np.log(total), probabilities - expected / total


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("scale", [1.0, 20.0])
@pytest.mark.parametrize("permuted", [False, True])
def test_all_paths(merge: bool, scale: float, permuted: bool) -> None:
    random = np.random.RandomState(0)
    labels = [[0], [1, 1], [2, 0, 2], [0, 1, 0, 1], [1, 1, 1]]
    lengths = [5, 4, 5, 4, 4]
    inputs = random.randn(STEPS, len(labels), CLASSES) * scale
    places = [(b, i) for b, row in enumerate(labels) for i in range(len(row))]
    given = tf.placeholder(tf.float64, [None, None, CLASSES])
    values = tf.constant([label for row in labels for label in row], tf.int32)
    loss = tf.nn.ctc_loss(
        tf.SparseTensor(places, values, [5, 4]),
        tf.cast(tf.transpose(given, [1, 0, 2]) if permuted else given, tf.float32),
        np.int32(lengths),
        ctc_merge_repeated=merge,
        ignore_longer_outputs_than_inputs=True,
    )
    fed = inputs.transpose(1, 0, 2) if permuted else inputs
    with tf.Session() as sess:
        losses, gradient = sess.run([loss, tf.gradients(loss, given)[0]], {given: fed})
    gradient = gradient.transpose(1, 0, 2) if permuted else gradient
    for b, (row, length) in enumerate(zip(labels, lengths, strict=True)):
        wanted, slope = _loss_and_gradient(inputs[:length, b], row, merge)
        np.testing.assert_allclose(losses[b], wanted, 1e-4)
        np.testing.assert_allclose(gradient[:length, b], slope, atol=1e-5)
        assert not gradient[length:, b].any()
