"""`tf.contrib.metrics`: first names, rates, aggregates; sizes of models."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

metrics = tf.contrib.metrics
_LABELS = np.array([1, 0, 1, 1, 0], np.int64)
_SCORES = np.array([0.9, 0.8, 0.3, 0.7, 0.1], np.float32)
_GUESSES = (_SCORES > 0.5).astype(np.int64)
_CASES: dict[str, tuple[Any, Any]] = {
    "accuracy": (lambda: metrics.streaming_accuracy(_GUESSES, _LABELS), 0.6),
    # Two of the three that were predicted, two of the three that are.
    "precision": (lambda: metrics.streaming_precision(_GUESSES, _LABELS), 2 / 3),
    "recall": (lambda: metrics.streaming_recall(_GUESSES, _LABELS), 2 / 3),
    "less": (lambda: metrics.streaming_percentage_less(_SCORES, 0.5), 0.4),
    "fpr": (lambda: metrics.streaming_false_positive_rate(_GUESSES, _LABELS), 0.5),
    "fnr": (lambda: metrics.streaming_false_negative_rate(_GUESSES, _LABELS), 1 / 3),
    "fprs": (
        lambda: metrics.streaming_false_positive_rate_at_thresholds(
            tf.constant(_SCORES * 10), tf.constant(_LABELS), [0.5, 5.0]
        ),
        [1.0, 0.5],
    ),
    "fns": (
        lambda: metrics.streaming_false_negatives_at_thresholds(
            tf.constant(_SCORES), tf.constant(_LABELS), [0.5, 0.8]
        ),
        [1, 2],
    ),
    # From a threshold under 0.3 on, three of four: precision 3/4, recall 1.
    "f1": (
        lambda: metrics.f1_score(tf.constant(_LABELS), tf.constant(_SCORES)),
        6 / 7,
    ),
    "covariance": (
        lambda: metrics.streaming_covariance(_SCORES, _LABELS.astype(np.float32)),
        np.cov(_SCORES, _LABELS)[0, 1],
    ),
    "correlation": (
        lambda: metrics.streaming_pearson_correlation(
            _SCORES, _LABELS.astype(np.float32)
        ),
        np.corrcoef(_SCORES, _LABELS)[0, 1],
    ),
    # Three of five agree; by chance 3/5 * 3/5 + 2/5 * 2/5 would.
    "kappa": (
        lambda: metrics.cohen_kappa(_LABELS, tf.constant(_GUESSES), 2),
        (0.6 - 0.52) / (1 - 0.52),
    ),
    "count": (lambda: metrics.count(tf.constant(_SCORES), [1, 0, 2, 1, 1.0]), 5),
}


@pytest.mark.parametrize("case", _CASES)
def test_numbers(case: str) -> None:
    make, expected = _CASES[case]
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = make()
        session.run(tf.local_variables_initializer())
        assert session.run(update) == pytest.approx(expected, abs=1e-6)
        assert session.run(value) == pytest.approx(expected, abs=1e-6)


def test_first_names_say_their_arguments() -> None:
    names = list(inspect.signature(metrics.streaming_mean_iou).parameters)
    assert names[:4] == ["predictions", "labels", "num_classes", "weights"]
    with (
        tf.Graph().as_default(),
        pytest.raises(TypeError, match="unexpected keyword argument 'wrong'"),
    ):
        metrics.streaming_mean([1.0], wrong=1)


def test_aggregates_keep_order_and_names() -> None:
    pairs = {"a": (1, 2), "b": (3, 4)}
    assert metrics.aggregate_metric_map(pairs) == ({"a": 1, "b": 3}, {"a": 2, "b": 4})
    assert metrics.aggregate_metrics((1, 2), (3, 4)) == ([1, 3], [2, 4])
    with pytest.raises(ValueError, match="at least one"):
        metrics.aggregate_metrics()


def test_accuracy_of_one_batch() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        guesses, labels = tf.constant(_GUESSES), tf.constant(_LABELS)
        weights = tf.constant([1.0, 0, 0, 0, 1])
        assert session.run(metrics.accuracy(guesses, labels)) == pytest.approx(0.6)
        assert session.run(metrics.accuracy(guesses, labels, weights)) == 1
        with pytest.raises(ValueError, match="bool, integer, or string"):
            metrics.accuracy(guesses, tf.constant(_SCORES))
        with pytest.raises(ValueError, match="should match"):
            metrics.accuracy(tf.constant(_SCORES), labels)


def test_sizes_of_a_model(capsys: pytest.CaptureFixture[str]) -> None:
    analyzer = tf.contrib.slim.model_analyzer
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, [None, 2], name="x")
        variable = tf.Variable(tf.zeros([3, 4]), name="v")
        assert analyzer.analyze_vars([variable], print_info=True) == (12, 48)
        assert "v:0 (float32_ref 3x4) [12, bytes: 48]" in capsys.readouterr().out
        # Zeros, the variable, its assignment and its read.
        assert analyzer.analyze_ops(graph, print_info=True) == 4 * 12
        assert "x \t-> (float32 ?x2) [0]" in capsys.readouterr().out
