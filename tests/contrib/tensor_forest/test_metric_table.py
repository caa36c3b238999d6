"""`tf.contrib.tensor_forest.client.eval_metrics`, beside known results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

eval_metrics = tf.contrib.tensor_forest.client.eval_metrics
_PROBABILITIES: Any = np.array([[0.75, 0.25], [0.5, 0.5], [0.25, 0.75]], np.float32)
_ENTROPY = -np.log([0.75, 0.5, 0.75]).mean()


def _log_odds(p: Any) -> Any:
    return np.log1p(np.exp(p))


_HOT: Any = np.eye(2)[[0, 1, 1]]
_CASES: Any = {
    "accuracy": ([0, 0, 1], [0, 1, 1], 2 / 3),
    "precision": ([0, 0, 1], [0, 1, 1], 1),
    "recall": ([0, 0, 1], [0, 1, 1], 0.5),
    "auc": (_PROBABILITIES, [[0], [1], [1]], 1),
    "r2": ([[1.0], [2.0], [4.0]], [[1.0], [2.0], [3.0]], 0.5),
    "classification_log_loss": (_PROBABILITIES, [[0], [1], [1]], _ENTROPY),
    "softmax_entropy": (
        _PROBABILITIES,
        [0, 1, 1],
        (_log_odds(np.array([-0.5, 0.0, -0.5]))).mean(),
    ),
    "sigmoid_entropy": (
        _PROBABILITIES,
        [[0], [1], [1]],
        (_log_odds(_PROBABILITIES) - _PROBABILITIES * _HOT).mean(),
    ),
}


@pytest.mark.parametrize("name", _CASES)
def test_metrics_have_known_values(name: str) -> None:
    predictions, targets, expected = _CASES[name]
    value, update = eval_metrics.get_metric(name)(
        tf.constant(predictions), tf.constant(targets)
    )
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(update)
        assert session.run(value) == pytest.approx(expected, abs=1e-4)


def test_top_5_and_thresholds_and_predictions() -> None:
    rows = tf.constant([[float(n) for n in range(10)]] * 2)
    top = eval_metrics.get_metric("top_5")(rows, tf.constant([[9], [1]]))
    recalls = eval_metrics.get_metric("recall_at_thresholds")(
        tf.constant(_PROBABILITIES), tf.constant([[0], [1], [1]])
    )
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(top[1]) == 0.5
        assert session.run(recalls[1])[[0, 60, 90]].tolist() == [1, 0.5, 0]
    assert eval_metrics.get_metric("predictions")(rows, None) is rows


def test_metrics_say_what_they_take() -> None:
    assert eval_metrics.get_prediction_key("r2") == "scores"
    assert eval_metrics.get_prediction_key("auc") == eval_metrics.INFERENCE_PROB_NAME
    with pytest.raises(KeyError):
        eval_metrics.get_metric("none")
