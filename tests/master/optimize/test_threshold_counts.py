"""Counts with many thresholds: one node gives what comparisons give."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _counts(scores: Any, labels: Any, limits: Any, fused: bool) -> tuple[Any, set[str]]:
    options = tf.ConfigProto()
    if not fused:
        options.graph_options.rewrite_options.remapping = 2  # OFF
    with tf.Graph().as_default(), tf.Session(config=options) as session:
        fed: Any = tf.placeholder(scores.dtype, [None])
        truth: Any = tf.placeholder(tf.bool, [None])
        m, n = len(limits), tf.shape(fed)[0]
        is_above: Any = tf.greater(
            tf.tile(tf.reshape(fed, [1, -1]), [m, 1]),
            tf.tile(tf.constant(limits[:, None], scores.dtype), tf.stack([1, n])),
        )
        is_true = tf.tile(tf.reshape(truth, [1, -1]), [m, 1])
        not_above, not_true = tf.logical_not(is_above), tf.logical_not(is_true)
        pairs = [
            (is_true, is_above),
            (not_above, is_true),
            (not_true, not_above),
            (is_above, not_true),
        ]
        sums = [
            tf.reduce_sum(tf.cast(tf.logical_and(a, b), tf.float32), 1)
            for a, b in pairs
        ]
        metadata = tf.RunMetadata()
        trace = tf.RunOptions(output_partition_graphs=True)
        # Fetched sums stay as they are.
        found = session.run(
            [tf.identity(s) + 0.5 for s in sums],
            {fed: scores, truth: labels},
            trace,
            metadata,
        )
    return found, {n.op for g in metadata.partition_graphs for n in g.node}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [0, 2, 300])
def test_same_as_comparisons(dtype: Any, size: int) -> None:
    random = np.random.RandomState(size)
    scores = random.rand(size).round(2).astype(dtype)
    scores[: size // 5] = np.nan
    labels = random.rand(size) > 0.4
    limits = np.array([-np.inf, -1e-7, *np.linspace(0, 1, 41), np.nan, np.inf])
    found, ops = _counts(scores, labels, limits, fused=True)
    expected, others = _counts(scores, labels, limits, fused=False)
    np.testing.assert_array_equal(found, expected)
    assert "_ThresholdCounts" in ops or not size
    assert "_ThresholdCounts" not in others


def test_few_thresholds_are_compared_with() -> None:
    scores, labels = np.float32([0.1, 0.7]), np.array([True, False])
    found, ops = _counts(scores, labels, np.array([0.5]), fused=True)
    np.testing.assert_array_equal(found, [[0.5], [1.5], [0.5], [1.5]])
    assert "_ThresholdCounts" not in ops


def test_auc_of_batches() -> None:
    random = np.random.RandomState(0)
    with tf.Graph().as_default(), tf.Session() as session:
        scores = tf.placeholder(tf.float32, [None])
        labels = tf.placeholder(tf.int64, [None])
        area, update = tf.metrics.auc(labels, scores)
        session.run(tf.local_variables_initializer())
        truth = random.randint(0, 2, 400)
        guesses = np.clip(0.5 * truth + random.rand(400), 0, 1)
        for begin in range(0, 400, 100):
            part = slice(begin, begin + 100)
            session.run(update, {scores: guesses[part], labels: truth[part]})
        found = session.run(area)
    order = guesses[truth == 1][:, None] - guesses[truth == 0]
    expected = (order > 0).mean() + 0.5 * (order == 0).mean()
    assert found == pytest.approx(expected, abs=0.01)
