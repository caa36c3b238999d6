"""Softmax losses over drawn classes."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.fill import zeros
from tensorloom.ops.array.identity import stop_gradient
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.array.shape import shape
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math.cast import cast
from tensorloom.ops.nn.candidate_sampling import learned_unigram_candidate_sampler
from tensorloom.ops.nn.embedding import embedding_lookup
from tensorloom.ops.nn.loss import sparse_softmax_cross_entropy_with_logits
from tensorloom.ops.nn.sampled_loss import compute_sampled_logits, sampled_softmax_loss
from tensorloom.ops.nn.top_k import top_k
from tensorloom.ops.reductions.reductions import reduce_logsumexp


@export("contrib.nn.sampled_sparse_softmax_loss")
def sampled_sparse_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str = "sampled_sparse_softmax_loss",
) -> Any:
    """`tf.nn.sampled_softmax_loss` for one label each, by the sparse cross entropy.

    Args:
      weights: [classes, depth], or a list of partitions.
      biases: [classes].
      labels: int64, [batch, 1].
      inputs: [batch, depth].
      num_sampled: how many classes are drawn.
      num_classes: how many there are.
      sampled_values: what a sampler gave; drawn log-uniformly when None.
      remove_accidental_hits: leave out draws of the label.
      partition_strategy: "div" or "mod".
      name: of the operations.

    Returns:
      The losses, [batch].
    """
    logits, _ = compute_sampled_logits(
        weights=weights,
        biases=biases,
        labels=labels,
        inputs=inputs,
        num_sampled=num_sampled,
        num_classes=num_classes,
        num_true=1,
        sampled_values=sampled_values,
        subtract_log_q=True,
        remove_accidental_hits=remove_accidental_hits,
        partition_strategy=partition_strategy,
        name=name,
    )
    # The label comes first among the logits.
    first = zeros([shape(logits)[0]], dtype=dtypes.int64)
    return sparse_softmax_cross_entropy_with_logits(labels=first, logits=logits)


@export("contrib.nn.rank_sampled_softmax_loss")
def rank_sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_resampled: int,
    num_classes: int,
    num_true: int,
    sampled_values: Any,
    resampling_temperature: Any,
    remove_accidental_hits: bool,
    partition_strategy: str,
    name: str | None = None,
) -> Any:
    """The sampled softmax loss over those drawn classes that score highest.

    Args:
      weights, biases, labels, inputs, num_classes, num_true: see
        `tf.nn.sampled_softmax_loss`.
      num_sampled: how many classes are drawn.
      num_resampled: how many of these count.
      sampled_values: what a sampler gave; drawn as classes occur when None.
      resampling_temperature: what the inputs are divided by for the scores.
      remove_accidental_hits: leave out draws of the labels.
      partition_strategy: "div" or "mod".
      name: of the operations.

    Returns:
      The losses, [batch].

    Raises:
      ValueError: more classes are to be drawn than there are, or all are to count.
    """
    if num_sampled > num_classes:
        raise ValueError(
            f"num_sampled ({num_sampled}) cannot be greater than num_classes "
            f"({num_classes})"
        )
    if num_sampled <= num_resampled:
        raise ValueError(
            f"num_resampled ({num_resampled}) must be less than num_sampled "
            f"({num_sampled})"
        )
    if partition_strategy not in ("div", "mod"):
        raise ValueError(f"unsupported partition_strategy ({partition_strategy})")
    values = [weights, biases, labels, inputs, sampled_values, resampling_temperature]
    with name_scope(name, "rank_sampled_softmax_loss", values) as scope:
        if not sampled_values:
            sampled_values = learned_unigram_candidate_sampler(
                true_classes=labels,
                num_true=num_true,
                num_sampled=num_sampled,
                unique=True,
                range_max=num_classes,
            )
        drawn, expected, drawn_expected = map(stop_gradient, sampled_values)
        drawn = cast(drawn, dtypes.int64)
        scaled = inputs / resampling_temperature
        rows = embedding_lookup(weights, drawn, partition_strategy)
        scores = reduce_logsumexp(matmul(rows, scaled, transpose_b=True), axis=1)
        bias = embedding_lookup(biases, drawn, partition_strategy)
        scores += reshape(bias, [-1]) / resampling_temperature
        _, best = top_k(scores, k=num_resampled, sorted=False)
        return sampled_softmax_loss(
            weights=weights,
            biases=biases,
            labels=labels,
            inputs=inputs,
            num_sampled=num_resampled,
            num_classes=num_classes,
            num_true=num_true,
            sampled_values=(
                gather(drawn, best),
                expected,
                gather(drawn_expected, best),
            ),
            remove_accidental_hits=remove_accidental_hits,
            partition_strategy=partition_strategy,
            name=scope,
        )
