"""`streaming_*`: metrics of `tf.metrics`, with predictions before labels."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from tensorloom.framework.export import export_value
from tensorloom.metrics import (
    average_precision,
    averages,
    classes,
    counts,
    curves,
    thresholds,
    top_k,
)
from tensorloom.ops.sparse import set as sets

_ENDS: Final = "weights metrics_collections updates_collections name"
_PAIR: Final = f"predictions labels {_ENDS}"

# Name after `streaming_`: the metric, and the order of its arguments here.
_FACES: Final[dict[str, tuple[Callable[..., Any], str]]] = {
    "accuracy": (averages.accuracy, _PAIR),
    "auc": (
        curves.auc,
        "predictions labels weights num_thresholds metrics_collections "
        "updates_collections curve name",
    ),
    "false_negatives": (counts.false_negatives, _PAIR),
    "false_positives": (counts.false_positives, _PAIR),
    "mean": (averages.mean, f"values {_ENDS}"),
    "mean_absolute_error": (averages.mean_absolute_error, _PAIR),
    "mean_cosine_distance": (
        averages.mean_cosine_distance,
        f"predictions labels dim {_ENDS}",
    ),
    "mean_iou": (classes.mean_iou, f"predictions labels num_classes {_ENDS}"),
    "mean_relative_error": (
        averages.mean_relative_error,
        f"predictions labels normalizer {_ENDS}",
    ),
    "mean_squared_error": (averages.mean_squared_error, _PAIR),
    "mean_tensor": (averages.mean_tensor, f"values {_ENDS}"),
    "percentage_less": (averages.percentage_below, f"values threshold {_ENDS}"),
    "precision": (counts.precision, _PAIR),
    "precision_at_thresholds": (
        thresholds.precision_at_thresholds,
        f"predictions labels thresholds {_ENDS}",
    ),
    "recall": (counts.recall, _PAIR),
    "recall_at_thresholds": (
        thresholds.recall_at_thresholds,
        f"predictions labels thresholds {_ENDS}",
    ),
    "root_mean_squared_error": (averages.root_mean_squared_error, _PAIR),
    "sensitivity_at_specificity": (
        curves.sensitivity_at_specificity,
        "predictions labels specificity weights num_thresholds metrics_collections "
        "updates_collections name",
    ),
    "sparse_average_precision_at_k": (
        average_precision.average_precision_at_k,
        f"predictions labels k {_ENDS}",
    ),
    "sparse_precision_at_k": (
        top_k.precision_at_k,
        f"predictions labels k class_id {_ENDS}",
    ),
    "sparse_recall_at_k": (top_k.recall_at_k, f"predictions labels k class_id {_ENDS}"),
    "specificity_at_sensitivity": (
        curves.specificity_at_sensitivity,
        "predictions labels sensitivity weights num_thresholds metrics_collections "
        "updates_collections name",
    ),
    "true_negatives": (counts.true_negatives, _PAIR),
    "true_positives": (counts.true_positives, _PAIR),
}


def _reordered(metric: Callable[..., Any], order: str, name: str) -> Callable[..., Any]:
    """The metric with its arguments in another order."""
    parameters = inspect.signature(metric).parameters
    signature = inspect.Signature([parameters[each] for each in order.split()])

    @functools.wraps(metric)
    def call(*args: Any, **kwargs: Any) -> Any:
        return metric(**signature.bind(*args, **kwargs).arguments)

    call.__signature__ = signature  # type: ignore[attr-defined]
    call.__name__ = call.__qualname__ = name
    return call


def _declare(value: Any, name: str) -> None:
    export_value(value, f"contrib.metrics.{name}", f"contrib.slim.metrics.{name}")


for _name, (_metric, _order) in _FACES.items():
    _long_name = f"streaming_{_name}"
    _declare(_reordered(_metric, _order, _long_name), _long_name)
for _name in ("set_difference", "set_intersection", "set_size", "set_union"):
    _declare(getattr(sets, _name), _name)
