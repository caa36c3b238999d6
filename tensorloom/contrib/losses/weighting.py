"""What weights make of the losses of elements, and the collection of losses.

Weights here are of leading axes: `[batch]` weighs examples. Those of `tf.losses`
broadcast, which is another thing.
"""

from __future__ import annotations

from typing import Any

from tensorloom.client.program.arg_scope import add_arg_scope
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    get_collection,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.weighted import safe_mean
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("contrib.losses.add_loss", "contrib.slim.losses.add_loss")
@add_arg_scope
def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection; to none when that is None."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


@export("contrib.losses.get_losses", "contrib.slim.losses.get_losses")
def get_losses(
    scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES
) -> list[Any]:
    """The losses of a collection whose names begin with the scope."""
    return get_collection(loss_collection, scope)


@export(
    "contrib.losses.get_regularization_losses",
    "contrib.slim.losses.get_regularization_losses",
)
def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The penalties of weights whose names begin with the scope."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@export("contrib.losses.get_total_loss", "contrib.slim.losses.get_total_loss")
def get_total_loss(
    add_regularization_losses: bool = True, name: str = "total_loss"
) -> Tensor:
    """The sum of all losses, with the penalties of weights unless told otherwise.

    Raises:
      ValueError: there is no loss.
    """
    losses = get_losses()
    if add_regularization_losses:
        losses += get_regularization_losses()
    return math_ops.add_n(losses, name=name)


@export(
    "contrib.losses.compute_weighted_loss", "contrib.slim.losses.compute_weighted_loss"
)
def compute_weighted_loss(
    losses: Any, weights: Any = 1.0, scope: str | None = None
) -> Tensor:
    """The mean of weighted losses over the elements whose weight is not zero.

    Args:
      losses: [batch, d1, ... dN].
      weights: a scalar, or [batch, d1, ... dK] with K <= N; a last axis of 1 counts
        as none.
      scope: of the operations.

    Returns:
      A scalar of the losses' dtype, which is in the collection LOSSES.

    Raises:
      ValueError: the rank of the losses or of the weights is unknown.
    """
    with name_scope(scope, "weighted_loss", [losses, weights]):
        losses = convert_to_tensor(losses)
        kind = losses.dtype
        losses = math_ops.cast(losses, dtypes.float32)
        weights = math_ops.cast(convert_to_tensor(weights), dtypes.float32)
        require_rank(losses=losses, weights=weights)
        shape = weights.get_shape()
        if shape.ndims > 1 and shape.dims[-1].is_compatible_with(1):
            weights = array_ops.squeeze(weights, [-1])
        total = scale_losses(losses, weights)
        loss: Tensor = math_ops.cast(
            safe_mean(total, num_present(losses, weights)), kind
        )
        add_loss(loss)
        return loss


def require_rank(**tensors: Tensor) -> None:
    """Raises ValueError for a tensor of unknown rank."""
    for name, tensor in tensors.items():
        if tensor.get_shape().ndims is None:
            raise ValueError(f"{name}.get_shape().ndims cannot be None")


def rank_of(tensor: Tensor) -> int:
    """The rank, which is known."""
    return len(tensor.get_shape().as_list())


def scale_losses(losses: Tensor, weights: Tensor) -> Tensor:
    """The sum of losses times weights of their leading axes."""
    axes = list(range(rank_of(weights), rank_of(losses)))
    scaled = math_ops.multiply(math_ops.reduce_sum(losses, axis=axes), weights)
    return math_ops.reduce_sum(scaled)


def num_present(losses: Tensor, weights: Tensor, per_batch: bool = False) -> Tensor:
    """How many elements have a weight that is not zero: in all, or of each example."""
    rank = rank_of(weights)
    if rank == 0:
        size = array_ops.slice(array_ops.shape(losses), [0], [1])
        batch = array_ops.reshape(size, [])
        elements = math_ops.div(
            math_ops.cast(array_ops.size(losses), dtypes.float32),
            math_ops.cast(batch, dtypes.float32),
        )
        elements = array_ops.where(math_ops.equal(weights, 0), 0.0, elements)
        ones = array_ops.ones(array_ops.reshape(batch, [1]))
        found = math_ops.multiply(ones, elements)
    else:
        weighing = math_ops.reduce_sum(
            math_ops.cast(math_ops.not_equal(weights, 0), dtypes.float32),
            axis=list(range(1, rank)),
        )
        rest = array_ops.slice(array_ops.shape(losses), [rank], [-1])
        each = math_ops.cast(math_ops.reduce_prod(rest), dtypes.float32)
        found = math_ops.multiply(weighing, each)
    return found if per_batch else math_ops.reduce_sum(found)
