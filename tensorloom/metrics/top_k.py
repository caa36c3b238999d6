"""Precision and recall of the k best predictions."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.metrics.state import across_replicas, published
from tensorloom.metrics.top_k_counts import (
    at_k_name,
    expanded_labels,
    streaming_count,
)
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.top_k import top_k

_Metric = tuple[Tensor, Any]


def _part_of_positives(
    metric: str,
    other: str,
    labels: Any,
    predictions_idx: Any,
    k: int | None,
    class_id: int | None,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> _Metric:
    """True positives over the sum of them and the other count."""
    operands = [predictions_idx, labels, weights]
    with name_scope(name, at_k_name(metric, k, class_id), operands) as scope:
        labels = expanded_labels(labels, predictions_idx)
        indices = math_ops.cast(predictions_idx, dtypes.int64)
        arguments = labels, indices, k, class_id, weights
        right, update_right = streaming_count("true_positive", *arguments)
        wrong, update_wrong = streaming_count(other, *arguments)

        def part(right: Any, wrong: Any) -> Tensor:
            return math_ops.div(right, math_ops.add(right, wrong), name=scope)

        value = across_replicas(metrics_collections, part, right, wrong)
        update = math_ops.div(
            update_right, math_ops.add(update_right, update_wrong), name="update"
        )
        return published(value, update, None, updates_collections)


@export("metrics.recall_at_top_k")
def recall_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the labels that is among the k best predictions.

    Args:
      labels: int64 [..., number of labels] or [...], or a SparseTensor.
      predictions_idx: class ids of the k best predictions, [..., k].
      k: their number, for names.
      class_id: counts this class alone.
      weights: that broadcast to the predictions without their last axis.
      metrics_collections, updates_collections, name: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _part_of_positives(
        "recall",
        "false_negative",
        labels,
        predictions_idx,
        k,
        class_id,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


@export("metrics.recall_at_k")
def recall_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the labels that is among the k best predictions.

    Args:
      predictions: floats [..., classes].
      k: how many are looked at.
      others: see `recall_at_top_k`.

    Raises:
      ValueError: shapes that do not fit.
    """
    operands = [predictions, labels, weights]
    with name_scope(name, at_k_name("recall", k, class_id), operands) as scope:
        _, indices = top_k(predictions, k)
        return recall_at_top_k(
            labels=labels,
            predictions_idx=indices,
            k=k,
            class_id=class_id,
            weights=weights,
            metrics_collections=metrics_collections,
            updates_collections=updates_collections,
            name=scope,
        )


@export("metrics.precision_at_top_k")
def precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    k: int | None = None,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the k best predictions that is right.

    Arguments: see `recall_at_top_k`.

    Raises:
      ValueError: shapes that do not fit.
    """
    return _part_of_positives(
        "precision",
        "false_positive",
        labels,
        predictions_idx,
        k,
        class_id,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )


@export("metrics.precision_at_k")
def precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the k best predictions that is right.

    Args:
      predictions: floats [..., classes].
      k: how many are looked at.
      others: see `recall_at_top_k`.

    Raises:
      ValueError: shapes that do not fit.
    """
    operands = [predictions, labels, weights]
    with name_scope(name, at_k_name("precision", k, class_id), operands) as scope:
        _, indices = top_k(predictions, k)
        return precision_at_top_k(
            labels=labels,
            predictions_idx=indices,
            k=k,
            class_id=class_id,
            weights=weights,
            metrics_collections=metrics_collections,
            updates_collections=updates_collections,
            name=scope,
        )


@export("metrics.sparse_precision_at_k")
def sparse_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    class_id: int | None = None,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """Old name of `precision_at_k`."""
    return precision_at_k(
        labels,
        predictions,
        k,
        class_id,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )
