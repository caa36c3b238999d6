"""The mean over the right ones among the k best predictions of the precision there."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import (
    SparseTensor,
    SparseTensorValue,
    convert_to_tensor_or_sparse_tensor,
)
from tensorloom.losses.weights_broadcast import broadcast_weights
from tensorloom.metrics.state import across_replicas, metric_variable, published
from tensorloom.metrics.top_k_counts import at_k_name, expanded_labels, true_positives
from tensorloom.ops.array import array_ops
from tensorloom.ops.indexing.selection import where_v2
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.top_k import top_k
from tensorloom.ops.sparse.set import set_size
from tensorloom.ops.sparse.shape_builders import sparse_concat, sparse_reshape
from tensorloom.ops.state import reference_variable as state_ops

_Metric = tuple[Tensor, Any]


@export("metrics.average_precision_at_k")
def average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """The mean of the average precision of the k best predictions.

    Args:
      labels: int64 [..., number of labels] or [...], or a SparseTensor.
      predictions: floats [..., classes].
      k: how many are looked at.
      weights: that broadcast to the predictions without their last axis.
      metrics_collections, updates_collections, name: see `mean`.

    Raises:
      ValueError: k is not positive, or shapes that do not fit.
    """
    if k < 1:
        raise ValueError(f"Invalid k={k}.")
    operands = [predictions, labels, weights]
    with name_scope(name, at_k_name("average_precision", k), operands) as scope:
        _, indices = top_k(predictions, k)
        classes = math_ops.cast(array_ops.shape(predictions)[-1], dtypes.int64)
        labels = _without_unknown(labels, classes)
        return average_precision_at_top_k(
            labels, indices, weights, metrics_collections, updates_collections, scope
        )


@export("metrics.sparse_average_precision_at_k")
def sparse_average_precision_at_k(
    labels: Any,
    predictions: Any,
    k: int,
    weights: Any = None,
    metrics_collections: Any = None,
    updates_collections: Any = None,
    name: str | None = None,
) -> _Metric:
    """Old name of `average_precision_at_k`."""
    return average_precision_at_k(
        labels, predictions, k, weights, metrics_collections, updates_collections, name
    )


def _without_unknown(labels: Any, classes: Tensor) -> Any:
    """Labels, those beyond the classes made -1, which no prediction is."""
    is_sparse = isinstance(labels, (SparseTensor, SparseTensorValue))

    def cleaned(values: Any) -> Tensor:
        unknown = math_ops.greater_equal(values, classes)
        return where_v2(unknown, -1 * array_ops.ones_like(values), values)

    def cleaned_labels() -> Any:
        if not is_sparse:
            return cleaned(labels)
        return type(labels)(
            indices=labels.indices,
            values=cleaned(labels.values),
            dense_shape=labels.dense_shape,
        )

    largest = math_ops.reduce_max(labels.values if is_sparse else labels)
    return cond(
        math_ops.greater_equal(largest, classes), cleaned_labels, lambda: labels
    )


def average_precision_at_top_k(
    labels: Any,
    predictions_idx: Any,
    weights: Any,
    metrics_collections: Any,
    updates_collections: Any,
    name: str | None,
) -> _Metric:
    """The mean average precision of classes `[..., k]`, the likeliest first."""
    operands = [predictions_idx, labels, weights]
    with name_scope(name, "average_precision_at_top_k", operands) as scope:
        precision = average_precision(labels, predictions_idx)
        if weights is not None:
            weights = broadcast_weights(
                math_ops.cast(weights, dtypes.float64), precision
            )
            precision = math_ops.multiply(precision, weights)
        with name_scope(None, "max", [precision]) as max_scope:
            most = metric_variable([], dtypes.float64, name=max_scope)
            if weights is None:
                size = array_ops.size(precision, name="batch_max")
                batch_most = math_ops.cast(size, dtypes.float64)
            else:
                batch_most = math_ops.reduce_sum(weights, name="batch_max")
            new_most = state_ops.assign_add(most, batch_most, name="update")
        with name_scope(None, "total", [precision]) as total_scope:
            total = metric_variable([], dtypes.float64, name=total_scope)
            batch_total = math_ops.reduce_sum(precision, name="batch_total")
            new_total = state_ops.assign_add(total, batch_total, name="update")

        def mean_of(total: Any, most: Any) -> Tensor:
            return math_ops.div_no_nan(total, most, name="mean")

        value = across_replicas(metrics_collections, mean_of, total, most)
        update = math_ops.div_no_nan(new_total, new_most, name=scope)
        return published(value, update, None, updates_collections)


def average_precision(labels: Any, predictions_idx: Any) -> Tensor:
    """The average precision of each example, float64.

    Args:
      labels: dense or sparse class ids.
      predictions_idx: class ids, best first, [..., k].

    Raises:
      ValueError: the number of predictions is not known.
    """
    operands = [predictions_idx, labels]
    with name_scope(None, "average_precision", operands) as scope:
        indices = math_ops.cast(predictions_idx, dtypes.int64, name="predictions_idx")
        if indices.shape.rank == 0:
            raise ValueError("The rank of predictions_idx must be at least 1.")
        k = indices.shape.as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.")
        labels = expanded_labels(labels, indices)
        indices = array_ops.expand_dims(indices, -1, name="predictions_idx_per_k")
        labels_per_k = _repeated(labels, k, "labels_per_k")
        relevant = true_positives(labels_per_k, indices, name="relevant_per_k")
        right = math_ops.cumsum(relevant, axis=-1, name="tp_per_k")
        retrieved = math_ops.cumsum(
            array_ops.ones_like(relevant), axis=-1, name="retrieved_per_k"
        )
        precision = math_ops.div(
            math_ops.cast(right, dtypes.float64),
            math_ops.cast(retrieved, dtypes.float64),
            name="precision_per_k",
        )
        relevant_precision = math_ops.multiply(
            precision,
            math_ops.cast(relevant, dtypes.float64),
            name="relevant_precision_per_k",
        )
        total = math_ops.reduce_sum(
            relevant_precision, axis=(-1,), name="precision_sum"
        )
        count = math_ops.cast(_num_relevant(labels, k), dtypes.float64)
        return math_ops.div(total, count, name=scope)


def _repeated(labels: Any, k: int, name: str) -> Any:
    """The labels k times, along a new axis before the last."""
    with name_scope(name, "expand_and_tile", [labels, k, -1]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return _repeated_sparse(labels, k, scope)
        expanded = array_ops.expand_dims(labels, -2, name="expand")
        if k == 1:
            return expanded
        ones = array_ops.ones_like(array_ops.shape(labels))
        times = array_ops.concat((ones[:-1], (k,), ones[-1:]), 0, name="multiples")
        return array_ops.tile(expanded, times, name=scope)


def _repeated_sparse(labels: SparseTensor, k: int, scope: str) -> SparseTensor:
    shape = labels.dense_shape
    before = array_ops.reshape(array_ops.size(shape) + -1, [1])
    expanded_shape = array_ops.concat(
        (
            array_ops.slice(shape, [0], before),
            [1],
            array_ops.slice(shape, before, [-1]),
        ),
        0,
        name="expanded_shape",
    )
    expanded = sparse_reshape(labels, shape=expanded_shape, name="expand")
    if k == 1:
        return expanded
    return sparse_concat(-2, [expanded] * k, name=scope)


def _num_relevant(labels: Any, k: int) -> Tensor:
    """The number of labels of each example, k at most."""
    with name_scope(None, "num_relevant", [labels]) as scope:
        labels = convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, SparseTensor):
            return math_ops.minimum(set_size(labels), k, name=scope)
        known = where_v2(
            math_ops.greater_equal(labels, 0),
            array_ops.ones_like(labels),
            array_ops.zeros_like(labels),
        )
        return math_ops.minimum(math_ops.reduce_sum(known, axis=-1), k, name=scope)
