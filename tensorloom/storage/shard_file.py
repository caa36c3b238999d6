"""Reading ranges of bytes of a data shard, by several threads on a local disk."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import Any, BinaryIO

from tensorloom.storage import filesystem
from tensorloom.storage.file_errors import as_file_errors, data_loss
from tensorloom.storage.io_threads import io_threads
from tensorloom.storage.local_filesystem import LocalFileSystem, local_path

PART = 1 << 23  # bytes that one thread reads at a time


class ShardFile:
    """A data file that is open for reading at any place.

    Raises:
      NotFoundError, PermissionDeniedError: it cannot be opened.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self._descriptor = -1
        self._file: BinaryIO | None = None
        self._lock = threading.Lock()
        if isinstance(filesystem.filesystem_of(path), LocalFileSystem):
            with as_file_errors(path):
                self._descriptor = os.open(local_path(path), os.O_RDONLY)
                self.size = os.fstat(self._descriptor).st_size
        else:
            self.size = filesystem.stat(path).length
            self._file = filesystem.open_file(path)

    def close(self) -> None:
        """Closes the file."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        if self._file is not None:
            self._file.close()
            self._file = None

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()

    def read(self, offset: int, size: int) -> bytes:
        """Bytes at a place. Raises DataLossError when there are not so many."""
        if self._file is None:
            with as_file_errors(self.path):
                data = os.pread(self._descriptor, size, offset)
            if len(data) == size:
                return data
        buffer = bytearray(size)
        self._read_into(memoryview(buffer), offset)
        return bytes(buffer)

    def read_into(self, flat: Any, offset: int) -> Callable[[], None]:
        """Reads into a flat uint8 array, a large one by several threads.

        Returns:
          What waits for the end, and raises the error if there was one.
        """
        view = memoryview(flat)
        if flat.size <= PART or self._file is not None:
            self._read_into(view, offset)
            return _nothing
        submit = io_threads().submit
        parts = [
            submit(self._read_into, view[at : at + PART], offset + at)
            for at in range(0, flat.size, PART)
        ]

        def wait() -> None:
            for part in parts:
                part.result()

        return wait

    def _read_into(self, view: memoryview, offset: int) -> None:
        at = 0
        with as_file_errors(self.path):
            while at < len(view):
                if self._file is None:
                    count = os.preadv(self._descriptor, [view[at:]], offset + at)
                else:
                    with self._lock:
                        self._file.seek(offset + at)
                        data = self._file.read(min(PART, len(view) - at))
                    count = len(data)
                    view[at : at + count] = data
                if not count:
                    raise data_loss(self.path, offset + at, "truncated read")
                at += count


def _nothing() -> None:
    pass
