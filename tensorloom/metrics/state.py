"""The state of metrics, and what all of them do with their arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.distribution.thread_modes import current_strategy, merge_call
from tensorloom.client.program.confusion_matrix import remove_squeezable_dimensions
from tensorloom.client.variables.variable_policy import (
    VariableAggregation,
    VariableSynchronization,
)
from tensorloom.client.variables.variables import Variable
from tensorloom.framework.graph.graph import GraphKeys, Tensor, add_to_collections
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


def metric_variable(
    shape: Any, dtype: Any, validate_shape: bool = True, name: str | None = None
) -> Any:
    """A local variable of zeros, in `METRIC_VARIABLES` too."""
    return Variable(
        initial_value=lambda: array_ops.zeros(shape, dtype),
        trainable=False,
        collections=[GraphKeys.LOCAL_VARIABLES, GraphKeys.METRIC_VARIABLES],
        validate_shape=validate_shape,
        synchronization=VariableSynchronization.ON_READ,
        aggregation=VariableAggregation.SUM,
        name=name,
    )


def across_replicas(
    metrics_collections: Any, compute: Callable[..., Any], *variables: Any
) -> Any:
    """`compute(*variables)`, once for all replicas of a strategy.

    Of the variables it gets what the replicas have counted together. The result is
    added to the collections.
    """

    def merged(strategy: Any, *values: Any) -> Any:
        value = compute(*values)
        if metrics_collections:
            add_to_collections(metrics_collections, value)
        return value

    return merge_call(merged, *variables)


def read_across_replicas(metrics_collections: Any, variable: Any) -> Any:
    """The value of a metric's variable, for all replicas of a strategy together."""
    strategy = current_strategy()
    read = array_ops.identity if strategy is None else strategy.extended.read_var
    return across_replicas(metrics_collections, read, variable)


def published(
    value: Any, update: Any, metrics_collections: Any, updates_collections: Any
) -> tuple[Any, Any]:
    """(value, update), each added to its collections."""
    if metrics_collections:
        add_to_collections(metrics_collections, value)
    if updates_collections:
        add_to_collections(updates_collections, update)
    return value, update


def squeezed(predictions: Any, labels: Any, weights: Any) -> tuple[Any, Any, Any]:
    """(predictions, labels, weights) of ranks that fit, by last axes of size one.

    Raises:
      ValueError: the static shapes of predictions and labels differ.
    """
    predictions = convert_to_tensor(predictions)
    if labels is not None:
        labels, predictions = remove_squeezable_dimensions(labels, predictions)
        predictions.shape.assert_is_compatible_with(labels.shape)
    if weights is None:
        return predictions, labels, None
    weights = convert_to_tensor(weights)
    return predictions, labels, _fitting(weights, predictions)


def _fitting(weights: Tensor, predictions: Tensor) -> Tensor:
    """The weights with or without a last axis, as the predictions ask for it."""
    rank, expected = weights.shape.rank, predictions.shape.rank
    if rank == 0:
        return weights
    if rank is not None and expected is not None:
        if rank - expected == 1:
            return array_ops.squeeze(weights, [-1])
        if expected - rank == 1:
            return array_ops.expand_dims(weights, [-1])
        return weights
    dynamic_rank = array_ops.rank(weights)
    difference = dynamic_rank - array_ops.rank(predictions)

    def expand() -> Any:
        return cond(
            math_ops.equal(difference, -1),
            lambda: array_ops.expand_dims(weights, [-1]),
            lambda: weights,
        )

    squeeze: Callable[[], Tensor]
    if rank is not None and not weights.shape[-1].is_compatible_with(1):
        squeeze = lambda: weights
    else:
        squeeze = lambda: array_ops.squeeze(weights, [-1])

    def adjust() -> Any:
        return cond(math_ops.equal(difference, 1), squeeze, expand)

    return cond(  # type: ignore[no-any-return]
        math_ops.equal(dynamic_rank, 0), lambda: weights, adjust
    )


def flat(tensor: Tensor) -> Tensor:
    """A tensor of rank above one as a vector."""
    rank = tensor.shape.rank
    return tensor if rank is not None and rank <= 1 else array_ops.reshape(tensor, [-1])
