"""Losses by which trees learn what a neural network says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.contrib.learn.head import head_losses
from tensorloom.ops.math.elementwise import sigmoid
from tensorloom.ops.nn.softmax import softmax

DistillationLoss = Callable[[Any, Any, Any], Any]


def _probabilities(logits: Any, n_classes: int) -> Any:
    return sigmoid(logits) if n_classes == 2 else softmax(logits)


def create_dnn_to_tree_squared_loss_fn(n_classes: int) -> DistillationLoss:
    """The squared difference of the probabilities.

    Args:
      n_classes: how many classes there are.

    Returns:
      A function of the network's logits, the trees' logits and the examples' weights
      that gives the loss, a scalar.
    """

    def loss(dnn_logits: Any, tree_logits: Any, example_weights: Any) -> Any:
        return head_losses.mean_squared_loss(
            labels=_probabilities(dnn_logits, n_classes),
            logits=_probabilities(tree_logits, n_classes),
            weights=example_weights,
        )[0]

    return loss


def create_dnn_to_tree_cross_entropy_loss_fn(n_classes: int) -> DistillationLoss:
    """The cross entropy of the trees' classes and the network's probabilities.

    Args:
      n_classes: how many classes there are.

    Returns:
      A function of the network's logits, the trees' logits and the examples' weights
      that gives the loss, a scalar.
    """
    of_classes = (
        head_losses.log_loss_with_two_classes
        if n_classes == 2
        else head_losses.softmax_cross_entropy_loss
    )

    def loss(dnn_logits: Any, tree_logits: Any, example_weights: Any) -> Any:
        return of_classes(
            labels=_probabilities(dnn_logits, n_classes),
            logits=tree_logits,
            weights=example_weights,
        )[0]

    return loss
