"""Rates of wrong predictions, F1 scores, and what is right among the k best."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.metrics import averages, counts, top_k
from tensorloom.metrics.state import published, squeezed
from tensorloom.metrics.thresholds import counts_at_thresholds, unchecked_counts
from tensorloom.metrics.top_k_counts import at_k_name
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.top_k import in_top_k

_Metric = tuple[Tensor, Any]
_EPSILON: Final = 1e-7


def _wrong_part(wrong: Any, right: Any, name: str) -> Any:
    """The part that is wrong, zero of nothing."""
    total = wrong + right
    part = math_ops.div(wrong, wrong + right)
    return array_ops.where(math_ops.greater(total, 0), part, 0, name)


def _booleans(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    return squeezed(
        math_ops.cast(predictions, dtype=dtypes.bool),
        math_ops.cast(labels, dtype=dtypes.bool),
        weights,
    )


@export(
    "contrib.metrics.streaming_false_positive_rate",
    "contrib.slim.metrics.streaming_false_positive_rate",
)
def streaming_false_positive_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of negative labels that was predicted positive, so far.

    Args:
      predictions, labels: of one shape, as bools.
      weights: that broadcast to them.
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.

    Returns:
      The rate, a scalar; and the operation that takes a batch in and gives the new one.
    """
    with variable_scope(name, "false_positive_rate", [predictions, labels, weights]):
        predictions, labels, weights = _booleans(predictions, labels, weights)
        wrong, more_wrong = counts.false_positives(labels, predictions, weights)
        right, more_right = counts.true_negatives(labels, predictions, weights)
        value = _wrong_part(wrong, right, "value")
        update = _wrong_part(more_wrong, more_right, "update_op")
        return published(value, update, metrics_collections, updates_collections)


@export(
    "contrib.metrics.streaming_false_negative_rate",
    "contrib.slim.metrics.streaming_false_negative_rate",
)
def streaming_false_negative_rate(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of positive labels that was predicted negative, so far.

    Arguments and results: see `streaming_false_positive_rate`.
    """
    with variable_scope(name, "false_negative_rate", [predictions, labels, weights]):
        predictions, labels, weights = _booleans(predictions, labels, weights)
        wrong, more_wrong = counts.false_negatives(labels, predictions, weights)
        right, more_right = counts.true_positives(labels, predictions, weights)
        value = _wrong_part(wrong, right, "value")
        update = _wrong_part(more_wrong, more_right, "update_op")
        return published(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.f1_score", "contrib.slim.metrics.f1_score")
def f1_score(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The best F1 score of all thresholds, so far.

    Args:
      labels: bools, or numbers that are 0 or not.
      predictions: floats from 0 to 1, of the labels' shape.
      weights: that broadcast to them.
      num_thresholds: how many thresholds are tried.
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.

    Returns:
      The score, a scalar; and the operation that takes a batch in and gives the new
      one.
    """
    with variable_scope(name, "f1", [labels, predictions, weights]):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        inner = [
            (i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)
        ]
        values, updates = counts_at_thresholds(
            labels,
            predictions,
            [0.0 - _EPSILON, *inner, 1.0 + _EPSILON],
            weights,
            includes=("tp", "fp", "fn"),
        )
        value = _best_f1(values, "value")
        update = _best_f1(updates, "update")
        return published(value, update, metrics_collections, updates_collections)


def _best_f1(found: dict[str, Any], name: str) -> Any:
    right = found["tp"]
    precision = math_ops.div(
        right, _EPSILON + right + found["fp"], name=f"precision_{name}"
    )
    recall = math_ops.div(right, _EPSILON + right + found["fn"], name=f"recall_{name}")
    scores = 2.0 * precision * recall / (precision + recall + _EPSILON)
    return math_ops.reduce_max(scores)


def _counts(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any,
    includes: Sequence[str],
) -> tuple[dict[str, Any], dict[str, Any]]:
    predictions, labels, weights = squeezed(predictions, labels, weights)
    labels = math_ops.cast(labels, dtype=dtypes.bool)
    return unchecked_counts(labels, predictions, thresholds, weights, includes)


def _at_thresholds(
    kind: str, predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any
) -> _Metric:
    values, updates = _counts(predictions, labels, thresholds, weights, (kind,))
    return values[kind], updates[kind]


def _rate_at_thresholds(wrong: Any, right: Any, name: str) -> Any:
    return math_ops.div(wrong, _EPSILON + wrong + right, name=name)


@export(
    "contrib.metrics.streaming_false_positive_rate_at_thresholds",
    "contrib.slim.metrics.streaming_false_positive_rate_at_thresholds",
)
def streaming_false_positive_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of negative labels with predictions above each threshold, so far.

    Arguments: see `streaming_false_positive_rate`; `thresholds` are floats.
    """
    with variable_scope(
        name, "false_positive_rate_at_thresholds", [predictions, labels, weights]
    ):
        values, updates = _counts(
            predictions, labels, thresholds, weights, ("fp", "tn")
        )
        value = _rate_at_thresholds(values["fp"], values["tn"], "fpr_value")
        update = _rate_at_thresholds(updates["fp"], updates["tn"], "fpr_update_op")
        return published(value, update, metrics_collections, updates_collections)


@export(
    "contrib.metrics.streaming_false_negative_rate_at_thresholds",
    "contrib.slim.metrics.streaming_false_negative_rate_at_thresholds",
)
def streaming_false_negative_rate_at_thresholds(
    predictions: Any,
    labels: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of positive labels with predictions up to each threshold, so far.

    Arguments: see `streaming_false_positive_rate`; `thresholds` are floats.
    """
    with variable_scope(
        name, "false_negative_rate_at_thresholds", [predictions, labels, weights]
    ):
        values, updates = _counts(
            predictions, labels, thresholds, weights, ("fn", "tp")
        )
        value = _rate_at_thresholds(values["fn"], values["tp"], "fnr_value")
        update = _rate_at_thresholds(updates["fn"], updates["tp"], "fnr_update_op")
        return published(value, update, metrics_collections, updates_collections)


@export(
    "contrib.metrics.streaming_true_positives_at_thresholds",
    "contrib.slim.metrics.streaming_true_positives_at_thresholds",
)
def streaming_true_positives_at_thresholds(
    predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None
) -> _Metric:
    """Positive labels with predictions above each threshold: (number, update)."""
    return _at_thresholds("tp", predictions, labels, thresholds, weights)


@export(
    "contrib.metrics.streaming_false_negatives_at_thresholds",
    "contrib.slim.metrics.streaming_false_negatives_at_thresholds",
)
def streaming_false_negatives_at_thresholds(
    predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None
) -> _Metric:
    """Positive labels with predictions up to each threshold: (number, update)."""
    return _at_thresholds("fn", predictions, labels, thresholds, weights)


@export(
    "contrib.metrics.streaming_false_positives_at_thresholds",
    "contrib.slim.metrics.streaming_false_positives_at_thresholds",
)
def streaming_false_positives_at_thresholds(
    predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None
) -> _Metric:
    """Negative labels with predictions above each threshold: (number, update)."""
    return _at_thresholds("fp", predictions, labels, thresholds, weights)


@export(
    "contrib.metrics.streaming_true_negatives_at_thresholds",
    "contrib.slim.metrics.streaming_true_negatives_at_thresholds",
)
def streaming_true_negatives_at_thresholds(
    predictions: Any, labels: Any, thresholds: Sequence[float], weights: Any = None
) -> _Metric:
    """Negative labels with predictions up to each threshold: (number, update)."""
    return _at_thresholds("tn", predictions, labels, thresholds, weights)


@export(
    "contrib.metrics.streaming_recall_at_k",
    "contrib.slim.metrics.streaming_recall_at_k",
)
def streaming_recall_at_k(
    predictions: Any,
    labels: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the labels that is among the k best predictions, so far.

    Args:
      predictions: [batch, classes].
      labels: integers, [batch].
      k: how many are looked at.
      weights: [batch].
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.
    """
    is_best = math_ops.cast(in_top_k(predictions, labels, k), dtypes.float32)
    return averages.mean(
        is_best,
        weights,
        metrics_collections,
        updates_collections,
        name or f"recall_at_{k}",
    )


@export(
    "contrib.metrics.sparse_recall_at_top_k",
    "contrib.slim.metrics.sparse_recall_at_top_k",
)
def sparse_recall_at_top_k(
    labels: Any,
    top_k_predictions: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the labels that is among the best predictions, given by class.

    Arguments: see `tf.metrics.recall_at_top_k`.
    """
    default = at_k_name("recall", class_id=class_id)
    with name_scope(name, default, [top_k_predictions, labels, weights]) as scope:
        return top_k.recall_at_top_k(
            labels=labels,
            predictions_idx=top_k_predictions,
            class_id=class_id,
            weights=weights,
            metrics_collections=metrics_collections,
            updates_collections=updates_collections,
            name=scope,
        )


@export(
    "contrib.metrics.streaming_sparse_precision_at_top_k",
    "contrib.slim.metrics.streaming_sparse_precision_at_top_k",
)
def streaming_sparse_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the best predictions, given by class, that is right.

    Arguments: see `tf.metrics.precision_at_top_k`.
    """
    default = at_k_name("precision", class_id=class_id)
    with name_scope(name, default, [top_k_predictions, labels, weights]) as scope:
        return top_k.precision_at_top_k(
            labels=labels,
            predictions_idx=top_k_predictions,
            class_id=class_id,
            weights=weights,
            metrics_collections=metrics_collections,
            updates_collections=updates_collections,
            name=scope,
        )
