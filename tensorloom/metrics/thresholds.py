"""Counts, precision and recall when what is above a threshold counts as true."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.losses.weights_broadcast import broadcast_weights
from tensorloom.metrics.state import (
    across_replicas,
    metric_variable,
    published,
    read_across_replicas,
    squeezed,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
from tensorloom.ops.debugging.check import assert_greater_equal, assert_less_equal
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops

_Metric = tuple[Tensor, Any]
_NAMES = {
    "tp": "true_positives",
    "fn": "false_negatives",
    "tn": "true_negatives",
    "fp": "false_positives",
}
# What is divided by, so that it is not zero.
_EPSILON = 1e-7


def counts_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    includes: Sequence[str] = ("tp", "fn", "tn", "fp"),
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Variables with the counts at each threshold, and their updates, by kind.

    Args:
      labels: cast to bool.
      predictions: floats in [0, 1], which is checked when the graph runs.
      thresholds: floats.
      weights: of the labels.
      includes: the kinds: true and false positives and negatives.
    """
    zero = math_ops.cast(0.0, dtype=predictions.dtype)
    message = "predictions must be in [0, 1]"
    checks = [assert_greater_equal(predictions, zero, message=message)]
    one = math_ops.cast(1.0, dtype=predictions.dtype)
    checks.append(assert_less_equal(predictions, one, message=message))
    with control_dependencies(checks):
        predictions, labels, weights = squeezed(
            math_ops.cast(predictions, dtypes.float32),
            math_ops.cast(labels, dtype=dtypes.bool),
            weights,
        )
    return unchecked_counts(labels, predictions, thresholds, weights, includes)


def unchecked_counts(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any,
    includes: Sequence[str],
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The same of bools and floats of one shape, whatever the predictions are."""
    count = len(thresholds)
    conditions = _conditions(labels, predictions, thresholds, includes)
    tiled = None
    if weights is not None:
        weights = broadcast_weights(math_ops.cast(weights, dtypes.float32), predictions)
        tiled = array_ops.tile(array_ops.reshape(weights, [1, -1]), [count, 1])
    values: dict[str, Any] = {}
    updates: dict[str, Any] = {}
    for kind in _NAMES:
        if kind not in includes:
            continue
        values[kind] = metric_variable([count], dtypes.float32, name=_NAMES[kind])
        label, prediction = _PARTS[kind]
        pairs = math_ops.logical_and(conditions[label], conditions[prediction])
        present = math_ops.cast(pairs, dtypes.float32)
        if tiled is not None:
            present *= tiled
        updates[kind] = state_ops.assign_add(
            values[kind], math_ops.reduce_sum(present, 1)
        )
    return values, updates


# What must hold of label and prediction.
_PARTS = {
    "tp": ("label", "positive"),
    "fn": ("label", "negative"),
    "tn": ("no label", "negative"),
    "fp": ("no label", "positive"),
}


def _conditions(
    labels: Tensor,
    predictions: Tensor,
    thresholds: Sequence[float],
    includes: Sequence[str],
) -> dict[str, Tensor]:
    """Bools [thresholds, predictions], by what they say."""
    column = array_ops.reshape(predictions, [-1, 1])
    row = array_ops.reshape(math_ops.cast(labels, dtype=dtypes.bool), [1, -1])
    number: Any = column.shape.as_list()[0]
    if number is None:
        number = array_ops.shape(column)[0]
    tiled = array_ops.tile(
        array_ops.expand_dims(constant(thresholds), [1]),
        array_ops.stack([1, number]),
    )
    count = len(thresholds)
    positive = math_ops.greater(
        array_ops.tile(array_ops.transpose(column), [count, 1]), tiled
    )
    found = {"positive": positive}
    if "fn" in includes or "tn" in includes:
        found["negative"] = math_ops.logical_not(positive)
    found["label"] = array_ops.tile(row, [count, 1])
    if "fp" in includes or "tn" in includes:
        found["no label"] = math_ops.logical_not(found["label"])
    return found


def _counted(
    kind: str,
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> _Metric:
    with variable_scope(name, _NAMES[kind], [predictions, labels, weights]):
        values, updates = counts_at_thresholds(
            labels, predictions, thresholds, weights=weights, includes=(kind,)
        )
        value = read_across_replicas(metrics_collections, values[kind])
        return published(value, updates[kind], None, updates_collections)


@export("metrics.true_positives_at_thresholds")
def true_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted number of rightly positive predictions at each threshold.

    Args:
      labels: cast to bool, of the predictions' shape.
      predictions: floats in [0, 1].
      thresholds: floats; above is positive.
      weights: of the labels.
      metrics_collections, updates_collections, name: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _counted(
        "tp",
        labels,
        predictions,
        thresholds,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


@export("metrics.true_negatives_at_thresholds")
def true_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted number of rightly negative predictions at each threshold.

    Arguments: see `true_positives_at_thresholds`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _counted(
        "tn",
        labels,
        predictions,
        thresholds,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


@export("metrics.false_positives_at_thresholds")
def false_positives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted number of wrongly positive predictions at each threshold.

    Arguments: see `true_positives_at_thresholds`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _counted(
        "fp",
        labels,
        predictions,
        thresholds,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


@export("metrics.false_negatives_at_thresholds")
def false_negatives_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted number of wrongly negative predictions at each threshold.

    Arguments: see `true_positives_at_thresholds`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _counted(
        "fn",
        labels,
        predictions,
        thresholds,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


def _part(of: Any, other: Any, name: str) -> Tensor:
    return math_ops.div(of, _EPSILON + of + other, name=name)


@export("metrics.precision_at_thresholds")
def precision_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the positive predictions that is right, at each threshold.

    Arguments: see `true_positives_at_thresholds`.

    Raises:
      ValueError: shapes that do not fit.
    """
    operands = [predictions, labels, weights]
    with variable_scope(name, "precision_at_thresholds", operands):
        values, updates = counts_at_thresholds(
            labels, predictions, thresholds, weights, includes=("tp", "fp")
        )
        value = across_replicas(
            metrics_collections,
            lambda counts: _part(counts["tp"], counts["fp"], "precision_value"),
            values,
        )
        update = _part(updates["tp"], updates["fp"], "precision_update_op")
        return published(value, update, None, updates_collections)


@export("metrics.recall_at_thresholds")
def recall_at_thresholds(
    labels: Any,
    predictions: Any,
    thresholds: Sequence[float],
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the true labels that is predicted, at each threshold.

    Arguments: see `true_positives_at_thresholds`.

    Raises:
      ValueError: shapes that do not fit.
    """
    operands = [predictions, labels, weights]
    with variable_scope(name, "recall_at_thresholds", operands):
        values, updates = counts_at_thresholds(
            labels, predictions, thresholds, weights, includes=("tp", "fn")
        )
        value = across_replicas(
            metrics_collections,
            lambda counts: _part(counts["tp"], counts["fn"], "recall_value"),
            values,
        )
        update = _part(updates["tp"], updates["fn"], "recall_update_op")
        return published(value, update, None, updates_collections)
