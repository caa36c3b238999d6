"""Files that others read while they are written, such as event files."""

from __future__ import annotations

import shutil
import tempfile
from typing import Protocol

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import as_file_errors

_IN_MEMORY = 1 << 20  # bytes, until the copy of a remote file goes to the disk


class GrowingFile(Protocol):
    """What is written can be read by others after `flush`."""

    @property
    def closed(self) -> bool: ...

    def write(self, data: bytes, /) -> object: ...

    def flush(self) -> None: ...

    def close(self) -> None: ...


def create_growing_file(path: str) -> GrowingFile:
    """A new file.

    Raises:
      AlreadyExistsError: there is one of that name.
      OpError: it cannot be made.
    """
    if filesystem.scheme_of(path) in ("", "file"):
        return filesystem.open_file(path, "xb")
    return _UploadedFile(path)


class _UploadedFile:
    """A file of a store that knows whole files only: each flush writes all of it."""

    def __init__(self, path: str) -> None:
        if filesystem.exists(path):
            raise errors.AlreadyExistsError(None, None, f"{path}; File exists")
        self._path = path
        self._copy = tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115
        self._news = True

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._copy.closed

    def write(self, data: bytes, /) -> int:
        """Adds bytes at the end."""
        self._news = True
        with as_file_errors(self._path):
            return self._copy.write(data)

    def flush(self) -> None:
        """Writes the file to its store, if there is anything new."""
        if not self._news:
            return
        end = self._copy.tell()
        self._copy.seek(0)
        try:
            with filesystem.open_writer(self._path) as out:
                shutil.copyfileobj(self._copy, out, 1 << 22)
        finally:
            self._copy.seek(end)
        self._news = False

    def close(self) -> None:
        """Flushes, and forgets the copy."""
        if self._copy.closed:
            return
        try:
            self.flush()
        finally:
            self._copy.close()
