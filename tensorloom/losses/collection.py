"""Losses that were added to a graph, and their sums."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    add_to_collection,
    get_collection,
)
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math import math_ops


@export("losses.add_loss")
def add_loss(loss: Any, loss_collection: Any = GraphKeys.LOSSES) -> None:
    """Adds a loss to a collection; None is no collection."""
    if loss_collection:
        add_to_collection(loss_collection, loss)


@export("losses.get_losses")
def get_losses(
    scope: str | None = None, loss_collection: Any = GraphKeys.LOSSES
) -> list[Any]:
    """The losses of a collection, whose names match the scope if there is one."""
    return get_collection(loss_collection, scope)


@export("losses.get_regularization_losses")
def get_regularization_losses(scope: str | None = None) -> list[Any]:
    """The losses of regularizers, whose names match the scope if there is one."""
    return get_collection(GraphKeys.REGULARIZATION_LOSSES, scope)


@export("losses.get_regularization_loss")
def get_regularization_loss(
    scope: str | None = None, name: str | None = "total_regularization_loss"
) -> Tensor:
    """The sum of the regularizers' losses, zero without any."""
    losses = get_regularization_losses(scope)
    return math_ops.add_n(losses, name=name) if losses else constant(0.0)


@export("losses.get_total_loss")
def get_total_loss(
    add_regularization_losses: bool = True,
    name: str | None = "total_loss",
    scope: str | None = None,
) -> Tensor:
    """The sum of all losses, with those of regularizers or without.

    Raises:
      ValueError: there are none.
    """
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return math_ops.add_n(losses, name=name)
