"""Dropout."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape, as_shape
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.argument_aliases import either
from tensorloom.ops.math import math_ops
from tensorloom.ops.random import random_ops


@export("nn.dropout")
def dropout(
    x: Any,
    keep_prob: Any = None,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
    rate: Any = None,
) -> Tensor:
    """Sets elements to zero at random and scales the others, so that sums stay equal.

    Args:
      x: a float tensor.
      keep_prob: 1 - rate; the older way to give it.
      noise_shape: broadcasts against x; elements that share noise fall together.
      rate: probability of a zero, in [0, 1).

    Raises:
      ValueError: no rate, a rate out of range, or an x that is not of floats.
    """
    try:
        keep = 1.0 - keep_prob if keep_prob is not None else None
    except TypeError:
        raise ValueError(
            f"keep_prob must be a floating point number or Tensor (got {keep_prob!r})"
        ) from None
    rate = either("rate", rate, "keep_prob", keep)
    if rate is None:
        raise ValueError("You must provide a rate to dropout.")
    with name_scope(name, "dropout", [x]) as name:
        return _dropout(convert_to_tensor(x, name="x"), rate, noise_shape, seed)


def _dropout(x: Tensor, rate: Any, noise_shape: Any, seed: int | None) -> Tensor:
    if not x.dtype.is_floating:
        raise ValueError(
            "x has to be a floating point tensor since it's going to be scaled. "
            f"Got a {x.dtype} tensor instead."
        )
    if isinstance(rate, (float, int, np.number)):
        if not 0 <= rate < 1:
            raise ValueError(
                "rate must be a scalar tensor or a float in the range [0, 1), got "
                f"{float(rate):g}"
            )
        if rate == 0:
            return x
    rate = convert_to_tensor(rate, dtype=x.dtype, name="rate")
    rate.get_shape().assert_has_rank(0)
    if constant_value(rate) == 0:
        return x
    noise = random_ops.random_uniform(
        _noise_shape(x, noise_shape), seed=seed, dtype=x.dtype
    )
    scale = 1 / (1 - rate)
    keep_mask = noise >= rate
    result = x * scale * math_ops.cast(keep_mask, x.dtype)
    result.set_shape(x.get_shape())
    return result  # type: ignore[no-any-return]


def _noise_shape(x: Tensor, noise_shape: Any) -> Any:
    """The shape of the noise, with sizes left open taken from x."""
    if noise_shape is None:
        return array_ops.shape(x)
    try:
        wanted = as_shape(noise_shape).dims_tuple
    except (TypeError, ValueError):
        return noise_shape
    dims = x.shape.dims_tuple
    if dims is None or wanted is None or len(dims) != len(wanted):
        return noise_shape
    return TensorShape.of(
        tuple(
            size if want is None and size is not None else want
            for size, want in zip(dims, wanted, strict=True)
        )
    )
