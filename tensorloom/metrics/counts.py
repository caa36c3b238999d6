"""Counts of right and wrong predictions of two classes; precision and recall."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.metrics.state import (
    across_replicas,
    metric_variable,
    published,
    read_across_replicas,
    squeezed,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging.check_rank import assert_rank_in
from tensorloom.ops.debugging.check_type import assert_type
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops

_Metric = tuple[Tensor, Any]


def _as_bools(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    return squeezed(
        math_ops.cast(predictions, dtype=dtypes.bool),
        math_ops.cast(labels, dtype=dtypes.bool),
        weights,
    )


def _count_where(
    labels: Any,
    predictions: Any,
    label: bool,
    prediction: bool,
    scope: tuple[str | None, str],
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
) -> _Metric:
    """The weighted number of pairs of that label and that prediction."""
    with variable_scope(*scope, [predictions, labels, weights]):
        predictions, labels, weights = _as_bools(predictions, labels, weights)
        pairs = math_ops.logical_and(
            math_ops.equal(labels, label), math_ops.equal(predictions, prediction)
        )
        assert_type(pairs, dtypes.bool)
        count = metric_variable([], dtypes.float32, name="count")
        values = math_ops.cast(pairs, dtypes.float32)
        if weights is not None:
            ranks = (0, array_ops.rank(values))
            with control_dependencies([assert_rank_in(weights, ranks)]):
                weights = math_ops.cast(weights, dtypes.float32)
                values = math_ops.multiply(values, weights)
        value = read_across_replicas(metrics_collections, count)
        update = state_ops.assign_add(count, math_ops.reduce_sum(values))
        return published(value, update, None, updates_collections)


@export("metrics.true_positives")
def true_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted number of predictions that are rightly true.

    Args:
      labels, predictions: cast to bool, of one shape.
      weights: of the labels.
      metrics_collections, updates_collections, name: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _count_where(
        labels,
        predictions,
        True,
        True,
        (name, "true_positives"),
        weights,
        metrics_collections,
        updates_collections,
    )


@export("metrics.true_negatives")
def true_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted number of predictions that are rightly false.

    Arguments: see `true_positives`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _count_where(
        labels,
        predictions,
        False,
        False,
        (name, "true_negatives"),
        weights,
        metrics_collections,
        updates_collections,
    )


@export("metrics.false_positives")
def false_positives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted number of predictions that are wrongly true.

    Arguments: see `true_positives`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _count_where(
        labels,
        predictions,
        False,
        True,
        (name, "false_positives"),
        weights,
        metrics_collections,
        updates_collections,
    )


@export("metrics.false_negatives")
def false_negatives(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted number of predictions that are wrongly false.

    Arguments: see `true_positives`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _count_where(
        labels,
        predictions,
        True,
        False,
        (name, "false_negatives"),
        weights,
        metrics_collections,
        updates_collections,
    )


def _part(of: Any, other: Any, name: str) -> Tensor:
    """of / (of + other), zero where both are."""
    return array_ops.where(
        math_ops.greater(of + other, 0), math_ops.div(of, of + other), 0, name
    )


def _part_value(of: Any, other: Any) -> Tensor:
    return _part(of, other, "value")


@export("metrics.precision")
def precision(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the true predictions that is right.

    Arguments: see `true_positives`.

    Raises:
      ValueError: shapes that do not fit.
    """
    with variable_scope(name, "precision", [predictions, labels, weights]):
        predictions, labels, weights = _as_bools(predictions, labels, weights)
        right, update_right = true_positives(labels, predictions, weights)
        wrong, update_wrong = false_positives(labels, predictions, weights)
        value = across_replicas(metrics_collections, _part_value, right, wrong)
        update = _part(update_right, update_wrong, "update_op")
        return published(value, update, None, updates_collections)


@export("metrics.recall")
def recall(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the true labels that is predicted.

    Arguments: see `true_positives`.

    Raises:
      ValueError: shapes that do not fit.
    """
    with variable_scope(name, "recall", [predictions, labels, weights]):
        predictions, labels, weights = _as_bools(predictions, labels, weights)
        right, update_right = true_positives(labels, predictions, weights)
        missed, update_missed = false_negatives(labels, predictions, weights)
        value = across_replicas(metrics_collections, _part_value, right, missed)
        update = _part(update_right, update_missed, "update_op")
        return published(value, update, None, updates_collections)
