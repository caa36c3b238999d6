"""Which of many keys a string or a number is, for a batch at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.kernels.host.strings.spans import Ints, Spans, spans_of


class NotIndexed(Exception):
    """Some keys cannot be told apart by a table."""


class StringIndex:
    """An index of distinct strings.

    Raises:
      NotIndexed: these keys cannot have one.
    """

    def __init__(self, keys: Any) -> None:
        from tensorloom.kernels.loops.lookup import key_tables

        self._keys, self._slots = spans_of(keys), _free_slots(len(keys))
        where = self._keys.blob, self._keys.starts, self._keys.lengths
        if key_tables.index_strings(*where, self._slots) >= 0:
            raise NotIndexed

    def find(self, spans: Spans) -> Ints:
        """The number of the key that each word is; the number of keys for no key."""
        from tensorloom.kernels.loops.lookup import key_tables

        found, keys = np.empty(len(spans.starts), np.int64), self._keys
        key_tables.find_strings(
            self._slots,
            *(keys.blob, keys.starts, keys.lengths),
            *(spans.blob, spans.starts, spans.lengths),
            found,
        )
        return found


class NumberIndex:
    """An index of distinct integers.

    Raises:
      NotIndexed: these keys cannot have one.
    """

    def __init__(self, keys: Any) -> None:
        from tensorloom.kernels.loops.lookup import key_tables

        self._keys, self._slots = _integers(keys), _free_slots(len(keys))
        if key_tables.index_integers(self._keys, self._slots) >= 0:
            raise NotIndexed

    def find(self, numbers: Any) -> Ints:
        """The number of the key that each number is; the number of keys for none."""
        from tensorloom.kernels.loops.lookup import key_tables

        found = np.empty(len(numbers), np.int64)
        key_tables.find_integers(self._slots, self._keys, _integers(numbers), found)
        return found


def _free_slots(count: int) -> Ints:
    return np.zeros(1 << max(4, (2 * count - 1).bit_length()), np.int64)


def _integers(numbers: Any) -> Ints:
    given = np.ascontiguousarray(numbers, np.int64).view()
    given.flags.writeable = False
    return given
