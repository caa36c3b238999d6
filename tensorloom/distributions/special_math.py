"""Distribution functions of the normal and the Laplace distribution, and inverses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

# Below the first the tail's series is used, above the second the other tail.
LOGNDTR_FLOAT64_LOWER: Final = np.array(-20, np.float64)
LOGNDTR_FLOAT32_LOWER: Final = np.array(-10, np.float32)
LOGNDTR_FLOAT64_UPPER: Final = np.array(8, np.float64)
LOGNDTR_FLOAT32_UPPER: Final = np.array(5, np.float32)
_LIMITS: Final = {
    np.float32: (LOGNDTR_FLOAT32_LOWER, LOGNDTR_FLOAT32_UPPER),
    np.float64: (LOGNDTR_FLOAT64_LOWER, LOGNDTR_FLOAT64_UPPER),
}
_LONGEST_SERIES: Final = 30

# Rational functions for quantiles near the middle, in the tails and far out: numerators
# and denominators, lowest power first (Wichura, "Algorithm AS 241", 1988).
_MIDDLE: Final = (
    (
        *(3.3871328727963666080, 1.3314166789178437745e2, 1.9715909503065514427e3),
        *(1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4),
        *(3.3430575583588128105e4, 2.5090809287301226727e3),
    ),
    (
        *(1.0, 4.2313330701600911252e1, 6.8718700749205790830e2),
        *(5.3941960214247511077e3, 2.1213794301586595867e4, 3.9307895800092710610e4),
        *(2.8729085735721942674e4, 5.2264952788528545610e3),
    ),
)
_TAIL: Final = (
    (
        *(1.42343711074968357734, 4.63033784615654529590, 5.76949722146069140550),
        *(3.64784832476320460504, 1.27045825245236838258, 2.41780725177450611770e-1),
        *(2.27238449892691845833e-2, 7.74545014278341407640e-4),
    ),
    (
        *(1.0, 2.05319162663775882187, 1.67638483018380384940),
        *(6.89767334985100004550e-1, 1.48103976427480074590e-1),
        *(1.51986665636164571966e-2, 5.47593808499534494600e-4),
        1.05075007164441684324e-9,
    ),
)
_FAR: Final = (
    (
        *(6.65790464350110377720, 5.46378491116411436990, 1.78482653991729133580),
        *(2.96560571828504891230e-1, 2.65321895265761230930e-2),
        *(1.24266094738807843860e-3, 2.71155556874348757815e-5),
        2.01033439929228813265e-7,
    ),
    (
        *(1.0, 5.99832206555887937690e-1, 1.36929880922735805310e-1),
        *(1.48753612908506148525e-2, 7.86869131145613259100e-4),
        *(1.84631831751005468180e-5, 1.42151175831644588870e-7),
        2.04426310338993978564e-15,
    ),
)


def _floats(x: Any, name: str) -> Tensor:
    """The argument as a tensor. Raises TypeError unless it is float32 or float64."""
    tensor = convert_to_tensor(x, name=name)
    if tensor.dtype.as_numpy_dtype not in _LIMITS:
        raise TypeError(
            f"{name}.dtype={tensor.dtype} is not handled, see docstring for supported "
            "types."
        )
    return tensor


def ndtr(x: Any, name: str = "ndtr") -> Tensor:
    """The probability that a standard normal variable is below x.

    Args:
      x: float32 or float64, of any shape.

    Raises:
      TypeError: it has another dtype.
    """
    with name_scope(name, values=[x]):
        return _ndtr(_floats(x, "x"))


def _ndtr(x: Tensor) -> Tensor:
    half_root = 0.5 * math.sqrt(2.0)
    scaled = x * half_root
    distance = math_ops.abs(scaled)
    tail = math_ops.erfc(distance)
    far = array_ops.where(scaled > 0.0, 2.0 - tail, tail)
    near = 1.0 + math_ops.erf(scaled)
    return 0.5 * array_ops.where(distance < half_root, near, far)


def log_ndtr(x: Any, series_order: int = 3, name: str = "log_ndtr") -> Tensor:
    """The logarithm of `ndtr`, exact far out on both sides, with its gradient.

    Args:
      x: float32 or float64, of any shape.
      series_order: how many terms of the tail's asymptotic series are used.

    Raises:
      TypeError: `x` has another dtype, or `series_order` is no integer.
      ValueError: `series_order` is not between 0 and 30.
    """
    if not isinstance(series_order, int):
        raise TypeError("series_order must be a Python integer.")
    if series_order < 0:
        raise ValueError("series_order must be non-negative.")
    if series_order > _LONGEST_SERIES:
        raise ValueError(f"series_order must be <= {_LONGEST_SERIES}.")
    with name_scope(name, values=[x]):
        x = _floats(x, "x")
        lower, upper = _LIMITS[x.dtype.as_numpy_dtype]
        middle = math_ops.log(_ndtr(math_ops.maximum(x, lower)))
        left = math_ops.minimum(x, lower)
        tail = _log_of_tail(left, series_order)
        return array_ops.where(
            x > upper, -_ndtr(-x), array_ops.where(x > lower, middle, tail)
        )


def _log_of_tail(x: Tensor, series_order: int) -> Tensor:
    square = math_ops.square(x)
    log_density = -0.5 * square - math_ops.log(-x) - 0.5 * math.log(2.0 * math.pi)
    term, series = array_ops.ones_like(x), array_ops.ones_like(x)
    for order in range(1, series_order + 1):
        term = term * (1.0 - 2.0 * order) / square
        series = series + term
    return log_density + math_ops.log(series)


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """The inverse of `ndtr`: the x below which a standard normal variable is with p.

    Args:
      p: float32 or float64, of any shape.

    Returns:
      A tensor like `p`: -inf for 0, inf for 1, NaN for what is no probability.

    Raises:
      TypeError: `p` has another dtype.
    """
    with name_scope(name, values=[p]):
        return _ndtri(_floats(p, "p"))


def _ndtri(p: Tensor) -> Tensor:
    dtype = p.dtype.as_numpy_dtype
    inside = math_ops.logical_and(p > 0.0, p < 1.0)
    # What is outside must have no part in the gradient either.
    q = array_ops.where(inside, p, array_ops.fill(array_ops.shape(p), dtype(0.5)))
    offset = q - 0.5
    near = math_ops.abs(offset) <= 0.425
    offset_near = array_ops.where(near, offset, array_ops.zeros_like(q))
    middle = offset_near * _ratio(_MIDDLE, 0.180625 - offset_near * offset_near)
    smaller = array_ops.where(near, array_ops.ones_like(q) * 0.075, q)
    smaller = math_ops.minimum(smaller, 1.0 - smaller)
    distance = math_ops.sqrt(-math_ops.log(smaller))
    tail = array_ops.where(
        distance <= 5.0,
        _ratio(_TAIL, math_ops.minimum(distance, 5.0) - 1.6),
        _ratio(_FAR, math_ops.maximum(distance, 5.0) - 5.0),
    )
    found = array_ops.where(near, middle, math_ops.sign(offset) * tail)
    ones = array_ops.ones_like(p)
    ends = array_ops.where(
        math_ops.equal(p, 0.0),
        ones * -np.inf,
        array_ops.where(math_ops.equal(p, 1.0), ones * np.inf, ones * np.nan),
    )
    return array_ops.where(inside, found, ends)


def _ratio(of: tuple[Sequence[float], Sequence[float]], x: Tensor) -> Tensor:
    numerator, denominator = (_polynomial(coefficients, x) for coefficients in of)
    return numerator / denominator


def _polynomial(coefficients: Sequence[float], x: Tensor) -> Tensor:
    """The value at x, by Horner's rule."""
    *rest, highest = coefficients
    value = array_ops.ones_like(x) * highest
    for coefficient in reversed(rest):
        value = value * x + coefficient
    return value


def erfinv(x: Any, name: str = "erfinv") -> Tensor:
    """The inverse of `tf.math.erf`.

    Args:
      x: float32 or float64, of any shape.

    Raises:
      TypeError: it has another dtype.
    """
    with name_scope(name, values=[x]):
        return _ndtri((_floats(x, "x") + 1.0) / 2.0) / math.sqrt(2.0)


def log_cdf_laplace(x: Any, name: str = "log_cdf_laplace") -> Tensor:
    """The logarithm of the probability that a standard Laplace variable is below x.

    Args:
      x: float32 or float64, of any shape.
    """
    with name_scope(name, values=[x]):
        x = convert_to_tensor(x, name="x")
        # Each is exact on its side, and finite on the other.
        below = x - math.log(2.0)
        above = math_ops.log1p(-0.5 * math_ops.exp(-math_ops.abs(x)))
        return array_ops.where(x < 0.0, below, above)
