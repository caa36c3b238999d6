"""`sequence_loss`: cross entropy of sequences, weighted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn.loss import sparse_softmax_cross_entropy_with_logits


@export("contrib.seq2seq.sequence_loss")
def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    sum_over_timesteps: bool = False,
    sum_over_batch: bool = False,
    softmax_loss_function: Callable[..., Any] | None = None,
    name: str | None = None,
) -> Any:
    """The weighted cross entropy of sequences.

    An average is a sum over the sum of the weights; a "sum" is one over the number of
    weights that are not zero. Nothing over nothing is zero.

    Args:
      logits: [batch, time, classes].
      targets: integers [batch, time].
      weights: of the targets' losses, floats [batch, time].
      average_across_timesteps, sum_over_timesteps: whether time is reduced, and how.
      average_across_batch, sum_over_batch: whether the batch is.
      softmax_loss_function: called with `labels` and `logits` by name, in place of
        sparse softmax cross entropy.
      name: of the operations.

    Returns:
      A scalar, [batch], [time] or [batch, time].

    Raises:
      ValueError: a rank is wrong, or one axis is to be averaged and summed.
    """
    _check_rank("Logits", logits, 3, "[batch_size x sequence_length x logits]")
    _check_rank("Targets", targets, 2, "[batch_size x sequence_length]")
    _check_rank("Weights", weights, 2, "[batch_size x sequence_length]")
    for axis, average, total in (
        ("timesteps", average_across_timesteps, sum_over_timesteps),
        ("batch", average_across_batch, sum_over_batch),
    ):
        if average and total:
            raise ValueError(
                f"average_across_{axis} and sum_over_{axis} cannot be set to True at "
                "same time."
            )
    with name_scope(name, "sequence_loss", [logits, targets, weights]):
        classes = array_ops.shape(logits)[2]
        flat_logits = array_ops.reshape(logits, [-1, classes])
        targets = array_ops.reshape(targets, [-1])
        function = softmax_loss_function or sparse_softmax_cross_entropy_with_logits
        losses = function(labels=targets, logits=flat_logits)
        losses *= array_ops.reshape(weights, [-1])
        if average_across_timesteps and average_across_batch:
            return _averaged(losses, weights, None)
        if sum_over_timesteps and sum_over_batch:
            return _over_count(losses, weights, None)
        losses = array_ops.reshape(losses, array_ops.shape(logits)[0:2])
        if average_across_timesteps or average_across_batch:
            return _averaged(losses, weights, [0] if average_across_batch else [1])
        if sum_over_timesteps or sum_over_batch:
            return _over_count(losses, weights, [0] if sum_over_batch else [1])
        return losses


class SequenceLoss:
    """`sequence_loss` as an object: of the true and the predicted sequences.

    Args:
      average_across_timesteps, average_across_batch, sum_over_timesteps,
        sum_over_batch, softmax_loss_function, name: see `sequence_loss`.
    """

    def __init__(
        self,
        average_across_timesteps: bool = False,
        average_across_batch: bool = False,
        sum_over_timesteps: bool = True,
        sum_over_batch: bool = True,
        softmax_loss_function: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        self.average_across_timesteps = average_across_timesteps
        self.average_across_batch = average_across_batch
        self.sum_over_timesteps = sum_over_timesteps
        self.sum_over_batch = sum_over_batch
        self.softmax_loss_function = softmax_loss_function
        self.name = name

    def __call__(self, y_true: Any, y_pred: Any, sample_weight: Any = None) -> Any:
        """The loss of logits `y_pred` where classes `y_true` are right.

        Args:
          sample_weight: floats [batch, time]; must be given, as in TensorFlow.
        """
        return sequence_loss(
            y_pred,
            y_true,
            sample_weight,
            self.average_across_timesteps,
            self.average_across_batch,
            self.sum_over_timesteps,
            self.sum_over_batch,
            self.softmax_loss_function,
            self.name,
        )


def _check_rank(what: str, value: Any, rank: int, form: str) -> None:
    if len(value.get_shape()) != rank:
        raise ValueError(f"{what} must be a {form} tensor")


def _averaged(losses: Any, weights: Any, axis: list[int] | None) -> Any:
    total = math_ops.reduce_sum(losses, axis=axis)
    return math_ops.div_no_nan(total, math_ops.reduce_sum(weights, axis=axis))


def _over_count(losses: Any, weights: Any, axis: list[int] | None) -> Any:
    total = math_ops.reduce_sum(losses, axis=axis)
    count = math_ops.cast(math_ops.count_nonzero(weights, axis=axis), losses.dtype)
    return math_ops.div_no_nan(total, count)
