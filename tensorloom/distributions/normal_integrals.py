"""The normal distribution function, its logarithm and its inverse."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

# Below the first the tail's series is used, above the second the other tail.
_LIMITS = {np.float32: (-10.0, 5.0), np.float64: (-20.0, 8.0)}
_TAIL = (1.0, -1.0, 3.0, -15.0)


def ndtr(x: Tensor) -> Tensor:
    """The probability that a standard normal variable is below x."""
    half_root = 0.5 * math.sqrt(2.0)
    scaled = x * half_root
    distance = math_ops.abs(scaled)
    tail = math_ops.erfc(distance)
    far = array_ops.where(scaled > 0.0, 2.0 - tail, tail)
    near = 1.0 + math_ops.erf(scaled)
    return 0.5 * array_ops.where(distance < half_root, near, far)


def log_ndtr(x: Tensor) -> Tensor:
    """The logarithm of `ndtr`, exact far out on both sides, with its gradient."""
    lower, upper = _LIMITS[x.dtype.as_numpy_dtype]
    middle = math_ops.log(ndtr(math_ops.maximum(x, lower)))
    left = math_ops.minimum(x, lower)
    square = math_ops.square(left)
    series = sum(term / square**order for order, term in enumerate(_TAIL))
    log_density = -0.5 * square - math_ops.log(-left) - 0.5 * math.log(2.0 * math.pi)
    tail = log_density + math_ops.log(series)
    return array_ops.where(
        x > upper, -ndtr(-x), array_ops.where(x > lower, middle, tail)
    )
