"""Files read in large blocks, plain or compressed, with TensorFlow's errors."""

from __future__ import annotations

import os
import zlib
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.storage.files.file_errors import as_file_errors, data_loss
from tensorloom.storage.files.filesystem import open_file

DEFAULT_BLOCK: Final = 256 * 1024

# A byte of the deflate format stands for 1032 bytes at most.
MOST_INFLATION: Final = 1032

# zlib's window size: with a zlib header, and with a gzip header.
_WINDOWS: Final = {b"ZLIB": zlib.MAX_WBITS, b"GZIP": zlib.MAX_WBITS | 16}


def compression_of(value: bytes | str | None) -> bytes:
    """A compression as ops name it: empty, GZIP or ZLIB.

    Raises:
      errors.InvalidArgumentError: it is another.
    """
    kind = value.encode() if isinstance(value, str) else value or b""
    if kind and kind not in _WINDOWS:
        raise errors.InvalidArgumentError(None, None, "Unsupported compression_type.")
    return kind


def decompressor(compression: bytes) -> Any:
    """zlib's state at the beginning of a compressed file."""
    return zlib.decompressobj(_WINDOWS[compression])


class ByteStream:
    """The bytes of a file, decompressed, front to back."""

    def __init__(
        self, name: str, compression: bytes = b"", block: int = DEFAULT_BLOCK
    ) -> None:
        self.name = name
        self._block = max(block, 16 * 1024)
        self._compression = compression_of(compression)
        with as_file_errors(name):
            self._file = open_file(name)
        self._inflate: Any = None
        self._begun = False
        self._rest = b""  # compressed bytes that are not inflated yet
        if self._compression:
            self._inflate = decompressor(self._compression)

    def close(self) -> None:
        """Closes the file."""
        self._file.close()

    def __del__(self) -> None:
        # A pipeline that is dropped half-way has nobody else to close its files.
        file = getattr(self, "_file", None)
        if file is not None:
            file.close()

    def size(self) -> int | None:
        """Length in bytes, if it is known without reading."""
        return None if self._inflate is not None else self._file_size()

    def most(self) -> int | None:
        """No more bytes than this can come out, if that is known without reading."""
        size = self._file_size()
        ratio = 1 if self._inflate is None else MOST_INFLATION
        return None if size is None else size * ratio

    def _file_size(self) -> int | None:
        try:
            return os.fstat(self._file.fileno()).st_size
        except (OSError, AttributeError):
            return None

    def read_block(self) -> bytes:
        """Some bytes; none at the end.

        Raises:
          errors.DataLossError: what is compressed is corrupted or cut off.
          errors.OpError: the file cannot be read.
        """
        if self._inflate is None:
            return self._read_file()
        return self._read_inflated()

    def holds(self, count: int) -> bool:
        """Whether a compressed file goes on for so many bytes.

        They are inflated and forgotten; the stream stays where it is.

        Raises:
          errors.DataLossError: what is compressed is corrupted or cut off before.
          errors.OpError: the file cannot be read.
        """
        with as_file_errors(self.name):
            place = self._file.tell()
        state = self._inflate.copy(), self._rest, self._begun
        try:
            while count > 0 and (block := self.read_block()):
                count -= len(block)
        finally:
            self._inflate, self._rest, self._begun = state
            with as_file_errors(self.name):
                self._file.seek(place)
        return count <= 0

    def read(self, count: int) -> bytes:
        """`count` bytes of a plain file, fewer at its end only."""
        with as_file_errors(self.name):
            return self._file.read(count)

    def _read_file(self) -> bytes:
        return self.read(self._block)

    def _read_inflated(self) -> bytes:
        while True:
            if self._inflate.eof and not self._next_member():
                return b""
            data = self._rest or self._read_file()
            if not data:
                if not self._begun:  # as TensorFlow: an empty file holds nothing
                    return b""
                raise data_loss(self.name, None, "truncated compressed data")
            self._begun = True
            try:
                # Never more than four blocks at once, however well they compress.
                out: bytes = self._inflate.decompress(data, 4 * self._block)
            except zlib.error as error:
                raise data_loss(
                    self.name, None, f"inflate() failed: {error}"
                ) from error
            self._rest = self._inflate.unconsumed_tail or self._inflate.unused_data
            if out:
                return out

    def _next_member(self) -> bool:
        """Begins the next of several compressed files that were concatenated."""
        self._rest = self._rest or self._read_file()
        if not self._rest:
            return False
        self._inflate = decompressor(self._compression)
        return True
