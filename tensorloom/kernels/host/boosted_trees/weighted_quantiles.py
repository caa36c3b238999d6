"""Sketches of the quantiles of weighted values, mergeable and of bounded error.

Greenwald and Khanna's summaries with weights, as Chen and Guestrin, "XGBoost", 2016,
appendix A, and TensorFlow's boosted trees use them. All ranks are float32.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[Any]
_F = np.float32
_DOUBLE_EPSILON: Final = 2.220446049250313e-16


class Entry(NamedTuple):
    """A value with its weight, and the ranks between which it lies."""

    value: np.float32
    weight: np.float32
    min_rank: np.float32
    max_rank: np.float32

    @property
    def previous_max_rank(self) -> np.float32:
        """The highest rank of what comes before it."""
        return _F(self.max_rank - self.weight)

    @property
    def next_min_rank(self) -> np.float32:
        """The lowest rank of what comes after it."""
        return _F(self.min_rank + self.weight)


def from_values(values: _Array, weights: _Array) -> list[Entry]:
    """The exact summary of float32 values in any order, with their weights."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    is_new = np.ones(len(ordered), bool)
    is_new[1:] = ordered[1:] != ordered[:-1]
    merged = np.zeros(np.count_nonzero(is_new), np.float32)
    np.add.at(merged, np.cumsum(is_new) - 1, weights[order])
    high = np.add.accumulate(merged)
    low = np.concatenate([np.zeros(1, np.float32), high[:-1]])
    rows = zip(ordered[is_new], merged, low, high, strict=False)
    return [Entry(*row) for row in rows]


def merge(first: Sequence[Entry], second: Sequence[Entry]) -> list[Entry]:
    """The summary of the values of both."""
    if not first or not second:
        return list(first or second)
    result: list[Entry] = []
    i = j = 0
    below_first = below_second = _F(0)
    while i < len(first) and j < len(second):
        a, b = first[i], second[j]
        if a.value < b.value:
            result.append(_raised(a, below_second, b.previous_max_rank))
            below_first, i = a.next_min_rank, i + 1
        elif b.value < a.value:
            result.append(_raised(b, below_first, a.previous_max_rank))
            below_second, j = b.next_min_rank, j + 1
        else:
            low, high = _F(a.min_rank + b.min_rank), _F(a.max_rank + b.max_rank)
            result.append(Entry(a.value, _F(a.weight + b.weight), low, high))
            below_first, below_second = a.next_min_rank, b.next_min_rank
            i, j = i + 1, j + 1
    result += [_raised(a, below_second, second[-1].max_rank) for a in first[i:]]
    result += [_raised(b, below_first, first[-1].max_rank) for b in second[j:]]
    return result


def _raised(entry: Entry, low: np.float32, high: np.float32) -> Entry:
    return entry._replace(
        min_rank=_F(entry.min_rank + low), max_rank=_F(entry.max_rank + high)
    )


def compress(entries: list[Entry], size: int, epsilon: float) -> list[Entry]:
    """About `size` of the entries, first and last among them."""
    size = max(size, 2)
    if len(entries) <= size:
        return entries
    # Compared in float64: NumPy would round it to float32 beside a float32.
    allowed = np.float64(entries[-1].max_rank) * max(1.0 / size, epsilon)
    step, credit = len(entries), 0
    kept, last, at = [entries[0]], 0, 0
    while at + 1 != len(entries):
        after = at + 1
        while (
            after != len(entries)
            and credit < step
            and _F(entries[after].previous_max_rank - entries[at].next_min_rank)
            <= allowed
        ):
            credit += size
            after += 1
        at = at + 1 if at == after - 1 else after - 1
        kept.append(entries[at])
        last = at
        credit -= step
    if last + 1 != len(entries):
        kept.append(entries[-1])
    return kept


def _error(entries: Sequence[Entry]) -> float:
    """The error of ranks that the summary has already, relative to all weight."""
    gap = _F(0)
    for before, entry in itertools.pairwise(entries):
        inside = _F(_F(entry.max_rank - entry.min_rank) - entry.weight)
        between = _F(entry.previous_max_rank - before.next_min_rank)
        gap = max(gap, inside, between)
    return _ratio(float(gap), float(entries[-1].max_rank))


def _ratio(above: float, below: float) -> float:
    """The quotient of the processor: infinite or no number for a divisor of zero."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(np.divide(above, below))


def boundaries(entries: list[Entry], count: int) -> list[np.float32]:
    """Values that divide the weight into about `count` parts; none is there twice."""
    if not entries:
        return []
    epsilon = float(_F(_error(entries) + _ratio(1.0, count)))
    values = [entry.value for entry in compress(entries, count, epsilon)]
    return [v for i, v in enumerate(values) if i == 0 or values[i - 1] != v]


def quantiles(entries: Sequence[Entry], count: int) -> list[np.float32]:
    """The count + 1 quantiles, smallest and largest value among them."""
    if not entries:
        return []
    count = max(count, 2)
    result, at = [], 0
    for rank in range(count + 1):
        wanted = _F(2) * _F(_F(rank) * entries[-1].max_rank / _F(count))
        after = at + 1
        while after < len(entries) and wanted >= _F(
            entries[after].min_rank + entries[after].max_rank
        ):
            after += 1
        at = after - 1
        if after == len(entries) or wanted < _F(
            entries[at].next_min_rank + entries[after].previous_max_rank
        ):
            result.append(entries[at].value)
        else:
            result.append(entries[after].value)
    return result


class QuantileStream:
    """A summary of what was pushed, kept in levels of doubling size."""

    def __init__(self, epsilon: float, most: int) -> None:
        self._epsilon = epsilon
        self._block = _block_size(epsilon, most)
        self._buffer_size = min(self._block << 1, most)
        self._buffer: list[tuple[_Array, _Array]] = []
        self._buffered = 0
        self._levels: list[list[Entry]] = []

    @property
    def levels(self) -> list[list[Entry]]:
        """The summaries that are kept; not what was pushed by value since the last."""
        return self._levels

    def set_levels(self, levels: list[list[Entry]]) -> None:
        """Replaces everything by such summaries."""
        self._buffer, self._buffered, self._levels = [], 0, levels

    def push_values(self, values: _Array, weights: _Array) -> None:
        """Adds values; those of no weight are left out.

        Args:
          values: float32 [n].
          weights: float32 [n].
        """
        counts = weights > 0
        values, weights = values[counts], weights[counts]
        begin = 0
        while begin < len(values):
            end = begin + self._buffer_size - self._buffered
            self._buffer.append((values[begin:end], weights[begin:end]))
            self._buffered += len(self._buffer[-1][0])
            begin = end
            if self._buffered >= self._buffer_size:
                self._push_buffer()

    def push_summary(self, entries: list[Entry]) -> None:
        """Adds what a summary stands for."""
        self._settle(compress(entries, self._block, self._epsilon))

    def finish(self) -> list[Entry]:
        """The summary of everything."""
        self._push_buffer()
        whole: list[Entry] = []
        for level in self._levels:
            whole = merge(whole, level)
        self._levels = []
        return whole

    def _push_buffer(self) -> None:
        if not self._buffer:
            return
        values, weights = (
            np.concatenate(parts) for parts in zip(*self._buffer, strict=True)
        )
        self._buffer, self._buffered = [], 0
        self._settle(compress(from_values(values, weights), self._block, self._epsilon))

    def _settle(self, entries: list[Entry]) -> None:
        if not entries:
            return
        level = 0
        while True:
            if len(self._levels) <= level:
                self._levels.append([])
            held = self._levels[level]
            entries = merge(entries, held)
            if not held or len(entries) <= self._block + 1:
                self._levels[level] = entries
                return
            entries = compress(entries, self._block, self._epsilon)
            self._levels[level] = []
            level += 1


def _block_size(epsilon: float, most: int) -> int:
    if epsilon <= _DOUBLE_EPSILON:
        return max(most, 2)
    level, size = 1, 2
    while (1 << level) * size < most:
        size = math.ceil(level / epsilon) + 1
        level += 1
    return max(size, 2)
