"""The losses of heads: of labels, logits and weights.

Each gives the loss, and the weighted mean of the losses, as `weighted_loss` does.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from tensorloom.contrib.learn.head.weights import weighted_loss
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.element_losses import hinge_loss
from tensorloom.losses.weighted import Reduction
from tensorloom.ops.array.reshape import expand_dims, reshape, squeeze
from tensorloom.ops.array.shape import rank
from tensorloom.ops.control_flow.builders import Assert
from tensorloom.ops.math.binary import squared_difference
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import less_equal
from tensorloom.ops.nn.loss import (
    log_poisson_loss,
    sigmoid_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)

LossFn = Callable[..., tuple[Any, Any]]


def _two_dimensional(labels: Any, logits: Any) -> tuple[Any, Any]:
    """Both as tensors; what has one dimension becomes a column."""
    logits, labels = convert_to_tensor(logits), convert_to_tensor(labels)
    if len(labels.get_shape()) == 1:
        labels = expand_dims(labels, axis=1)
    if len(logits.get_shape()) == 1:
        logits = expand_dims(logits, axis=1)
    logits.get_shape().assert_is_compatible_with(labels.get_shape())
    return labels, logits


def mean_squared_loss(labels: Any, logits: Any, weights: Any = None) -> Any:
    """Squared differences."""
    with name_scope(None, "mean_squared_loss", (logits, labels)) as name:
        labels, logits = _two_dimensional(labels, logits)
        losses = squared_difference(logits, cast(labels, dtypes.float32), name=name)
        return weighted_loss(losses, weights)


def poisson_loss(labels: Any, logits: Any, weights: Any = None) -> Any:
    """The negative log-likelihood of counts, whose mean is exp(logits)."""
    with name_scope(None, "_poisson_loss", (logits, labels)) as name:
        labels, logits = _two_dimensional(labels, logits)
        losses = log_poisson_loss(labels, logits, compute_full_loss=True, name=name)
        return weighted_loss(losses, weights)


def log_loss_with_two_classes(labels: Any, logits: Any, weights: Any = None) -> Any:
    """The cross entropy of two classes, by one logit."""
    with name_scope(None, "log_loss_with_two_classes", (logits, labels)) as name:
        logits = convert_to_tensor(logits)
        labels = cast(labels, dtypes.float32)
        if len(labels.get_shape()) == 1:
            labels = expand_dims(labels, axis=1)
        losses = sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name=name
        )
        return weighted_loss(losses, weights)


def sigmoid_cross_entropy_loss(labels: Any, logits: Any, weights: Any = None) -> Any:
    """The cross entropy of classes of which each is there or not."""
    with name_scope(None, "sigmoid_cross_entropy_loss", (logits, labels)) as name:
        losses = sigmoid_cross_entropy_with_logits(
            labels=cast(labels, dtypes.float32), logits=logits, name=name
        )
        return weighted_loss(losses, weights)


def softmax_cross_entropy_loss(labels: Any, logits: Any, weights: Any = None) -> Any:
    """The cross entropy of classes, by their numbers.

    Raises:
      ValueError: the labels are no integers.
    """
    with name_scope(None, "softmax_cross_entropy_loss", (logits, labels)) as name:
        labels = convert_to_tensor(labels)
        if not labels.dtype.is_integer:
            raise ValueError(
                f"Labels dtype should be integer Instead got {labels.dtype}."
            )
        column = len(labels.get_shape()) == 2
        if column:
            labels = squeeze(labels, axis=(1,))
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name=name
        )
        if column:
            # The weights are a column as well.
            losses = expand_dims(losses, axis=1)
        return weighted_loss(losses, weights)


def assert_labels_rank(labels: Any) -> Any:
    """An op that fails if labels have more than two dimensions."""
    message = "labels shape should be either [batch_size, 1] or [batch_size]"
    return Assert(less_equal(rank(labels), 2), (message,))


def svm_loss(labels: Any, logits: Any, weights: Any = None) -> Any:
    """The hinge loss of two classes."""
    with name_scope(None, "hinge_loss", (logits, labels)) as name:
        with control_dependencies((assert_labels_rank(labels),)):
            labels = reshape(labels, shape=(-1, 1))
        losses = hinge_loss(
            labels=labels, logits=logits, scope=name, reduction=Reduction.NONE
        )
        return weighted_loss(losses, weights)


def checked_loss_fn(loss_fn: Callable[..., Any] | None) -> LossFn | None:
    """A program's own loss as a head takes it; None for none.

    Raises:
      ValueError: it takes no `labels`, `logits` or `weights`.
    """
    if loss_fn is None:
        return None
    function: Any = loss_fn
    while not hasattr(function, "__code__") and hasattr(function, "func"):
        function = function.func
    if not inspect.isroutine(function):
        function = function.__call__
    names = inspect.getfullargspec(inspect.unwrap(function)).args
    for name in ("labels", "logits", "weights"):
        if name not in names:
            raise ValueError(f"Argument {name} not found in loss_fn.")

    def loss(labels: Any, logits: Any, weights: Any = None) -> tuple[Any, Any]:
        given = () if weights is None else (weights,)
        value = loss_fn(labels, logits, *given)
        return value, value

    return loss
