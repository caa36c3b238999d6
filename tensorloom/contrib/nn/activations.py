"""Dropout for SELU, a scaled softplus, and names that are `tf.nn`'s too."""

from __future__ import annotations

import numbers
from typing import Any

from tensorloom.framework.export import export, export_value
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.convolution.builders import conv1d_transpose
from tensorloom.ops.math.binary import minimum
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import greater_equal
from tensorloom.ops.nn.activation import softplus
from tensorloom.ops.random.random_ops import random_uniform

# Of SELU: the value that its activation has for large negative inputs.
_ALPHA = -1.7580993408473766

export_value(conv1d_transpose, "contrib.nn.conv1d_transpose")


@export("contrib.nn.alpha_dropout")
def alpha_dropout(
    x: Any,
    keep_prob: Any,
    noise_shape: Any = None,
    seed: int | None = None,
    name: str | None = None,
) -> Any:
    """Dropout that leaves mean and variance as they are (Klambauer et al., 2017).

    Args:
      x: a tensor.
      keep_prob: the probability to keep an element, in (0, 1].
      noise_shape: of the draws; that of `x` when None.
      seed: of the draws.
      name: of the operations.

    Raises:
      ValueError: `keep_prob` lies outside.
    """
    with name_scope(name, "alpha_dropout", [x]):
        x = convert_to_tensor(x, name="x")
        if isinstance(keep_prob, numbers.Real) and not 0 < float(keep_prob) <= 1:
            raise ValueError(
                "keep_prob must be a scalar tensor or a float in the range (0, 1], "
                f"got {keep_prob:g}"
            )
        keep = convert_to_tensor(keep_prob, dtype=x.dtype, name="keep_prob")
        keep.shape.assert_has_rank(0)
        if constant_value(keep) == 1:
            return x
        shape = shape_op(x) if noise_shape is None else noise_shape
        drawn = random_uniform(shape, seed=seed, dtype=x.dtype)
        kept = cast(greater_equal(drawn, 1 - keep), x.dtype)
        x = x * kept + _ALPHA * (1 - kept)
        a = (keep + keep * (1 - keep) * _ALPHA**2) ** -0.5
        return a * x + -a * _ALPHA * (1 - keep)


@export("contrib.nn.nth_element")
def nth_element(
    input: Any, n: Any, reverse: bool = False, name: str | None = None
) -> Any:
    """The n-th least value along the last axis.

    Args:
      input: [..., size].
      n: from 0, a scalar int32.
      reverse: the n-th largest.
      name: of the operation.

    Returns:
      [...].
    """
    return apply_op("NthElement", input=input, n=n, reverse=reverse, name=name)


@export("contrib.nn.scaled_softplus")
def scaled_softplus(
    x: Any, alpha: Any, clip: Any = None, name: str | None = None
) -> Any:
    """alpha * softplus(x / alpha), at most `clip`.

    Args:
      x, alpha: tensors of one dtype that broadcast.
      clip: None for no bound.
      name: of the operations.
    """
    values = [x, alpha] if clip is None else [x, alpha, clip]
    with name_scope(name, "scaled_softplus", values):
        x = convert_to_tensor(x, name="x")
        alpha = convert_to_tensor(alpha, dtype=x.dtype, name="alpha")
        y = alpha * softplus(x / alpha)
        if clip is None:
            return y
        return minimum(y, convert_to_tensor(clip, dtype=x.dtype, name="clip"))
