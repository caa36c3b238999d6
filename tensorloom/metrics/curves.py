"""Points on, and the area under, curves over all thresholds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor
from tensorloom.framework.types import dtypes
from tensorloom.metrics.state import across_replicas, published
from tensorloom.metrics.thresholds import counts_at_thresholds
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

_Metric = tuple[Tensor, Any]
_Counts = dict[str, Any]
# How far the outer thresholds lie beyond 0 and 1; what sums are kept from zero by.
_MARGIN = 1e-7
# The same for the rates of a curve.
_RATE_MARGIN = 1e-6
_METHODS = ("trapezoidal", "careful_interpolation", "minoring", "majoring")


def _even_thresholds(count: int) -> list[float]:
    """`count` - 2 thresholds strictly between 0 and 1."""
    return [(i + 1) * 1.0 / (count - 1) for i in range(count - 2)]


@export("metrics.auc")
def auc(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    curve: str = "ROC",
    name: str | None = None,
    summation_method: str = "trapezoidal",
    thresholds: Sequence[float] | None = None,
) -> _Metric:
    """The area under the curve of rates of positives, or of precision and recall.

    Args:
      labels: cast to bool, of the predictions' shape.
      predictions: floats in [0, 1].
      weights: of the labels.
      num_thresholds: number of points of the curve.
      metrics_collections, updates_collections, name: see `mean`.
      curve: "ROC" or "PR".
      summation_method: "trapezoidal", "careful_interpolation" (for "PR": Davis and
        Goadrich 2006), "minoring" or "majoring".
      thresholds: in place of evenly spaced ones.

    Raises:
      ValueError: an unknown curve or method, or shapes that do not fit.
    """
    with variable_scope(name, "auc", [labels, predictions, weights]):
        if curve not in ("ROC", "PR"):
            raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
        inner = sorted(thresholds or []) if thresholds is not None else None
        if inner is None:
            inner = _even_thresholds(num_thresholds)
        points = [0.0 - _MARGIN, *inner, 1.0 + _MARGIN]
        values, updates = counts_at_thresholds(labels, predictions, points, weights)
        area = _area_function(curve, summation_method, len(points))
        value = across_replicas(
            metrics_collections, lambda counts: area(counts, "value"), values
        )
        update = area(updates, "update_op")
        return published(value, update, None, updates_collections)


def _area_function(
    curve: str, method: str, count: int
) -> Callable[[_Counts, str], Tensor]:
    if curve == "PR" and method == "careful_interpolation":
        return lambda counts, _: _interpolated_area(counts, count)
    if curve == "PR" and method == "trapezoidal":
        program_log.warning(
            "Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "
            '"careful_interpolation" instead.'
        )
    if method not in _METHODS:
        raise ValueError(
            f"Invalid summation_method: {method}. Known are: {', '.join(_METHODS)}."
        )

    def area(counts: _Counts, name: str) -> Tensor:
        x, y = _curve(curve, counts)
        steps = x[: count - 1] - x[1:]
        if method == "minoring":
            heights = math_ops.minimum(y[: count - 1], y[1:])
        elif method == "majoring":
            heights = math_ops.maximum(y[: count - 1], y[1:])
        else:
            heights = (y[: count - 1] + y[1:]) / 2.0
        return math_ops.reduce_sum(math_ops.multiply(steps, heights), name=name)

    return area


def _curve(curve: str, counts: _Counts) -> tuple[Tensor, Tensor]:
    """(x, y) of the curve's points."""
    tp, fn, fp = counts["tp"], counts["fn"], counts["fp"]
    recall = math_ops.div(tp + _RATE_MARGIN, tp + fn + _RATE_MARGIN)
    if curve == "ROC":
        return math_ops.div(fp, fp + counts["tn"] + _RATE_MARGIN), recall
    return recall, math_ops.div(tp + _RATE_MARGIN, tp + fp + _RATE_MARGIN)


def _interpolated_area(counts: _Counts, count: int) -> Tensor:
    """The area under precision and recall, positives interpolated between points."""
    tp, fp, fn = counts["tp"], counts["fp"], counts["fn"]
    steps = tp[: count - 1] - tp[1:]
    p = tp + fp
    slope = math_ops.div_no_nan(
        steps, math_ops.maximum(p[: count - 1] - p[1:], 0), name="prec_slope"
    )
    intercept = tp[1:] - math_ops.multiply(slope, p[1:])
    ratio = array_ops.where(
        math_ops.logical_and(p[: count - 1] > 0, p[1:] > 0),
        math_ops.div_no_nan(
            p[: count - 1],
            math_ops.maximum(p[1:], 0),
            name="recall_relative_ratio",
        ),
        array_ops.ones_like(p[1:]),
    )
    increments = math_ops.div_no_nan(
        slope * (steps + intercept * math_ops.log(ratio)),
        math_ops.maximum(tp[1:] + fn[1:], 0),
        name="pr_auc_increment",
    )
    return math_ops.reduce_sum(increments, name="interpolate_pr_auc")


@export("metrics.sensitivity_at_specificity")
def sensitivity_at_specificity(
    labels: Any,
    predictions: Any,
    specificity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The rate of found positives where the rate of found negatives is as given.

    Args:
      labels: cast to bool, of the predictions' shape.
      predictions: floats in [0, 1].
      specificity: in [0, 1].
      weights: of the labels.
      num_thresholds: number of thresholds tried.
      metrics_collections, updates_collections, name: see `mean`.

    Raises:
      ValueError: the specificity is out of range, or shapes that do not fit.
    """
    if specificity < 0 or specificity > 1:
        raise ValueError(
            f"`specificity` must be in the range [0, 1], not {specificity}."
        )
    operands = [predictions, labels, weights]
    with variable_scope(name, "sensitivity_at_specificity", operands):
        inner = _even_thresholds(num_thresholds)
        points = [0.0 - _MARGIN, *inner, 1.0 + _MARGIN]
        values, updates = counts_at_thresholds(labels, predictions, points, weights)

        def sensitivity(counts: _Counts, name: str) -> Tensor:
            tn, fp = counts["tn"], counts["fp"]
            rates = math_ops.div(tn, tn + fp + _MARGIN)
            nearest = math_ops.argmin(math_ops.abs(rates - specificity), 0)
            index = math_ops.cast(nearest, dtypes.int32)
            tp, fn = counts["tp"], counts["fn"]
            return math_ops.div(tp[index], tp[index] + fn[index] + _MARGIN, name)

        value = across_replicas(
            metrics_collections, lambda counts: sensitivity(counts, "value"), values
        )
        update = sensitivity(updates, "update_op")
        return published(value, update, None, updates_collections)


@export("metrics.specificity_at_sensitivity")
def specificity_at_sensitivity(
    labels: Any,
    predictions: Any,
    sensitivity: float,
    weights: Any = None,
    num_thresholds: int = 200,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The rate of found negatives where the rate of found positives is as given.

    Args:
      sensitivity: in [0, 1].
      others: see `sensitivity_at_specificity`.

    Raises:
      ValueError: the sensitivity is out of range, or shapes that do not fit.
    """
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError(
            f"`sensitivity` must be in the range [0, 1], not {sensitivity}."
        )
    operands = [predictions, labels, weights]
    with variable_scope(name, "specificity_at_sensitivity", operands):
        inner = _even_thresholds(num_thresholds)
        # The last threshold is below one, unlike that of the other metrics.
        points = [0.0 - _MARGIN, *inner, 1.0 - _MARGIN]
        values, updates = counts_at_thresholds(labels, predictions, points, weights)

        def specificity(counts: _Counts, name: str) -> Tensor:
            tp, fn = counts["tp"], counts["fn"]
            rates = math_ops.div(tp, tp + fn + _MARGIN)
            least = math_ops.reduce_min(math_ops.abs(rates - sensitivity))
            is_least = math_ops.equal(math_ops.abs(rates - sensitivity), least)
            # The last of those that are nearest.
            numbered = math_ops.cumsum(math_ops.cast(is_least, dtypes.int64))
            index = math_ops.cast(math_ops.argmax(numbered, 0), dtypes.int32)
            tn, fp = counts["tn"], counts["fp"]
            return math_ops.div(tn[index], tn[index] + fp[index] + _MARGIN, name)

        value = across_replicas(
            metrics_collections, lambda counts: specificity(counts, "value"), values
        )
        update = specificity(updates, "update_op")
        return published(value, update, None, updates_collections)
