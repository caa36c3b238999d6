"""Special functions of float64 arguments: sums that end where nothing is added.

Each fills `out` [n] with its values at `x` [n].
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_EULER = 0.5772156649015329
_EPSILON = 2.0**-53
_INVERSES = 1.0 / np.arange(
    1.0, 141.0
)  # of 1, 2, ...: a division takes ten times a product


# --- Dawson's integral -------------------------------------------------------------

_STEP = 0.2
# exp(-((2 n + 1) step)^2): beyond, nothing is added.
_GAUSS = np.exp(-((np.arange(1.0, 34.0, 2.0) * _STEP) ** 2))


@loop
def dawson(x: Any, out: Any) -> None:
    """A series near 0, Rybicki's sum (Numerical Recipes 6.9), and 1 / 2x far out."""
    for i in range(len(x)):
        out[i] = math.copysign(_dawson(abs(x[i])), x[i])


@loop
def _dawson(a: Any) -> Any:
    square = a * a
    if a < 0.25:
        term = total = a
        for n in range(14):
            term *= -2.0 * square / (2 * n + 3)
            total += term
        return total
    if a > 60.0:
        inverse = 1.0 / square
        far = 1.0 + inverse * (0.5 + inverse * (0.75 + inverse * 1.875))
        return far / (2.0 * a)
    center = 2.0 * np.rint(a / (2.0 * _STEP))
    rest = a - center * _STEP
    up = math.exp(2.0 * rest * _STEP)
    ratio, total = up * up, 0.0
    above, below = center + 1.0, center - 1.0
    for n in range(len(_GAUSS)):
        total += _GAUSS[n] * (up / above + 1.0 / (below * up))
        above += 2.0
        below -= 2.0
        up *= ratio
    return total * math.exp(-rest * rest) / math.sqrt(math.pi)


# --- the exponential integral ------------------------------------------------------


@loop
def exponential_integral(x: Any, out: Any) -> None:
    """Ei(x) for x >= 0, NaN below: a power series, and the asymptotic one."""
    for i in range(len(x)):
        out[i] = _exponential_integral(x[i])


@loop
def _exponential_integral(x: Any) -> Any:
    if not x >= 0.0:
        return math.nan
    if x == 0.0:
        return -math.inf
    if x == math.inf:
        return x
    term, total = 1.0, 0.0
    if x < 40.0:
        for n in range(1, 140):
            term *= x * _INVERSES[n - 1]
            total += term * _INVERSES[n - 1]
            if term < _EPSILON * total:
                break
        return total + (_EULER + math.log(x))
    total = 1.0
    for n in range(1, 36):
        term *= n / x
        total += term
        if term < _EPSILON:
            break
    return math.exp(x) / x * total


# --- the Fresnel integrals ---------------------------------------------------------


@loop
def fresnel(x: Any, sines: bool, out: Any) -> None:
    """The integral of sin or cos of pi t^2 / 2 from 0 to x (Numerical Recipes 6.8)."""
    for i in range(len(x)):
        a = abs(x[i])
        if a <= 1.5:
            value = _fresnel_series(a, sines)
        elif a > 1e8:
            value = 0.5
        elif a > 1.5:
            cosine, sine = _fresnel_fraction(a)
            value = sine if sines else cosine
        else:
            value = math.nan
        out[i] = math.copysign(value, x[i])


@loop
def _fresnel_series(a: Any, sines: bool) -> Any:
    angle = math.pi / 2 * a * a
    square = -angle * angle
    # t^(2 n) / (2 n)! or t^(2 n + 1) / (2 n + 1)!, times a / (4 n + 1) or / (4 n + 3).
    first = 1 if sines else 0
    term = angle if sines else 1.0
    total = 0.0
    for n in range(40):
        k = 2 * n + first
        added = term / (2 * k + 1)
        total += added
        if abs(added) <= _EPSILON * abs(total):
            break
        term *= square / ((k + 1) * (k + 2))
    return total * a


@loop
def _fresnel_fraction(a: Any) -> tuple[Any, Any]:
    """(cosine integral, sine integral) by the complementary error function's fraction.

    Complex numbers are written out.
    """
    angle = math.pi * a * a
    b, c = complex(1.0, -angle), complex(1e150, 0.0)
    h = d = _inverse(b)
    for n in range(1, 200, 2):
        factor = -n * (n + 1.0)
        b += 4.0
        d = _inverse(factor * d + b)
        c = b + factor * _inverse(c)
        change = c * d
        h *= change
        if abs(change.real - 1.0) + abs(change.imag) < _EPSILON * 4:
            break
    h *= complex(a, -a)
    turned = complex(math.cos(angle / 2), math.sin(angle / 2))
    value = complex(0.5, 0.5) * (1.0 - turned * h)
    return value.real, value.imag


@loop
def _inverse(z: Any) -> Any:
    """1 / z where squares neither overflow nor underflow."""
    scale = 1.0 / (z.real * z.real + z.imag * z.imag)
    return complex(z.real * scale, -z.imag * scale)


# --- the dilogarithm ---------------------------------------------------------------


@loop
def spence(x: Any, out: Any) -> None:
    """Li2(1 - x) for x >= 0, NaN below (DLMF 25.12)."""
    for i in range(len(x)):
        out[i] = _spence(x[i])


@loop
def _spence(x: Any) -> Any:
    limit = math.pi**2 / 6
    if not x >= 0.0:
        return math.nan
    if x == 0.0:
        return limit
    if x == math.inf:
        return -x
    # Every argument is brought into [0, 1/2] of the series.
    log = math.log(x)
    if x < 0.5:
        return limit - log * math.log1p(-x) - _dilogarithm(x)
    if x <= 1.0:
        return _dilogarithm(1.0 - x)
    inverse = 1.0 / x
    if x <= 2.0:
        return -_dilogarithm(1.0 - inverse) - 0.5 * log * log
    logs = -0.5 * log * log - log * math.log1p(-inverse)
    return logs - limit + _dilogarithm(inverse)


@loop
def _dilogarithm(z: Any) -> Any:
    """Li2 for 0 <= z <= 1/2."""
    term = total = z
    for n in range(2, 60):
        term *= z
        added = term * (_INVERSES[n - 1] * _INVERSES[n - 1])
        total += added
        if added < _EPSILON * total:
            break
    return total
