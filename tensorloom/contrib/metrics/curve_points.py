"""Points of the curves of precision, recall and false alarms."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.metrics.average_precision import average_precision_at_top_k
from tensorloom.metrics.state import metric_variable, published, squeezed
from tensorloom.metrics.thresholds import unchecked_counts
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import group
from tensorloom.ops.debugging.check import assert_greater_equal, assert_less_equal
from tensorloom.ops.debugging.check_type import assert_type
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.sequence import linspace
from tensorloom.ops.state.scatter import scatter_add

_Metric = tuple[Tensor, Any]
_EPSILON: Final = 1e-7
_ALL: Final = ("tp", "fn", "tn", "fp")

PrecisionRecallData = namedtuple(
    "PrecisionRecallData", ["tp", "fp", "tn", "fn", "precision", "recall", "thresholds"]
)


def _counts(
    labels: Any, predictions: Any, num_thresholds: int, weights: Any
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Counts at even thresholds, of which the outer ones lie beyond 0 and 1."""
    steps = num_thresholds - 1
    inner = [(step + 1) * 1.0 / steps for step in range(num_thresholds - 2)]
    predictions, labels, weights = squeezed(predictions, labels, weights)
    labels = math_ops.cast(labels, dtype=dtypes.bool)
    thresholds = [0.0 - _EPSILON, *inner, 1.0 + _EPSILON]
    return unchecked_counts(labels, predictions, thresholds, weights, _ALL)


@export(
    "contrib.metrics.streaming_curve_points",
    "contrib.slim.metrics.streaming_curve_points",
)
def streaming_curve_points(
    labels: Any = None,
    predictions: Any = None,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
) -> _Metric:
    """The points of a curve at even thresholds: `[num_thresholds, 2]`.

    Args:
      labels: bools, or numbers that are 0 or not.
      predictions: floats from 0 to 1, of the labels' shape.
      weights: that broadcast to them.
      num_thresholds: how many points there are.
      metrics_collections, updates_collections: what points and update are added to.
      curve: "ROC": false positive rates and recalls; "PR": recalls and precisions.
      name: of the variable scope.

    Raises:
      ValueError: another curve.
    """
    with variable_scope(name, "curve_points", [labels, predictions, weights]):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        values, updates = _counts(labels, predictions, num_thresholds, weights)
        margin = 1e-6
        right, wrong = values["tp"], values["fp"]
        recalls = math_ops.div(right + margin, right + values["fn"] + margin)
        if curve == "ROC":
            rates = math_ops.div(wrong, wrong + values["tn"] + margin)
            points = array_ops.stack([rates, recalls], axis=1)
        else:
            precisions = math_ops.div(right + margin, right + wrong + margin)
            points = array_ops.stack([recalls, precisions], axis=1)
        update = group(*updates.values())
        return published(points, update, metrics_collections, updates_collections)


@export(
    "contrib.metrics.precision_at_recall", "contrib.slim.metrics.precision_at_recall"
)
def precision_at_recall(
    labels: Any,
    predictions: Any,
    target_recall: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The precision at the highest threshold that has the recall.

    Args:
      target_recall: from 0 to 1.
      labels, ...: as of `streaming_curve_points`.

    Raises:
      ValueError: the recall is not from 0 to 1.
    """
    if not 0 <= target_recall <= 1:
        raise ValueError("`target_recall` must be in the range [0, 1].")
    with variable_scope(name, "precision_at_recall", [predictions, labels, weights]):
        found = _counts(labels, predictions, num_thresholds, weights)

        def precision(counts: dict[str, Any], name: str) -> Any:
            right, wrong, missed = counts["tp"], counts["fp"], counts["fn"]
            recalls = math_ops.div(right, right + missed + _EPSILON)
            fits = math_ops.cast(
                math_ops.greater_equal(recalls, target_recall), dtypes.int64
            )
            place = math_ops.reduce_sum(fits) - 1
            return math_ops.div(
                right[place] + _EPSILON, right[place] + wrong[place] + _EPSILON, name
            )

        value, update = precision(found[0], "value"), precision(found[1], "update_op")
        return published(value, update, metrics_collections, updates_collections)


@export(
    "contrib.metrics.recall_at_precision", "contrib.slim.metrics.recall_at_precision"
)
def recall_at_precision(
    labels: Any,
    predictions: Any,
    precision: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
    strict_mode: bool = False,
) -> _Metric:
    """The recall at the threshold whose precision is nearest.

    Args:
      precision: from 0 to 1.
      strict_mode: whether it must not be below; the recall is 0 where none is.
      labels, ...: as of `streaming_curve_points`.

    Raises:
      ValueError: the precision is not from 0 to 1.
    """
    if not 0 <= precision <= 1:
        raise ValueError("`precision` must be in the range [0, 1].")
    with variable_scope(name, "recall_at_precision", [predictions, labels, weights]):
        found = _counts(labels, predictions, num_thresholds, weights)

        def recall(counts: dict[str, Any], name: str) -> Any:
            right, wrong, missed = counts["tp"], counts["fp"], counts["fn"]
            precisions = math_ops.div(right, right + wrong + _EPSILON)
            apart = precisions - precision
            if strict_mode:
                # The nearest of those above have the largest inverses.
                inverse = math_ops.div(1.0, apart + _EPSILON)
                place = math_ops.argmax(inverse, 0, output_type=dtypes.int32)
            else:
                place = math_ops.argmin(
                    math_ops.abs(apart), 0, output_type=dtypes.int32
                )

            def there() -> Any:
                return math_ops.div(
                    right[place], right[place] + missed[place] + _EPSILON, name
                )

            if not strict_mode:
                return there()
            is_above = math_ops.greater_equal(precisions[place], precision)
            return cond(is_above, there, lambda: array_ops.constant(0.0))

        value, update = recall(found[0], "value"), recall(found[1], "update_op")
        return published(value, update, metrics_collections, updates_collections)


@export(
    "contrib.metrics.precision_recall_at_equal_thresholds",
    "contrib.slim.metrics.precision_recall_at_equal_thresholds",
)
def precision_recall_at_equal_thresholds(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int | None = None,
    use_locking: bool | None = None,
    name: str | None = None,
) -> tuple[PrecisionRecallData, Any]:
    """Counts, precisions and recalls at even thresholds from 0 to 1.

    Args:
      labels: bools.
      predictions: floats from 0 to 1, which is checked when the graph runs.
      weights: that broadcast to them.
      num_thresholds: how many there are; 201 when None.
      use_locking: of the variables' updates; True when None.
      name: of the variable scope.

    Returns:
      A tuple of tensors `[num_thresholds]`: tp, fp, tn, fn, precision, recall and
      thresholds; and the update.

    Raises:
      TypeError: the labels are no bools.
    """
    count = 201 if num_thresholds is None else num_thresholds
    weights = 1.0 if weights is None else weights
    assert_type(labels, dtypes.bool)
    with variable_scope(
        name,
        "precision_recall_at_equal_thresholds",
        [labels, predictions, weights],
    ):
        predictions, labels, weights = _checked(predictions, labels, weights)
        truth = math_ops.cast(labels, dtypes.float64)
        weights = math_ops.cast(weights, dtypes.float64)
        true = array_ops.reshape(truth * weights, [-1])
        false = array_ops.reshape((1.0 - truth) * weights, [-1])
        predictions = array_ops.reshape(predictions, [-1])
        buckets = math_ops.cast(math_ops.floor(predictions * (count - 1)), dtypes.int32)
        with name_scope("variables"):
            true_buckets = metric_variable([count], dtypes.float64, name="tp_buckets")
            false_buckets = metric_variable([count], dtypes.float64, name="fp_buckets")
        locks = True if use_locking is None else use_locking
        with name_scope("update_op"):
            updates = [
                scatter_add(true_buckets, buckets, true, use_locking=locks),
                scatter_add(false_buckets, buckets, false, use_locking=locks),
            ]
        tp = math_ops.cumsum(true_buckets, reverse=True, name="tp")
        fp = math_ops.cumsum(false_buckets, reverse=True, name="fp")
        tn, fn = fp[0] - fp, tp[0] - tp
        least = convert_to_tensor(_EPSILON, dtype=dtypes.float64)
        found = [
            *(tp, fp, tn, fn),
            tp / math_ops.maximum(least, tp + fp),
            tp / math_ops.maximum(least, tp + fn),
            linspace(0.0, 1.0, count),
        ]
        result = [math_ops.cast(each, predictions.dtype) for each in found]
        return PrecisionRecallData(*result), group(*updates)


def _checked(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    message = "predictions must be in [0, 1]"
    zero = math_ops.cast(0.0, dtype=predictions.dtype)
    one = math_ops.cast(1.0, dtype=predictions.dtype)
    checks = [
        assert_greater_equal(predictions, zero, message=message),
        assert_less_equal(predictions, one, message=message),
    ]
    with control_dependencies(checks):
        return squeezed(predictions, labels, weights)


@export(
    "contrib.metrics.streaming_sparse_average_precision_at_top_k",
    "contrib.slim.metrics.streaming_sparse_average_precision_at_top_k",
)
def streaming_sparse_average_precision_at_top_k(
    top_k_predictions: Any,
    labels: Any,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The mean average precision of predicted classes, the likeliest first.

    Args:
      top_k_predictions: classes `[..., k]`, int64.
      labels: classes `[..., n]`, int64, dense or sparse.
      weights: that broadcast to the batch.
      metrics_collections, updates_collections: what value and update are added to.
      name: of the operations.
    """
    return average_precision_at_top_k(
        labels,
        top_k_predictions,
        weights,
        metrics_collections,
        updates_collections,
        name,
    )
