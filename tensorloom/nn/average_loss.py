"""Losses averaged over the batch of all replicas of a distribution strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.distribution import thread_modes
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.weights_broadcast import broadcast_weights
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

_RANK = (
    "Invalid value passed for `per_example_loss`. Expected a tensor with at least "
    "rank 1"
)


@export("nn.compute_average_loss")
def compute_average_loss(
    per_example_loss: Any, sample_weight: Any = None, global_batch_size: Any = None
) -> Tensor:
    """The sum of the losses, perhaps weighted, over the batch size of all replicas.

    Args:
      per_example_loss: [batch, ...].
      sample_weight: broadcasts against the losses; [batch] goes with [batch, n], and
        [batch, 1] with [batch].
      global_batch_size: an int or int tensor; by default the number of losses, times
        the number of replicas of the strategy.

    Raises:
      ValueError: the losses are a scalar, or the weights do not broadcast.
      RuntimeError: it needs the batch size of a replica outside of replicas.
    """
    losses = convert_to_tensor(per_example_loss)
    dtype = losses.dtype
    rank = losses.shape.rank
    if rank == 0:
        raise ValueError(f"{_RANK}, received: {losses}")
    checks = []
    if rank is None:
        found = array_ops.rank(losses)
        checks = [check_ops.assert_greater_equal(found, 1, message=f"{_RANK}.")]
    with control_dependencies(checks):
        if sample_weight is not None:
            losses = math_ops.cast(losses, dtypes.float32)
            weights = math_ops.cast(convert_to_tensor(sample_weight), dtypes.float32)
            weights = _with_rank_of(weights, losses)
            losses = losses * broadcast_weights(weights, losses)
        losses = math_ops.cast(losses, dtype)
        if global_batch_size is None:
            replicas = _replicas("compute_average_loss")
            global_batch_size = array_ops.shape(losses)[0] * replicas
        size = math_ops.cast(global_batch_size, dtype)
        return math_ops.reduce_sum(losses) / size  # type: ignore[no-any-return]


def _with_rank_of(weights: Tensor, losses: Tensor) -> Any:
    """The weights with a last dimension of 1 more or less, if they are one off."""
    have, wanted = weights.shape.rank, losses.shape.rank
    if not have or wanted is None:
        return weights
    if have - wanted == 1:
        return array_ops.squeeze(weights, [-1])
    return array_ops.expand_dims(weights, -1) if wanted - have == 1 else weights


@export("nn.scale_regularization_loss")
def scale_regularization_loss(regularization_loss: Any) -> Tensor:
    """The sum of the losses over the number of replicas of the strategy.

    Raises:
      RuntimeError: it is called outside of replicas.
    """
    replicas = _replicas("scale_regularization_loss")
    total = math_ops.reduce_sum(regularization_loss)
    return total / math_ops.cast(replicas, total.dtype)  # type: ignore[no-any-return]


def _replicas(caller: str) -> int:
    if thread_modes.has_strategy() and thread_modes.in_cross_replica_context():
        raise RuntimeError(
            f"You are calling `{caller}` in cross replica context, while it was "
            "expected to be called in replica context."
        )
    strategy = thread_modes.current_strategy()
    return 1 if strategy is None else int(strategy.num_replicas_in_sync)
