"""The metrics of a forest's predictions, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tensorloom.contrib.learn.keys import PredictionKey
from tensorloom.contrib.losses.cross_entropies import (
    sigmoid_cross_entropy,
    sparse_softmax_cross_entropy,
)
from tensorloom.contrib.losses.element_losses import log_loss
from tensorloom.framework.export import export, export_value
from tensorloom.framework.types import dtypes
from tensorloom.metrics import averages, counts, curves, thresholds
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.cast import cast
from tensorloom.ops.nn.top_k import in_top_k
from tensorloom.ops.reductions.reductions import reduce_mean, reduce_sum

Metric = Callable[..., Any]

INFERENCE_PROB_NAME: Final = PredictionKey.PROBABILITIES
INFERENCE_PRED_NAME: Final = PredictionKey.CLASSES
FEATURE_IMPORTANCE_NAME: Final = "global_feature_importance"
_NAMESPACE: Final = "contrib.tensor_forest.client.eval_metrics"
export_value(INFERENCE_PROB_NAME, f"{_NAMESPACE}.INFERENCE_PROB_NAME")
export_value(INFERENCE_PRED_NAME, f"{_NAMESPACE}.INFERENCE_PRED_NAME")
export_value(FEATURE_IMPORTANCE_NAME, f"{_NAMESPACE}.FEATURE_IMPORTANCE_NAME")

_THRESHOLDS: Final = np.arange(0, 1, 0.01, dtype=np.float32)


def _top_k(k: int) -> Metric:
    def top_k(probabilities: Any, targets: Any) -> Any:
        targets = cast(targets, dtypes.int32)
        if len(targets.shape) > 1:
            targets = array_ops.squeeze(targets, axis=[1])
        return averages.mean(in_top_k(probabilities, targets, k))

    return top_k


def _of_labels(metric: Metric) -> Metric:
    """A metric of predicted classes."""

    def of_labels(predictions: Any, targets: Any, weights: Any = None) -> Any:
        return metric(labels=targets, predictions=predictions, weights=weights)

    return of_labels


def _of_second_class(metric: Metric, **options: Any) -> Metric:
    """A metric of the probability of the second class."""

    def of_second_class(predictions: Any, targets: Any, weights: Any = None) -> Any:
        second = array_ops.slice(predictions, [0, 1], [-1, 1])
        return metric(labels=targets, predictions=second, weights=weights, **options)

    return of_second_class


def _r2(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    targets = cast(targets, dtypes.float32)
    middle = reduce_mean(targets, 0)
    total = reduce_sum(math_ops.squared_difference(targets, middle), 0)
    rest = reduce_sum(math_ops.squared_difference(targets, probabilities), 0)
    return averages.mean(1 - reduce_sum(rest / total), weights=weights)


def _of_one_hot(loss: Metric) -> Metric:
    """The mean of a loss of probabilities and one-hot classes."""

    def of_one_hot(probabilities: Any, targets: Any, weights: Any = None) -> Any:
        classes = cast(array_ops.squeeze(targets, axis=[1]), dtypes.int32)
        hot = array_ops.one_hot(classes, array_ops.shape(probabilities)[1])
        return averages.mean(loss(probabilities, hot), weights=weights)

    return of_one_hot


def _softmax_entropy(probabilities: Any, targets: Any, weights: Any = None) -> Any:
    loss = sparse_softmax_cross_entropy(probabilities, cast(targets, dtypes.int32))
    return averages.mean(loss, weights=weights)


def _predictions(predictions: Any, unused_targets: Any, **unused_kwargs: Any) -> Any:
    return predictions


# By name: (the metric, the key of the predictions that it takes).
_METRICS: Final[dict[str, tuple[Metric, str]]] = {
    "auc": (_of_second_class(curves.auc), INFERENCE_PROB_NAME),
    "sigmoid_entropy": (_of_one_hot(sigmoid_cross_entropy), INFERENCE_PROB_NAME),
    "softmax_entropy": (_softmax_entropy, INFERENCE_PROB_NAME),
    "accuracy": (_of_labels(averages.accuracy), INFERENCE_PRED_NAME),
    "r2": (_r2, PredictionKey.SCORES),
    "predictions": (_predictions, INFERENCE_PRED_NAME),
    "classification_log_loss": (_of_one_hot(log_loss), INFERENCE_PROB_NAME),
    "precision": (_of_labels(counts.precision), INFERENCE_PRED_NAME),
    "precision_at_thresholds": (
        _of_second_class(thresholds.precision_at_thresholds, thresholds=_THRESHOLDS),
        INFERENCE_PROB_NAME,
    ),
    "recall": (_of_labels(counts.recall), INFERENCE_PRED_NAME),
    "recall_at_thresholds": (
        _of_second_class(thresholds.recall_at_thresholds, thresholds=_THRESHOLDS),
        INFERENCE_PROB_NAME,
    ),
    "top_5": (_top_k(5), INFERENCE_PROB_NAME),
}


@export("contrib.tensor_forest.client.eval_metrics.get_metric")
def get_metric(metric_name: str) -> Metric:
    """The metric of a name, a function of predictions, targets and often weights.

    Raises:
      KeyError: there is no such metric.
    """
    return _METRICS[metric_name][0]


@export("contrib.tensor_forest.client.eval_metrics.get_prediction_key")
def get_prediction_key(metric_name: str) -> str:
    """The key of the predictions that a metric takes.

    Raises:
      KeyError: there is no such metric.
    """
    return _METRICS[metric_name][1]
