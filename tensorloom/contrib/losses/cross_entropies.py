"""Cross entropies of logits."""

from __future__ import annotations

from typing import Any

from tensorloom.contrib.losses.weighting import compute_weighted_loss
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.loss import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits,
    sparse_softmax_cross_entropy_with_logits,
)


@export(
    "contrib.losses.sigmoid_cross_entropy", "contrib.slim.losses.sigmoid_cross_entropy"
)
def sigmoid_cross_entropy(
    logits: Any,
    multi_class_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """The weighted mean of cross entropies of independent classes.

    Args:
      logits: [batch, classes].
      multi_class_labels: numbers from 0 to 1, of the logits' shape.
      weights: a scalar, [batch], or of the logits' shape.
      label_smoothing: moves labels towards 1/2 by this part.
      scope: of the operations.

    Returns:
      A scalar, in the collection LOSSES.

    Raises:
      ValueError: the shapes do not fit.
    """
    with name_scope(
        scope, "sigmoid_cross_entropy_loss", [logits, multi_class_labels, weights]
    ) as name:
        logits.get_shape().assert_is_compatible_with(multi_class_labels.get_shape())
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=name)


@export(
    "contrib.losses.softmax_cross_entropy", "contrib.slim.losses.softmax_cross_entropy"
)
def softmax_cross_entropy(
    logits: Any,
    onehot_labels: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
) -> Tensor:
    """The weighted mean of cross entropies of one class among several.

    Args:
      logits: [batch, classes].
      onehot_labels: of the logits' shape.
      weights: a scalar or [batch].
      label_smoothing: moves labels towards 1/classes by this part.
      scope: of the operations.

    Returns:
      A scalar, in the collection LOSSES.

    Raises:
      ValueError: the shapes do not fit.
    """
    with name_scope(
        scope, "softmax_cross_entropy_loss", [logits, onehot_labels, weights]
    ) as name:
        logits.get_shape().assert_is_compatible_with(onehot_labels.get_shape())
        labels = math_ops.cast(onehot_labels, logits.dtype)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[1], logits.dtype)
            negatives = label_smoothing / classes
            labels = labels * (1.0 - label_smoothing) + negatives
        losses = softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=name)


@export(
    "contrib.losses.sparse_softmax_cross_entropy",
    "contrib.slim.losses.sparse_softmax_cross_entropy",
)
def sparse_softmax_cross_entropy(
    logits: Any, labels: Any, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The weighted mean of cross entropies of classes that are given by number.

    Args:
      logits: [batch, classes].
      labels: int32 or int64, [batch] or [batch, 1].
      weights: a scalar, [batch] or [batch, 1].
      scope: of the operations.

    Returns:
      A scalar, in the collection LOSSES.

    Raises:
      ValueError: the shapes do not fit.
    """
    with name_scope(
        scope, "sparse_softmax_cross_entropy_loss", [logits, labels, weights]
    ) as name:
        labels = array_ops.reshape(labels, shape=[array_ops.shape(labels)[0]])
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, scope=name)
