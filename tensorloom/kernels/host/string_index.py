"""Which of many keys a word is, for a batch of words at once.

A word of up to 16 bytes is three numbers: its first eight bytes, its last eight, its
length. Longer ones are not found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tensorloom.kernels.host.key_tables import Ints, KeyTables, Words
from tensorloom.kernels.host.string_spans import Spans, spans_of, words_at

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Longer words are not in the index.
MOST_BYTES = 16
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(9)], np.uint64)
_MIX = np.uint64(0x9E3779B97F4A7C15)


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


class StringIndex:
    """An index of distinct keys.

    Raises:
      NotIndexed: these keys cannot have one.
    """

    def __init__(self, keys: Sequence[bytes]) -> None:
        spans = spans_of(list(keys))
        lengths = spans.lengths
        numbers = _numbers(spans)
        # One more, which no word is: that of an empty slot.
        self._first = np.append(numbers.first, np.uint64(0))
        last = numbers.first if numbers.last is None else numbers.last
        self._last = np.append(last, np.uint64(0))
        self._length = np.append(lengths, -1)
        short = np.flatnonzero(lengths <= MOST_BYTES)
        self._tables = KeyTables(numbers.mixed(), len(keys), short)

    def find(self, spans: Spans) -> Ints:
        """The number of the key that each word is; the number of keys for no key."""
        numbers = _numbers(spans)

        def is_key(found: Ints, which: Ints | None) -> NDArray[np.bool_]:
            asked = numbers if which is None else numbers.take(which)
            is_same: NDArray[np.bool_] = self._first.take(found) == asked.first
            is_same &= self._length.take(found) == asked.length
            if asked.last is not None:
                # The last of a key of eight bytes or fewer is its first.
                is_same &= self._last.take(found) == asked.last
            return is_same

        return self._tables.find(numbers.mixed(), is_key)
