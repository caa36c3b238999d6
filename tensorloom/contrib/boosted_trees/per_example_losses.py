"""Losses of each example, which can be differentiated twice.

Each gives (loss [examples, 1], an operation that does nothing); weights are
[examples, 1].
"""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Operation, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.element_losses import hinge_loss
from tensorloom.ops.array.fill import ones_like, zeros_like
from tensorloom.ops.array.reshape import expand_dims
from tensorloom.ops.control_flow.builders import no_op
from tensorloom.ops.indexing.one_hot import one_hot
from tensorloom.ops.indexing.selection import where
from tensorloom.ops.math.binary import squared_difference
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.elementwise import exp, log, sigmoid, square
from tensorloom.ops.nn.loss import sigmoid_cross_entropy_with_logits
from tensorloom.ops.reductions.reductions import reduce_sum

Loss = tuple[Any, Operation]


def per_example_squared_hinge_loss(labels: Any, weights: Any, predictions: Any) -> Loss:
    """The square of the batch's hinge loss, a scalar."""
    loss = hinge_loss(labels=labels, logits=predictions, weights=weights)
    return square(loss), no_op()


def per_example_logistic_loss(labels: Any, weights: Any, predictions: Any) -> Loss:
    """Cross entropy of two classes; labels and logits are [examples, 1]."""
    loss = sigmoid_cross_entropy_with_logits(
        labels=cast(labels, dtypes.float32), logits=predictions
    )
    return loss * weights, no_op()


def per_example_quantile_regression_loss(
    labels: Any, weights: Any, predictions: Any, quantile: Any
) -> Loss:
    """The loss whose best prediction is a quantile, squared where it is below 1.

    Its second derivative can be 0: trees need l2 or a least node weight with it.

    Args:
      labels: [examples, numbers].
      weights: None for ones.
      predictions: [examples, numbers].
      quantile: in [0, 1].
    """
    error = cast(labels, dtypes.float32) - predictions

    def side(share: Any) -> Any:
        scaled = share * error
        return where(error * share < 1.0, square(scaled), scaled)

    loss = where(error > 0, side(quantile), side(quantile - 1))
    return loss if weights is None else loss * weights, no_op()


def per_example_maxent_loss(
    labels: Any, weights: Any, logits: Any, num_classes: int, eps: float = 1e-15
) -> Loss:
    """Cross entropy of several classes.

    Args:
      labels: classes, [examples] or [examples, 1].
      weights: None for ones.
      logits: [examples, classes].
      num_classes: how many classes there are.
      eps: probabilities are kept so far from 0 and 1.
    """
    classes = cast(labels, dtypes.int64)
    if classes.get_shape().rank != 2:
        classes = expand_dims(classes, 1)
    wanted = cast(
        reduce_sum(one_hot(indices=classes, depth=num_classes), axis=[1]),
        dtypes.float32,
    )
    shares = exp(logits)
    probabilities = shares / (reduce_sum(shares, 1, keepdims=True) + eps)
    right = reduce_sum(wanted * probabilities, 1)
    right = where(right >= eps, right, zeros_like(right) + eps)
    right = where(right <= 1 - eps, right, ones_like(right) - eps)
    loss = expand_dims(-log(right), 1)
    return loss if weights is None else loss * weights, no_op()


def per_example_squared_loss(labels: Any, weights: Any, predictions: Any) -> Loss:
    """The sum of the squared differences, [examples, numbers]."""
    loss = reduce_sum(squared_difference(predictions, labels), 1, keepdims=True)
    return loss * weights, no_op()


def _compared(labels: Any, logits: Any, name: str | None) -> tuple[Any, Any, Any]:
    """(logits, labels as -1 and 1, ones), of one shape.

    Raises:
      ValueError: the shapes differ.
    """
    with name_scope(name, "exp_loss", [logits, labels]):
        logits = convert_to_tensor(logits, name="logits")
        labels = convert_to_tensor(labels, name="labels")
        try:
            labels.get_shape().merge_with(logits.get_shape())
        except ValueError:
            raise ValueError(
                "logits and labels must have the same shape "
                f"({logits.get_shape()} vs {labels.get_shape()})"
            ) from None
    ones = ones_like(logits)
    return logits, where(labels > zeros_like(logits), ones, -ones), ones


def per_example_exp_loss(
    labels: Any,
    weights: Any,
    predictions: Any,
    name: str | None = None,
    eps: float = 0.1,
) -> Loss:
    """Exponential loss of two classes that is sure soon.

    A probability above 0.5 + eps counts as 1, one below 0.5 - eps as -1, and those
    between as a * probability + b, with a = 1 / eps and b = -1 / (2 * eps).

    Raises:
      ValueError: labels and predictions have different shapes.
    """
    labels = cast(labels, dtypes.float32)
    logits, signs, ones = _compared(labels, predictions, name)
    sure = (1.0 / eps) * sigmoid(logits) + -1.0 / 2 / eps
    sure = where(sure < -1, -ones, sure)
    sure = where(sure > 1, ones, sure)
    return exp(-sure * signs) * weights, no_op()


def per_example_full_exp_loss(
    labels: Any, weights: Any, predictions: Any, name: str | None = None
) -> Loss:
    """Exponential loss of two classes: exp(-label * logit), with labels -1 and 1.

    Raises:
      ValueError: labels and predictions have different shapes.
    """
    labels = cast(labels, dtypes.float32)
    logits, signs, _ = _compared(labels, predictions, name)
    return exp(-1.0 * logits * signs) * weights, no_op()
