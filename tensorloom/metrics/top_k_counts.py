"""Right and wrong ones among the k best predictions, as counts that grow."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.losses.weights_broadcast import assert_broadcastable
from tensorloom.metrics.state import metric_variable
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.reductions.reduced_shape import reduced_shape
from tensorloom.ops.sparse.set import set_difference, set_intersection, set_size
from tensorloom.ops.sparse.shape_builders import sparse_reshape
from tensorloom.ops.sparse.sparse_builders import sparse_retain
from tensorloom.ops.state import reference_variable as state_ops


def at_k_name(name: str, k: int | None = None, class_id: int | None = None) -> str:
    """`recall_at_5`, `recall_at_k`, `recall_at_5_class2`."""
    name = f"{name}_at_k" if k is None else f"{name}_at_{k}"
    return name if class_id is None else f"{name}_class{class_id}"


def expanded_labels(labels: Any, predictions: Any) -> Any:
    """Labels (dense or sparse) of the predictions' rank, with a new last axis maybe.

    Raises:
      ValueError: the ranks differ by more than one.
    """
    with name_scope(None, "expand_labels", [labels, predictions]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            sparse = labels
            return cond(
                math_ops.equal(
                    array_ops.rank(predictions),
                    array_ops.size(sparse.dense_shape) + 1,
                ),
                lambda: sparse_reshape(
                    sparse,
                    shape=array_ops.concat((sparse.dense_shape, (1,)), 0),
                    name=scope,
                ),
                lambda: sparse,
            )
        rank, expected = labels.shape.rank, predictions.shape.rank
        if rank is not None and expected is not None:
            if expected == rank:
                return labels
            if expected == rank + 1:
                return array_ops.expand_dims(labels, -1, name=scope)
            raise ValueError(
                f"Unexpected labels shape {labels.shape} for predictions shape "
                f"{predictions.shape}."
            )
        return cond(
            math_ops.equal(array_ops.rank(predictions), array_ops.rank(labels) + 1),
            lambda: array_ops.expand_dims(labels, -1, name=scope),
            lambda: labels,
        )


def _selected(ids: Any, class_id: int) -> SparseTensor:
    """The ids of one class."""
    ids = convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, SparseTensor):
        return sparse_retain(ids, math_ops.equal(ids.values, class_id))
    shape = array_ops.shape(ids, out_type=dtypes.int64)
    last = array_ops.size(shape) - 1
    one_each = reduced_shape(shape, array_ops.reshape(last, [1]))
    filled = array_ops.fill(one_each, math_ops.cast(class_id, dtypes.int64))
    both = set_intersection(filled, ids)
    return SparseTensor(indices=both.indices, values=both.values, dense_shape=shape)


def _both_selected(labels: Any, predictions: Any, class_id: int | None) -> Any:
    if class_id is None:
        return labels, predictions
    return _selected(labels, class_id), _selected(predictions, class_id)


def _weighted_sizes(sets: SparseTensor, weights: Any) -> Tensor:
    """The number of elements of each set, times its weight, float64."""
    sizes: Tensor = math_ops.cast(set_size(sets), dtypes.float64)
    if weights is None:
        return sizes
    with control_dependencies([assert_broadcastable(weights, sizes)]):
        return math_ops.multiply(sizes, math_ops.cast(weights, dtypes.float64))


def true_positives(
    labels: Any,
    predictions_idx: Any,
    class_id: int | None = None,
    weights: Any = None,
    name: str | None = None,
) -> Tensor:
    """How many of the k predictions are labels, for each example, float64."""
    operands = [predictions_idx, labels, weights]
    with name_scope(name, "true_positives", operands):
        labels, predictions = _both_selected(labels, predictions_idx, class_id)
        return _weighted_sizes(set_intersection(predictions, labels), weights)


def _false_positives(
    labels: Any, predictions_idx: Any, class_id: int | None, weights: Any
) -> Tensor:
    operands = [predictions_idx, labels, weights]
    with name_scope(None, "false_positives", operands):
        labels, predictions = _both_selected(labels, predictions_idx, class_id)
        return _weighted_sizes(
            set_difference(predictions, labels, aminusb=True), weights
        )


def _false_negatives(
    labels: Any, predictions_idx: Any, class_id: int | None, weights: Any
) -> Tensor:
    operands = [predictions_idx, labels, weights]
    with name_scope(None, "false_negatives", operands):
        labels, predictions = _both_selected(labels, predictions_idx, class_id)
        return _weighted_sizes(
            set_difference(predictions, labels, aminusb=False), weights
        )


_COUNTS: dict[str, Callable[[Any, Any, int | None, Any], Tensor]] = {
    "true_positive": true_positives,
    "false_positive": _false_positives,
    "false_negative": _false_negatives,
}


def streaming_count(
    kind: str,
    labels: Any,
    predictions_idx: Any,
    k: int | None,
    class_id: int | None,
    weights: Any,
) -> tuple[Any, Any]:
    """A float64 variable with the sum of the counts of one kind, and its update."""
    operands = [predictions_idx, labels, weights]
    with name_scope(None, at_k_name(kind, k, class_id), operands) as scope:
        counts = _COUNTS[kind](labels, predictions_idx, class_id, weights)
        total = math_ops.cast(math_ops.reduce_sum(counts), dtypes.float64)
        variable = metric_variable([], dtypes.float64, name=scope)
        return variable, state_ops.assign_add(variable, total, name="update")
