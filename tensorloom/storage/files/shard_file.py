"""Reading ranges of bytes of a data shard, by several threads on a local disk."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from tensorloom.storage.files import filesystem, io_threads
from tensorloom.storage.files.file_errors import as_file_errors, data_loss
from tensorloom.storage.files.local_filesystem import LocalFileSystem, local_path
from tensorloom.storage.tables.crc32c import CHUNK, combine, crc32c

if TYPE_CHECKING:
    from concurrent.futures import Future

PART = 1 << 23  # bytes that one thread reads at a time
_BY_THREADS = 1 << 20  # bytes; less is read before a thread would have begun


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
        flat = np.empty(size, np.uint8)
        self._read_into(flat, offset)
        return flat.tobytes()

    def read_into(self, flat: Any, offset: int) -> Callable[[], int]:
        """Reads into a flat uint8 array, a large one by several threads.

        Returns:
          What waits for the end; it gives the checksum of the bytes, or raises the
          error if there was one.
        """
        if flat.size < _BY_THREADS or self._file is not None:
            checksum = self._read_into(flat, offset)
            return lambda: checksum
        parts = [
            self._submit(flat[at : at + PART], offset + at)
            for at in range(0, flat.size, PART)
        ]

        def wait() -> int:
            crc = 0
            for size, part in parts:
                crc = combine(crc, part.result(), size)
            return crc

        return wait

    def _submit(self, flat: Any, offset: int) -> tuple[int, Future[int]]:
        return flat.size, io_threads.submit(self._read_into, flat, offset)

    def _read_into(self, flat: Any, offset: int) -> int:
        """Fills an array, and hashes each piece while the processor's cache has it."""
        at = crc = 0
        step = CHUNK if self._file is None else PART
        with as_file_errors(self.path):
            while at < flat.size:
                piece = flat[at : at + step]
                count = self._read_some(piece, offset + at)
                if not count:
                    raise data_loss(self.path, offset + at, "truncated read")
                crc = crc32c(piece[:count], crc)
                at += count
        return crc

    def _read_some(self, flat: Any, offset: int) -> int:
        if self._file is None:
            return os.preadv(self._descriptor, [flat], offset)
        with self._lock:
            self._file.seek(offset)
            data = self._file.read(flat.size)
        flat[: len(data)] = np.frombuffer(data, np.uint8)
        return len(data)
