"""Normal values within bounds of their own, one proposal after the other.

All numbers are doubles; each step of the arithmetic is rounded to the digits of the
result's dtype, which gives what that dtype's own arithmetic would.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.host.math import glibc_math
from tensorloom.kernels.loops import loop
from tensorloom.kernels.loops.random.philox_words import block

NORMAL, UNIFORM, EXPONENTIAL = 0, 1, 2
DOUBLE, SINGLE, HALF = 52, 23, 10  # digits behind the point
_MAX_REFUSED = 1000

_BITS = np.uint64(32)
_ONE = np.uint64(1)
_LEAST_SINGLE, _LEAST = float(np.float32(1.0e-7)), 1.0e-7
_ROUNDING = 2.0**-11  # more than that of a number below one
_TINY = float(np.finfo(np.float64).tiny)
# The digits of a half that are too small for an exponent of their own.
_HALF_NORMAL, _TO_HALF_STEPS = 2.0**-14, 1.5 * 2.0**28
_HALF_MOST = 65504.0

_LOG_INVERSES = np.array([float.fromhex(c) for c, _ in glibc_math.LOG_TABLE])
_LOG_CENTRES = np.array([float.fromhex(log) for _, log in glibc_math.LOG_TABLE])
_LOG = glibc_math.LOG_POLYNOMIAL
_LN2 = glibc_math.LN2
_SINE, _COSINE = glibc_math.SINE_POLYNOMIAL, glibc_math.COSINE_POLYNOMIAL
_HALF_PI, _HALF_PI_INVERSE = glibc_math.HALF_PI, glibc_math.HALF_PI_INVERSE


@loop
def truncated(
    key: Any,
    low: Any,
    high: Any,
    digits: Any,
    proposals: Any,
    lower: Any,
    upper: Any,
    extra: Any,
    samples: Any,
    out: Any,
) -> Any:
    """Standard normal values between bounds, batch after batch.

    Args:
      key: uint64.
      low: uint64, the lower half of the counter.
      high: uint64, its upper half.
      digits: of the dtype to calculate in.
      proposals: int64, [n], or [1] where all batches are alike, as what follows.
      lower: float64.
      upper: float64.
      extra: float64, what a proposal needs besides.
      samples: int64, of each batch but the last, which ends with `out`.
      out: float64, [total], filled.

    Returns:
      -1, or the proposal of which none of many was accepted.
    """
    number = np.uint64(0)
    for begin in range(0, len(out), samples):
        batch = begin // samples if len(proposals) > 1 else 0
        proposal, bounds = proposals[batch], (lower[batch], upper[batch], extra[batch])
        size = (2 if digits == DOUBLE else 4) >> (1 if proposal == EXPONENTIAL else 0)
        at, end, refused = begin, min(begin + samples, len(out)), 0
        while at < end:
            words = block(key, low, high, number)
            number += _ONE
            if proposal == NORMAL:
                values = _normal(words, digits, bounds)
            elif proposal == UNIFORM:
                others = block(key, low, high, number)
                number += _ONE
                values = _uniform(words, others, digits, bounds)
            else:
                values = _exponential(words, digits, bounds)
            for i in range(size):
                if math.isnan(values[i]):
                    refused += 1
                elif at < end:
                    out[at] = values[i]
                    at, refused = at + 1, 0
            if refused > _MAX_REFUSED:
                return proposal
    return -1


# What a step proposes: up to four values, NaN where one is refused.


@loop
def _normal(words: Any, digits: Any, bounds: Any) -> Any:
    if digits == DOUBLE:
        a, b = _normals(words)
        return _within(a, bounds), _within(b, bounds), math.nan, math.nan
    a, b = single_normals(words[0], words[1])
    c, d = single_normals(words[2], words[3])
    if digits == HALF:
        a, b = _rounded(a, HALF), _rounded(b, HALF)
        c, d = _rounded(c, HALF), _rounded(d, HALF)
    return (
        _within(a, bounds),
        _within(b, bounds),
        _within(c, bounds),
        _within(d, bounds),
    )


@loop
def _within(x: Any, bounds: Any) -> Any:
    return x if bounds[0] <= x <= bounds[1] else math.nan


@loop
def _uniform(words: Any, others: Any, digits: Any, bounds: Any) -> Any:
    """The third bound is the square of the one that is nearest to the mean."""
    u, v = _units(words, digits), _units(others, digits)
    return (
        _uniform_value(u[0], v[0], digits, bounds),
        _uniform_value(u[1], v[1], digits, bounds),
        _uniform_value(u[2], v[2], digits, bounds),
        _uniform_value(u[3], v[3], digits, bounds),
    )


@loop
def _uniform_value(unit: Any, chance: Any, digits: Any, bounds: Any) -> Any:
    lower, upper, square = bounds
    span = _rounded(upper - lower, digits)
    x = _rounded(_rounded(unit * span, digits) + lower, digits)
    power = _rounded(square - _rounded(x * x, digits), digits) / 2.0
    return x if _is_below_exp(chance, power, digits) else math.nan


@loop
def _exponential(words: Any, digits: Any, bounds: Any) -> Any:
    """The third bound is the rate."""
    u = _units(words, digits)
    return (
        _exponential_value(u[0], u[1], digits, bounds),
        _exponential_value(u[2], u[3], digits, bounds),
        math.nan,
        math.nan,
    )


@loop
def _exponential_value(unit: Any, chance: Any, digits: Any, bounds: Any) -> Any:
    lower, upper, rate = bounds
    distance = _rounded(-_logarithm(unit, digits) / rate, digits)
    x = _rounded(distance + lower, digits)
    away = _rounded(rate - x if lower < rate else lower - rate, digits)
    power = -_rounded(away * away, digits) / 2.0
    is_likely = x < upper and _is_below_exp(chance, power, digits)
    return x if is_likely else math.nan


# --- words -----------------------------------------------------------------------


@loop
def _fraction(word: Any, digits: Any) -> Any:
    """The number in [0, 1) of the last digits of a word."""
    mask = (np.int64(1) << digits) - 1
    return float(np.int64(word) & mask) / float(np.int64(1) << digits)


@loop
def _four_units(words: Any, digits: Any) -> Any:
    return (
        _fraction(words[0], digits),
        _fraction(words[1], digits),
        _fraction(words[2], digits),
        _fraction(words[3], digits),
    )


@loop
def _units(words: Any, digits: Any) -> Any:
    """The numbers in [0, 1) of a block: four, of doubles two, and two again."""
    # The digits as a constant: nothing is divided then.
    if digits == SINGLE:
        return _four_units(words, SINGLE)
    if digits == HALF:
        return _four_units(words, HALF)
    first = _fraction(words[0] << _BITS | words[1], DOUBLE)
    second = _fraction(words[2] << _BITS | words[3], DOUBLE)
    return first, second, first, second


@loop
def _normals(words: Any) -> Any:
    """Two normal doubles (Box and Muller)."""
    unit, turn = _units(words, DOUBLE)[:2]
    radius = math.sqrt(-2.0 * math.log(max(unit, _LEAST)))
    angle = 2.0 * math.pi * turn
    return math.sin(angle) * radius, math.cos(angle) * radius


@loop
def single_normals(first: Any, second: Any) -> Any:
    """Two normal floats."""
    unit = np.float32(max(_fraction(first, SINGLE), _LEAST_SINGLE))
    radius = np.sqrt(np.float32(-2.0) * _logf(unit))
    # TensorFlow multiplies by a double 2 * pi and rounds the product.
    turn = np.float32(_fraction(second, SINGLE) * (2.0 * math.pi))
    sine, cosine = _sincosf(turn)
    return np.float64(sine * radius), np.float64(cosine * radius)


# --- functions -------------------------------------------------------------------


@loop
def _rounded(x: Any, digits: Any) -> Any:
    """A double in the digits of a dtype."""
    if digits == DOUBLE:
        return x
    x = np.float64(np.float32(x))
    if digits == SINGLE or math.isnan(x):
        return x
    # The sum has as many digits as are to be left.
    step = _TO_HALF_STEPS
    if abs(x) >= _HALF_NORMAL:
        step *= math.ldexp(1.0, math.frexp(x)[1] + 13)
    x = (x + step) - step
    return x if abs(x) <= _HALF_MOST else math.copysign(math.inf, x)


@loop
def _is_below_exp(x: Any, power: Any, digits: Any) -> Any:
    """Whether x <= e**power, rounded; mostly a bound of it, 1 + power, tells."""
    return x <= 1.0 + power - _ROUNDING or x <= _rounded(math.exp(power), digits)


@loop
def _logarithm(x: Any, digits: Any) -> Any:
    if digits == DOUBLE:
        return math.log(max(x, _TINY))
    if x == 0.0:
        return -math.inf
    if digits == SINGLE:
        return np.float64(_logf(np.float32(x)))
    return _rounded(math.log(x), digits)


@loop
def _logf(x: Any) -> Any:
    """As `glibc_math.logf`, of one float."""
    bits = np.int64(np.float32(x).view(np.int32))
    shifted = bits - 0x3F330000
    place, exponent = (shifted >> 19) & 15, shifted >> 23
    fraction = np.float64(np.int32(bits - (exponent << 23)).view(np.float32))
    r = fraction * _LOG_INVERSES[place] - 1.0
    y0 = _LOG_CENTRES[place] + float(exponent) * _LN2
    r2 = r * r
    return np.float32((_LOG[0] * r2 + (_LOG[1] * r + _LOG[2])) * r2 + (y0 + r))


@loop
def _sincosf(angle: Any) -> Any:
    """As `glibc_math.sincosf`, of one float."""
    x = np.float64(angle)
    quadrant = (np.int64(x * _HALF_PI_INVERSE) + 0x800000) >> 24
    x -= float(quadrant) * _HALF_PI
    x2 = x * x
    x3, x4 = x2 * x, x2 * x2
    sine = np.float32((x + x3 * _SINE[0]) + (x3 * x2) * (_SINE[1] + x2 * _SINE[2]))
    cosine = np.float32(
        ((1.0 + x2 * _COSINE[0]) + x4 * _COSINE[1])
        + (x4 * x2) * (_COSINE[2] + x2 * _COSINE[3])
    )
    # Without branches, which nobody could foretell.
    first = cosine if quadrant & 1 else sine
    second = sine if quadrant & 1 else cosine
    signs = np.float32(1 - (quadrant & 2)), np.float32(1 - ((quadrant + 1) & 2))
    return first * signs[0], second * signs[1]
