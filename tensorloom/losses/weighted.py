"""How losses of elements, times their weights, become one loss."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    Tensor,
    control_dependencies,
    get_default_graph,
    name_scope,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.losses.collection import add_loss
from tensorloom.losses.weights_broadcast import assert_broadcastable, broadcast_weights
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops


@export("losses.Reduction")
class Reduction:
    """What becomes of the weighted losses.

    NONE leaves them; SUM adds them up; MEAN divides the sum by that of the weights,
    SUM_OVER_BATCH_SIZE by the number of elements, SUM_BY_NONZERO_WEIGHTS by the number
    of those whose weight is not zero.
    """

    NONE = "none"
    SUM = "weighted_sum"
    SUM_OVER_BATCH_SIZE = "weighted_sum_over_batch_size"
    MEAN = "weighted_mean"
    SUM_BY_NONZERO_WEIGHTS = "weighted_sum_by_nonzero_weights"
    # The name that it had before.
    SUM_OVER_NONZERO_WEIGHTS = SUM_BY_NONZERO_WEIGHTS

    @classmethod
    def all(cls) -> tuple[str, ...]:
        """All reductions."""
        return (
            cls.NONE,
            cls.SUM,
            cls.MEAN,
            cls.SUM_OVER_BATCH_SIZE,
            cls.SUM_OVER_NONZERO_WEIGHTS,
            cls.SUM_BY_NONZERO_WEIGHTS,
        )

    @classmethod
    def validate(cls, key: Any) -> None:
        """Raises ValueError unless `key` is a reduction."""
        if key not in cls.all():
            known = ", ".join(dict.fromkeys(cls.all()))
            raise ValueError(f"Invalid Reduction Key {key}. Known are: {known}.")


def safe_mean(losses: Tensor, count: Tensor) -> Tensor:
    """The sum of losses over a number, zero where the number is."""
    total = math_ops.reduce_sum(losses)
    return math_ops.div_no_nan(total, count, name="value")


def num_elements(losses: Tensor) -> Tensor:
    """The number of elements, in the losses' dtype."""
    with name_scope(None, "num_elements", values=[losses]) as scope:
        size = array_ops.size(losses, name=scope)
        return math_ops.cast(size, dtype=losses.dtype)  # type: ignore[no-any-return]


def num_present(losses: Tensor, weights: Any, per_batch: bool = False) -> Tensor:
    """The number of elements whose weight is not zero, in all or for each example."""
    if isinstance(weights, float) and weights != 0.0:
        return num_elements(losses)
    with name_scope(None, "num_present", [losses, weights]) as scope:
        weights = math_ops.cast(weights, dtype=dtypes.float32)
        present = array_ops.where(
            math_ops.equal(weights, 0.0),
            array_ops.zeros_like(weights),
            array_ops.ones_like(weights),
        )
        present = broadcast_weights(present, losses)
        if not per_batch:
            return math_ops.reduce_sum(present, name=scope)
        axes = math_ops.range(1, array_ops.rank(present))
        return math_ops.reduce_sum(present, axis=axes, keepdims=True, name=scope)


@export("losses.compute_weighted_loss")
def compute_weighted_loss(
    losses: Any,
    weights: Any = 1.0,
    scope: str | None = None,
    loss_collection: Any = GraphKeys.LOSSES,
    reduction: str = Reduction.SUM_BY_NONZERO_WEIGHTS,
) -> Tensor:
    """The loss of losses of elements.

    Args:
      losses: of elements, [batch, ...].
      weights: a number, or of the losses' rank with equal sizes or ones.
      scope: of the operations.
      loss_collection: what the loss is added to; None for nothing.
      reduction: one of `tf.losses.Reduction`.

    Returns:
      A scalar of the losses' dtype; with `Reduction.NONE` the weighted losses.

    Raises:
      ValueError: weights that do not broadcast to the losses, or an unknown reduction.
    """
    Reduction.validate(reduction)
    with name_scope(scope, "weighted_loss", [losses, weights]):
        # What scales gradients by the number of replicas reads it.
        get_default_graph()._last_loss_reduction = reduction
        with control_dependencies([assert_broadcastable(weights, losses)]):
            losses = convert_to_tensor(losses)
            kind = losses.dtype
            losses = math_ops.cast(losses, dtype=dtypes.float32)
            weights = math_ops.cast(weights, dtype=dtypes.float32)
            weighted = math_ops.multiply(losses, weights)
            loss: Tensor = math_ops.cast(
                _reduced(weighted, losses, weights, reduction), kind
            )
            add_loss(loss, loss_collection)
            return loss


def _reduced(weighted: Tensor, losses: Tensor, weights: Tensor, reduction: str) -> Any:
    if reduction == Reduction.NONE:
        return weighted
    total = math_ops.reduce_sum(weighted)
    if reduction == Reduction.MEAN:
        ones = array_ops.ones_like(losses)
        return safe_mean(total, math_ops.reduce_sum(ones * weights))
    if reduction == Reduction.SUM_BY_NONZERO_WEIGHTS:
        return safe_mean(total, num_present(losses, weights))
    if reduction == Reduction.SUM_OVER_BATCH_SIZE:
        return safe_mean(total, num_elements(losses))
    return total
