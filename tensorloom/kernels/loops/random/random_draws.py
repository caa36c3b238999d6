"""Draws whose number of words differs from sample to sample, as TensorFlow makes them.

A stream is a key and the two halves of a counter, all uint64. Logarithms, powers, sines
and cosines are the C library's, on which last bits hang.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop
from tensorloom.kernels.loops.random.philox_words import block, blocks

_BITS = np.uint64(32)
_ONE = np.uint64(1)
_UPPER = np.uint64(0xFFFFF)  # a double's fraction takes 20 bits of the first word
_ONE_BITS = np.uint64(0x3FF) << np.uint64(52)  # of the double 1.0
_TWO_NEG_52 = 2.0**-52
_LEAST = 1.0e-7  # of a uniform number whose logarithm is taken
_NONE = -1.0  # no uniform number is left over
# A sample of its own words has so many blocks for itself.
_RESERVED = np.uint64(256)
_TOGETHER = 64  # samples whose first blocks are made at once
_RESERVED_FOR_INVERSION = np.uint64(42)
_FOR_REJECTION = 10.0  # from so large a mean on, rejection is better
# The difference of log(k!) and Stirling's formula, k = 0 ... 9.
_STIRLING = np.array(
    [
        0.0810614667953272,
        0.0413406959554092,
        0.0276779256849983,
        0.02079067210376509,
        0.0166446911898211,
        0.0138761288230707,
        0.0118967099458917,
        0.0104112652619720,
        0.00925546218271273,
        0.00833056343336287,
    ]
)
# exp: its least argument, log2(e), log(2) in two parts, Cephes' polynomials.
_LOWEST_POWER = -708.0
_LOG2_E = 1.4426950408889634
_LN2 = 0.693145751953125, 1.42860682030941723212e-6
_EXP_P = 1.26177193074810590878e-4, 3.02994407707441961300e-2, 1.0
_EXP_Q = (
    3.00198505138664455042e-6,
    2.52448340349684104192e-3,
    2.27265548208155028766e-1,
    2.0,
)
_TO_INTEGER = 1.5 * 2.0**52  # a double so large has no fraction
_BIAS, _FRACTION_BITS = np.int64(1023), np.int64(52)


@loop
def _unit(upper: Any, lower: Any) -> Any:
    """The double in [0, 1) of two words."""
    return np.int64((upper & _UPPER) << _BITS | lower) * _TWO_NEG_52


@loop
def _uniforms(key: Any, low: Any, high: Any, number: Any) -> Any:
    """The doubles of a block, in the order in which they are used: the last first."""
    w0, w1, w2, w3 = block(key, low, high, number)
    return _unit(w2, w3), _unit(w0, w1)


@loop
def _polar(first: Any, second: Any) -> Any:
    """(radius, angle) of two normal doubles, from two uniforms (Box and Muller)."""
    return math.sqrt(-2.0 * math.log(max(first, _LEAST))), 2.0 * math.pi * second


@loop
def _next_uniform(key: Any, low: Any, high: Any, number: Any, left: Any) -> Any:
    """(the next uniform double, what is left of its block, the next block)."""
    if left != _NONE:
        return left, _NONE, number
    first, second = _uniforms(key, low, high, number)
    return first, second, number + _ONE


@loop
def _log(value: Any) -> Any:
    return math.log(value) if value > 0.0 else -math.inf


# --- gamma -----------------------------------------------------------------------


@loop
def gammas(
    key: Any, low: Any, high: Any, alphas: Any, begin: Any, end: Any, out: Any
) -> None:
    """Gamma(alpha, 1) samples; they are numbered by alpha first, then by sample.

    Marsaglia and Tsang, "A simple method for generating gamma variables", 2000.

    Args:
      key: uint64.
      low: uint64.
      high: uint64.
      alphas: float64, [n].
      begin: the number of the first sample to be filled in.
      end: the number after the last one.
      out: float64, [samples, n].
    """
    samples = len(out)
    words, units = np.empty((4, _TOGETHER), np.uint32), np.empty((4, _TOGETHER))
    while begin < end:
        i, sample = begin // samples, begin % samples
        count = min(end - begin, samples - sample, _TOGETHER)
        start = np.uint64(begin) * _RESERVED
        _first_uniforms(key, low, high, start, words, units)
        for j in range(count):
            place = start + np.uint64(j) * _RESERVED
            u = units[0, j], units[1, j], units[2, j], units[3, j]
            out[sample + j, i] = _gamma(key, low, high, place, alphas[i], u)
        begin += count


@loop
def _first_uniforms(
    key: Any, low: Any, high: Any, start: Any, words: Any, units: Any
) -> None:
    """Those of the first blocks of samples, and of the second ones.

    Args:
      start: the number of the first sample's first block.
      words: uint32, [4, n], overwritten.
      units: float64, [4, n], filled.
    """
    blocks(key, low, high, start, _RESERVED, words)
    _units(words[2], words[3], units[0])
    _units(words[0], words[1], units[1])
    blocks(key, low, high, start + _ONE, _RESERVED, words)
    _units(words[2], words[3], units[2])
    _units(words[0], words[1], units[3])


@loop
def _units(upper: Any, lower: Any, out: Any) -> None:
    """As `_unit`, in operations that a processor does side by side."""
    for j in range(len(out)):
        bits = (np.uint64(upper[j]) & _UPPER) << _BITS | np.uint64(lower[j])
        out[j] = np.uint64(bits | _ONE_BITS).view(np.float64) - 1.0


@loop
def _gamma(
    key: Any, low: Any, high: Any, number: Any, alpha: Any, first_units: Any
) -> Any:
    if alpha == 1.0:
        return -math.log(1.0 - first_units[0])
    # Below one, a sample for alpha + 1 is scaled down by a power of a uniform.
    d = alpha + (2.0 / 3 if alpha < 1.0 else -1.0 / 3)
    if not d > 0.0:
        return math.nan
    c = 1.0 / 3 / math.sqrt(d)
    left, has_other, second = _NONE, False, number + _ONE
    radius, angle = _polar(first_units[1], first_units[0])
    number = second
    while True:
        # Box and Muller's two numbers; few samples need the other one.
        x = (math.sin(angle) if has_other else math.cos(angle)) * radius
        v = 1.0 + c * x
        if v > 0.0:
            v = v * v * v
            if number == second:
                u, left = first_units[2], first_units[3]
                number += _ONE
            else:
                u, left, number = _next_uniform(key, low, high, number, left)
            if u < 1.0 - 0.0331 * (x * x) * (x * x) or (
                _log(u) < 0.5 * x * x + d * (1.0 - v + math.log(v))
            ):
                break
        if has_other:
            above, below = _uniforms(key, low, high, number)
            radius, angle = _polar(below, above)
            number += _ONE
        has_other = not has_other
    if not alpha < 1.0:
        return d * v
    u, left, number = _next_uniform(key, low, high, number, left)
    return d * v * math.pow(u, 1.0 / alpha)


# --- Poisson ---------------------------------------------------------------------


@loop
def poissons(
    key: Any,
    low: Any,
    high: Any,
    rates: Any,
    highest: Any,
    begin: Any,
    end: Any,
    out: Any,
) -> None:
    """Poisson(rate) samples, none above `highest`; they are numbered as for gammas.

    Knuth's product of uniforms for small rates; for others the transformed rejection
    of Hoermann, "The transformed rejection method for generating Poisson random
    variables", 1993.

    Args:
      key: uint64.
      low: uint64.
      high: uint64.
      rates: float64, [n], none so far above `highest` that no draw would do.
      highest: float64.
      begin: the number of the first sample to be filled in.
      end: the number after the last one.
      out: float64, [samples, n].
    """
    samples = len(out)
    while begin < end:
        i, first = begin // samples, begin % samples
        count = min(end - begin, samples - first)
        # A negative rate is as zero, as in TensorFlow.
        rate = max(rates[i], 0.0)
        limit, log_rate = math.exp(-rate), _log(rate)
        for sample in range(first, first + count):
            start = np.uint64(i * samples + sample) * _RESERVED
            if rate < _FOR_REJECTION:
                found = _small_poisson(key, low, high, start, limit, highest)
            elif rate < math.inf:
                found = _large_poisson(key, low, high, start, rate, log_rate, highest)
            else:
                found = math.nan
            out[sample, i] = found
        begin += count


@loop
def _small_poisson(
    key: Any, low: Any, high: Any, number: Any, limit: Any, highest: Any
) -> Any:
    product, count = 1.0, 0.0
    while True:
        first, second = _uniforms(key, low, high, number)
        number += _ONE
        product *= first
        if product <= limit and count <= highest:
            return count
        product *= second
        if product <= limit and count + 1.0 <= highest:
            return count + 1.0
        count += 2.0


@loop
def _large_poisson(
    key: Any, low: Any, high: Any, number: Any, rate: Any, log_rate: Any, highest: Any
) -> Any:
    b = 0.931 + 2.53 * math.sqrt(rate)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        u, v = _uniforms(key, low, high, number)
        number += _ONE
        u -= 0.5
        shifted = 0.5 - abs(u)
        if shifted == 0.0:
            continue
        k = np.floor((2.0 * a / shifted + b) * u + rate + 0.43)
        if k > highest:
            continue
        if shifted >= 0.07 and v <= 0.9277 - 3.6224 / (b - 2.0):
            return k
        if k < 0.0 or (shifted < 0.013 and v > shifted):
            continue
        s = _log(v * inverse_alpha / (a / (shifted * shifted) + b))
        if s <= -rate + k * log_rate - math.lgamma(k + 1.0):
            return k


# --- binomial --------------------------------------------------------------------


@loop
def binomials(
    key: Any, low: Any, high: Any, trials: Any, chances: Any, one_run: Any, out: Any
) -> None:
    """Successes among trials.

    Args:
      key: uint64.
      low: uint64.
      high: uint64.
      trials: float64, [n].
      chances: float64, [n].
      one_run: whether a sample begins at the block after those of the one before.
        Otherwise each has blocks of its own, by its method.
      out: float64, [n, samples], filled.
    """
    count, samples = out.shape
    start = np.uint64(0)
    for i in range(count):
        n, p = trials[i], chances[i]
        mirrored = p > 0.5
        if mirrored:
            p = 1.0 - p  # the chance of failing
        # Not so for what is no number.
        by_rejection = n * p >= _FOR_REJECTION
        reserved = _RESERVED if by_rejection else _RESERVED_FOR_INVERSION
        for sample in range(samples):
            if not one_run:
                start = np.uint64(i * samples + sample) * reserved
            if math.isnan(n) or math.isnan(p):
                value, end = math.nan, start
            elif by_rejection:
                value, end = _by_rejection(key, low, high, start, n, p)
            else:
                value, end = _by_inversion(key, low, high, start, n, p)
            out[i, sample] = n - value if mirrored else value
            start = end


@loop
def _by_inversion(key: Any, low: Any, high: Any, number: Any, n: Any, p: Any) -> Any:
    """Counts geometric variables until their sum exceeds the trials."""
    total, count = 0.0, 0.0
    if n <= 0.0 or p <= 0.0:
        return count, number
    scale, left = math.log1p(-p), _NONE
    while True:
        u, left, number = _next_uniform(key, low, high, number, left)
        total += np.ceil(_log(u) / scale)
        if total > n:
            return count, number
        count += 1.0


@loop
def _by_rejection(key: Any, low: Any, high: Any, number: Any, n: Any, p: Any) -> Any:
    """Hoermann, "The generation of binomial random variates", 1993: BTRS."""
    deviation = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = n * p + 0.5
    v_r = 0.92 - 4.2 / b
    r = p / (1.0 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    m = np.floor((n + 1.0) * p)
    while True:
        u, v = _uniforms(key, low, high, number)
        number += _ONE
        u -= 0.5
        us = 0.5 - abs(u)
        if us <= 0.0:
            continue
        k = np.floor((2.0 * a / us + b) * u + c)
        if us >= 0.07 and v <= v_r:
            return k, number
        if not 0.0 <= k <= n:
            continue
        bound = (
            (m + 0.5) * _log((m + 1.0) / (r * (n - m + 1.0)))
            + (n + 1.0) * _log((n - m + 1.0) / (n - k + 1.0))
            + (k + 0.5) * _log(r * (n - k + 1.0) / (k + 1.0))
            + _tail(m)
            + _tail(n - m)
            - _tail(k)
            - _tail(n - k)
        )
        if _log(v * alpha / (a / (us * us) + b)) <= bound:
            return k, number


@loop
def _tail(k: Any) -> Any:
    if 0.0 <= k <= 9.0:
        return _STIRLING[int(k)]
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1.0)


# --- classes and permutations ----------------------------------------------------


@loop
def classes(
    key: Any, low: Any, high: Any, logits: Any, cumulative: Any, out: Any
) -> None:
    """Classes by the distribution of each row; a logit that is not finite has no share.

    Args:
      key: uint64.
      low: uint64.
      high: uint64.
      logits: float32 or float64, [batch, n].
      cumulative: float64, [n], overwritten.
      out: int64, [batch, samples], filled.
    """
    second, number, has_second = 0.0, np.uint64(0), False
    for row in range(len(logits)):
        total = _accumulate(logits[row], cumulative)
        for sample in range(out.shape[1]):
            if has_second:
                point = second * total
            else:
                w0, w1, w2, w3 = block(key, low, high, number)
                number += _ONE
                point, second = _unit(w0, w1) * total, _unit(w2, w3)
            has_second = not has_second
            out[row, sample] = _how_many_below(cumulative, point)


@loop
def _accumulate(logits: Any, cumulative: Any) -> Any:
    """Fills in the shares of a row's classes, each with those before; their total."""
    highest, total = -math.inf, 0.0
    for i in range(len(logits)):
        if highest < logits[i] < math.inf:
            highest = np.float64(logits[i])
    for i in range(len(logits)):
        cumulative[i] = _exp(np.float64(logits[i]) - highest)
    for i in range(len(logits)):
        if -math.inf < logits[i] < math.inf:
            total += cumulative[i]
        cumulative[i] = total
    return total


@loop
def _exp(x: Any) -> Any:
    """e to a power that is not positive, in steps that a processor does side by side.

    Cephes' quotient of polynomials, which TensorFlow's kernel takes, too.
    """
    x = max(x, _LOWEST_POWER)
    rounded = x * _LOG2_E + _TO_INTEGER  # the power of two, in the last bits
    power = rounded - _TO_INTEGER
    x = x - power * _LN2[0] - power * _LN2[1]
    x2 = x * x
    p = ((_EXP_P[0] * x2 + _EXP_P[1]) * x2 + _EXP_P[2]) * x
    q = ((_EXP_Q[0] * x2 + _EXP_Q[1]) * x2 + _EXP_Q[2]) * x2 + _EXP_Q[3]
    exponent = (np.float64(rounded).view(np.int64) + _BIAS) << _FRACTION_BITS
    return (1.0 + 2.0 * (p / (q - p))) * np.int64(exponent).view(np.float64)


@loop
def _how_many_below(ascending: Any, point: Any) -> Any:
    """How many values are not above the point."""
    begin, count = 0, len(ascending)
    while count > 0:
        half = count >> 1
        if ascending[begin + half] <= point:
            begin += half + 1
            count -= half + 1
        else:
            count = half
    return begin


@loop
def shuffle(key: Any, low: Any, high: Any, values: Any) -> None:
    """Fisher and Yates' shuffle of `values` [n] in place, a word for each exchange."""
    count = len(values)
    a = b = c = d = np.uint64(0)
    for i in range(count - 1):
        if i & 3 == 0:
            a, b, c, d = block(key, low, high, np.uint64(i >> 2))
        other = i + np.int64(a % np.uint64(count - i))
        a, b, c = b, c, d
        values[i], values[other] = values[other], values[i]
