"""Metrics that are means: of values, of errors, of what is right."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program.confusion_matrix import remove_squeezable_dimensions
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.losses.weights_broadcast import broadcast_weights
from tensorloom.metrics.state import (
    across_replicas,
    metric_variable,
    published,
    squeezed,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops

_Metric = tuple[Tensor, Any]


@export("metrics.mean")
def mean(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted mean of all values so far.

    Args:
      values: of any shape.
      weights: that broadcast to the values.
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.

    Returns:
      The mean, a scalar; and the operation that takes the values in and gives the new
      mean.
    """
    with variable_scope(name, "mean", [values, weights]):
        values = math_ops.cast(values, dtypes.float32)
        total = metric_variable([], dtypes.float32, name="total")
        count = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            values, weights = _weighted(values, weights)
            number = math_ops.reduce_sum(weights)
        new_total = state_ops.assign_add(total, math_ops.reduce_sum(values))
        with control_dependencies([values]):
            new_count = state_ops.assign_add(count, number)
        return _ratio(
            total, count, new_total, new_count, metrics_collections, updates_collections
        )


def _weighted(values: Any, weights: Any) -> tuple[Tensor, Tensor]:
    """(values times weights, weights of the values' shape)."""
    values, _, weights = squeezed(values, None, weights)
    weights = broadcast_weights(math_ops.cast(weights, dtypes.float32), values)
    return math_ops.multiply(values, weights), weights


def _ratio(
    total: Any,
    count: Any,
    new_total: Any,
    new_count: Any,
    metrics_collections: Any,
    updates_collections: Any,
) -> _Metric:
    def mean_of(total: Any, count: Any) -> Tensor:
        return math_ops.div_no_nan(total, math_ops.maximum(count, 0), name="value")

    value = across_replicas(metrics_collections, mean_of, total, count)
    update = math_ops.div_no_nan(
        new_total, math_ops.maximum(new_count, 0), name="update_op"
    )
    return published(value, update, None, updates_collections)


@export("metrics.mean_tensor")
def mean_tensor(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The weighted mean of tensors, element by element. Arguments: see `mean`."""
    with variable_scope(name, "mean", [values, weights]):
        values = math_ops.cast(values, dtypes.float32)
        total = metric_variable(values.shape, dtypes.float32, name="total_tensor")
        count = metric_variable(values.shape, dtypes.float32, name="count_tensor")
        number = array_ops.ones_like(values)
        if weights is not None:
            values, weights = _weighted(values, weights)
            number = math_ops.multiply(number, weights)
        new_total = state_ops.assign_add(total, values)
        with control_dependencies([values]):
            new_count = state_ops.assign_add(count, number)
        return _ratio(
            total, count, new_total, new_count, metrics_collections, updates_collections
        )


@export("metrics.accuracy")
def accuracy(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """How often the prediction is the label. Other arguments: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    predictions, labels, weights = squeezed(predictions, labels, weights)
    if labels.dtype != predictions.dtype:
        predictions = math_ops.cast(predictions, labels.dtype)
    correct = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
    return mean(
        correct, weights, metrics_collections, updates_collections, name or "accuracy"
    )


@export("metrics.mean_absolute_error")
def mean_absolute_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The mean of |predictions - labels|. Other arguments: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    predictions, labels, weights = squeezed(predictions, labels, weights)
    errors = math_ops.abs(predictions - labels)
    return mean(
        errors,
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_absolute_error",
    )


@export("metrics.mean_squared_error")
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The mean of (predictions - labels)^2. Other arguments: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    predictions, labels, weights = squeezed(predictions, labels, weights)
    errors = math_ops.squared_difference(labels, predictions)
    return mean(
        errors,
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_squared_error",
    )


@export("metrics.root_mean_squared_error")
def root_mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The square root of the mean squared error. Other arguments: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    predictions, labels, weights = squeezed(predictions, labels, weights)
    value, update = mean_squared_error(
        labels, predictions, weights, None, None, name or "root_mean_squared_error"
    )
    value = across_replicas(metrics_collections, math_ops.sqrt, value)
    return published(value, math_ops.sqrt(update), None, updates_collections)


@export("metrics.mean_relative_error")
def mean_relative_error(
    labels: Any,
    predictions: Any,
    normalizer: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The mean of |labels - predictions| / normalizer, zero where that is zero.

    Other arguments: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    predictions, labels, weights = squeezed(predictions, labels, weights)
    predictions, normalizer = remove_squeezable_dimensions(predictions, normalizer)
    predictions.shape.assert_is_compatible_with(normalizer.shape)
    errors = array_ops.where(
        math_ops.equal(normalizer, 0.0),
        array_ops.zeros_like(labels),
        math_ops.div(math_ops.abs(labels - predictions), normalizer),
    )
    return mean(
        errors,
        weights,
        metrics_collections,
        updates_collections,
        name or "mean_relative_error",
    )


@export("metrics.mean_cosine_distance")
def mean_cosine_distance(
    labels: Any,
    predictions: Any,
    dim: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """One less the mean of labels * predictions, both of length one along `dim`.

    Other arguments: see `mean`.

    Raises:
      ValueError: shapes that do not fit.
    """
    predictions, labels, weights = squeezed(predictions, labels, weights)
    products = math_ops.multiply(predictions, labels)
    products = math_ops.reduce_sum(products, axis=[dim], keepdims=True)
    value, update = mean(products, weights, None, None, name or "mean_cosine_distance")
    return published(
        math_ops.subtract(1.0, value),
        math_ops.subtract(1.0, update),
        metrics_collections,
        updates_collections,
    )


@export("metrics.percentage_below")
def percentage_below(
    values: Any,
    threshold: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The part of the values that is below a threshold. Others: see `mean`."""
    below = math_ops.cast(math_ops.less(values, threshold), dtypes.float32)
    return mean(
        below,
        weights,
        metrics_collections,
        updates_collections,
        name or "percentage_below_threshold",
    )
