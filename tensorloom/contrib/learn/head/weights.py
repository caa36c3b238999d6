"""Weights of examples, and losses that they weigh."""

from __future__ import annotations

from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.sparse_tensor import SparseTensor
from tensorloom.losses.weights_broadcast import broadcast_weights
from tensorloom.ops.array.reshape import reshape
from tensorloom.ops.math.binary import div, multiply
from tensorloom.ops.math.cast import cast
from tensorloom.ops.reductions.reductions import reduce_mean, reduce_sum
from tensorloom.ops.sparse.shape_builders import sparse_reshape


def weight_tensor(features: dict[str, Any], weight_column_name: str | None) -> Any:
    """The weights as float32 [batch, ...]; None for none.

    Raises:
      ValueError: there is no such feature.
    """
    if not weight_column_name:
        return None
    if weight_column_name not in features:
        raise ValueError(f"Weights {weight_column_name} missing from features.")
    with name_scope(None, "weight_tensor", tuple(features.values())):
        weights = cast(features[weight_column_name], dtypes.float32)
        shape = weights.get_shape()
        if shape.ndims != 1:
            return weights
        program_log.warning(
            "Weights %s has shape %s, expanding to make it 2d.",
            weight_column_name,
            shape,
        )
        if isinstance(weights, SparseTensor):
            return sparse_reshape(weights, (-1, 1))
        return reshape(weights, (-1, 1))


def float_weights_or_none(weights: Any) -> Any:
    """The weights as float32; None for none."""
    if weights is None:
        return None
    with name_scope(None, "float_weights", (weights,)) as name:
        return cast(weights, dtypes.float32, name=name)


def weighted_loss(losses: Any, weights: Any, name: str = "loss") -> tuple[Any, Any]:
    """The mean of the weighted losses, and their sum over that of the weights.

    Args:
      losses: of each example.
      weights: what can be broadcast to them; None for ones.
      name: of the first result.
    """
    with name_scope(name, values=(losses, weights)) as scope:
        if weights is None:
            loss = reduce_mean(losses, name=scope)
            return loss, loss
        weights = broadcast_weights(weights, losses)
        with name_scope(None, "weighted_loss", (losses, weights)) as product:
            weighted = multiply(losses, weights, name=product)
        loss = reduce_mean(weighted, name=scope)
        average = div(
            reduce_sum(weighted),
            cast(reduce_sum(weights), dtypes.float32),
            name="weighted_average_loss",
        )
        return loss, average
