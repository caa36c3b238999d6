"""A block of a table: entries in order of their keys.

An entry is three numbers (how many bytes its key shares with the key before, how many
are its own, how long its value is), then those bytes of the key, then the value. From
the restarts, which are listed behind the entries, one can read without what stands
before: an entry there shares nothing.
"""

from __future__ import annotations

import functools
import operator
from bisect import bisect_left
from typing import Any

import numpy as np

from tensorloom.framework.types.varint import decode_varint
from tensorloom.storage.tables import byte_rows

_FEW = 64  # entries, for which arrays do not pay
_MOST = 1 << 22  # bytes of keys that may stand in an array


class Block:
    """The entries of a block.

    Attributes:
      data: the bytes of the block.
      places: int64 [entries], where in the data their values begin.
      sizes: int64 [entries], how many bytes these have.
      end: where the entries end.
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
        self.data, self.end = data, end
        self._keys: Any  # list of bytes, or array of strings
        starts, run = _even_starts(data, count, end)
        if starts is None or not self._read_arrays(starts, run):
            self._read_each()

    def __len__(self) -> int:
        return len(self._keys)

    def key(self, index: int) -> bytes:
        """One of the keys."""
        return bytes(self._keys[index])

    @functools.cached_property
    def keys(self) -> list[bytes]:
        """The keys, in order."""
        keys: list[bytes] = (
            self._keys if isinstance(self._keys, list) else self._keys.tolist()
        )
        return keys

    def first_from(self, key: bytes) -> int:
        """The number of the first entry whose key is not below one."""
        return bisect_left(self._keys, key)

    def texts(self) -> list[str] | None:
        """The keys that are not empty, as text.

        None if they are few, or not just words of ASCII.
        """
        if isinstance(self._keys, list):
            return None
        letters = self._keys.view(np.uint8).reshape(len(self), -1)
        return byte_rows.split(letters, self._key_bytes)

    def value(self, index: int) -> bytes:
        """One of the values."""
        place = int(self.places[index])
        return self.data[place : place + int(self.sizes[index])]

    @functools.cached_property
    def values(self) -> list[bytes]:
        """The values, in the order of the keys."""
        data = self.data
        ends = (self.places + self.sizes).tolist()
        return [
            data[start:end]
            for start, end in zip(self.places.tolist(), ends, strict=True)
        ]

    def _read_each(self) -> None:
        """Reads any entries, one after the other."""
        data, end, at, key = self.data, self.end, 0, b""
        keys: list[bytes] = []
        values: list[int] = []
        sizes: list[int] = []
        while at < end:
            shared, at = decode_varint(data, at)
            unshared, at = decode_varint(data, at)
            size, at = decode_varint(data, at)
            value = at + unshared
            if shared > len(key) or value + size > end:
                raise IndexError("bad entry in block")
            keys.append(key := key[:shared] + data[at:value])
            values.append(value)
            sizes.append(size)
            at = value + size
        self._keys = keys
        self.places = np.array(values, np.int64)
        self.sizes = np.array(sizes, np.int64)
        self.in_order = all(map(operator.lt, keys, keys[1:]))

    def _read_arrays(self, starts: Any, run: int) -> bool:
        """Reads all entries at once, where their three numbers have a byte each.

        A checkpoint may have many thousands. False if they are not of that kind.

        Args:
          run: how many entries there are from restart to restart.
        """
        every = np.frombuffer(self.data, np.uint8)
        numbers = [every[at:].take(starts) for at in range(3)]
        shared, unshared, sizes = (number.astype(np.int64) for number in numbers)
        lengths, places = shared + unshared, starts + 3 + unshared
        width = int(lengths.max()) + 1  # a zero behind each key
        if (
            width == 1
            or max(number.max() for number in numbers) >= 0x80
            or shared[::run].any()
            or (shared[1:] > lengths[:-1]).any()
            # NumPy's strings lose zeros at their ends.
            or not every[2:].take(starts + unshared).all()
            or len(starts) * width > _MOST
        ):
            return False
        # A key's own bytes, in their columns. A shared one is that of the nearest key
        # before that has it as its own: those of 1, 2, 4 ... keys before are tried.
        letters = byte_rows.rows(self.data, starts + 3 - shared, self.end, width)
        missing = ~byte_rows.from_column(shared, width)
        letters &= ~missing
        flat, lost, step = letters.ravel(), missing.ravel(), width
        while step < run * width:
            flat[step:] |= flat[:-step] & lost[step:]
            if 2 * step < run * width:
                lost[step:] &= lost[:-step]
            step *= 2
        letters &= ~byte_rows.from_column(lengths, width)
        keys = letters.view(f"S{width}")[:, 0]
        self._key_bytes = int(lengths.sum())
        self._keys, self.in_order = keys, bool((keys[1:] > keys[:-1]).all())
        self.places, self.sizes = places, sizes
        return True


def _even_starts(data: bytes, count: int, end: int) -> tuple[Any, int]:
    """Where the entries start, if there are equally many from restart to restart.

    Those between all restarts are walked together. The three numbers are taken for a
    byte each.

    Args:
      count: how many restarts there are.
      end: where the entries end, and the restarts begin.

    Returns:
      int64 [entries], None if there are few or they do not reach just to the end; and
      how many there are from restart to restart.
    """
    if count < 2 or end > 1 << 24:
        return None, 0
    restarts = np.frombuffer(data, "<u4", count, end).astype(np.int64)
    if restarts[0] or (restarts > end).any():
        return None, 0
    numbers = np.frombuffer(data, np.uint8, end)
    jumps = numbers[1:-1] + numbers[2:]  # without the 3; wrong where it needs 9 bits
    at, skipped, rows = restarts[:-1], 0, []
    try:
        while at[0] + skipped < restarts[1]:
            rows.append(at)
            at = at + jumps[skipped:][at]
            skipped += 3
        last, tail = int(restarts[-1]), []
        while last < end:
            tail.append(last)
            last += int(jumps[last]) + 3
    except IndexError:
        return None, 0
    every = np.array([*rows, at]).T + np.arange(0, skipped + 1, 3)
    if last != end or (every[:, -1] != restarts[1:]).any() or len(tail) > len(rows):
        return None, 0
    starts = np.concatenate([every[:, :-1].ravel(), np.array(tail, np.int64)])
    return (starts if len(starts) >= _FEW else None), len(rows)
