"""Reading TensorFlow's tables. Nothing in a file is believed."""

from __future__ import annotations

import contextlib
import struct
from bisect import bisect_left
from collections.abc import Iterator
from typing import BinaryIO

from tensorloom.framework import errors
from tensorloom.framework.types.varint import decode_varint
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import as_file_errors, data_loss
from tensorloom.storage.tables import snappy
from tensorloom.storage.tables.crc32c import crc32c, mask
from tensorloom.storage.tables.table_block import Block
from tensorloom.storage.tables.table_writer import FOOTER_SIZE, MAGIC, TRAILER_SIZE

_RAW, _SNAPPY = 0, 1
_KEPT_BLOCK = 1 << 20  # bytes


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
            index = Block(self._block(offset, size))
            result, end = [], 0
            for key, handle in zip(index.keys, index.values, strict=True):
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
        data = self._read(offset, size)
        kind, stored = struct.unpack("<BI", self._read(offset + size, TRAILER_SIZE))
        if mask(crc32c(bytes([kind]), crc32c(data))) != stored:
            raise data_loss(self._path, offset, "block checksum mismatch")
        if kind == _RAW:
            return data
        if kind != _SNAPPY:
            raise data_loss(self._path, offset, "bad block type")
        try:
            return snappy.decompress(data)
        except IndexError as error:
            raise data_loss(
                self._path, offset, f"corrupted compressed block contents: {error}"
            ) from None

    def _parsed(self, offset: int, size: int) -> Block:
        try:
            return Block(self._block(offset, size))
        except IndexError as error:
            raise data_loss(self._path, offset, f"corrupted block: {error}") from None

    def blocks(self) -> Iterator[Block]:
        """All blocks with entries, in order."""
        last = None
        for _, offset, size in self._index:
            block = self._parsed(offset, size)
            if not len(block):
                continue
            if not block.in_order or (last is not None and block.key(0) <= last):
                raise data_loss(self._path, offset, "keys are out of order")
            yield block
            last = block.key(-1)

    def items(self) -> Iterator[tuple[bytes, bytes]]:
        """All entries in order of their keys."""
        for block in self.blocks():
            yield from zip(block.keys, block.values, strict=True)

    def get(self, key: bytes) -> bytes:
        """The value of a key. Raises NotFoundError."""
        at = bisect_left(self._keys, key)
        if at < len(self._index):
            _, offset, size = self._index[at]
            if self._last is not None and self._last[0] == offset:
                entries = self._last[1]
            else:
                block = self._parsed(offset, size)
                entries = dict(zip(block.keys, block.values, strict=True))
                # Neighbours are often asked for next.
                self._last = (offset, entries) if size <= _KEPT_BLOCK else None
            if key in entries:
                return entries[key]
        raise errors.NotFoundError(None, None, f"key not found in {self._path}")
