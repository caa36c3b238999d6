"""Cross entropies of logits."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.program.confusion_matrix import remove_squeezable_dimensions
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import GraphKeys, Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.element_losses import require
from tensorloom.losses.weighted import Reduction, compute_weighted_loss
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.loss import (
    sigmoid_cross_entropy_with_logits,
    softmax_cross_entropy_with_logits_v2,
    sparse_softmax_cross_entropy_with_logits,
)


@export("losses.sigmoid_cross_entropy")
def sigmoid_cross_entropy(
    multi_class_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of independent classes; see `compute_weighted_loss`.

    Args:
      multi_class_labels: [batch, classes] of 0 and 1.
      logits: [batch, classes].
      label_smoothing: above zero, labels move that far towards 1/2.

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(multi_class_labels=multi_class_labels, logits=logits)
    operands = [logits, multi_class_labels, weights]
    with name_scope(scope, "sigmoid_cross_entropy_loss", operands) as name:
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(multi_class_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            labels = labels * (1 - label_smoothing) + 0.5 * label_smoothing
        losses = sigmoid_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


@export("losses.softmax_cross_entropy")
def softmax_cross_entropy(
    onehot_labels: Any,
    logits: Any,
    weights: Any = 1.0,
    label_smoothing: float = 0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of classes of which one is right; see `compute_weighted_loss`.

    Args:
      onehot_labels: [batch, classes]; no gradient goes to them.
      logits: [batch, classes].
      label_smoothing: above zero, labels move that far towards 1/classes.

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(onehot_labels=onehot_labels, logits=logits)
    operands = [logits, onehot_labels, weights]
    with name_scope(scope, "softmax_cross_entropy_loss", operands) as name:
        logits = convert_to_tensor(logits)
        labels = math_ops.cast(onehot_labels, logits.dtype)
        logits.shape.assert_is_compatible_with(labels.shape)
        if label_smoothing > 0:
            classes = math_ops.cast(array_ops.shape(labels)[-1], logits.dtype)
            right = 1.0 - label_smoothing
            wrong = label_smoothing / classes
            labels = labels * right + wrong
        labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
        losses = softmax_cross_entropy_with_logits_v2(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


@export("losses.sparse_softmax_cross_entropy")
def sparse_softmax_cross_entropy(
    labels: Any,
    logits: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """Cross entropy of classes given by their numbers; see `compute_weighted_loss`.

    Args:
      labels: ints [batch, ...], each below the number of classes; a last axis of size
        one is dropped.
      logits: [batch, ..., classes].

    Raises:
      ValueError: shapes that do not fit, or an argument that is None.
    """
    require(labels=labels, logits=logits)
    operands = [logits, labels, weights]
    with name_scope(scope, "sparse_softmax_cross_entropy_loss", operands) as name:
        labels, logits, weights = _squeezed(labels, logits, weights)
        losses = sparse_softmax_cross_entropy_with_logits(
            labels=labels, logits=logits, name="xentropy"
        )
        return compute_weighted_loss(losses, weights, name, loss_collection, reduction)


def _squeezed(labels: Any, logits: Any, weights: Any) -> tuple[Any, Any, Any]:
    """Without a last axis of size one that the ranks do not ask for."""
    labels, logits = remove_squeezable_dimensions(labels, logits, expected_rank_diff=1)
    if weights is None:
        return labels, logits, None
    weights = convert_to_tensor(weights)
    rank, expected = weights.shape.rank, labels.shape.rank
    if rank is not None and expected is not None:
        if rank - expected == 1:
            weights = array_ops.squeeze(weights, [-1])
        return labels, logits, weights
    difference = array_ops.rank(weights) - array_ops.rank(labels)
    if rank is None or (rank > 0 and weights.shape[-1].is_compatible_with(1)):
        full = weights
        weights = cond(
            math_ops.equal(1, difference),
            lambda: array_ops.squeeze(full, [-1]),
            lambda: full,
        )
    return labels, logits, weights
