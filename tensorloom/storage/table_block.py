"""A block of a table: entries in order of their keys.

An entry is three numbers (how many bytes its key shares with the key before, how many
are its own, how long its value is), then those bytes of the key, then the value. From
the restarts, which are listed behind the entries, one can read without what stands
before: an entry there shares nothing.
"""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from tensorloom.storage import byte_rows
from tensorloom.storage.coding import decode_varint

_FEW = 64  # entries, for which arrays do not pay
_MOST = 1 << 22  # bytes of keys that may stand in an array


class Block:
    """The entries of a block.

    Attributes:
      keys: their keys, in order.
      sizes: int64 [entries], how many bytes their values have.
      in_order: whether each key is above the one before it.

    Raises:
      IndexError: it is damaged.
    """

    def __init__(self, data: bytes) -> None:
        if len(data) < 4:
            raise IndexError("block without restarts")
        count = int.from_bytes(data[-4:], "little")
        end = len(data) - 4 - 4 * count
        if end < 0:
            raise IndexError("too many restarts in block")
        self._data = data
        self.keys: list[bytes]
        restarts = np.frombuffer(data, "<u4", count, end).astype(np.int64)
        starts, run = _even_starts(data, restarts, end)
        if starts is None or not self._read_arrays(starts, run):
            self._read_each(end)

    def value(self, index: int) -> bytes:
        """One of the values."""
        place = int(self._places[index])
        return self._data[place : place + int(self.sizes[index])]

    @functools.cached_property
    def values(self) -> list[bytes]:
        """The values, in the order of the keys."""
        data = self._data
        ends = (self._places + self.sizes).tolist()
        return [
            data[start:end]
            for start, end in zip(self._places.tolist(), ends, strict=True)
        ]

    def heads(self, size: int) -> Any:
        """The first bytes of all values: uint8 [entries, size].

        Behind a value that is shorter stands whatever comes after it.
        """
        return byte_rows.rows(self._data, self._places, size)

    def words(self) -> Any:
        """The first four bytes of all values, as `heads` has them: uint32 [entries]."""
        return byte_rows.words(self._data, self._places)

    def _read_each(self, end: int) -> None:
        """Reads any entries, one after the other."""
        data, at, key = self._data, 0, b""
        self.keys = []
        values: list[int] = []
        sizes: list[int] = []
        while at < end:
            shared, at = decode_varint(data, at)
            unshared, at = decode_varint(data, at)
            size, at = decode_varint(data, at)
            value = at + unshared
            if shared > len(key) or value + size > end:
                raise IndexError("bad entry in block")
            self.keys.append(key := key[:shared] + data[at:value])
            values.append(value)
            sizes.append(size)
            at = value + size
        self._places = np.array(values, np.int64)
        self.sizes = np.array(sizes, np.int64)
        self.in_order = all(map(operator.lt, self.keys, self.keys[1:]))

    def _read_arrays(self, starts: Any, run: int) -> bool:
        """Reads all entries at once, where their three numbers have a byte each.

        A checkpoint may have many thousands. False if they are not of that kind.

        Args:
          run: how many entries there are from restart to restart.
        """
        data: Any = np.frombuffer(self._data, np.uint8)
        shared, unshared, sizes = (data[starts + i] for i in range(3))
        lengths = shared + unshared
        width = int(lengths.max())
        if (
            not width
            or (shared | unshared | sizes).max() > 127
            or shared[::run].any()
            or (shared[1:] > lengths[:-1]).any()
            or not data[starts + 2 + unshared].all()  # NumPy's strings drop last zeros
            or len(starts) * width > _MOST
        ):
            return False
        # A key's own bytes, in their columns. A shared one is that of the nearest key
        # before that has it as its own: those of 1, 2, 4 ... keys before are tried.
        letters = byte_rows.rows(self._data, starts + 3 - shared, width)
        missing = ~byte_rows.from_column(shared, width)
        letters &= ~missing
        flat, lost, step = letters.ravel(), missing.ravel(), width
        while step < run * width:
            flat[step:] |= flat[:-step] & lost[step:]
            lost[step:] &= lost[:-step]
            step *= 2
        letters &= ~byte_rows.from_column(lengths, width)
        keys = letters.view(f"S{width}")[:, 0]
        self.keys, self.in_order = keys.tolist(), bool((keys[1:] > keys[:-1]).all())
        self._places, self.sizes = starts + 3 + unshared, sizes.astype(np.int64)
        return True


def _even_starts(data: bytes, restarts: Any, end: int) -> tuple[Any, int]:
    """Where the entries start, if there are equally many from restart to restart.

    Those between all restarts are walked together. The three numbers are taken for a
    byte each.

    Returns:
      int64 [entries], None if there are few or they do not reach just to the end; and
      how many there are from restart to restart.
    """
    if len(restarts) < 2 or end > 1 << 24 or restarts[0] or (restarts > end).any():
        return None, 0
    jumps = np.frombuffer(data, np.uint8, end).astype(np.uint16)
    jumps = jumps[1:-1] + jumps[2:] + 3
    at, rows = restarts[:-1], []
    try:
        while at[0] < restarts[1]:
            rows.append(at)
            at = at + jumps[at]
        last, tail = int(restarts[-1]), []
        while last < end:
            tail.append(last)
            last += int(jumps[last])
    except IndexError:
        return None, 0
    if last != end or (at != restarts[1:]).any() or len(tail) > len(rows):
        return None, 0
    starts = np.concatenate([np.array(rows).T.ravel(), np.array(tail, np.int64)])
    return (starts if len(starts) >= _FEW else None), len(rows)
