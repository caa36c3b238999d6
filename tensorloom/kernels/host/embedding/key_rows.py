"""Rows of several blocks that belong to keys: which row is whose, and how old it is."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.host.embedding.growing_rows import GrowingRows

# The step of a row that no key has.
FREE: Final = np.iinfo(np.int64).min
_LEAST_SLOTS: Final = 256


class KeyRows:
    """Keys with a row each, in the order in which they came.

    A row that a key gives up is taken by a later key. Not for threads at the same time.
    """

    def __init__(self) -> None:
        self.keys = GrowingRows(np.int64)
        #: How many updates there were.
        self.freqs = GrowingRows(np.int64)
        #: The global step of the last one; FREE where there is no key.
        self.steps = GrowingRows(np.int64, fill=FREE)
        #: The number of the save before which it changed last.
        self.touched = GrowingRows(np.int64)
        #: What grows with these.
        self.blocks: dict[str, GrowingRows] = {}
        self._marks = GrowingRows(np.int64)
        self._free = np.empty(0, np.int64)
        self._slots = np.zeros(_LEAST_SLOTS, np.int64)

    def __len__(self) -> int:
        return len(self.keys) - len(self._free)

    def add_block(self, name: str, block: GrowingRows) -> None:
        """Adds a block, with rows for the keys that there are."""
        block.extend(len(self.keys))
        self.blocks[name] = block

    def live(self) -> Any:
        """The rows that keys have, ascending, int64."""
        return np.flatnonzero(self.steps.rows != FREE)

    def find(self, keys: Any) -> tuple[Any, int]:
        """(the rows of keys, -1 where there is none; how many have none)."""
        from tensorloom.kernels.loops.embedding import key_index

        rows = np.empty(len(keys), np.int64)
        missing = key_index.find_rows(self._slots, self.keys.rows, keys, rows)
        return rows, missing

    def add(self, keys: Any, steps: Any) -> Any:
        """Rows for keys that have none, each once; slots are as new.

        Args:
          keys: int64 [n], distinct.
          steps: of all or of each.
        """
        from tensorloom.kernels.loops.embedding import key_index

        rows = self._take(len(keys))
        self.keys.rows[rows] = keys
        self.freqs.rows[rows] = 0
        self.steps.rows[rows] = steps
        if 2 * len(self) > len(self._slots):
            size = 1 << (4 * len(self) - 1).bit_length()
            self._slots = np.zeros(size, np.int64)
            key_index.add_rows(self._slots, self.keys.rows, self.live())
        else:
            key_index.add_rows(self._slots, self.keys.rows, rows)
        return rows

    def _take(self, count: int) -> Any:
        reused = min(count, len(self._free))
        old, self._free = self._free[:reused], self._free[reused:]
        used = len(self.keys)
        self._extend(count - reused)
        for block in self.blocks.values():
            block.rows[old] = block.fill
        return np.concatenate([old, np.arange(used, used + count - reused)])

    def _extend(self, count: int) -> None:
        if not count:
            return
        for block in self._columns():
            block.extend(count)

    def remove(self, rows: Any) -> None:
        """Frees rows, each of which has a key."""
        from tensorloom.kernels.loops.embedding import key_index

        if not len(rows):
            return
        rows = np.ascontiguousarray(rows)
        key_index.remove_rows(self._slots, self.keys.rows, rows)
        self.steps.rows[rows] = FREE
        self._free = np.concatenate([self._free, rows])

    def older_than(self, step: int) -> Any:
        """The rows whose last update was before a step."""
        steps = self.steps.rows
        return np.flatnonzero((steps < step) & (steps != FREE))

    def summed(self, rows: Any, values: Any) -> tuple[Any, Any]:
        """(distinct rows, the sums of their values); those of -1 are left out.

        Args:
          rows: int64 [n].
          values: [n, width].
        """
        from tensorloom.kernels.loops.embedding import key_index

        distinct, sums = np.empty(len(rows), np.int64), np.empty_like(values)
        count = key_index.sum_by_row(rows, values, self._marks.rows, distinct, sums)
        return distinct[:count], sums[:count]

    @property
    def nbytes(self) -> int:
        """The bytes of all that is kept of the keys."""
        return sum(block.nbytes for block in self._columns()) + self._slots.nbytes

    def copied(self) -> KeyRows:
        """The same keys with the same rows, in memory of their own.

        Raises:
          ResourceExhaustedError: there is no memory for them.
        """
        found = KeyRows()
        found.keys, found.freqs = self.keys.copied(), self.freqs.copied()
        found.steps, found.touched = self.steps.copied(), self.touched.copied()
        found._marks = self._marks.copied()
        found.blocks = {name: block.copied() for name, block in self.blocks.items()}
        found._free, found._slots = self._free.copy(), self._slots.copy()
        return found

    def _columns(self) -> tuple[GrowingRows, ...]:
        columns = (self.keys, self.freqs, self.steps, self.touched, self._marks)
        return *columns, *self.blocks.values()

    def clear(self) -> None:
        """Removes all keys."""
        for block in self._columns():
            block.clear()
        self._free = np.empty(0, np.int64)
        self._slots = np.zeros(_LEAST_SLOTS, np.int64)
