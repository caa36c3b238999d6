"""TFRecord files: records with their lengths and checksums, read and written.

A record is its length (uint64), the masked crc32c of the length, the bytes, and the
masked crc32c of the bytes; all little-endian. Whole files may be compressed.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator
from functools import lru_cache
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.storage.byte_stream import DEFAULT_BLOCK, ByteStream, compression_of
from tensorloom.storage.crc32c import mask
from tensorloom.storage.file_errors import as_file_errors, data_loss
from tensorloom.storage.filesystem import open_file

if TYPE_CHECKING:
    from tensorloom.framework import errors

_HEADER: Final = struct.Struct("<QI")
_CRC: Final = struct.Struct("<I")
# A record above it cannot be a proto; in a compressed file nothing else would bound
# the memory that a few bytes can ask for.
_MAX_COMPRESSED_RECORD: Final = 2**31 - 1
_MASK_DELTA: Final = 0xA282EAD8


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
            self._stream.size() is None and length > _MAX_COMPRESSED_RECORD
        ):
            self._failure = self._lost("corrupted", self._offset + at)
            return False
        if len(self._lengths) < 4096:
            self._lengths[length] = stored
        return True

    def _checked(
        self, records: list[bytes], starts: list[int], end: int
    ) -> list[bytes]:
        """The records before the first whose checksum is wrong."""
        if not records:
            return records
        crcs = np.fromiter(map(self._crc, records), np.uint32, len(records))
        masked = ((crcs >> np.uint32(15)) | (crcs << np.uint32(17))) + np.uint32(
            _MASK_DELTA
        )
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


class RecordWriter:
    """Writes records to a file.

    Args:
      name: the file; it is replaced.
      compression: empty, b"GZIP" or b"ZLIB".
      level: zlib's compression level, -1 for its default.
    """

    def __init__(
        self, name: str, compression: bytes | str = b"", level: int = -1
    ) -> None:
        kind = compression_of(compression)
        with as_file_errors(name):
            self._file: Any = open_file(name, "wb")
        self._crc = checksum()
        self._deflate: Any = None
        if kind:
            wbits = zlib.MAX_WBITS | (16 if kind == b"GZIP" else 0)
            self._deflate = zlib.compressobj(level, zlib.DEFLATED, wbits)

    def write(self, record: bytes) -> None:
        """Adds a record."""
        crc = self._crc
        length = len(record).to_bytes(8, "little")
        data = b"".join(
            (
                length,
                _CRC.pack(mask(crc(length))),
                record,
                _CRC.pack(mask(crc(record))),
            )
        )
        self._file.write(
            data if self._deflate is None else self._deflate.compress(data)
        )

    def flush(self) -> None:
        """Hands what was written to the operating system."""
        if self._deflate is not None:
            self._file.write(self._deflate.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        """Finishes and closes the file."""
        if self._file.closed:
            return
        if self._deflate is not None:
            self._file.write(self._deflate.flush())
        self._file.close()

    def __enter__(self) -> RecordWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()
