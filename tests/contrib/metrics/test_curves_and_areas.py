"""`tf.contrib.metrics`: points of curves, exact areas, concatenations, histograms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import metrics

LABELS = np.array([0, 1, 1, 0, 1, 0, 0, 1])
SCORES = np.array([0.1, 0.4, 0.35, 0.35, 0.9, 0.2, 0.8, 0.7], np.float32)
PAIRS = [(p, n) for p in SCORES[LABELS == 1] for n in SCORES[LABELS == 0]]
AREA = np.mean([1.0 if p > n else 0.5 if p == n else 0.0 for p, n in PAIRS])


def _value(build: Callable[[Any, Any], tuple[Any, Any]]) -> Any:
    """The metric's value after two batches of four."""
    with tf.Graph().as_default(), tf.Session() as session:
        labels = tf.placeholder(tf.int64, [None])
        scores = tf.placeholder(tf.float32, [None])
        value, update = build(labels, scores)
        session.run(tf.local_variables_initializer())
        for part in (slice(0, 4), slice(4, 8)):
            session.run(update, {labels: LABELS[part], scores: SCORES[part]})
        # The batch of the value itself counts only for whether it is valid.
        return session.run(value, {labels: LABELS, scores: SCORES})


def test_exact_areas() -> None:
    np.testing.assert_allclose(_value(metrics.streaming_dynamic_auc), AREA)
    weighted = _value(
        lambda y, x: metrics.streaming_dynamic_auc(y, x, weights=tf.ones_like(x))
    )
    np.testing.assert_allclose(weighted, AREA)
    precision_recall = _value(
        lambda y, x: metrics.streaming_dynamic_auc(y, x, curve="PR")
    )
    assert 0.5 < precision_recall < 1.0


@pytest.mark.parametrize("is_of_logits", [False, True])
def test_intervals_are_around_the_area(is_of_logits: bool) -> None:
    found = _value(
        lambda y, x: metrics.auc_with_confidence_intervals(
            y, x, alpha=0.9, logit_transformation=is_of_logits
        )
    )
    np.testing.assert_allclose(found.auc, AREA, rtol=1e-5)
    assert found.lower < AREA < found.upper
    assert (found.lower > 0 and found.upper < 1) == is_of_logits


def test_areas_of_histograms() -> None:
    found = _value(
        lambda y, x: metrics.auc_using_histogram(y > 0, x, [0.0, 1.0], nbins=100)
    )
    np.testing.assert_allclose(found, AREA, rtol=1e-5)


def test_points_of_curves() -> None:
    roc = _value(lambda y, x: metrics.streaming_curve_points(y, x, num_thresholds=3))
    np.testing.assert_allclose(roc, [[1, 1], [0.25, 0.5], [0, 0]], atol=1e-5)
    curve = _value(
        lambda y, x: metrics.streaming_curve_points(y, x, num_thresholds=3, curve="PR")
    )
    np.testing.assert_allclose(curve[:2], [[1, 0.5], [0.5, 2 / 3]], atol=1e-5)


def test_precision_at_recall_and_recall_at_precision() -> None:
    precision = _value(lambda y, x: metrics.precision_at_recall(y, x, 0.5))
    np.testing.assert_allclose(precision, 2 / 3, rtol=1e-4)
    recall = _value(lambda y, x: metrics.recall_at_precision(y, x, 2 / 3))
    np.testing.assert_allclose(recall, 1.0, rtol=1e-4)
    strict = _value(
        lambda y, x: metrics.recall_at_precision(y, x, 0.99, strict_mode=True)
    )
    np.testing.assert_allclose(strict, 0.25, rtol=1e-4)


def test_counts_at_equal_thresholds() -> None:
    found = _value(
        lambda y, x: metrics.precision_recall_at_equal_thresholds(
            y > 0, x, num_thresholds=3
        )
    )
    assert found.thresholds.tolist() == [0.0, 0.5, 1.0]
    assert (found.tp.tolist(), found.fp.tolist()) == ([4, 2, 0], [4, 1, 0])
    assert (found.tn.tolist(), found.fn.tolist()) == ([0, 3, 4], [0, 2, 4])


def test_concatenations() -> None:
    batches = [np.arange(6).reshape(2, 3), np.arange(6, 15).reshape(3, 3)]
    with tf.Graph().as_default(), tf.Session() as session:
        rows = tf.placeholder(tf.int32, [None, 3])
        whole, update = metrics.streaming_concat(rows)
        across, update_across = metrics.streaming_concat(tf.transpose(rows), axis=1)
        some, update_some = metrics.streaming_concat(rows, max_size=3)
        session.run(tf.local_variables_initializer())
        for batch in batches:
            sizes = session.run([update, update_across, update_some], {rows: batch})
        assert sizes == [5, 5, 3]
        values = session.run([whole, across, some])
    expected = np.arange(15).reshape(5, 3)
    for value, wanted in zip(values, (expected, expected.T, expected[:3]), strict=True):
        np.testing.assert_array_equal(value, wanted)


def test_average_precision_of_classes() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        value, update = metrics.streaming_sparse_average_precision_at_top_k(
            tf.constant([[3, 1, 2]], tf.int64), tf.constant([[1, 2]], tf.int64)
        )
        session.run(tf.local_variables_initializer())
        np.testing.assert_allclose(session.run(update), (1 / 2 + 2 / 3) / 2)
        np.testing.assert_allclose(session.run(value), (1 / 2 + 2 / 3) / 2)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (
            lambda y, x: metrics.streaming_curve_points(y, x, curve="F1"),
            ValueError,
            "either ROC or PR, F1 unknown",
        ),
        (
            lambda y, x: metrics.streaming_dynamic_auc(y, x, curve="F1"),
            ValueError,
            "either ROC or PR, F1 unknown",
        ),
        (
            lambda y, x: metrics.auc_with_confidence_intervals(y, x, alpha=1.0),
            ValueError,
            "alpha must be between 0 and 1; currently 1.00",
        ),
        (
            lambda y, x: metrics.precision_at_recall(y, x, 1.5),
            ValueError,
            "`target_recall` must be in the range",
        ),
        (
            lambda y, x: metrics.auc_using_histogram(y, x, [0.0, 1.0]),
            ValueError,
            "should have dtype bool.  Found: .*int64",
        ),
        (
            lambda y, x: metrics.streaming_concat(x, axis=1),
            ValueError,
            r"axis = 1 not in \[0, 1\)",
        ),
        (
            lambda y, x: metrics.precision_recall_at_equal_thresholds(y, x),
            TypeError,
            "bool",
        ),
    ],
)
def test_refusals(
    build: Callable[[Any, Any], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        _value(build)
