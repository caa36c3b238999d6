"""Splits that gain little are told too, with what they gain; sums of many examples."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf

_STATS = np.array(
    [
        [[0, 0], [0.08, 0.09], [0, 0], [0, 0]],
        [[0, 0], [-0.25, 0.11], [0.1, 0.5], [0, 0]],
        [[0.14, 0.1], [0.1, 0.2], [0.3, 0.4], [0, 0]],
    ],
    np.float32,
)


@pytest.mark.parametrize("complexity", [0.0, 3.0])
def test_each_node_has_its_best_split(complexity: float) -> None:
    found = tf.raw_ops.BoostedTreesCalculateBestGainsPerFeature(
        node_id_range=[0, 3],
        stats_summary_list=[_STATS],
        l1=0.0,
        l2=0.1,
        tree_complexity=complexity,
        min_node_weight=0.0,
        max_splits=3,
    )
    with tf.Session() as session:
        nodes, gains, thresholds, left, _ = (each[0] for each in session.run(found))
    # TensorFlow 1.15 says so.
    assert nodes.tolist() == [0, 1, 2]
    wanted = np.array([0, 0.28259555, 0]) - complexity
    np.testing.assert_allclose(gains, wanted, rtol=1e-5, atol=1e-6)
    assert thresholds.tolist() == [0, 1, 2]
    np.testing.assert_allclose(left[:, 0], [0, 1.1904762, -0.675], rtol=1e-5)


@pytest.mark.parametrize("op", ["make", "aggregate"])
def test_sums_of_many_examples_are_exact(op: str) -> None:
    count = 200_000
    node_ids = np.zeros(count, np.int32)
    gradients = np.full((count, 1), 0.1, np.float32)
    if op == "make":
        sums = tf.raw_ops.BoostedTreesMakeStatsSummary(
            node_ids=node_ids,
            gradients=gradients,
            hessians=gradients * 2,
            bucketized_features_list=[node_ids],
            max_splits=1,
            num_buckets=1,
        )
    else:
        sums = tf.raw_ops.BoostedTreesAggregateStats(
            node_ids=node_ids,
            gradients=gradients,
            hessians=gradients * 2,
            feature=node_ids[:, None],
            max_splits=1,
            num_buckets=1,
        )
    with tf.Session() as session:
        got = session.run(sums).reshape(-1, 2)[0]
    np.testing.assert_allclose(got, [20_000, 40_000], rtol=1e-6)
