"""Reading files record by record: lines, and records of equal length.

Files are read through a buffer, and no more is read than there is.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from typing import IO, Any, Final

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem

_CHUNK: Final = 1 << 18
_KINDS: dict[type, type[errors.OpError]] = {
    FileNotFoundError: errors.NotFoundError,
    PermissionError: errors.PermissionDeniedError,
    IsADirectoryError: errors.FailedPreconditionError,
    NotADirectoryError: errors.FailedPreconditionError,
}


def open_file(name: bytes) -> IO[bytes]:
    """The file, for reading.

    Raises:
      errors.OpError: NotFound, PermissionDenied or FailedPrecondition.
    """
    path = os.fsdecode(name)
    if "://" in path:
        return filesystem.open_file(path)
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
