"""Reading TensorFlow's tables. Nothing in a file is believed."""

from __future__ import annotations

import contextlib
import functools
import io
import operator
import struct
from bisect import bisect_left
from collections.abc import Iterator
from typing import BinaryIO

from tensorloom.framework import errors
from tensorloom.storage import filesystem, snappy
from tensorloom.storage.coding import decode_varint
from tensorloom.storage.crc32c import crc32c, mask
from tensorloom.storage.file_errors import as_file_errors, data_loss
from tensorloom.storage.table_writer import FOOTER_SIZE, MAGIC, TRAILER_SIZE

_RAW, _SNAPPY = 0, 1
_KEPT_BLOCK = 1 << 20  # bytes


def block_entries(block: bytes) -> tuple[list[bytes], list[bytes]]:
    """The keys and the values of a block, in order.

    Raises:
      IndexError: it is damaged.
    """
    if len(block) < 4:
        raise IndexError("block without restarts")
    end = len(block) - 4 - 4 * int.from_bytes(block[-4:], "little")
    if end < 0:
        raise IndexError("too many restarts in block")
    return _short_entries(block[:end]) or _any_entries(block, end)


def _short_entries(data: bytes) -> tuple[list[bytes], list[bytes]] | None:
    """Entries whose three numbers have a byte each; None if one is not of that kind.

    A checkpoint may have many thousands: an entry takes a fifth of a microsecond here.
    """
    keys: list[bytes] = []
    values: list[bytes] = []
    read, key = io.BytesIO(data).read, b""
    shared = unshared = length = 0
    try:
        for shared, unshared, length in iter(functools.partial(read, 3), b""):
            if shared | unshared | length > 127 or shared > len(key):
                return None
            keys.append(key := key[:shared] + read(unshared))
            values.append(read(length))
    except ValueError:  # the data ends within the three
        return None
    # Only the last entry can be cut.
    whole = keys and len(key) == shared + unshared and len(values[-1]) == length
    return (keys, values) if whole else None


def _any_entries(block: bytes, end: int) -> tuple[list[bytes], list[bytes]]:
    keys: list[bytes] = []
    values: list[bytes] = []
    at, key = 0, b""
    while at < end:
        shared, at = decode_varint(block, at)
        unshared, at = decode_varint(block, at)
        length, at = decode_varint(block, at)
        value_at = at + unshared
        if shared > len(key) or value_at + length > end:
            raise IndexError("bad entry in block")
        key = key[:shared] + block[at:value_at]
        at = value_at + length
        keys.append(key)
        values.append(block[value_at:at])
    return keys, values


class TableReader:
    """A table in a file of any file system.

    Blocks are read when they are needed, with their checksums. Keys must increase from
    entry to entry and blocks must not overlap, so that no file, however made, can be
    read without end.

    Args:
      path: the file.
      whole: read the file in one go, good for an index.

    Raises:
      DataLossError: it is not a table, or damaged.
    """

    def __init__(self, path: str, whole: bool = True) -> None:
        self._path = path
        self._file: BinaryIO | None = None
        self._data: bytes | None = None
        self._last: tuple[int, dict[bytes, bytes]] | None = None
        if whole:
            self._data = filesystem.read_file(path)
            self._size = len(self._data)
        else:
            self._file = filesystem.open_file(path)
            self._size = self._file.seek(0, 2)
        try:
            self._index = self._read_index()
        except BaseException:
            self.close()
            raise
        self._keys = [key for key, _, _ in self._index]

    @property
    def data(self) -> bytes:
        """The bytes of a table that was read whole."""
        assert self._data is not None
        return self._data

    def close(self) -> None:
        """Closes the file."""
        if self._file is not None:
            self._file.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def _read(self, offset: int, size: int) -> bytes:
        if self._data is not None:
            return self._data[offset : offset + size]
        assert self._file is not None
        with as_file_errors(self._path):
            self._file.seek(offset)
            data = self._file.read(size)
        if len(data) != size:
            raise data_loss(self._path, offset, "truncated block read")
        return data

    def _read_index(self) -> list[tuple[bytes, int, int]]:
        """Key (not below those of the block), offset and size of each block."""
        if self._size < FOOTER_SIZE:
            raise data_loss(self._path, None, "file is too short to be an sstable")
        start = self._size - FOOTER_SIZE
        footer = self._read(start, FOOTER_SIZE)
        if struct.unpack_from("<Q", footer, FOOTER_SIZE - 8)[0] != MAGIC:
            raise data_loss(
                self._path, self._size - 8, "not an sstable (bad magic number)"
            )
        try:
            at = decode_varint(footer, decode_varint(footer, 0)[1])[1]
            offset, size, _ = self._handle(footer, at)
            result, end = [], 0
            for key, handle in zip(
                *block_entries(self._block(offset, size)), strict=True
            ):
                offset, size, _ = self._handle(handle, 0)
                if offset < end:
                    raise IndexError("blocks of the index overlap")
                end = offset + size + TRAILER_SIZE
                result.append((key, offset, size))
        except IndexError as error:
            raise data_loss(
                self._path, start, f"corrupted index block: {error}"
            ) from None
        return result

    @staticmethod
    def _handle(data: bytes, at: int) -> tuple[int, int, int]:
        offset, at = decode_varint(data, at)
        size, at = decode_varint(data, at)
        return offset, size, at

    def _block(self, offset: int, size: int) -> bytes:
        if offset + size + TRAILER_SIZE > self._size - FOOTER_SIZE:
            raise data_loss(self._path, offset, "truncated block read")
        data = self._read(offset, size + TRAILER_SIZE)
        (stored,) = struct.unpack_from("<I", data, size + 1)
        if mask(crc32c(data[: size + 1])) != stored:
            raise data_loss(self._path, offset, "block checksum mismatch")
        if data[size] == _RAW:
            return data[:size]
        if data[size] != _SNAPPY:
            raise data_loss(self._path, offset, "bad block type")
        try:
            return snappy.decompress(data[:size])
        except IndexError as error:
            raise data_loss(
                self._path, offset, f"corrupted compressed block contents: {error}"
            ) from None

    def _entries(self, offset: int, size: int) -> tuple[list[bytes], list[bytes]]:
        try:
            return block_entries(self._block(offset, size))
        except IndexError as error:
            raise data_loss(self._path, offset, f"corrupted block: {error}") from None

    def entries(self) -> tuple[list[bytes], list[bytes]]:
        """All keys, in order, and their values."""
        all_keys: list[bytes] = []
        all_values: list[bytes] = []
        for _, offset, size in self._index:
            keys, values = self._entries(offset, size)
            in_order = all(map(operator.lt, keys, keys[1:]))
            if not in_order or (all_keys and keys and keys[0] <= all_keys[-1]):
                raise data_loss(self._path, offset, "keys are out of order")
            all_keys += keys
            all_values += values
        return all_keys, all_values

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries in order of their keys."""
        return zip(*self.entries(), strict=True)

    def get(self, key: bytes) -> bytes:
        """The value of a key. Raises NotFoundError."""
        at = bisect_left(self._keys, key)
        if at < len(self._index):
            _, offset, size = self._index[at]
            if self._last is not None and self._last[0] == offset:
                entries = self._last[1]
            else:
                entries = dict(zip(*self._entries(offset, size), strict=True))
                # Neighbours are often asked for next.
                self._last = (offset, entries) if size <= _KEPT_BLOCK else None
            if key in entries:
                return entries[key]
        raise errors.NotFoundError(None, None, f"key not found in {self._path}")
