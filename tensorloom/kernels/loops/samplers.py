"""Draws of classes, one after the other, as TensorFlow's candidate samplers make them.

The logarithms and powers are the C library's, on which the last bit of a class hangs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop

_FACTORS = np.uint64(0xD2511F53), np.uint64(0xCD9E8D57)
_WEYL = np.uint32(0x9E3779B9), np.uint32(0xBB67AE85)
_WORD, _BITS = np.uint64(0xFFFFFFFF), np.uint64(32)
_ROUNDS = 10
# The golden ratio as a fraction of 2**64: its products spread classes over a table.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_UPPER = np.uint32(0xFFFFF)
_TWO_32, _TWO_NEG_52 = 2.0**32, 2.0**-52


@loop
def _low(x: Any) -> Any:
    return np.uint32(x & _WORD)


@loop
def _high(x: Any) -> Any:
    return np.uint32(x >> _BITS)


@loop
def fill_words(key: Any, low: Any, high: Any, words: Any) -> None:
    """Philox 4x32-10: the words of the counter high * 2**64 + low and those behind it.

    Args:
      key: uint64.
      low: uint64.
      high: uint64.
      words: uint32, [4 n], filled.
    """
    for place in range(0, len(words), 4):
        c0, c1, c2, c3 = _low(low), _high(low), _low(high), _high(high)
        k0, k1 = _low(key), _high(key)
        for _ in range(_ROUNDS):
            p, q = np.uint64(c0) * _FACTORS[0], np.uint64(c2) * _FACTORS[1]
            c0, c1 = np.uint32(_high(q) ^ c1 ^ k0), _low(q)
            c2, c3 = np.uint32(_high(p) ^ c3 ^ k1), _low(p)
            k0, k1 = np.uint32(k0 + _WEYL[0]), np.uint32(k1 + _WEYL[1])
        words[place], words[place + 1] = c0, c1
        words[place + 2], words[place + 3] = c2, c3
        low += _ONE
        if not low:
            high += _ONE


@loop
def log_uniform_classes(words: Any, bound: Any, classes: Any) -> None:
    """Classes of [0, bound) whose logarithm is uniform, one for a pair of words.

    Args:
      words: uint32, [2 n].
      bound: int64, at least 1.
      classes: int64, [n], filled.
    """
    log_range = math.log1p(float(bound))
    for i in range(len(classes)):
        # The first word gives the upper 20 of 52 bits.
        upper, lower = float(words[2 * i] & _UPPER), float(words[2 * i + 1])
        unit = (upper * _TWO_32 + lower) * _TWO_NEG_52
        classes[i] = (np.int64(math.exp(unit * log_range)) - 1) % bound


@loop
def expected_counts(probability: Any, count: Any, tries: Any, counts: Any) -> None:
    """How often a class is in a sample, given its probability in one draw.

    Args:
      probability: float32, [n].
      count: int64, the size of the sample.
      tries: int64, how many draws it took.
      counts: float32, [n], filled.
    """
    for i in range(len(probability)):
        p = probability[i]
        if tries == count:
            counts[i] = p * np.float32(count)
        else:
            counts[i] = -math.expm1(np.float32(tries) * math.log1p(-p))


@loop
def log_uniform_probability(classes: Any, bound: Any, probability: Any) -> None:
    """The probability of each class in one draw of `log_uniform_classes`, float32."""
    log_range = math.log1p(float(bound))
    for i in range(len(classes)):
        x = float(classes[i])
        probability[i] = math.log((x + 2.0) / (x + 1.0)) / log_range


@loop
def take_distinct(classes: Any, table: Any, taken: Any, count: Any) -> Any:
    """Puts the different ones of `classes` behind the `count` that are taken already.

    Args:
      classes: int64, [n], from zero on.
      table: int64, [2**b], larger than `taken`: what is taken, in places of its own,
        and -1 elsewhere, so at first everywhere.
      taken: int64, [k].
      count: int64, below k.

    Returns:
      (how many are taken now, how many classes were looked at for them).
    """
    mask = len(table) - 1
    for i in range(len(classes)):
        at = np.int64((np.uint64(classes[i]) * _SPREAD) >> _BITS) & mask
        while table[at] >= 0 and table[at] != classes[i]:
            at = (at + 1) & mask
        if table[at] < 0:
            table[at] = classes[i]
            taken[count] = classes[i]
            count += 1
            if count == len(taken):
                return count, i + 1
    return count, len(classes)
