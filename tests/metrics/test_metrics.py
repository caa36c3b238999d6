"""Metrics: their numbers by NumPy over batches, where their state is, messages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_RANDOM = np.random.RandomState(0)
_BATCHES = [
    (_RANDOM.rand(8) > 0.5, _RANDOM.rand(8).astype(np.float32)) for _ in range(3)
]
_LABELS = np.concatenate([labels for labels, _ in _BATCHES])
_SCORES = np.concatenate([scores for _, scores in _BATCHES])
_FOUND = _SCORES > 0.5


def _streamed(make: Any) -> tuple[Any, list[Any]]:
    """(value after all batches, what each update gave)."""
    labels, scores = tf.placeholder(tf.bool, [8]), tf.placeholder(tf.float32, [8])
    value, update = make(labels, scores)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        updates = [session.run(update, {labels: y, scores: x}) for y, x in _BATCHES]
        return session.run(value), updates


_CASES = {
    "mean": (lambda y, x: tf.metrics.mean(x), _SCORES.mean()),
    "accuracy": (
        lambda y, x: tf.metrics.accuracy(y, x > 0.5),
        (_LABELS == _FOUND).mean(),
    ),
    "precision": (
        lambda y, x: tf.metrics.precision(y, x > 0.5),
        _LABELS[_FOUND].mean(),
    ),
    "recall": (lambda y, x: tf.metrics.recall(y, x > 0.5), _FOUND[_LABELS].mean()),
    "true_positives": (
        lambda y, x: tf.metrics.true_positives(y, x > 0.5),
        (_LABELS & _FOUND).sum(),
    ),
    "false_negatives_at_thresholds": (
        lambda y, x: tf.metrics.false_negatives_at_thresholds(y, x, [0.2, 0.8]),
        [(_LABELS & (t >= _SCORES)).sum() for t in (0.2, 0.8)],
    ),
    "root_mean_squared_error": (
        lambda y, x: tf.metrics.root_mean_squared_error(tf.cast(y, tf.float32), x),
        np.sqrt(np.square(_LABELS - _SCORES).mean()),
    ),
    "mean_per_class_accuracy": (
        lambda y, x: tf.metrics.mean_per_class_accuracy(
            y, tf.cast(x > 0.5, "int64"), 2
        ),
        np.mean([_FOUND[_LABELS].mean(), (~_FOUND)[~_LABELS].mean()]),
    ),
}


@pytest.mark.parametrize("name", sorted(_CASES))
def test_values_over_batches(name: str) -> None:
    make, expected = _CASES[name]
    value, updates = _streamed(make)
    np.testing.assert_allclose(value, expected, rtol=1e-5)
    # That of the mean accuracy of classes gives the accuracy of each.
    np.testing.assert_allclose(np.mean(updates[-1]), np.mean(expected), rtol=1e-5)


def test_area_under_the_curve_is_that_of_the_ranks() -> None:
    value, _ = _streamed(lambda y, x: tf.metrics.auc(y, x, num_thresholds=2000))
    positive, negative = _SCORES[_LABELS], _SCORES[~_LABELS]
    expected = np.mean(positive[:, None] > negative[None])
    assert value == pytest.approx(expected, abs=5e-3)


def test_state_is_local_and_in_collections() -> None:
    value, update = tf.metrics.mean(
        tf.ones([2]), metrics_collections=["a"], updates_collections="b", name="m"
    )
    names = [v.name for v in tf.local_variables()]
    assert names == ["m/total:0", "m/count:0"]
    assert tf.get_collection(tf.GraphKeys.METRIC_VARIABLES) == tf.local_variables()
    assert tf.global_variables() == []
    assert tf.get_collection("a") == [value]
    assert tf.get_collection("b") == [update]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tf.metrics.auc([1.0], tf.ones([1]), curve="X"), "either ROC or PR"),
        (
            lambda: tf.metrics.auc([1.0], tf.ones([1]), summation_method="X"),
            "Known are: trapezoidal",
        ),
        (
            lambda: tf.metrics.sensitivity_at_specificity([1], tf.ones([1]), 2.0),
            r"range \[0, 1\], not 2.0",
        ),
        (
            lambda: tf.metrics.average_precision_at_k([1], tf.ones([1, 2]), 0),
            "Invalid k=0",
        ),
    ],
)
def test_misuse(make: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()


def test_predictions_out_of_range_are_found_at_run_time() -> None:
    x = tf.placeholder(tf.float32, [2])
    _, update = tf.metrics.auc([True, False], x)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"must be in \[0, 1\]"
        ):
            session.run(update, {x: [0.5, 1.5]})
