"""Metrics of a classifier with two classes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from tensorloom.estimator.canned.metric_keys import MetricKeys as Keys
from tensorloom.estimator.canned.prediction_keys import PredictionKeys
from tensorloom.framework.graph.graph import name_scope
from tensorloom.metrics.averages import accuracy, mean
from tensorloom.metrics.counts import precision, recall
from tensorloom.metrics.curves import auc
from tensorloom.metrics.thresholds import precision_at_thresholds, recall_at_thresholds
from tensorloom.ops.array.reshape import squeeze
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.binary import maximum
from tensorloom.ops.math.cast import to_float

if TYPE_CHECKING:
    from tensorloom.estimator.canned.heads.base import LossSpec


def binary_metrics(
    loss: LossSpec,
    predictions: Mapping[str, Any],
    thresholds: Iterable[float],
    regularization_loss: Any,
) -> dict[str, Any]:
    """Pairs of value and update by name."""
    labels, weights = loss.processed_labels, loss.weights
    logistic = predictions[PredictionKeys.LOGISTIC]
    class_ids = predictions[PredictionKeys.CLASS_IDS]
    values = (labels, logistic, class_ids, weights, loss.unreduced_loss)
    with name_scope(None, "metrics", values=(*values, regularization_loss)):
        label_mean = mean(labels, weights=weights, name=Keys.LABEL_MEAN)
        by_class = {"labels": labels, "predictions": class_ids, "weights": weights}
        scores = {"labels": labels, "predictions": logistic, "weights": weights}
        metrics = {
            Keys.LOSS_MEAN: mean(
                loss.unreduced_loss, weights=weights, name=Keys.LOSS_MEAN
            ),
            Keys.ACCURACY: accuracy(**by_class, name=Keys.ACCURACY),
            Keys.PRECISION: precision(**by_class, name=Keys.PRECISION),
            Keys.RECALL: recall(**by_class, name=Keys.RECALL),
            Keys.PREDICTION_MEAN: mean(
                logistic, weights=weights, name=Keys.PREDICTION_MEAN
            ),
            Keys.LABEL_MEAN: label_mean,
            Keys.ACCURACY_BASELINE: _accuracy_baseline(label_mean),
            Keys.AUC: auc(**scores, name=Keys.AUC),
            Keys.AUC_PR: auc(**scores, curve="PR", name=Keys.AUC_PR),
        }
        if regularization_loss is not None:
            metrics[Keys.LOSS_REGULARIZATION] = mean(
                regularization_loss, name=Keys.LOSS_REGULARIZATION
            )
        for threshold in thresholds:
            metrics |= metrics_at_threshold(labels, logistic, weights, threshold)
    return metrics


def metrics_at_threshold(
    labels: Any, probabilities: Any, weights: Any, threshold: float
) -> dict[str, Any]:
    """Accuracy, precision and recall where a probability decides from a threshold "
    "on."""
    decided = to_float(math_ops.greater_equal(probabilities, threshold))
    name = Keys.ACCURACY_AT_THRESHOLD % threshold
    metrics = {name: accuracy(labels, decided, weights=weights, name=name)}
    for key, function in (
        (Keys.PRECISION_AT_THRESHOLD, precision_at_thresholds),
        (Keys.RECALL_AT_THRESHOLD, recall_at_thresholds),
    ):
        name = key % threshold
        value, update = function(
            labels=labels,
            predictions=probabilities,
            thresholds=(threshold,),
            weights=weights,
            name=name,
        )
        metrics[name] = squeeze(value), squeeze(update)
    return metrics


def _accuracy_baseline(label_mean: tuple[Any, Any]) -> tuple[Any, Any]:
    """The accuracy of who always answers the commoner class."""
    with name_scope(None, "accuracy_baseline", values=label_mean):
        value, update = label_mean
        return (
            maximum(value, 1.0 - value, name="value"),
            maximum(update, 1 - update, name="update_op"),
        )
