"""Draws of classes, one after the other, as TensorFlow's candidate samplers make them.

The logarithms and powers are the C library's, on which the last bit of a class hangs.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop, machine_loop
from tensorloom.kernels.loops.random.philox_words import block

_BITS = np.uint64(32)
# The golden ratio as a fraction of 2**64: its products spread classes over a table.
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_ONE = np.uint64(1)
_UPPER = np.uint64(0xFFFFF)
_TWO_32, _TWO_NEG_52 = 2.0**32, 2.0**-52


@loop
def fill_words(key: Any, low: Any, high: Any, words: Any) -> None:
    """The words of the counter high * 2**64 + low and of those behind it.

    Args:
      key: uint64.
      low: uint64.
      high: uint64.
      words: uint32, [4 n], filled.
    """
    for place in range(0, len(words), 4):
        four = block(key, low, high, np.uint64(place // 4))
        words[place], words[place + 1] = four[0], four[1]
        words[place + 2], words[place + 3] = four[2], four[3]


@loop
def _is_new(c: Any, table: Any) -> Any:
    """Whether a class was not in the table; it is now.

    Args:
      c: int64, from zero on.
      table: int64, [2**b], with room: what is in it, in places of its own, and -1.
    """
    mask = len(table) - 1
    at = np.int64((np.uint64(c) * _SPREAD) >> _BITS) & mask
    while table[at] >= 0:
        if table[at] == c:
            return False
        at = (at + 1) & mask
    table[at] = c
    return True


@loop
def take_distinct(classes: Any, table: Any, taken: Any, count: Any) -> Any:
    """Puts the different ones of `classes` behind the `count` that are taken already.

    Args:
      classes: int64, [n], from zero on.
      table: int64, [2**b], larger than `taken`, at first all -1; see `_is_new`.
      taken: int64, [k].
      count: int64, below k.

    Returns:
      (how many are taken now, how many classes were looked at for them).
    """
    for i in range(len(classes)):
        if _is_new(classes[i], table):
            taken[count] = classes[i]
            count += 1
            if count == len(taken):
                return count, i + 1
    return count, len(classes)


@loop
def _expected(probability: Any, count: Any, tries: Any) -> Any:
    """How often a class is in a sample, given its probability in one draw, float32.

    In machine code the functions are those of float32; Python has none.
    """
    p = np.float32(probability)
    if tries == count:
        return p * np.float32(count)
    return -math.expm1(np.float32(tries) * math.log1p(-p))


@machine_loop
def expected_counts(probability: Any, count: Any, tries: Any, counts: Any) -> None:
    """How often each class is in a sample.

    Args:
      probability: of each in one draw, [n].
      count: int64, the size of the sample.
      tries: int64, how many draws it took.
      counts: float32, [n], filled.
    """
    for i in range(len(probability)):
        counts[i] = _expected(probability[i], count, tries)


@loop
def _draw_log_uniform(
    key: Any,
    low: Any,
    high: Any,
    log_range: Any,
    bound: Any,
    most_tries: Any,
    table: Any,
    sampled: Any,
) -> Any:
    found, tries, number = 0, 0, np.uint64(0)
    while found < len(sampled) and tries < most_tries:
        w0, w1, w2, w3 = block(key, low, high, number)
        number += _ONE
        for upper, lower in ((w0, w1), (w2, w3)):
            if found == len(sampled):
                break
            # The first word gives the upper 20 of 52 bits.
            unit = (float(upper & _UPPER) * _TWO_32 + float(lower)) * _TWO_NEG_52
            c = (np.int64(math.exp(unit * log_range)) - 1) % bound
            tries += 1
            if not len(table) or _is_new(c, table):
                sampled[found] = c
                found += 1
    return tries


@loop
def _log_uniform_count(c: Any, log_range: Any, count: Any, tries: Any) -> Any:
    x = float(c)
    return _expected(math.log((x + 2.0) / (x + 1.0)) / log_range, count, tries)


@machine_loop
def sample_log_uniform(
    key: Any,
    low: Any,
    high: Any,
    bound: Any,
    most_tries: Any,
    table: Any,
    sampled: Any,
    sampled_counts: Any,
    true: Any,
    true_counts: Any,
) -> Any:
    """Draws classes of [0, bound) whose logarithm is uniform.

    Args:
      key: uint64, with the counter of the first words as in `fill_words`.
      bound: int64, at least 1.
      most_tries: int64, how many draws are too many.
      table: int64, as large as for `take_distinct`, for classes that are all different;
        else empty.
      sampled: int64, [k], filled.
      sampled_counts: float32, [k], filled: how often each of them is in a sample.
      true: int64, [m, n], some classes.
      true_counts: float32, [m, n], filled: how often each of them is in a sample.

    Returns:
      How many draws that took; `most_tries` if they did not suffice.
    """
    log_range = math.log1p(float(bound))
    table[:] = -1
    tries = _draw_log_uniform(
        key, low, high, log_range, bound, most_tries, table, sampled
    )
    count = len(sampled)
    for i in range(count):
        sampled_counts[i] = _log_uniform_count(sampled[i], log_range, count, tries)
    for i in range(true.shape[0]):
        for j in range(true.shape[1]):
            true_counts[i, j] = _log_uniform_count(true[i, j], log_range, count, tries)
    return tries
