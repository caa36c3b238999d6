"""`scipy.misc.derivative`, which SciPy 1.12 took away, and the weights that it uses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np


def central_diff_weights(Np: int, ndiv: int = 1) -> Any:
    """Weights [Np] of the values around a point, whose sum is a derivative there.

    Args:
      Np: how many values, an odd number above `ndiv`.
      ndiv: which derivative.

    Raises:
      ValueError: `Np` is even or too small.
    """
    if Np < ndiv + 1:
        raise ValueError("Number of points must be at least the derivative order + 1.")
    if Np % 2 == 0:
        raise ValueError("The number of points must be odd.")
    # The weights give the derivative of each power of x up to the one that fits.
    steps = np.arange(-(Np // 2), Np // 2 + 1, dtype=float)
    powers = np.vander(steps, increasing=True).T
    goal = np.zeros(Np)
    goal[ndiv] = math.factorial(ndiv)
    return np.linalg.solve(powers, goal)


def derivative(
    func: Callable[..., Any],
    x0: Any,
    dx: float = 1.0,
    n: int = 1,
    args: tuple[Any, ...] = (),
    order: int = 3,
) -> Any:
    """The n-th derivative of `func` at `x0`, from `order` values `dx` apart.

    Raises:
      ValueError: `order` is even or too small.
    """
    if order < n + 1:
        raise ValueError(
            "'order' (the number of points used to compute the derivative), must be at "
            "least the derivative order 'n' + 1."
        )
    if order % 2 == 0:
        raise ValueError(
            "'order' (the number of points used to compute the derivative) must be odd."
        )
    weights = central_diff_weights(order, n)
    values = [
        weight * func(x0 + (place - order // 2) * dx, *args)
        for place, weight in enumerate(weights)
    ]
    return sum(values[1:], values[0]) / dx**n
