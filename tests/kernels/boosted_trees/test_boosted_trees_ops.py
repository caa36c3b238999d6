"""Boosted trees of lists that do not fit each other: what TensorFlow 1.15 says of them.

Where it reads behind the end of a list, ours refuses.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

op = tf.raw_ops
f, i = np.float32, np.int32
_DEFAULT_EPSILON = f(0.01)


def _fed(value: Any) -> Any:
    return tf.placeholder_with_default(np.asarray(value), None)


def _summaries(features: Any, weights: Any, epsilon: Any = _DEFAULT_EPSILON) -> Any:
    made = op.BoostedTreesMakeQuantileSummaries(
        float_values=[_fed(np.array(values, f)) for values in features],
        example_weights=_fed(np.array(weights, f)),
        epsilon=_fed(epsilon),
    )
    with tf.Session() as session:
        return [rows[:, :2].tolist() for rows in session.run(made)]


_LIGHT = [[[1, 1], [3, 1]], [[5, 1], [7, 1]]]
_HEAVY = [[[1, 1], [3, 3]], [[5, 1], [7, 3]]]
_FIVE = [5, 6, 7, 8, 9]


@pytest.mark.parametrize(
    ("features", "weights", "wanted"),
    [
        ([[1, 2, 3], _FIVE], [1], _LIGHT),
        ([[1, 2, 3], _FIVE], [1, 1, 1], _LIGHT),
        ([[1, 2, 3], [[5, 6, 7]]], [1, 2, 3], _HEAVY),
        ([[1, 2, 3], [[5, 6], [7, 8]]], [1], _LIGHT),
        ([[1, 2, 3], [5, 6, 7]], [[1, 2, 3]], _HEAVY),
        ([[[1, 2, 3]], [5, 6, 7]], [1], _LIGHT),
        ([[], []], [], [[], []]),
    ],
)
def test_summaries(features: Any, weights: Any, wanted: Any) -> None:
    assert _summaries(features, weights) == wanted


@pytest.mark.parametrize(
    ("features", "weights", "epsilon", "told"),
    [
        ([[1, 2, 3], [5, 6, 7]], [], 0.01, "There must be 1 weight, or 3, got 0"),
        ([[1, 2, 3], [4]], [1], 0.01, "A feature must have 3 values, got 1"),
        ([[1]], [1], np.nan, "epsilon must be a number"),
    ],
)
def test_summaries_refused(
    features: Any, weights: Any, epsilon: Any, told: str
) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _summaries(features, weights, f(epsilon))


@pytest.mark.parametrize("limits", [np.float32(2), np.ones((1, 2), f)])
def test_boundaries_of_another_rank_are_refused(limits: Any) -> None:
    made = op.BoostedTreesBucketize(
        float_values=[_fed(np.ones(2, f))], bucket_boundaries=[_fed(limits)]
    )
    with (
        tf.Session() as session,
        pytest.raises(tf.errors.InvalidArgumentError, match="must be a vector"),
    ):
        session.run(made)


_SPLIT = {
    "feature_ids": np.zeros(1, i),
    "node_ids": np.zeros(1, i),
    "gains": np.ones(1, f),
    "thresholds": np.ones(1, i),
    "left_node_contribs": np.ones((1, 1), f),
    "right_node_contribs": np.ones((1, 1), f),
    "max_depth": i(3),
    "learning_rate": f(0.1),
}


def _trees_after(changed: dict[str, Any]) -> int:
    """The number of trees after a layer with these inputs."""
    inputs = {name: _fed(value) for name, value in {**_SPLIT, **changed}.items()}
    for name in list(inputs)[1:6]:
        inputs[name] = [inputs[name]]
    ensemble = op.BoostedTreesEnsembleResourceHandleOp()
    made = op.BoostedTreesCreateEnsemble(
        tree_ensemble_handle=ensemble, stamp_token=0, tree_ensemble_serialized=b""
    )
    grown = op.BoostedTreesUpdateEnsemble(
        tree_ensemble_handle=ensemble, pruning_mode=0, **inputs
    )
    states = op.BoostedTreesGetEnsembleStates(tree_ensemble_handle=ensemble)
    with tf.Session() as session:
        session.run(made)
        session.run(grown)
        return int(session.run(states)[1])


@pytest.mark.parametrize(
    "changed",
    [
        {"feature_ids": np.zeros(2, i)},
        {"gains": np.ones(2, f)},
        {"right_node_contribs": np.ones((2, 1), f)},
        {"learning_rate": np.ones(1, f)},
    ],
)
def test_splits_behind_the_last_node_are_not_read(changed: dict[str, Any]) -> None:
    assert _trees_after(changed) == 1


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"feature_ids": np.zeros(0, i)}, "feature_ids must be a vector of 1"),
        ({"feature_ids": i(0)}, "feature_ids must be a vector of 1"),
        ({"gains": np.ones(0, f)}, "lists of rank 1 with as many rows, got shape .0"),
        ({"node_ids": np.zeros(2, i)}, "splits of 2 nodes need lists of rank 1"),
        ({"left_node_contribs": f(1)}, "lists of rank 2 with as many rows"),
    ],
)
def test_splits_refused(changed: dict[str, Any], told: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=told):
        _trees_after(changed)
