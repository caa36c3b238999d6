"""Losses of predictions: differences, hinges, logarithms, cosines."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tensorloom.contrib.losses.weighting import (
    add_loss,
    compute_weighted_loss,
    num_present,
    rank_of,
    require_rank,
    scale_losses,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops


@contextmanager
def _floats(
    scope: str | None, default_name: str, predictions: Any, labels: Any, *more: Any
) -> Iterator[tuple[Any, Any, str]]:
    """(predictions, labels, scope): both as float32, of compatible shapes."""
    with name_scope(scope, default_name, [predictions, labels, *more]) as name:
        predictions.get_shape().assert_is_compatible_with(labels.get_shape())
        predictions = math_ops.cast(predictions, dtypes.float32)
        yield predictions, math_ops.cast(labels, dtypes.float32), name


@export("contrib.losses.absolute_difference", "contrib.slim.losses.absolute_difference")
def absolute_difference(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The weighted mean of `|predictions - labels|`, in the collection LOSSES.

    Args:
      predictions, labels: of one shape.
      weights: a scalar, [batch], or of the predictions' shape.
      scope: of the operations.

    Raises:
      ValueError: the shapes do not fit.
    """
    with _floats(scope, "absolute_difference", predictions, labels, weights) as given:
        predictions, labels, name = given
        losses = math_ops.abs(math_ops.subtract(predictions, labels))
        return compute_weighted_loss(losses, weights, scope=name)


@export("contrib.losses.log_loss", "contrib.slim.losses.log_loss")
def log_loss(
    predictions: Any,
    labels: Any = None,
    weights: Any = 1.0,
    epsilon: float = 1e-7,
    scope: str | None = None,
) -> Tensor:
    """The weighted mean of the logarithmic loss, in the collection LOSSES.

    Args:
      predictions, labels: probabilities, of one shape.
      weights: a scalar, [batch], or of the predictions' shape.
      epsilon: is added to what logarithms are taken of.
      scope: of the operations.

    Raises:
      ValueError: the shapes do not fit.
    """
    with _floats(scope, "log_loss", predictions, labels, weights) as given:
        predictions, labels, name = given
        ones = -math_ops.multiply(labels, math_ops.log(predictions + epsilon))
        zeros = math_ops.multiply((1 - labels), math_ops.log(1 - predictions + epsilon))
        return compute_weighted_loss(ones - zeros, weights, scope=name)


@export("contrib.losses.hinge_loss", "contrib.slim.losses.hinge_loss")
def hinge_loss(logits: Any, labels: Any = None, scope: str | None = None) -> Tensor:
    """The hinge loss of every element; it is in no collection.

    Args:
      logits: positive for 1.
      labels: 0 or 1, of the logits' shape.
      scope: of the operations.

    Raises:
      ValueError: the shapes do not fit.
    """
    with name_scope(scope, "hinge_loss", [logits, labels]):
        logits.get_shape().assert_is_compatible_with(labels.get_shape())
        labels = math_ops.cast(labels, dtypes.float32)
        ones = array_ops.ones_like(labels)
        signs = math_ops.subtract(2 * labels, ones)
        margins = math_ops.subtract(ones, math_ops.multiply(signs, logits))
        return nn_ops.relu(margins)


@export("contrib.losses.mean_squared_error", "contrib.slim.losses.mean_squared_error")
def mean_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The weighted mean of squared differences, in the collection LOSSES.

    Args:
      predictions, labels: of one shape.
      weights: a scalar, [batch], or of the predictions' shape.
      scope: of the operations.

    Raises:
      ValueError: the shapes do not fit.
    """
    with _floats(scope, "mean_squared_error", predictions, labels, weights) as given:
        predictions, labels, name = given
        losses = math_ops.squared_difference(predictions, labels)
        return compute_weighted_loss(losses, weights, scope=name)


@export(
    "contrib.losses.mean_pairwise_squared_error",
    "contrib.slim.losses.mean_pairwise_squared_error",
)
def mean_pairwise_squared_error(
    predictions: Any, labels: Any = None, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """How far differences between elements of an example are from those of its labels.

    Args:
      predictions, labels: [batch, d0, ...], of one shape.
      weights: a scalar, [batch], or of the predictions' shape.
      scope: of the operations.

    Returns:
      A scalar, in the collection LOSSES.

    Raises:
      ValueError: the shapes do not fit, or a rank is unknown.
    """
    with _floats(
        scope, "mean_pairwise_squared_error", predictions, labels, weights
    ) as given:
        predictions, labels, _ = given
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        diffs = math_ops.subtract(predictions, labels)
        require_rank(diffs=diffs, weights=weights)
        axes = list(range(1, rank_of(diffs)))
        squares = math_ops.reduce_sum(math_ops.square(diffs), axis=axes)
        present = num_present(diffs, weights, per_batch=True)
        of_squares = 2.0 * math_ops.div_no_nan(squares, present, name="value")
        total = math_ops.reduce_sum(diffs, axis=axes)
        of_sums = 2.0 * math_ops.div_no_nan(
            math_ops.square(total), math_ops.square(present), name="value"
        )
        loss = scale_losses(of_squares - of_sums, weights)
        mean: Tensor = array_ops.where(
            math_ops.reduce_sum(present) > 0,
            loss,
            array_ops.zeros_like(loss),
            name="value",
        )
        add_loss(mean)
        return mean


@export("contrib.losses.cosine_distance", "contrib.slim.losses.cosine_distance")
def cosine_distance(
    predictions: Any,
    labels: Any = None,
    axis: int | None = None,
    weights: Any = 1.0,
    scope: str | None = None,
    dim: int | None = None,
) -> Tensor:
    """The weighted mean of `1 - cosine` of unit vectors, in the collection LOSSES.

    Args:
      predictions, labels: of one shape, of length 1 along the axis.
      axis: that of the vectors; `dim` is its old name.
      weights: a scalar, [batch], or of the losses' shape.
      scope: of the operations.

    Raises:
      ValueError: the shapes do not fit, or no axis is given.
    """
    axis = either("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("You must specify 'axis'.")
    with _floats(scope, "cosine_distance_loss", predictions, labels, weights) as given:
        predictions, labels, name = given
        products = math_ops.multiply(predictions, labels)
        losses = 1 - math_ops.reduce_sum(products, axis=[axis])
        return compute_weighted_loss(losses, weights, scope=name)
