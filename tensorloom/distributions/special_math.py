"""Distribution functions of the normal and the Laplace distribution, and inverses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.constant import constant
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
# and denominators, lowest power first (Cephes, "ndtri.c", Moshier, 1989).
_MIDDLE: Final = (
    (
        *(-1.23916583867381258016, 1.39312609387279679503e1, -5.66762857469070293439e1),
        *(9.80010754185999661536e1, -5.99633501014107895267e1),
    ),
    (
        *(-1.18331621121330003142, 1.59056225126211695515e1),
        *(-8.20372256168333339912e1, 2.00260212380060660359e2),
        *(-2.25462687854119370527e2, 8.63602421390890590575e1),
        *(4.67627912898881538453, 1.95448858338141759834, 1.0),
    ),
)
_TAIL: Final = (
    (
        *(-8.57456785154685413611e-4, -3.50424626827848203418e-2),
        *(-1.40256079171354495875e-1, 2.18663306850790267539, 1.46849561928858024014e1),
        *(4.40805073893200834700e1, 5.71628192246421288162e1, 3.15251094599893866154e1),
        4.05544892305962419923,
    ),
    (
        *(-9.33259480895457427372e-4, -3.80806407691578277194e-2),
        *(-1.42182922854787788574e-1, 2.50464946208309415979, 1.50425385692907503408e1),
        *(4.13172038254672030440e1, 4.53907635128879210584e1, 1.57799883256466749731e1),
        1.0,
    ),
)
_FAR: Final = (
    (
        *(6.23974539184983293730e-9, 2.65806974686737550832e-6),
        *(3.01581553508235416007e-4, 1.23716634817820021358e-2),
        *(2.01485389549179081538e-1, 1.33303460815807542389, 3.93881025292474443415),
        *(6.91522889068984211695, 3.23774891776946035970),
    ),
    (
        *(6.79019408009981274425e-9, 2.89247864745380683936e-6),
        *(3.28014464682127739104e-4, 1.34204006088543189037e-2),
        *(2.16236993594496635890e-1, 1.37702099489081330271, 3.67983563856160859403),
        *(6.02427039364742014255, 1.0),
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
    half_root = constant(0.5 * math.sqrt(2.0), dtype=x.dtype, name="half_sqrt_2")
    scaled = x * half_root
    distance = math_ops.abs(scaled)
    # Nodes are made from left to right, as in TensorFlow.
    return 0.5 * array_ops.where_v2(
        math_ops.less(distance, half_root),
        1.0 + math_ops.erf(scaled),
        array_ops.where_v2(
            math_ops.greater(scaled, 0.0),
            2.0 - math_ops.erfc(distance),
            math_ops.erfc(distance),
        ),
    )


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
        return array_ops.where_v2(
            math_ops.greater(x, upper),
            -_ndtr(-x),
            array_ops.where_v2(
                math_ops.greater(x, lower),
                math_ops.log(_ndtr(math_ops.maximum(x, lower))),
                _log_of_tail(math_ops.minimum(x, lower), series_order),
            ),
        )


def _log_of_tail(x: Tensor, series_order: int) -> Tensor:
    log_density = -0.5 * math_ops.square(x) - math_ops.log(-x)
    log_density = log_density - 0.5 * math.log(2.0 * math.pi)
    return log_density + math_ops.log(_tail_series(x, series_order))


def _tail_series(x: Tensor, series_order: int) -> Any:
    """The asymptotic series: its terms have signs by turns, and are added up apart."""
    if series_order <= 0:
        return np.array(1, x.dtype.as_numpy_dtype)
    square = power = math_ops.square(x)
    sums = [array_ops.zeros_like(x), array_ops.zeros_like(x)]  # of even and odd terms
    factorial = 1.0
    for order in range(1, series_order + 1):
        factorial *= 2.0 * order - 1.0
        sums[order % 2] += np.array(factorial, x.dtype.as_numpy_dtype) / power
        power = power * square
    even, odd = sums
    return 1.0 + even - odd


def ndtri(p: Any, name: str = "ndtri") -> Tensor:
    """The inverse of `ndtr`: the x below which a standard normal variable is with p.

    Args:
      p: float32 or float64, of any shape.

    Returns:
      A tensor like `p`: -inf for 0 and what is below, inf for 1 and what is above.

    Raises:
      TypeError: `p` has another dtype.
    """
    with name_scope(name, values=[p]):
        return _ndtri(_floats(p, "p"))


def _ndtri(p: Tensor) -> Tensor:
    dtype = p.dtype.as_numpy_dtype
    # The smaller of both sides; what is no probability must not spoil the gradient.
    side = array_ops.where_v2(p > -np.expm1(-2.0), 1.0 - p, p)
    side = array_ops.where_v2(
        side <= 0.0, array_ops.fill(array_ops.shape(p), dtype(0.5)), side
    )
    offset = side - 0.5
    square = offset**2.0
    near = offset + offset * square * _ratio(_MIDDLE, lambda: square)
    near *= -np.sqrt(2.0 * np.pi)
    distance = math_ops.sqrt(-2.0 * math_ops.log(side))
    first = distance - math_ops.log(distance) / distance
    far = _ratio(_FAR, lambda: 1.0 / distance) / distance
    tail = _ratio(_TAIL, lambda: 1.0 / distance) / distance
    far, tail = first - far, first - tail
    found = array_ops.where_v2(
        side > np.exp(-2.0), near, array_ops.where_v2(distance >= 8.0, far, tail)
    )
    found = array_ops.where_v2(p > 1.0 - np.exp(-2.0), found, -found)
    endless = constant(np.inf, dtype=p.dtype)
    endless = array_ops.fill(array_ops.shape(p), endless)
    return array_ops.where_v2(
        p <= 0.0, -endless, array_ops.where_v2(p >= 1.0, endless, found)
    )


def _ratio(of: tuple[Sequence[float], Sequence[float]], x: Callable[[], Any]) -> Tensor:
    """The quotient of two polynomials at x, which is computed for each."""
    value: Tensor = _polynomial(of[0], x()) / _polynomial(of[1], x())
    return value


def _polynomial(coefficients: Sequence[float], x: Tensor) -> Any:
    """The value at x, by Horner's rule."""
    value: Any = array_ops.zeros_like(x)
    for coefficient in reversed(coefficients):
        value = np.array(coefficient, x.dtype.as_numpy_dtype) + value * x
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
        below = -math.log(2.0) + x
        above = math_ops.log1p(-0.5 * math_ops.exp(-math_ops.abs(x)))
        return array_ops.where_v2(x < 0.0, below, above)
