"""Losses of predictions: differences, hinges, logarithms, cosines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    control_dependencies,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.collection import add_loss
from tensorloom.losses.weighted import Reduction, compute_weighted_loss, num_present
from tensorloom.losses.weights_broadcast import assert_broadcastable
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


def require(**arguments: Any) -> None:
    """Raises ValueError for an argument that is None."""
    for name, value in arguments.items():
        if value is None:
            raise ValueError(f"{name} must not be None.")


@contextmanager
def _floats(
    scope: str | None, default_name: str, predictions: Any, labels: Any, weights: Any
) -> Iterator[tuple[Tensor, Tensor, str]]:
    """(predictions, labels, scope): both as float32, of compatible shapes."""
    with name_scope(scope, default_name, [predictions, labels, weights]) as name:
        predictions = math_ops.cast(predictions, dtype=dtypes.float32)
        labels = math_ops.cast(labels, dtype=dtypes.float32)
        predictions.shape.assert_is_compatible_with(labels.shape)
        yield predictions, labels, name


@export("losses.absolute_difference")
def absolute_difference(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """|predictions - labels|; see `compute_weighted_loss`.

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(labels=labels, predictions=predictions)
    with _floats(scope, "absolute_difference", predictions, labels, weights) as (
        predictions,
        labels,
        name,
    ):
        losses = math_ops.abs(math_ops.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


@export("losses.cosine_distance")
def cosine_distance(
    labels: Any,
    predictions: Any,
    axis: Any = None,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
    dim: Any = None,
) -> Tensor:
    """1 - labels * predictions, both of length one along `axis` (old name: `dim`).

    See `compute_weighted_loss`.

    Raises:
      ValueError: shapes that do not fit, no axis, or an argument that is None.
    """
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    require(labels=labels, predictions=predictions)
    with _floats(scope, "cosine_distance_loss", predictions, labels, weights) as (
        predictions,
        labels,
        name,
    ):
        products = math_ops.multiply(predictions, labels)
        losses = 1 - math_ops.reduce_sum(products, axis=(axis,), keepdims=True)
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


@export("losses.hinge_loss")
def hinge_loss(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """max(0, 1 - sign * logits) for labels 0 and 1; see `compute_weighted_loss`.

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(labels=labels, logits=logits)
    with _floats(scope, "hinge_loss", logits, labels, weights) as (
        logits,
        labels,
        name,
    ):
        ones = array_ops.ones_like(labels)
        signs = math_ops.subtract(2 * labels, ones)
        losses = nn_ops.relu(math_ops.subtract(ones, math_ops.multiply(signs, logits)))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


@export("losses.huber_loss")
def huber_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    delta: float = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Half the squared difference up to `delta`, linear beyond.

    See `compute_weighted_loss`.

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(labels=labels, predictions=predictions)
    with _floats(scope, "huber_loss", predictions, labels, weights) as (
        predictions,
        labels,
        name,
    ):
        error = math_ops.subtract(predictions, labels)
        size = math_ops.abs(error)
        quadratic = math_ops.minimum(size, delta)
        linear = math_ops.subtract(size, quadratic)
        losses = math_ops.add(
            math_ops.multiply(
                convert_to_tensor(0.5, dtype=quadratic.dtype),
                math_ops.multiply(quadratic, quadratic),
            ),
            math_ops.multiply(delta, linear),
        )
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


@export("losses.log_loss")
def log_loss(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """-log of the probability of the label; `epsilon` is added to probabilities.

    See `compute_weighted_loss`.

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(labels=labels, predictions=predictions)
    with _floats(scope, "log_loss", predictions, labels, weights) as (
        predictions,
        labels,
        name,
    ):
        losses = -math_ops.multiply(
            labels, math_ops.log(predictions + epsilon)
        ) - math_ops.multiply(1 - labels, math_ops.log(1 - predictions + epsilon))
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


@export("losses.mean_squared_error")
def mean_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """(predictions - labels)^2; see `compute_weighted_loss`.

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(labels=labels, predictions=predictions)
    with _floats(scope, "mean_squared_error", predictions, labels, weights) as (
        predictions,
        labels,
        name,
    ):
        losses = math_ops.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


@export("losses.mean_pairwise_squared_error")
def mean_pairwise_squared_error(
    labels: Any,
    predictions: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
) -> Tensor:
    """Squared differences between the errors of pairs of elements of one example.

    Args:
      labels, predictions: [batch, ...].
      weights: a number, [batch, 1, ...], or of the labels' shape.
      scope: of the operations.
      loss_collection: what the loss is added to; None for nothing.

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(labels=labels, predictions=predictions)
    operands = [predictions, labels, weights]
    with name_scope(scope, "mean_pairwise_squared_error", operands):
        weights = math_ops.cast(weights, dtype=dtypes.float32)
        labels = math_ops.cast(labels, dtype=dtypes.float32)
        with control_dependencies([assert_broadcastable(weights, labels)]):
            predictions = math_ops.cast(predictions, dtype=dtypes.float32)
            predictions.shape.assert_is_compatible_with(labels.shape)
            loss = _pairwise(math_ops.subtract(predictions, labels), weights)
            add_loss(loss, loss_collection)
            return loss


def _pairwise(errors: Tensor, weights: Tensor) -> Tensor:
    axes = math_ops.range(1, array_ops.rank(errors))
    squares = math_ops.reduce_sum(math_ops.square(errors), axis=axes, keepdims=True)
    count = num_present(errors, weights, per_batch=True)
    first = 2.0 * math_ops.div_no_nan(
        squares, math_ops.maximum(count - 1, 0), name="value"
    )
    total = math_ops.reduce_sum(errors, axis=axes, keepdims=True)
    second = 2.0 * math_ops.div_no_nan(
        math_ops.square(total),
        math_ops.maximum(math_ops.multiply(count, count - 1), 0),
        name="value",
    )
    weighted = math_ops.multiply(first - second, weights)
    loss = math_ops.reduce_sum(weighted)
    return array_ops.where(
        math_ops.reduce_sum(count) > 0,
        loss,
        array_ops.zeros_like(loss),
        name="value",
    )
