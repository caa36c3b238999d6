"""Reading files record by record: lines, framed records, records of equal length.

Framed records are TensorFlow's: length (8 bytes), its masked checksum (4), the data,
and its masked checksum (4). Files are read through a buffer; a length is believed only
after its checksum, and no more is read than there is.
"""

from __future__ import annotations

import os
import struct
import zlib
from collections.abc import Iterator
from typing import IO, Any, Final

from tensorloom.framework import errors

_HEADER: Final = struct.Struct("<QI")
_FOOTER: Final = struct.Struct("<I")
_CHUNK: Final = 1 << 18
_KINDS: dict[type, type[errors.OpError]] = {
    FileNotFoundError: errors.NotFoundError,
    PermissionError: errors.PermissionDeniedError,
    IsADirectoryError: errors.FailedPreconditionError,
    NotADirectoryError: errors.FailedPreconditionError,
}


def masked_crc32c(data: bytes) -> int:
    """CRC-32C, rotated and shifted so that a checksum of checksums stays good."""
    import google_crc32c

    crc: int = google_crc32c.value(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def open_file(name: bytes) -> IO[bytes]:
    """The file, for reading.

    Raises:
      errors.OpError: NotFound, PermissionDenied or FailedPrecondition.
    """
    path = os.fsdecode(name)
    try:
        return open(path, "rb")
    except OSError as error:
        kind: Any = _KINDS.get(type(error), errors.UnknownError)
        raise kind(None, None, f"{path}; {error.strerror}") from None
    except ValueError as error:  # a null character
        raise errors.InvalidArgumentError(None, None, f"{path}; {error}") from None


class _Inflated:
    """A compressed file, read as what it holds: ZLIB or GZIP, also several members."""

    def __init__(self, file: IO[bytes], window_bits: int) -> None:
        self._file = file
        self._window_bits = window_bits
        self._inflate = zlib.decompressobj(window_bits)
        self._raw = b""

    def read(self, size: int) -> bytes:
        """Up to `size` bytes; fewer at the end alone."""
        parts: list[bytes] = []
        while size > 0:
            part = self._some(size)
            if not part:
                break
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _some(self, size: int) -> bytes:
        while True:
            if self._inflate.eof:
                self._raw = self._inflate.unused_data
                self._inflate = zlib.decompressobj(self._window_bits)
            if not self._raw:
                self._raw = self._file.read(_CHUNK)
                if not self._raw:
                    return b""
            try:
                part = self._inflate.decompress(self._raw, size)
            except zlib.error as error:
                reason = str(error).partition("data: ")[2] or str(error)
                raise errors.DataLossError(
                    None, None, f"inflate() failed with error -3: {reason}"
                ) from None
            self._raw = self._inflate.unconsumed_tail
            if part:
                return part

    def close(self) -> None:
        """Closes the file."""
        self._file.close()


def open_compressed(name: bytes, compression: str) -> Any:
    """The file as what it holds; `compression` is "", "ZLIB" or "GZIP"."""
    file = open_file(name)
    if compression == "ZLIB":
        return _Inflated(file, zlib.MAX_WBITS)
    if compression == "GZIP":
        return _Inflated(file, zlib.MAX_WBITS | 16)
    return file


def framed_records(file: Any) -> Iterator[tuple[int, bytes]]:
    """(offset, data) of each record of a record file.

    Raises:
      errors.DataLossError: a checksum does not fit, or the file ends within a record.
    """
    offset = 0
    while True:
        header = file.read(_HEADER.size)
        if not header:
            return
        if len(header) < _HEADER.size:
            raise _data_loss("truncated", offset)
        length, checksum = _HEADER.unpack(header)
        if masked_crc32c(header[:8]) != checksum:
            raise _data_loss("corrupted", offset)
        data = read_at_most(file, length)
        footer = file.read(_FOOTER.size)
        if len(data) < length or len(footer) < _FOOTER.size:
            raise _data_loss("truncated", offset)
        if masked_crc32c(data) != _FOOTER.unpack(footer)[0]:
            raise _data_loss("corrupted", offset)
        yield offset, data
        offset += _HEADER.size + length + _FOOTER.size


def read_at_most(file: Any, length: int) -> bytes:
    """`length` bytes, in pieces, so that a wrong length allocates nothing."""
    if length <= _CHUNK:
        return file.read(length)  # type: ignore[no-any-return]
    parts: list[bytes] = []
    while length > 0:
        part = file.read(min(length, 1 << 24))
        if not part:
            break
        parts.append(part)
        length -= len(part)
    return b"".join(parts)


def _data_loss(what: str, offset: int) -> errors.DataLossError:
    return errors.DataLossError(None, None, f"{what} record at {offset}")


def lines(file: Any, skip: int) -> Iterator[tuple[int, bytes]]:
    """(number, line) of each line; numbers begin at 1; CR LF and LF end a line."""
    for number, line in enumerate(file, start=1):
        if number > skip:
            if line.endswith(b"\n"):
                line = line[:-1]
            yield number, line.removesuffix(b"\r")


def fixed_records(
    file: Any, header: int, record: int, footer: int, hop: int
) -> Iterator[tuple[int, bytes]]:
    """(number, data) of records of `record` bytes, `hop` bytes from one to the next.

    What is left before the footer and is no whole record is left out.
    """
    # The footer is known to be one when the file ends: so it is read ahead.
    if len(read_at_most(file, header)) < header:
        return
    held = b""
    number = 0
    step = hop or record
    while True:
        held += read_at_most(file, record + footer - len(held))
        if len(held) < record + footer or not record:
            return
        yield number, held[:record]
        number += 1
        if step > len(held):
            read_at_most(file, step - len(held))
        held = held[step:]
