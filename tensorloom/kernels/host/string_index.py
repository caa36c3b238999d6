"""Which of many keys a word is, for a batch of words at once.

A word of up to 16 bytes is three numbers: its first eight bytes, its last eight, its
length. Keys stand in hash tables of places; a key whose place is taken goes to the
next, smaller table. All words look into the first table at once, those that find
another key there look into the second, and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from tensorloom.kernels.host.string_spans import Ints, Spans, words_at

Words = NDArray[np.uint64]

#: Longer words are not in the index.
MOST_BYTES = 16
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)
# Each table has an eighth of the keys of the one before: so many hold any vocabulary.
_MOST_TABLES = 24


class NotIndexed(Exception):
    """Some keys cannot be told apart by the tables."""


@dataclass(frozen=True)
class _Numbers:
    """Words as numbers."""

    first: Words
    last: Words | None  # None where no word has more than eight bytes
    length: Ints

    def mixed(self) -> Words:
        """One number for each word."""
        if self.last is None:
            return self.first
        return self.first ^ np.where(self.length > 8, self.last * _MIX, np.uint64(0))

    def take(self, places: Ints) -> _Numbers:
        """Some of the words."""
        last = None if self.last is None else self.last.take(places)
        return _Numbers(self.first.take(places), last, self.length.take(places))


def _numbers(spans: Spans) -> _Numbers:
    words, lengths = words_at(spans.blob), spans.lengths
    if spans.longest <= 8:
        return _Numbers(words[spans.starts] & _MASKS.take(lengths), None, lengths)
    short = np.minimum(lengths, 8)
    masks = _MASKS.take(short)
    first = words[spans.starts] & masks
    last = words[spans.starts + lengths - short] & masks
    return _Numbers(first, last, lengths)


@dataclass(frozen=True)
class _Table:
    """Numbers of keys by the upper bits of a product."""

    factor: np.uint64
    shift: np.uint64
    slots: Ints

    def slot(self, mixed: Words) -> Ints:
        """The slots of words."""
        product = mixed * self.factor
        product >>= self.shift
        return product.view(np.int64)


class StringIndex:
    """An index of distinct keys.

    Raises:
      NotIndexed: these keys cannot have one.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        lengths = np.fromiter(map(len, keys), np.int64, len(keys))
        blob = b"".join([*keys, bytes(MOST_BYTES)])
        spans = Spans(blob, lengths.cumsum() - lengths, lengths, lengths)
        numbers = _numbers(spans)
        self._none = len(keys)
        # One more, which no word is: that of an empty slot.
        self._first = np.append(numbers.first, np.uint64(0))
        last = numbers.first if numbers.last is None else numbers.last
        self._last = np.append(last, np.uint64(0))
        self._length = np.append(lengths, -1)
        self._tables = self._make_tables(numbers.mixed(), lengths)

    def _make_tables(self, mixed: Words, lengths: Ints) -> list[_Table]:
        random, tables = np.random.default_rng(0), list[_Table]()
        left = np.flatnonzero(lengths <= MOST_BYTES)
        while len(left):
            if len(tables) == _MOST_TABLES:
                raise NotIndexed
            bits = max(4, len(left).bit_length() + 1)
            factor = np.uint64(int(random.integers(2**62)) * 2 + 1)
            slots = np.full(1 << bits, self._none, np.int64)
            table = _Table(factor, np.uint64(64 - bits), slots)
            wanted = table.slot(mixed[left])
            slots[wanted] = left
            left = left[slots[wanted] != left]
            tables.append(table)
        return tables

    def find(self, spans: Spans) -> Ints:
        """The number of the key that each word is; the number of keys for no key."""
        numbers = _numbers(spans)
        found, is_same = self._look(0, numbers)
        if is_same.all():
            return found
        left = np.flatnonzero(~is_same)
        found[left] = self._none
        for i in range(1, len(self._tables)):
            some, is_same = self._look(i, numbers.take(left))
            found[left[is_same]] = some[is_same]
            left = left[~is_same]
        return found

    def _look(self, i: int, numbers: _Numbers) -> tuple[Ints, NDArray[np.bool_]]:
        """What stands in a table where the words belong, and whether it is they."""
        if not self._tables:
            count = len(numbers.first)
            return np.full(count, self._none, np.int64), np.zeros(count, bool)
        table = self._tables[i]
        found = table.slots.take(table.slot(numbers.mixed()))
        is_same = self._first.take(found) == numbers.first
        is_same &= self._length.take(found) == numbers.length
        if numbers.last is not None:
            # The last of a key of eight bytes or fewer is its first.
            is_same &= self._last.take(found) == numbers.last
        return found, is_same
