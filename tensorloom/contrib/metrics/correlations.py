"""Covariance and correlation of predictions and labels, and Cohen's kappa."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.client.program.confusion_matrix import confusion_matrix
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.weights_broadcast import broadcast_weights
from tensorloom.metrics.state import metric_variable, published, squeezed
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops

_Metric = tuple[Tensor, Any]


@export(
    "contrib.metrics.streaming_covariance", "contrib.slim.metrics.streaming_covariance"
)
def streaming_covariance(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The unbiased covariance of predictions and labels, so far.

    Args:
      predictions, labels: floats of one shape.
      weights: that broadcast to them, as how often each pair counts.
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.

    Returns:
      The covariance, a scalar, NaN of less than two pairs; and the operation that takes
      a batch in and gives the new one.
    """
    with variable_scope(name, "covariance", [predictions, labels, weights]):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        count = metric_variable([], dtypes.float32, name="count")
        mean_prediction = metric_variable([], dtypes.float32, name="mean_prediction")
        mean_label = metric_variable([], dtypes.float32, name="mean_label")
        comoment = metric_variable([], dtypes.float32, name="comoment")
        if weights is None:
            number = math_ops.cast(array_ops.size(labels), dtypes.float32)
        else:
            weights = broadcast_weights(weights, labels)
            number = math_ops.reduce_sum(weights)
        new_count = state_ops.assign_add(count, number)
        prediction, old_prediction = _moved(
            mean_prediction, predictions, weights, number, new_count
        )
        label, old_label = _moved(mean_label, labels, weights, number, new_count)
        products = (predictions - prediction) * (labels - label)
        of_batch = math_ops.reduce_sum(
            products if weights is None else products * weights
        )
        # Between the batch and what was before it.
        between = (old_prediction - prediction) * (old_label - label)
        share = (new_count - number) * number / new_count
        new_comoment = state_ops.assign_add(comoment, of_batch + between * share)
        value = _unbiased(comoment, count, "covariance")
        with control_dependencies([new_comoment]):
            update = _unbiased(comoment, count, "update_op")
    return published(value, update, metrics_collections, updates_collections)


def _moved(
    mean: Any, values: Any, weights: Any, number: Any, new_count: Any
) -> tuple[Any, Any]:
    """(mean of the batch, mean before it); the variable takes the batch in."""
    weighted = values if weights is None else math_ops.multiply(values, weights)
    of_batch = math_ops.div_no_nan(math_ops.reduce_sum(weighted), number)
    change = math_ops.div_no_nan((of_batch - mean) * number, new_count)
    return of_batch, state_ops.assign_add(mean, change) - change


def _unbiased(comoment: Any, count: Any, name: str) -> Any:
    quotient = math_ops.truediv(comoment, count - 1)
    is_little = math_ops.less_equal(count, 1.0)
    return array_ops.where(is_little, float("nan"), quotient, name=name)


@export(
    "contrib.metrics.streaming_pearson_correlation",
    "contrib.slim.metrics.streaming_pearson_correlation",
)
def streaming_pearson_correlation(
    predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """Pearson's correlation of predictions and labels, so far.

    Arguments and results: see `streaming_covariance`.
    """
    with variable_scope(name, "pearson_r", [predictions, labels, weights]):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        if weights is not None:
            weights = broadcast_weights(weights, labels)
        parts = [
            streaming_covariance(first, second, weights=weights, name=part)
            for first, second, part in (
                (predictions, labels, "covariance"),
                (predictions, predictions, "variance_predictions"),
                (labels, labels, "variance_labels"),
            )
        ]
        value, update = (
            math_ops.truediv(
                covariance,
                math_ops.multiply(math_ops.sqrt(first), math_ops.sqrt(second)),
                name=part,
            )
            for (covariance, first, second), part in zip(
                zip(*parts, strict=True), ("pearson_r", "update_op"), strict=True
            )
        )
    return published(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.cohen_kappa", "contrib.slim.metrics.cohen_kappa")
def cohen_kappa(
    labels: Any,
    predictions_idx: Any,
    num_classes: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """Cohen's kappa, so far: agreement beyond that of chance.

    Args:
      labels: classes, [batch] or [batch, 1].
      predictions_idx: classes, [batch].
      num_classes: how many there are.
      weights: [batch].
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.

    Returns:
      The kappa, a float64 scalar; and the operation that takes a batch in and gives the
      new one.

    Raises:
      ValueError: there are less than two classes, or shapes do not fit.
    """
    if num_classes < 2:
        raise ValueError(f"`num_classes` must be >= 2. Found: {num_classes}")
    with variable_scope(name, "cohen_kappa", [labels, predictions_idx, weights]):
        labels = convert_to_tensor(labels)
        if labels.get_shape().with_rank_at_most(2).ndims == 2:
            labels = array_ops.squeeze(labels, axis=[-1])
        guesses, labels, weights = squeezed(predictions_idx, labels, weights)
        is_whole = weights is None or weights.dtype.is_integer
        kind = dtypes.int64 if is_whole else dtypes.float32
        table = confusion_matrix(
            labels,
            guesses,
            num_classes=num_classes,
            weights=weights,
            dtype=kind,
            name="counts_in_table",
        )
        batch = {
            "po": array_ops.diag_part(table),
            "pe_row": math_ops.reduce_sum(table, axis=0),
            "pe_col": math_ops.reduce_sum(table, axis=1),
        }
        sums = [metric_variable([num_classes], kind, name=part) for part in batch]
        updates = [
            state_ops.assign_add(total, part)
            for total, part in zip(sums, batch.values(), strict=True)
        ]
        value = _kappa(sums, "value")
        update = _kappa(updates, "update_op")
        return published(value, update, metrics_collections, updates_collections)


def _kappa(sums: Sequence[Any], name: str) -> Any:
    agreed, rows, columns = sums
    total = math_ops.cast(math_ops.reduce_sum(rows), dtypes.float64)
    products = math_ops.cast(rows * columns, dtypes.float64)
    chance = math_ops.reduce_sum(math_ops.div_no_nan(products, total))
    found = math_ops.cast(math_ops.reduce_sum(agreed), dtypes.float64)
    return math_ops.div_no_nan(found - chance, total - chance, name=name)
