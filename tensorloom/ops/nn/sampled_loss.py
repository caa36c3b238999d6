"""Losses over a sample of the classes: noise-contrastive and sampled softmax."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types import dtypes
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.nn import nn_ops
from tensorloom.ops.nn.candidate_sampling import (
    compute_accidental_hits,
    log_uniform_candidate_sampler,
)
from tensorloom.ops.nn.embedding import embedding_lookup


def _sum_rows(x: Tensor) -> Tensor:
    columns = array_ops.shape(x)[1]
    ones = array_ops.ones(array_ops.stack([columns, 1]), x.dtype)
    return array_ops.reshape(math_ops.matmul(x, ones), [-1])


def _look_up(table: Any, ids: Tensor, strategy: str, dtype: Any) -> Tensor:
    rows = embedding_lookup(table, ids, partition_strategy=strategy)
    return math_ops.cast(rows, dtype) if rows.dtype != dtype else rows


def compute_sampled_logits(
    weights: Any,
    biases: Any,
    labels: Tensor,
    inputs: Tensor,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    subtract_log_q: bool = True,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = None,
    seed: int | None = None,
) -> tuple[Tensor, Tensor]:
    """What the losses are made of; the arguments are theirs.

    Args:
      subtract_log_q: take off the logarithms of how often a class is expected.

    Returns:
      (logits, labels) [batch, num_true + num_sampled].
    """
    if hasattr(weights, "_get_partitions"):
        weights = list(weights)
    if not isinstance(weights, list):
        weights = [weights]
    scope_inputs = [*weights, biases, inputs, labels]
    with name_scope(name, "compute_sampled_logits", scope_inputs):
        if labels.dtype != dtypes.int64:
            labels = math_ops.cast(labels, dtypes.int64)
        flat = array_ops.reshape(labels, [-1])
        if sampled_values is None:
            sampled_values = log_uniform_candidate_sampler(
                true_classes=labels,
                num_true=num_true,
                num_sampled=num_sampled,
                unique=True,
                range_max=num_classes,
                seed=seed,
            )
        sampled, true_count, sampled_count = (
            array_ops.stop_gradient(value) for value in sampled_values
        )
        sampled = math_ops.cast(sampled, dtypes.int64)
        ids = array_ops.concat([flat, sampled], 0)
        dtype = inputs.dtype
        all_w = _look_up(weights, ids, partition_strategy, dtype)
        rows = array_ops.stack([array_ops.shape(flat)[0], -1])
        true_w = array_ops.slice(all_w, [0, 0], rows)
        start = array_ops.stack([array_ops.shape(flat)[0], 0])
        sampled_w = array_ops.slice(all_w, start, [-1, -1])
        sampled_logits = math_ops.matmul(inputs, sampled_w, transpose_b=True)
        all_b = _look_up(biases, ids, partition_strategy, dtype)
        true_b = array_ops.slice(all_b, [0], array_ops.shape(flat))
        sampled_b = array_ops.slice(all_b, array_ops.shape(flat), [-1])
        true_logits = _true_logits(inputs, true_w, true_b, num_true)
        sampled_logits += sampled_b
        if remove_accidental_hits:
            sampled_logits += _hits(
                labels, sampled, num_true, num_sampled, sampled_logits.dtype
            )
        if subtract_log_q:
            true_logits -= math_ops.log(true_count)
            sampled_logits -= math_ops.log(sampled_count)
        logits = array_ops.concat([true_logits, sampled_logits], 1)
        ones = array_ops.ones_like(true_logits) / num_true
        zeros = array_ops.zeros_like(sampled_logits)
        return logits, array_ops.concat([ones, zeros], 1)


def _true_logits(inputs: Any, true_w: Tensor, true_b: Tensor, num_true: int) -> Tensor:
    width = array_ops.shape(true_w)[1:2]
    shape = array_ops.concat([[-1, num_true], width], 0)
    expanded = array_ops.expand_dims(inputs, 1)
    products = math_ops.multiply(expanded, array_ops.reshape(true_w, shape))
    rows = array_ops.reshape(products, array_ops.concat([[-1], width], 0))
    logits = array_ops.reshape(_sum_rows(rows), [-1, num_true])
    return logits + array_ops.reshape(true_b, [-1, num_true])


def _hits(
    labels: Tensor, sampled: Tensor, num_true: int, num_sampled: int, dtype: Any
) -> Tensor:
    """-FLT_MAX, dense, at the sampled classes that are true ones."""
    rows, ids, weights = compute_accidental_hits(labels, sampled, num_true=num_true)
    rows = array_ops.reshape(rows, [-1, 1])
    ids = array_ops.reshape(math_ops.cast(ids, dtypes.int32), [-1, 1])
    indices = array_ops.concat([rows, ids], 1, "sparse_indices")
    batch = array_ops.shape(labels)[:1]
    shape = array_ops.concat([batch, array_ops.expand_dims(num_sampled, 0)], 0)
    if weights.dtype != dtype:
        weights = math_ops.cast(weights, dtype)
    result: Tensor = apply_op(
        "SparseToDense",
        sparse_indices=indices,
        output_shape=shape,
        sparse_values=weights,
        default_value=0.0,
        validate_indices=False,
    )
    return result


@export("nn.nce_loss")
def nce_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = False,
    partition_strategy: str = "mod",
    name: str | None = "nce_loss",
) -> Tensor:
    """The noise-contrastive loss [batch] (Gutmann and Hyvarinen, AISTATS 2010).

    Args:
      weights, biases: [num_classes, width] (or partitions of it), [num_classes].
      labels, inputs: true classes [batch, num_true], activations [batch, width].
      sampled_values: what a candidate sampler gives; log-uniform by default.
    """
    logits, labels = compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        True,
        remove_accidental_hits,
        partition_strategy,
        name,
    )
    losses = nn_ops.sigmoid_cross_entropy_with_logits(
        labels=labels, logits=logits, name="sampled_losses"
    )
    return _sum_rows(losses)


@export("nn.sampled_softmax_loss")
def sampled_softmax_loss(
    weights: Any,
    biases: Any,
    labels: Any,
    inputs: Any,
    num_sampled: int,
    num_classes: int,
    num_true: int = 1,
    sampled_values: Any = None,
    remove_accidental_hits: bool = True,
    partition_strategy: str = "mod",
    name: str | None = "sampled_softmax_loss",
    seed: int | None = None,
) -> Tensor:
    """The softmax loss [batch] over the true and some sampled classes.

    Args: as `nce_loss`.
    """
    logits, labels = compute_sampled_logits(
        weights,
        biases,
        labels,
        inputs,
        num_sampled,
        num_classes,
        num_true,
        sampled_values,
        True,
        remove_accidental_hits,
        partition_strategy,
        name,
        seed,
    )
    labels = array_ops.stop_gradient(labels, name="labels_stop_gradient")
    result: Tensor = nn_ops.softmax_cross_entropy_with_logits_v2(
        labels=labels, logits=logits
    )
    return result
