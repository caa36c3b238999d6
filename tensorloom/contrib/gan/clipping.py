"""Weights that are clipped after each update."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorloom.contrib.opt.around_updates import VariableClippingOptimizer
from tensorloom.framework.export import export


@export("contrib.gan.features.clip_variables")
def clip_variables(optimizer: Any, variables: Iterable[Any], weight_clip: float) -> Any:
    """An optimizer that clips variables after it has updated them.

    Args:
      optimizer: the optimizer.
      variables: the variables.
      weight_clip: their greatest size.

    Raises:
      ValueError: it is negative.
    """
    if weight_clip < 0:
        raise ValueError(
            f"`discriminator_weight_clip` must be positive. Instead, was {weight_clip}"
        )
    return VariableClippingOptimizer(
        opt=optimizer,
        # No axis is summed over: each value is clipped by itself.
        vars_to_clip_dims={variable: [] for variable in variables},
        max_norm=weight_clip,
        use_locking=True,
        colocate_clip_ops_with_vars=True,
    )


@export("contrib.gan.features.clip_discriminator_weights")
def clip_discriminator_weights(optimizer: Any, model: Any, weight_clip: float) -> Any:
    """`clip_variables` of a model's discriminator, as for Wasserstein losses.

    Args:
      optimizer: the optimizer.
      model: a GANModel.
      weight_clip: the greatest size of the weights.

    Raises:
      ValueError: it is negative.
    """
    return clip_variables(optimizer, model.discriminator_variables, weight_clip)
