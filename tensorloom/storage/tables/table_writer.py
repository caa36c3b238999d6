"""TensorFlow's tables (LevelDB's format): sorted keys and values in checked blocks."""

from __future__ import annotations

import struct
from typing import BinaryIO

from tensorloom.framework.types.varint import encode_varint
from tensorloom.storage.tables.crc32c import crc32c, mask

MAGIC = 0xDB4775248B80FB57
FOOTER_SIZE = 48
TRAILER_SIZE = 5
BLOCK_SIZE = 262144
_RESTART_INTERVAL = 16


def shared_length(first: bytes, second: bytes) -> int:
    """How many bytes both begin with."""
    limit = min(len(first), len(second))
    if first[:limit] == second[:limit]:
        return limit
    low = 0
    while limit - low > 1:
        middle = (low + limit) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            limit = middle
    return low


class _Block:
    """One block as it grows."""

    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._data = bytearray()
        self._restarts = [0]
        self._since = 0
        self._last = b""

    def add(self, key: bytes, value: bytes) -> None:
        shared = 0
        if self._since == self._interval:
            self._restarts.append(len(self._data))
            self._since = 0
        elif self._since:
            shared = shared_length(self._last, key)
        self._since += 1
        self._last = key
        data = self._data
        data += encode_varint(shared)
        data += encode_varint(len(key) - shared)
        data += encode_varint(len(value))
        data += key[shared:]
        data += value

    @property
    def size(self) -> int:
        return len(self._data) + 4 * len(self._restarts) + 4

    def finish(self) -> bytes:
        count = len(self._restarts)
        return bytes(self._data) + struct.pack(f"<{count + 1}I", *self._restarts, count)


def _separator(key: bytes, following: bytes) -> bytes:
    """A short key that is not below `key` and is below `following`."""
    at = shared_length(key, following)
    if at < min(len(key), len(following)) and key[at] + 1 < following[at]:
        return key[:at] + bytes((key[at] + 1,))
    return key


def _successor(key: bytes) -> bytes:
    """A short key that is not below `key`."""
    for at, byte in enumerate(key):
        if byte != 255:
            return key[:at] + bytes((byte + 1,))
    return key


class TableWriter:
    """Writes a table to a file. Keys come in order, each once.

    Args:
      file: opened for writing, at the table's start.
      block_size: a block ends when it has grown to this many bytes.
    """

    def __init__(self, file: BinaryIO, block_size: int = BLOCK_SIZE) -> None:
        self._file = file
        self._block_size = block_size
        self._offset = 0
        self._block = _Block(_RESTART_INTERVAL)
        self._index = _Block(1)
        self._pending: tuple[bytes, bytes] | None = None  # last key and block handle
        self._last: bytes | None = None

    def add(self, key: bytes, value: bytes) -> None:
        """Adds an entry. Raises ValueError when the key is not above the last one."""
        if self._last is not None and key <= self._last:
            raise ValueError(f"table keys must increase: {self._last!r}, {key!r}")
        if self._pending is not None:
            last, handle = self._pending
            self._index.add(_separator(last, key), handle)
            self._pending = None
        self._block.add(key, value)
        self._last = key
        if self._block.size >= self._block_size:
            self._end_block()

    def _end_block(self) -> None:
        assert self._last is not None
        self._pending = (self._last, self._emit(self._block))
        self._block = _Block(_RESTART_INTERVAL)

    def _emit(self, block: _Block) -> bytes:
        """Writes a block; its handle."""
        data = block.finish() + b"\x00"  # not compressed
        handle = encode_varint(self._offset) + encode_varint(len(data) - 1)
        self._file.write(data + struct.pack("<I", mask(crc32c(data))))
        self._offset += len(data) + 4
        return handle

    def finish(self) -> None:
        """Writes what is left, and the footer."""
        if self._pending is None and self._last is not None:
            self._end_block()
        meta = self._emit(_Block(_RESTART_INTERVAL))
        if self._pending is not None:
            last, handle = self._pending
            self._index.add(_successor(last), handle)
        footer = meta + self._emit(self._index)
        self._file.write(footer.ljust(FOOTER_SIZE - 8, b"\x00"))
        self._file.write(struct.pack("<Q", MAGIC))
