"""Metrics of heads over many batches: (value, update) each."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.contrib.learn.head.weights import float_weights_or_none
from tensorloom.framework.types import dtypes
from tensorloom.losses.weights_broadcast import broadcast_weights
from tensorloom.metrics import averages, curves, thresholds
from tensorloom.ops.array.fill import ones_like, zeros_like
from tensorloom.ops.array.reshape import squeeze
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import equal, greater_equal


def streaming_mean(
    values: Any, weights: Any = None, class_id: int | None = None
) -> Any:
    """The weighted mean of values, or of the column of a class."""
    values = cast(values, dtypes.float32)
    weights = float_weights_or_none(weights)
    if weights is not None:
        weights = broadcast_weights(weights, values)
    if class_id is not None:
        if weights is not None:
            weights = weights[:, class_id]
        values = values[:, class_id]
    return averages.mean(values, weights)


def class_mean(classes: Any, weights: Any, class_id: int) -> Any:
    """The weighted part of the examples that are of a class."""
    found = equal(cast(class_id, dtypes.int32), cast(classes, dtypes.int32))
    return averages.mean(
        where(found, ones_like(classes), zeros_like(classes)), weights=weights
    )


def streaming_auc(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    class_id: int | None = None,
    curve: str = "ROC",
) -> Any:
    """The area under a curve, or under that of a class."""
    predictions = cast(predictions, dtypes.float32)
    if labels.dtype.base_dtype != dtypes.bool:
        program_log.warning("Casting %s labels to bool.", labels.dtype)
        labels = cast(labels, dtypes.bool)
    weights = float_weights_or_none(weights)
    if weights is not None:
        weights = broadcast_weights(weights, predictions)
    if class_id is not None:
        if weights is not None:
            weights = weights[:, class_id]
        predictions, labels = predictions[:, class_id], labels[:, class_id]
    return curves.auc(labels, predictions, weights, curve=curve)


def accuracy_at_threshold(
    predictions: Any, labels: Any, weights: Any, threshold: float
) -> Any:
    """Which part is right if a probability from a threshold on means yes."""
    positive = cast(greater_equal(predictions, threshold), dtypes.float32)
    return averages.accuracy(labels, positive, weights)


def precision_at_threshold(
    predictions: Any, labels: Any, weights: Any, threshold: float
) -> Any:
    """Which part of what is said to be positive is."""
    value, update = thresholds.precision_at_thresholds(
        labels, predictions, (threshold,), float_weights_or_none(weights)
    )
    return squeeze(value), squeeze(update)


def recall_at_threshold(
    predictions: Any, labels: Any, weights: Any, threshold: float
) -> Any:
    """Which part of what is positive is said to be."""
    value, update = thresholds.recall_at_thresholds(
        labels, predictions, (threshold,), float_weights_or_none(weights)
    )
    return squeeze(value), squeeze(update)
