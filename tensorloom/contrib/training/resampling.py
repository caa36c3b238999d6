"""Batches in which elements are repeated or left out by chance."""

from __future__ import annotations

from typing import Any

from tensorloom.client.variables.variable_scope import (
    get_local_variable,
    variable_scope,
)
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.identity import stop_gradient
from tensorloom.ops.indexing.gather import gather
from tensorloom.ops.indexing.selection import searchsorted
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.sequence import range as range_op
from tensorloom.ops.random.random_ops import random_poisson
from tensorloom.ops.reductions.reductions import reduce_mean, reduce_sum
from tensorloom.ops.reductions.scan import cumsum
from tensorloom.train.optimizers.moving_averages import assign_moving_average


def repeated_range(counts: Any) -> Any:
    """[0, 1, ...], each number as often as `counts` says. int32."""
    with name_scope("repeat_range", values=[counts]):
        counts = convert_to_tensor(counts, name="counts")
        ends = cumsum(counts)
        total = reduce_sum(counts)
        return searchsorted(ends, range_op(total), side="right")


@export("contrib.training.resample_at_rate")
def resample_at_rate(
    inputs: Any,
    rates: Any,
    scope: str | None = None,
    seed: int | None = None,
    back_prop: bool = False,
) -> list[Any]:
    """Rows of tensors, each as often as a Poisson draw of its rate says.

    Args:
      inputs: tensors of shape [batch, ...].
      rates: the mean of the draws, of shape [batch].
      scope: of the operations.
      seed: of the draws.
      back_prop: let gradients through to the rates.

    Returns:
      A list of tensors with an unknown dimension 0.
    """
    with name_scope(scope, "resample_at_rate", [*inputs, rates]):
        rates = convert_to_tensor(rates, name="rates")
        counts = cast(random_poisson(rates, (), rates.dtype, seed=seed), dtypes.int32)
        chosen = repeated_range(counts)
        if not back_prop:
            chosen = stop_gradient(chosen)
        return [gather(tensor, chosen) for tensor in inputs]


@export("contrib.training.weighted_resample")
def weighted_resample(
    inputs: Any,
    weights: Any,
    overall_rate: Any,
    scope: str | None = None,
    mean_decay: float = 0.999,
    seed: int | None = None,
) -> tuple[list[Any], Any]:
    """Rows of tensors, chosen as their weights say.

    Args:
      inputs: tensors of shape [batch, ...].
      weights: of shape [batch].
      overall_rate: how many rows there are in the mean for each row.
      scope: of the operations, and of the variable with the mean weight.
      mean_decay: of that mean, which moves.
      seed: of the draws.

    Returns:
      A list of tensors with an unknown dimension 0, and the rate of each row in them.
    """
    with name_scope(scope, "weighted_resample", inputs) as inner:
        with variable_scope(scope, "estimate_mean", inputs):
            estimate = get_local_variable(
                "estimated_mean",
                initializer=cast(0, weights.dtype),
                dtype=weights.dtype,
            )
            mean = assign_moving_average(estimate, reduce_mean(weights), mean_decay)
        rates = weights * overall_rate / mean
        results = resample_at_rate(
            [rates, *inputs], rates, scope=inner, seed=seed, back_prop=False
        )
    return results[1:], results[0]
