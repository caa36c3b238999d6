"""Metrics that keep all that they have seen: exact areas under curves."""

from __future__ import annotations

import statistics
from collections import namedtuple
from typing import Any, Final

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.variables.variable_scope import variable_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.metrics.state import metric_variable, published, squeezed
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow.builders import group, no_op
from tensorloom.ops.debugging.check import assert_greater_equal, assert_less_equal
from tensorloom.ops.indexing.selection import unique_with_counts
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.top_k import top_k
from tensorloom.ops.state.reference_variable import assign

_Metric = tuple[Any, Any]
_EPSILON: Final = 1e-7
_GROWTH: Final = 1.5
AucData = namedtuple("AucData", ["auc", "lower", "upper"])


@export("contrib.metrics.streaming_concat", "contrib.slim.metrics.streaming_concat")
def streaming_concat(
    values: Any,
    axis: int = 0,
    max_size: int | None = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """All batches of values put together.

    Args:
      values: of known sizes but for the axis.
      axis: along which batches are put together.
      max_size: values beyond it are left out.
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.

    Returns:
      All values so far, and the operation that takes a batch in and gives how many
      there are.

    Raises:
      ValueError: the rank or another size is unknown, or there is no such axis.
    """
    with variable_scope(name, "streaming_concat", [values]):
        shape = values.get_shape()
        if shape.ndims is None:
            raise ValueError("`values` must have known statically known rank")
        rank = shape.ndims
        place = axis + rank if axis < 0 else axis
        if not 0 <= place < rank:
            raise ValueError(f"axis = {place} not in [0, {rank})")
        fixed = [size for n, size in enumerate(shape.as_list()) if n != place]
        if None in fixed:
            raise ValueError(
                "all dimensions of `values` other than the dimension to concatenate "
                "along must have statically known size"
            )
        # The axis comes first here, and has room to grow.
        array = metric_variable(
            [max_size or 0, *fixed], values.dtype, validate_shape=False, name="array"
        )
        size = metric_variable([], dtypes.int32, name="size")
        present = array[:size]
        present.set_shape([None, *fixed])
        back = [0 if n == place else n + 1 if n < place else n for n in range(rank)]
        value = array_ops.transpose(present, back, name="concat")
        count = array_ops.shape(values)[place]
        if max_size is not None:
            count = math_ops.minimum(count, max_size - size)
        forth = [place, *(n for n in range(rank) if n != place)]
        batch = array_ops.transpose(values, forth)[:count]
        update = _appended(array, size, batch, size + count, fixed)
        return published(value, update, metrics_collections, updates_collections)


def next_array_size(required_size: Any, growth_factor: float = _GROWTH) -> Any:
    """The first power of the factor that is as large, as an int32 scalar."""
    logarithm = math_ops.log(math_ops.cast(required_size, dtypes.float32))
    base = math_ops.log(math_ops.cast(growth_factor, dtypes.float32))
    exponent = math_ops.ceil(logarithm / base)
    return math_ops.cast(math_ops.ceil(growth_factor**exponent), dtypes.int32)


def _appended(
    array: Any, size: Any, batch: Any, new_size: Any, fixed: list[int]
) -> Any:
    """Takes a batch into the array, after it was made larger if it has no room."""

    def grow() -> Any:
        room = next_array_size(new_size)
        larger = array_ops.zeros(array_ops.stack([room, *fixed]), dtype=batch.dtype)
        before = array.value()
        with control_dependencies([before]):
            grown = assign(array, larger, validate_shape=False)
        with control_dependencies([grown]):
            copied = array[:size].assign(before[:size])
        with control_dependencies([copied]):
            return no_op()

    room = array_ops.shape_internal(array, optimize=False)[0]
    grown = cond(math_ops.greater(new_size, room), grow, no_op)
    with control_dependencies([grown]):
        appended = array[size:new_size].assign(batch)
    with control_dependencies([appended]):
        return size.assign(new_size)


def _labels_checked(labels: Any) -> list[Any]:
    message = "labels must be 0 or 1, at least one is"
    return [
        assert_greater_equal(
            labels,
            array_ops.zeros_like(labels, dtypes.int64),
            message=f"{message} <0",
        ),
        assert_less_equal(
            labels, array_ops.ones_like(labels, dtypes.int64), message=f"{message} >1"
        ),
    ]


@export(
    "contrib.metrics.streaming_dynamic_auc",
    "contrib.slim.metrics.streaming_dynamic_auc",
)
def streaming_dynamic_auc(
    labels: Any,
    predictions: Any,
    curve: str = "ROC",
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
    weights: Any = None,
) -> _Metric:
    """The exact area under a curve of all that was seen.

    Args:
      labels: 0 or 1, which is checked when the graph runs.
      predictions: numbers, of the labels' shape.
      curve: "ROC" or "PR".
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.
      weights: of the labels' shape.

    Returns:
      The area, 0 where all labels are the same; and the operation that takes a batch
      in.

    Raises:
      ValueError: another curve, or shapes that differ.
    """
    if curve not in ("PR", "ROC"):
        raise ValueError(f"curve must be either ROC or PR, {curve} unknown")
    with variable_scope(name, default_name="dynamic_auc"):
        labels.get_shape().assert_is_compatible_with(predictions.get_shape())
        predictions = array_ops.reshape(
            math_ops.cast(predictions, dtypes.float64), [-1]
        )
        labels = array_ops.reshape(math_ops.cast(labels, dtypes.int64), [-1])
        with control_dependencies(_labels_checked(labels)):
            all_predictions, more = streaming_concat(predictions, name="concat_preds")
            all_labels, more_labels = streaming_concat(labels, name="concat_labels")
            updates = [more_labels, more]
            if weights is None:
                all_weights = array_ops.ones_like(all_labels, dtype=dtypes.float64)
            else:
                weights = array_ops.reshape(
                    math_ops.cast(weights, dtypes.float64), [-1]
                )
                all_weights, more = streaming_concat(weights, name="concat_weights")
                updates.append(more)
            update = group(*updates)
            value = _exact_area(all_labels, all_predictions, all_weights, curve)
            return published(value, update, metrics_collections, updates_collections)


def _exact_area(labels: Any, predictions: Any, weights: Any, curve: str) -> Tensor:
    nothing = array_ops.zeros_like(labels, dtype=dtypes.float64)
    total = math_ops.reduce_sum(weights)
    positive = math_ops.reduce_sum(
        array_ops.where(math_ops.greater(labels, 0), weights, nothing)
    )

    def area() -> Any:
        ordered, places = top_k(predictions, k=array_ops.size(predictions))
        labels_of = array_ops.gather(labels, places)
        weights_of = array_ops.gather(weights, places)
        none = array_ops.zeros_like(labels_of, dtype=dtypes.float64)
        # Where each run of equal predictions ends.
        _, _, counts = unique_with_counts(ordered)
        ends = math_ops.cast(_sums(counts), dtypes.int32)

        def reached(numbers: Any) -> Any:
            return array_ops.gather(_sums(numbers), ends)

        is_true = math_ops.greater(labels_of, 0)
        true = reached(array_ops.where(is_true, weights_of, none))
        recalls = math_ops.truediv(true, positive)
        if curve == "ROC":
            is_false = math_ops.less(labels_of, 1)
            false = reached(array_ops.where(is_false, weights_of, none))
            x, y = math_ops.truediv(false, total - positive), recalls
        else:
            precisions = math_ops.truediv(true, reached(weights_of))
            ones = array_ops.ones_like(true, dtype=dtypes.float64)
            y = array_ops.where(math_ops.greater(ends, 0), precisions, ones)
            x = recalls
        heights = math_ops.add(y[1:], y[:-1]) / 2.0
        widths = math_ops.abs(math_ops.subtract(x[1:], x[:-1]))
        return math_ops.reduce_sum(math_ops.multiply(heights, widths))

    is_one_kind = math_ops.logical_or(
        math_ops.equal(positive, 0), math_ops.equal(positive, total)
    )
    found: Tensor = cond(
        is_one_kind,
        true_fn=lambda: array_ops.constant(0, dtypes.float64),
        false_fn=area,
    )
    return found


def _sums(numbers: Any) -> Any:
    """The sums of the first 0, 1, ... numbers."""
    return array_ops.pad(math_ops.cumsum(numbers), paddings=[[1, 0]])


@export(
    "contrib.metrics.auc_with_confidence_intervals",
    "contrib.slim.metrics.auc_with_confidence_intervals",
)
def auc_with_confidence_intervals(
    labels: Any,
    predictions: Any,
    weights: Any = None,
    alpha: float = 0.95,
    logit_transformation: bool = True,
    metrics_collections: Any = (),
    updates_collections: Any = (),
    name: str | None = None,
) -> _Metric:
    """The area under the ROC curve with DeLong's confidence interval.

    Args:
      labels: 0 or 1, which is checked when the graph runs.
      predictions: numbers, of the labels' shape.
      weights: of the labels.
      alpha: the confidence, between 0 and 1.
      logit_transformation: whether the interval is made of logits, and so within 0
        and 1.
      metrics_collections, updates_collections: what value and update are added to.
      name: of the variable scope.

    Returns:
      A tuple of tensors: auc, lower and upper; and the operation that takes a batch in.

    Raises:
      ValueError: the confidence is not between 0 and 1.
    """
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1; currently {alpha:.02f}")
    if weights is None:
        weights = array_ops.ones_like(predictions)
    with variable_scope(
        name,
        default_name="auc_with_confidence_intervals",
        values=[labels, predictions, weights],
    ):
        predictions, labels, weights = squeezed(predictions, labels, weights)
        total = math_ops.reduce_sum(weights)
        weights = array_ops.reshape(weights, [-1])
        predictions = array_ops.reshape(
            math_ops.cast(predictions, dtypes.float64), [-1]
        )
        labels = array_ops.reshape(math_ops.cast(labels, dtypes.int64), [-1])
        with control_dependencies(_labels_checked(labels)):
            all_predictions, more = streaming_concat(predictions, name="concat_preds")
            all_labels, more_labels = streaming_concat(labels, name="concat_labels")
            all_weights, more_weights = streaming_concat(weights, name="concat_weights")
            whole_update = group(more_labels, more, more_weights)
            has_both = math_ops.logical_and(
                math_ops.equal(math_ops.reduce_min(labels), 0),
                math_ops.equal(math_ops.reduce_max(labels), 1),
            )
            is_heavy = math_ops.greater_equal(total, 1.0)
            update = cond(is_heavy, lambda: whole_update, no_op)
            found = _area_of_placements(
                all_labels, all_predictions, all_weights, alpha, logit_transformation
            )
            value = AucData(
                *cond(
                    math_ops.logical_and(has_both, is_heavy),
                    lambda: list(found),
                    lambda: [array_ops.constant(0.0)] * 3,
                )
            )
            return published(value, update, metrics_collections, updates_collections)


def _area_of_placements(
    labels: Any, predictions: Any, weights: Any, alpha: float, is_of_logits: bool
) -> tuple[Any, Any, Any]:
    """The area, and the ends of its interval.

    The placement of an element is the share of the other class that is below it.
    """
    ordered, places = top_k(predictions, k=array_ops.size(predictions), sorted=True)
    first = array_ops.zeros(1, dtypes.int32)
    ordered = array_ops.reverse(ordered, axis=first)
    places = array_ops.reverse(places, axis=first)
    weights_of = array_ops.gather(weights, places)
    true = math_ops.cast(array_ops.gather(labels, places), weights.dtype)
    _, runs = array_ops.unique(ordered)

    def placements(of_others: Any) -> Any:
        totals = math_ops.segment_sum(of_others, runs)
        below = math_ops.cumsum(totals, exclusive=True) + totals / 2.0
        return array_ops.gather(below / (math_ops.reduce_sum(totals) + _EPSILON), runs)

    weights_1, weights_0 = weights_of * true, weights_of * (1.0 - true)
    total_0, total_1 = math_ops.reduce_sum(weights_0), math_ops.reduce_sum(weights_1)
    placed_1, placed_0 = (
        placements(weights_0) * true,
        placements(weights_1) * (1 - true),
    )
    auc_0 = math_ops.reduce_sum(weights_0 * (1.0 - placed_0)) / (total_0 + _EPSILON)
    auc_1 = math_ops.reduce_sum(weights_1 * placed_1) / (total_1 + _EPSILON)
    auc = array_ops.where(math_ops.less(total_0, total_1), auc_1, auc_0)

    def variance(weights: Any, apart: Any, total: Any) -> Any:
        squares = math_ops.reduce_sum(weights * math_ops.square(apart))
        return squares / (total - 1.0 + _EPSILON) / (total + _EPSILON)

    error = math_ops.sqrt(
        variance(weights_0, 1.0 - placed_0 - auc_0, total_0)
        + variance(weights_1, placed_1 - auc_1, total_1)
    )
    z = statistics.NormalDist().inv_cdf((1.0 - alpha) / 2.0)
    if is_of_logits:
        logit = math_ops.log(auc / (1.0 - auc + _EPSILON))
        error = error / (auc * (1.0 - auc + _EPSILON))
        ends = [
            1.0 / (1.0 + math_ops.exp(-(logit + side * z * error)) + _EPSILON)
            for side in (1, -1)
        ]
    else:
        ends = [auc + side * z * error for side in (1, -1)]
    is_end = math_ops.logical_or(
        math_ops.equal(auc, array_ops.ones_like(auc)),
        math_ops.equal(auc, array_ops.zeros_like(auc)),
    )
    lower, upper = (array_ops.where(is_end, auc, end) for end in ends)
    return auc, lower, upper
