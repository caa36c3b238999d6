"""Metrics as lists and dicts, counts, and what is right in one batch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tensorloom.client.program import confusion_matrix as matrices
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.losses.weights_broadcast import broadcast_weights
from tensorloom.metrics.state import metric_variable, published, squeezed
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.state import reference_variable as state_ops


@export("contrib.metrics.aggregate_metrics", "contrib.slim.metrics.aggregate_metrics")
def aggregate_metrics(*value_update_tuples: Any) -> tuple[list[Any], list[Any]]:
    """(values, updates) of pairs of value and update.

    Raises:
      ValueError: there are none.
    """
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples, strict=True)
    return list(values), list(updates)


@export(
    "contrib.metrics.aggregate_metric_map", "contrib.slim.metrics.aggregate_metric_map"
)
def aggregate_metric_map(
    names_to_tuples: Mapping[Any, Any],
) -> tuple[dict[Any, Any], dict[Any, Any]]:
    """(values, updates), dicts by name, of a dict of pairs of value and update.

    Raises:
      ValueError: there are none.
    """
    values, updates = zip(*names_to_tuples.values(), strict=True)
    return (
        dict(zip(names_to_tuples, values, strict=True)),
        dict(zip(names_to_tuples, updates, strict=True)),
    )


@export("contrib.metrics.count", "contrib.slim.metrics.count")
def count(
    values: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> tuple[Tensor, Any]:
    """How many values there were so far, or the sum of their weights.

    Args:
      values: of any shape.
      weights: that broadcast to the values.
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.

    Returns:
      The number, a scalar; and the operation that takes the values in and gives the
      new number.
    """
    with variable_scope(name, "count", [values, weights]):
        total = metric_variable([], dtypes.float32, name="count")
        if weights is None:
            number = math_ops.cast(array_ops.size(values), dtypes.float32)
        else:
            values = math_ops.cast(values, dtypes.float32)
            values, _, weights = squeezed(values, None, weights)
            weights = math_ops.cast(weights, dtypes.float32)
            number = math_ops.reduce_sum(broadcast_weights(weights, values))
        with control_dependencies([values]):
            update = state_ops.assign_add(total, number)
        value = array_ops.identity(total)
        return published(value, update, metrics_collections, updates_collections)


@export("contrib.metrics.confusion_matrix", "contrib.slim.metrics.confusion_matrix")
def confusion_matrix(
    labels: Any,
    predictions: Any,
    num_classes: Any = None,
    dtype: Any = dtypes.int32,
    name: str | None = None,
    weights: Any = None,
) -> Tensor:
    """How often each class was predicted for each label: `tf.confusion_matrix`."""
    return matrices.confusion_matrix(
        labels=labels,
        predictions=predictions,
        num_classes=num_classes,
        dtype=dtype,
        name=name,
        weights=weights,
    )


@export("contrib.metrics.accuracy", "contrib.slim.metrics.accuracy")
def accuracy(
    predictions: Any, labels: Any, weights: Any = None, name: str | None = None
) -> Tensor:
    """The part of one batch's predictions that is right, a scalar.

    Args:
      predictions, labels: bools, integers or strings, of one dtype and shape.
      weights: that broadcast to them.
      name: of the operations.

    Raises:
      ValueError: dtypes that do not fit.
    """
    kind = labels.dtype
    if not (kind.is_integer or kind in (dtypes.bool, dtypes.string)):
        raise ValueError(
            f"Labels should have bool, integer, or string dtype, not {kind!r}"
        )
    if not kind.is_compatible_with(predictions.dtype):
        raise ValueError(
            "Dtypes of predictions and labels should match. Given: predictions "
            f"({predictions.dtype!r}) and labels ({kind!r})"
        )
    with name_scope(name, "accuracy", [predictions, labels]):
        right = math_ops.cast(math_ops.equal(predictions, labels), dtypes.float32)
        if weights is None:
            return math_ops.reduce_mean(right)
        right = math_ops.multiply(right, weights)
        number = math_ops.multiply(weights, array_ops.ones_like(right))
        return math_ops.div(math_ops.reduce_sum(right), math_ops.reduce_sum(number))
