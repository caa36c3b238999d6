"""Losses of lists of steps, and models of several lengths."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_variable_scope,
    variable_scope,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_sum


@export("contrib.legacy_seq2seq.sequence_loss_by_example")
def sequence_loss_by_example(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Any:
    """The weighted cross-entropy of each sequence: [batch].

    Args:
      logits: list of [batch, symbols].
      targets: list of int32 [batch].
      weights: list of float [batch].
      average_across_timesteps: whether the sum is divided by that of the weights.
      softmax_loss_function: `f(labels=, logits=)`, the sparse softmax cross-entropy
        by default.
      name: of the operations.

    Raises:
      ValueError: the lists have different lengths.
    """
    if len(targets) != len(logits) or len(weights) != len(logits):
        raise ValueError(
            "Lengths of logits, weights, and targets must be the same "
            f"{len(logits)}, {len(weights)}, {len(targets)}."
        )
    with name_scope(name, "sequence_loss_by_example", logits + targets + weights):
        losses = []
        for logit, target, weight in zip(logits, targets, weights, strict=True):
            if softmax_loss_function is None:
                labels = array_ops.reshape(target, [-1])
                loss: Any = nn_ops.sparse_softmax_cross_entropy_with_logits(
                    labels=labels, logits=logit
                )
            else:
                loss = softmax_loss_function(labels=target, logits=logit)
            losses.append(loss * weight)
        total: Any = add_n(losses)
        if average_across_timesteps:
            # Not zero where all weights are.
            total /= add_n(weights) + 1e-12
    return total


@export("contrib.legacy_seq2seq.sequence_loss")
def sequence_loss(
    logits: Any,
    targets: Any,
    weights: Any,
    average_across_timesteps: bool = True,
    average_across_batch: bool = True,
    softmax_loss_function: Any = None,
    name: str | None = None,
) -> Any:
    """The sum of `sequence_loss_by_example`, or its mean over the batch: a scalar.

    Args:
      logits, targets, weights, average_across_timesteps, softmax_loss_function: see
        `sequence_loss_by_example`.
      average_across_batch: whether the sum is divided by the batch size.
      name: of the operations.
    """
    with name_scope(name, "sequence_loss", logits + targets + weights):
        losses = sequence_loss_by_example(
            logits,
            targets,
            weights,
            average_across_timesteps=average_across_timesteps,
            softmax_loss_function=softmax_loss_function,
        )
        cost = reduce_sum(losses)
        if not average_across_batch:
            return cost
        batch_size = array_ops.shape(targets[0])[0]
        return cost / math_ops.cast(batch_size, cost.dtype)


@export("contrib.legacy_seq2seq.model_with_buckets")
def model_with_buckets(
    encoder_inputs: Any,
    decoder_inputs: Any,
    targets: Any,
    weights: Any,
    buckets: Any,
    seq2seq: Any,
    softmax_loss_function: Any = None,
    per_example_loss: bool = False,
    name: str | None = None,
) -> Any:
    """A model for each of several lengths, all with the same variables.

    Args:
      encoder_inputs, decoder_inputs, targets, weights: lists of steps.
      buckets: list of (steps of the encoder, steps of the decoder), the longest last.
      seq2seq: `f(encoder inputs, decoder inputs)` is (outputs, state).
      softmax_loss_function: see `sequence_loss_by_example`.
      per_example_loss: whether losses are [batch], else scalars.
      name: of the operations.

    Returns:
      (list of outputs, list of losses), one a bucket.

    Raises:
      ValueError: a list is shorter than the last bucket.
    """
    longest = buckets[-1]
    for what, steps, length in (
        ("encoder_inputs", encoder_inputs, longest[0]),
        ("targets", targets, longest[1]),
        ("weights", weights, longest[1]),
    ):
        if len(steps) < length:
            raise ValueError(
                f"Length of {what} ({len(steps)}) must be at least that of last "
                f"bucket ({length})."
            )
    loss_of = sequence_loss_by_example if per_example_loss else sequence_loss
    losses, outputs = [], []
    everything = encoder_inputs + decoder_inputs + targets + weights
    with name_scope(name, "model_with_buckets", everything):
        for j, (encoder_steps, steps) in enumerate(buckets):
            reuse = True if j > 0 else None
            with variable_scope(get_variable_scope(), reuse=reuse):
                made, _ = seq2seq(
                    encoder_inputs[:encoder_steps], decoder_inputs[:steps]
                )
                outputs.append(made)
                losses.append(
                    loss_of(
                        made,
                        targets[:steps],
                        weights[:steps],
                        softmax_loss_function=softmax_loss_function,
                    )
                )
    return outputs, losses
