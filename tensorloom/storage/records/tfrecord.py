"""TFRecord files: records with their lengths and checksums, read and written.

A record is its length (uint64), the masked crc32c of the length, the bytes, and the
masked crc32c of the bytes; all little-endian. Whole files may be compressed.
"""

from __future__ import annotations

import contextlib
import os
import struct
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.storage.files.byte_stream import (
    DEFAULT_BLOCK,
    MOST_INFLATION,
    ByteStream,
    compression_of,
)
from tensorloom.storage.files.file_errors import as_file_errors, data_loss
from tensorloom.storage.files.filesystem import open_file
from tensorloom.storage.tables.crc32c import mask

_HEADER: Final = struct.Struct("<QI")
_CRC: Final = struct.Struct("<I")
# A record above it cannot be a proto; in a compressed file nothing else would bound
# the memory that a few bytes can ask for.
MAX_COMPRESSED_RECORD: Final = 2**31 - 1
# A record of a compressed file that claims more than this, and more than so many times
# the file, is inflated once to see whether it is there before it is kept: a damaged
# length takes no more memory.
_TRUSTED: Final = 1 << 25
_TRUSTED_INFLATION: Final = 8
_MASK_DELTA: Final = 0xA282EAD8
FRAME: Final = 16  # bytes around each record
_WRITE_BLOCK: Final = 1 << 18
_KNOWN_LENGTHS: Final = 4096


@lru_cache(maxsize=1)
def checksum() -> Callable[[bytes], int]:
    """The function that computes a crc32c, loaded when it is first needed."""
    import google_crc32c

    implementation = getattr(google_crc32c, "cext", None)
    return getattr(implementation, "value", google_crc32c.value)  # type: ignore[no-any-return]


class RecordReader:
    """Reads the records of one file, in blocks.

    Args:
      name: the file.
      compression: empty, b"GZIP" or b"ZLIB".
      buffer_size: bytes to read at once.
    """

    def __init__(
        self, name: str, compression: bytes = b"", buffer_size: int = 0
    ) -> None:
        # Larger blocks are slower: each is memory that the system must clear first.
        self._stream = ByteStream(name, compression, buffer_size or DEFAULT_BLOCK)
        self._name = name
        self._crc = checksum()
        self._data = b""
        self._offset = 0  # of `_data` in the file
        self._left = self._stream.size()  # bytes of the file behind `_data`
        self._most = self._stream.most() if self._left is None else None
        self._failure: errors.OpError | None = None
        self._ended = False
        self._lengths: dict[int, int] = {}  # the masked checksums of lengths

    def close(self) -> None:
        """Closes the file; there are no more records then."""
        self._ended = True
        self._stream.close()

    def read_records(self) -> list[bytes]:
        """The next records, many at once; none at the end of the file.

        Raises:
          errors.DataLossError: a record is cut off or does not fit its checksum. What
            came before it has been given.
        """
        while True:
            if self._failure is not None:
                self.close()
                raise self._failure
            found, at = self._parse()
            if found:
                return found
            if self._failure is None and (self._ended or not self._extend(at)):
                self.close()
                return []

    def __iter__(self) -> Iterator[bytes]:
        try:
            while records := self.read_records():
                yield from records
        finally:
            self.close()

    def _extend(self, needed: int) -> bool:
        """Reads on until `_data` holds `needed` bytes; False at the end.

        An end within a record is a failure.
        """
        if self._left is not None and needed > len(self._data) + self._left:
            needed = len(self._data) + self._left + 1  # the end will show
        elif self._left is None and not self._is_there(needed - len(self._data)):
            self._failure = self._lost("truncated", self._offset)
            return True
        parts, size = [self._data], len(self._data)
        while size < needed:
            block = self._stream.read_block()
            if not block:
                break
            if self._left is not None:
                self._left = max(0, self._left - len(block))
            parts.append(block)
            size += len(block)
        had = len(self._data)
        self._data = b"".join(parts) if len(parts) > 1 else self._data
        if size >= needed:
            return True
        if size == 0:
            return False
        if size == had or size < needed:
            self._failure = self._lost("truncated", self._offset)
        return True

    def _is_there(self, count: int) -> bool:
        """Whether bytes that were promised come, as far as it costs memory."""
        trusted = _TRUSTED
        if self._most is not None:
            trusted = max(trusted, self._most // MOST_INFLATION * _TRUSTED_INFLATION)
        return count <= trusted or self._stream.holds(count)

    def _lost(self, what: str, offset: int) -> errors.DataLossError:
        return data_loss(self._name, offset, f"{what} record at {offset}")

    def _parse(self) -> tuple[list[bytes], int]:
        """All whole records of `_data`, and how many bytes the next one needs."""
        data, at, end = self._data, 0, len(self._data)
        unpack, lengths = _HEADER.unpack_from, self._lengths
        records: list[bytes] = []
        starts: list[int] = []
        stop = end - _HEADER.size
        needed = _HEADER.size
        while at <= stop:
            length, length_crc = unpack(data, at)
            if lengths.get(length) != length_crc and not self._check_length(
                length, length_crc, at
            ):
                break
            begin = at + 12
            after = begin + length + 4
            if after > end:
                needed = after - at
                break
            records.append(data[begin : begin + length])
            starts.append(at)
            at = after
        records = self._checked(records, starts, at)
        self._data = data[at:]
        self._offset += at
        return records, needed

    def _check_length(self, length: int, stored: int, at: int) -> bool:
        if mask(self._crc(_HEADER.pack(length, 0)[:8])) != stored or (
            self._stream.size() is None and length > MAX_COMPRESSED_RECORD
        ):
            self._failure = self._lost("corrupted", self._offset + at)
            return False
        if self._most is not None and length > self._most:
            # A few compressed bytes cannot hold it: do not unpack others to see.
            self._failure = self._lost("truncated", self._offset + at)
            return False
        if len(self._lengths) < _KNOWN_LENGTHS:
            self._lengths[length] = stored
        return True

    def _checked(
        self, records: list[bytes], starts: list[int], end: int
    ) -> list[bytes]:
        """The records before the first whose checksum is wrong."""
        if not records:
            return records
        crcs = np.fromiter(map(self._crc, records), np.uint32, len(records))
        masked = _masked(crcs)
        places = np.array([*starts[1:], end]) - 4
        raw = np.frombuffer(self._data, np.uint8)
        stored = np.zeros(len(records), np.uint32)
        for byte in range(4):
            stored |= raw[places + byte].astype(np.uint32) << np.uint32(8 * byte)
        wrong = np.flatnonzero(masked != stored)
        if not wrong.size:
            return records
        first = int(wrong[0])
        self._failure = self._lost("corrupted", self._offset + starts[first])
        return records[:first]


@dataclass(frozen=True, slots=True)
class Deflation:
    """How zlib compresses; the defaults are TensorFlow's."""

    level: int = zlib.Z_DEFAULT_COMPRESSION
    method: int = zlib.DEFLATED
    window_bits: int | None = None  # by the kind of compression when None
    memory_level: int = 9
    strategy: int = zlib.Z_DEFAULT_STRATEGY
    flush_mode: int = zlib.Z_SYNC_FLUSH  # of `RecordWriter.flush`

    def start(self, kind: bytes) -> Any:
        """zlib's compressor of a whole file.

        Raises:
          errors.InvalidArgumentError: zlib knows no such options.
        """
        bits = self.window_bits
        if bits is None:
            bits = zlib.MAX_WBITS | (16 if kind == b"GZIP" else 0)
        try:
            return zlib.compressobj(
                self.level, self.method, bits, self.memory_level, self.strategy
            )
        except (ValueError, zlib.error) as error:
            raise invalid_argument(f"{error}: {self}") from None


class RecordWriter:
    """Writes records to a file.

    Records are gathered, and hashed and written many at once.

    Args:
      name: the file; it is replaced.
      compression: empty, b"GZIP" or b"ZLIB".
      deflation: the options of the compression.
      file: an open file to write to, of that name.

    Raises:
      errors.OpError: the file cannot be opened.
    """

    def __init__(
        self,
        name: str,
        compression: bytes | str = b"",
        deflation: Deflation | None = None,
        file: Any = None,
    ) -> None:
        kind = compression_of(compression)
        self._name = name
        self._pending: list[bytes] | None = None
        self._pid = os.getpid()
        self._deflation = deflation or Deflation()
        self._deflate = self._deflation.start(kind) if kind else None
        self._file = open_file(name, "wb") if file is None else file
        self._crc = checksum()
        self._headers: dict[int, bytes] = {}
        self._size = 0  # of `_pending`, about
        self._pending = []

    def write(self, record: Any) -> None:
        """Adds a record, of bytes or what has a buffer.

        Raises:
          TypeError: it is something else.
          errors.FailedPreconditionError: the file was closed.
          errors.OpError: the file cannot be written.
        """
        if record.__class__ is not bytes:
            try:
                record = bytes(memoryview(record))
            except TypeError:
                found = type(record).__name__
                raise TypeError(f"expected bytes, {found} found") from None
        if self._pending is None:
            raise self._closed()
        self._pending.append(record)
        self._size += len(record) + FRAME
        if self._size >= _WRITE_BLOCK:
            self._drain()

    def flush(self) -> None:
        """Hands what was written to the operating system.

        Raises:
          errors.FailedPreconditionError: the file was closed.
          errors.OpError: the file cannot be written.
        """
        if self._pending is None:
            raise self._closed()
        self._drain()
        with as_file_errors(self._name):
            if self._deflate is not None:
                mode = self._deflation.flush_mode
                if mode != zlib.Z_NO_FLUSH:
                    self._file.write(self._deflate.flush(mode))
            self._file.flush()

    def close(self) -> None:
        """Finishes and closes the file; does nothing the second time.

        Raises:
          errors.OpError: the file cannot be written.
        """
        if self._pending is None:
            return
        try:
            self._drain()
            with as_file_errors(self._name):
                if self._deflate is not None:
                    self._file.write(self._deflate.flush())
        except errors.OpError:
            self.abandon()
            raise
        self._pending = None
        with as_file_errors(self._name):
            self._file.close()

    def abandon(self) -> None:
        """Closes the file without what was not flushed yet; raises nothing."""
        self._pending = None
        with contextlib.suppress(OSError, errors.OpError):
            self._file.close()

    def _closed(self) -> errors.OpError:
        return errors.FailedPreconditionError(
            None, None, f"Writer not initialized or previously closed ({self._name})"
        )

    def _drain(self) -> None:
        pending = self._pending
        if not pending:
            return
        self._pending, self._size = [], 0
        crcs = np.fromiter(map(self._crc, pending), np.uint32, len(pending))
        footers = _masked(crcs).astype("<u4").tobytes()
        parts: list[bytes] = [b""] * (3 * len(pending))
        parts[0::3] = map(self._header, map(len, pending))
        parts[1::3] = pending
        parts[2::3] = [footers[at : at + 4] for at in range(0, len(footers), 4)]
        data = b"".join(parts)
        with as_file_errors(self._name):
            if self._deflate is not None:
                data = self._deflate.compress(data)
            self._file.write(data)

    def _header(self, length: int) -> bytes:
        header = self._headers.get(length)
        if header is None:
            size = length.to_bytes(8, "little")
            header = size + _CRC.pack(mask(self._crc(size)))
            if len(self._headers) < _KNOWN_LENGTHS:
                self._headers[length] = header
        return header

    def __del__(self) -> None:
        # A program may leave the closing to us. A child that was forked has a copy of
        # what its parent is going to write.
        if getattr(self, "_pending", None) is not None and self._pid == os.getpid():
            with contextlib.suppress(Exception):
                self.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _masked(crcs: np.ndarray[Any, np.dtype[np.uint32]]) -> Any:
    rotated = (crcs >> np.uint32(15)) | (crcs << np.uint32(17))
    return rotated + np.uint32(_MASK_DELTA)
