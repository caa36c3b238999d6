"""Penalties of weights, as functions of them."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from typing import Any

from tensorloom.client.program import program_log
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import (
    GraphKeys,
    add_to_collection,
    get_collection,
    name_scope,
)
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.constant import constant
from tensorloom.ops.math.binary import multiply
from tensorloom.ops.math.elementwise import abs as absolute
from tensorloom.ops.nn.loss import l2_loss
from tensorloom.ops.reductions.aggregate import add_n
from tensorloom.ops.reductions.reductions import reduce_sum

Regularizer = Callable[[Any], Any]


def _no_penalty(_: Any) -> None:
    return None


def _is_off(scale: Any, name: str = "scale") -> bool:
    """Whether a scale is 0. Raises ValueError for integers and negative numbers."""
    if isinstance(scale, numbers.Integral):
        raise ValueError(f"{name} cannot be an integer: {scale}")
    if not isinstance(scale, numbers.Real):
        return False  # a tensor
    if scale < 0.0:
        raise ValueError(
            f"Setting a scale less than 0 on a regularizer: {float(scale):g}."
        )
    if scale == 0.0:
        program_log.info("Scale of 0 disables regularizer.")
    return scale == 0.0


@export("contrib.layers.l1_regularizer")
def l1_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """`scale * sum(|weights|)`.

    Args:
      scale: a float or a scalar tensor; 0.0 is no penalty.
      scope: the name of the operations.

    Raises:
      ValueError: the scale is negative, or an integer.
    """
    if _is_off(scale):
        return _no_penalty

    def l1(weights: Any, name: str | None = None) -> Any:
        with name_scope(scope, "l1_regularizer", [weights]) as name:
            factor = convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            return multiply(factor, reduce_sum(absolute(weights)), name=name)

    return l1


@export("contrib.layers.l2_regularizer")
def l2_regularizer(scale: Any, scope: str | None = None) -> Regularizer:
    """`scale * sum(weights ** 2) / 2`; arguments and errors as of `l1_regularizer`."""
    if _is_off(scale):
        return _no_penalty

    def l2(weights: Any) -> Any:
        with name_scope(scope, "l2_regularizer", [weights]) as name:
            factor = convert_to_tensor(scale, weights.dtype.base_dtype, name="scale")
            return multiply(factor, l2_loss(weights), name=name)

    return l2


@export("contrib.layers.l1_l2_regularizer")
def l1_l2_regularizer(
    scale_l1: Any = 1.0, scale_l2: Any = 1.0, scope: str | None = None
) -> Regularizer:
    """The sum of both penalties. Raises ValueError for scales that are integers."""
    for name, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError(f"{name} cannot be an integer: {scale}")
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.0:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.0:
        return l1_regularizer(scale_l1, scope)
    both = [l1_regularizer(scale_l1), l2_regularizer(scale_l2)]
    summed = sum_regularizer(both, scope=scope)
    assert summed is not None
    return summed


@export("contrib.layers.sum_regularizer")
def sum_regularizer(
    regularizer_list: Sequence[Regularizer | None], scope: str | None = None
) -> Regularizer | None:
    """The sum of penalties; None where all regularizers are None."""
    regularizers = [each for each in regularizer_list if each is not None]
    if not regularizers:
        return None

    def sum_reg(weights: Any) -> Any:
        with name_scope(scope, "sum_regularizer", [weights]) as name:
            penalties = [regularizer(weights) for regularizer in regularizers]
            penalties = [penalty for penalty in penalties if penalty is not None]
            return add_n(penalties, name=name) if penalties else None

    return sum_reg


@export("contrib.layers.apply_regularization")
def apply_regularization(regularizer: Regularizer, weights_list: Any = None) -> Any:
    """The sum of the penalties of weights, added to REGULARIZATION_LOSSES.

    Args:
      regularizer: a function of weights that gives a scalar or None.
      weights_list: the weights; those in the collection WEIGHTS when None.

    Raises:
      ValueError: there are no weights, or a penalty is no scalar.
    """
    weights_list = weights_list or get_collection(GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with name_scope(None, "get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(weights) for weights in weights_list]
        penalties = [constant(0.0) if p is None else p for p in penalties]
        for penalty in penalties:
            if penalty.get_shape().ndims != 0:
                raise ValueError(
                    "regularizer must return a scalar Tensor instead of a Tensor with "
                    f"rank {penalty.get_shape().ndims}."
                )
        total = add_n(penalties, name=scope)
        add_to_collection(GraphKeys.REGULARIZATION_LOSSES, total)
        return total
