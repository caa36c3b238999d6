"""A dense block of rows that grows without being copied."""

from __future__ import annotations

import mmap
from typing import Any

import numpy as np

from tensorloom.framework import errors

_LEAST_ROWS = 64


class GrowingRows:
    """Rows of one dtype and shape, one after the other in memory.

    The memory is the process's own mapping: growing moves pages, not bytes, where the
    system can (Linux), and what was never written takes no memory.

    Args:
      dtype: a NumPy dtype.
      shape: of a row; `()` for one number.
      fill: what new rows hold.
    """

    def __init__(self, dtype: Any, shape: tuple[int, ...] = (), fill: Any = 0) -> None:
        self.dtype, self.shape, self.fill = np.dtype(dtype), shape, fill
        self._row_bytes = self.dtype.itemsize * int(np.prod(shape))
        self._memory: mmap.mmap | None = None
        self._none = np.empty((0, *shape), self.dtype)
        self._all = self._none
        #: The rows in use, [n, *shape]. Not to be kept: growing takes it away.
        self.rows: Any = self._all

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def nbytes(self) -> int:
        """The bytes of the rows in use."""
        return int(self.rows.nbytes)

    def extend(self, count: int) -> None:
        """Appends rows, filled.

        Raises:
          ResourceExhaustedError: there is no memory for them.
        """
        used = len(self.rows)
        if used + count > len(self._all):
            self._reserve(used + count)
        self.rows = self._all[: used + count]
        if self.fill:  # new memory holds zeros
            self.rows[used:] = self.fill

    def copied(self) -> GrowingRows:
        """Rows of their own that hold the same.

        Raises:
          ResourceExhaustedError: there is no memory for them.
        """
        found = GrowingRows(self.dtype, self.shape, self.fill)
        if len(self):
            found._reserve(len(self))
            found.rows = found._all[: len(self)]
            found.rows[:] = self.rows
        return found

    def clear(self) -> None:
        """Removes all rows and gives their memory back."""
        self._memory = None
        self._all = self.rows = self._none

    def _reserve(self, least: int) -> None:
        used = len(self.rows)
        capacity = max(_LEAST_ROWS, 2 * len(self._all), least)
        # A view would keep the mapping where it is.
        self._all = self.rows = self._none
        try:
            self._memory = _enlarged(self._memory, capacity * self._row_bytes)
        except (OSError, ValueError, OverflowError, MemoryError):
            raise errors.ResourceExhaustedError(
                None,
                None,
                f"an embedding table has no memory for {capacity} rows of "
                f"{self._row_bytes} bytes",
            ) from None
        finally:
            if self._memory is not None:
                flat = np.frombuffer(self._memory, self.dtype)
                self._all = flat.reshape((-1, *self.shape))
            self.rows = self._all[:used]


def _enlarged(memory: mmap.mmap | None, size: int) -> mmap.mmap:
    if memory is not None:
        try:
            memory.resize(size)
        except (SystemError, BufferError):  # not this system; or an array is held
            pass
        else:
            return memory
    larger = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANON)
    if memory is not None:
        with memoryview(memory) as old:
            larger[: len(old)] = bytes(old)
    return larger
