"""Metrics of classes, from matrices of confusion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.program.confusion_matrix import confusion_matrix
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.types import dtypes
from tensorloom.metrics.state import across_replicas, flat, metric_variable, published
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops
from tensorloom.ops.state.scatter import scatter_add

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("metrics.mean_per_class_accuracy")
def mean_per_class_accuracy(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """The mean over the classes of how often their labels are predicted.

    Args:
      labels, predictions: class ids, of one shape.
      num_classes: number of classes.
      weights: of the labels.
      metrics_collections, updates_collections, name: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    with variable_scope(name, "mean_accuracy", [predictions, labels, weights]):
        labels = flat(math_ops.cast(labels, dtypes.int64))
        predictions = flat(predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
        total = metric_variable([num_classes], dtypes.float32, name="total")
        count = metric_variable([num_classes], dtypes.float32, name="count")
        ones = array_ops.ones([array_ops.size(labels)], dtypes.float32)
        if labels.dtype != predictions.dtype:
            predictions = math_ops.cast(predictions, labels.dtype)
        correct = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is not None:
            weights = math_ops.cast(flat(weights), dtypes.float32)
            correct *= weights
            ones *= weights
        new_total = scatter_add(total, labels, ones)
        new_count = scatter_add(count, labels, correct)
        value = across_replicas(metrics_collections, _mean_accuracy, count, total)
        update = math_ops.div_no_nan(
            new_count, math_ops.maximum(new_total, 0), name="update_op"
        )
        return published(value, update, None, updates_collections)


@export("metrics.mean_iou")
def mean_iou(
    labels: Any,
    predictions: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """The mean over the classes of intersection over union of labels and predictions.

    Args:
      labels, predictions: class ids, of one shape.
      num_classes: number of classes.
      weights: of the labels.
      metrics_collections, updates_collections, name: see `mean`.

    Returns:
      The mean, and the operation that gives the new matrix of confusion.

    Raises:
      ValueError: shapes that do not fit.
    """
    with variable_scope(name, "mean_iou", [predictions, labels, weights]):
        predictions.shape.assert_is_compatible_with(labels.shape)
        matrix, update = streaming_matrix(labels, predictions, num_classes, weights)
        value = across_replicas(metrics_collections, _mean_iou, matrix)
        return published(value, update, None, updates_collections)


def _mean_accuracy(count: Any, total: Any) -> Tensor:
    each = math_ops.div_no_nan(count, math_ops.maximum(total, 0), name=None)
    return math_ops.reduce_mean(each, name="mean_accuracy")


def streaming_matrix(
    labels: Any, predictions: Any, num_classes: int, weights: Any = None
) -> tuple[Any, Any]:
    """A matrix of confusion over all steps, and the operation that adds to it."""
    total = metric_variable(
        [num_classes, num_classes], dtypes.float64, name="total_confusion_matrix"
    )
    predictions = math_ops.cast(predictions, dtypes.int64)
    labels = math_ops.cast(labels, dtypes.int64)
    count = math_ops.cast(num_classes, dtypes.int64)
    predictions = flat(predictions)
    current = confusion_matrix(
        flat(labels),
        predictions,
        count,
        weights=None if weights is None else flat(weights),
        dtype=dtypes.float64,
    )
    return total, state_ops.assign_add(total, current)


def _mean_iou(matrix: Any) -> Tensor:
    rows = math_ops.cast(math_ops.reduce_sum(matrix, 0), dtypes.float32)
    columns = math_ops.cast(math_ops.reduce_sum(matrix, 1), dtypes.float32)
    both = math_ops.cast(array_ops.diag_part(matrix), dtypes.float32)
    either = rows + columns - both
    # Classes that do not occur do not count.
    present = math_ops.reduce_sum(
        math_ops.cast(math_ops.not_equal(either, 0), dtype=dtypes.float32)
    )
    either = array_ops.where(
        math_ops.greater(either, 0), either, array_ops.ones_like(either)
    )
    iou = math_ops.div(both, either)
    return array_ops.where(
        math_ops.greater(present, 0),
        math_ops.reduce_sum(iou, name="mean_iou") / present,
        0,
    )
