"""Which of many keys a number is, for a batch of numbers at once.

Keys stand in hash tables of places; a key whose place is taken goes to the next,
smaller table. All numbers look into the first table at once, those that find another
key there look into the second, and so on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
#: Given places of keys and which of the numbers asked for them (None: all), says where
#: the key is the number.
IsKey = Callable[[Ints, Ints | None], NDArray[np.bool_]]

# Each table has an eighth of the keys of the one before: so many hold any vocabulary.
_MOST_TABLES = 24


class NotIndexed(Exception):
    """Some keys cannot be told apart by the tables."""


@dataclass(frozen=True)
class _Table:
    """Numbers of keys by the upper bits of a product."""

    factor: np.uint64
    shift: np.uint64
    slots: Ints

    def slot(self, mixed: Words) -> Ints:
        """The slots of numbers."""
        product = mixed * self.factor
        product >>= self.shift
        return product.view(np.int64)


class KeyTables:
    """The hash tables of some of `count` keys; the place `count` means none.

    Raises:
      NotIndexed: the tables are not enough, as too many keys have one number.
    """

    def __init__(self, mixed: Words, count: int, left: Ints) -> None:
        """`mixed`: a number for each key; `left`: the keys to be found."""
        random, self._none = np.random.default_rng(0), count
        self._tables: list[_Table] = []
        while len(left):
            if len(self._tables) == _MOST_TABLES:
                raise NotIndexed
            bits = max(4, len(left).bit_length() + 1)
            factor = np.uint64(int(random.integers(2**62)) * 2 + 1)
            slots = np.full(1 << bits, count, np.int64)
            table = _Table(factor, np.uint64(64 - bits), slots)
            wanted = table.slot(mixed[left])
            slots[wanted] = left
            left = left[slots[wanted] != left]
            self._tables.append(table)

    def find(self, mixed: Words, is_key: IsKey) -> Ints:
        """The place of the key that each number is; the count of keys for none."""
        if not self._tables:
            return np.full(len(mixed), self._none, np.int64)
        first, *others = self._tables
        found = first.slots.take(first.slot(mixed))
        is_same = is_key(found, None)
        if is_same.all():
            return found
        left = np.flatnonzero(~is_same)
        found[left] = self._none
        for table in others:
            some = table.slots.take(table.slot(mixed.take(left)))
            is_same = is_key(some, left)
            found[left[is_same]] = some[is_same]
            left = left[~is_same]
        return found


class NumberIndex:
    """An index of distinct integers."""

    def __init__(self, keys: Any) -> None:
        """Raises NotIndexed: these keys cannot have one."""
        self._keys = np.append(keys, keys[:1]).astype(np.int64)
        count = len(keys)
        self._tables = KeyTables(self._keys.view(np.uint64), count, np.arange(count))

    def find(self, numbers: Any) -> Ints:
        """The place of the key that each number is; the count of keys for none."""
        wanted = np.ascontiguousarray(numbers, np.int64)

        def is_key(found: Ints, which: Ints | None) -> NDArray[np.bool_]:
            asked = wanted if which is None else wanted.take(which)
            same: NDArray[np.bool_] = self._keys.take(found) == asked
            return same

        return self._tables.find(wanted.view(np.uint64), is_key)
