"""Writing large files past the system's cache, by several threads.

A checkpoint is on the disk before it has its name. Through the cache that means a copy
to fresh pages, and a wait for their way to the disk afterwards; without it the disk
takes the bytes while the next ones are hashed, and the memory that the cache would
take stays with those who train. File systems that cannot do this get plain writes.

Where it is known how large a file gets, its room is taken at once: a file that every
write makes longer is written by one thread at a time.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import mmap
import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, Final

import numpy as np

from tensorloom.storage.files import io_threads

BUFFER: Final = 1 << 22  # bytes that are written at a time
_BUFFERS: Final = 4  # on their way to the disk
# Offsets, lengths and addresses of direct writes are multiples of the disk's sector.
_SECTOR: Final = 4096
# After so many bytes in the cache the disk is told to begin.
_SYNC_EVERY: Final = 1 << 25
_O_DIRECT: Final = getattr(os, "O_DIRECT", 0)


class DirectFile:
    """Writes a file that is open for writing, from its beginning on.

    Args:
      name: the file.
      descriptor: of the same file, opened plainly; it stays the caller's. The file may
        hold anything: it is written over, and gets the length of what is appended.
      size: about how many bytes will be appended, 0 where that is not known.

    Every method raises OSError.
    """

    def __init__(self, name: str, descriptor: int, size: int = 0) -> None:
        self._name = name
        self._plain = descriptor
        self._size = size
        self._direct = -1
        self._buffer: Any = None
        self._filled = 0
        self._offset = 0
        self._unsynced = 0
        self._writing: deque[tuple[Future[None], Any]] = deque()
        self._syncing: Future[None] | None = None

    def append(self, data: Any) -> None:
        """Writes a flat uint8 array, or bytes."""
        flat = data if isinstance(data, np.ndarray) else np.frombuffer(data, np.uint8)
        at = 0
        while at < flat.size:
            if self._buffer is None:
                self._buffer = self._free_buffer()
            count = min(flat.size - at, BUFFER - self._filled)
            self._buffer[self._filled : self._filled + count] = flat[at : at + count]
            self._filled += count
            at += count
            if self._filled == BUFFER:
                self._start()

    def _free_buffer(self) -> Any:
        if len(self._writing) < _BUFFERS:
            return np.frombuffer(mmap.mmap(-1, BUFFER), np.uint8)
        future, buffer = self._writing.popleft()
        future.result()
        return buffer

    def _start(self) -> None:
        """Hands the full buffer to a thread."""
        if not self._offset:
            self._open_direct()
        future = io_threads.submit(self._write, self._buffer, self._offset)
        self._writing.append((future, self._buffer))
        self._offset += BUFFER
        self._unsynced += BUFFER
        self._buffer, self._filled = None, 0
        if self._direct < 0 and self._unsynced >= _SYNC_EVERY:
            self._sync_early()

    def _open_direct(self) -> None:
        # Refused where the file system has no such thing.
        if _O_DIRECT:
            with contextlib.suppress(OSError):
                self._direct = os.open(self._name, os.O_WRONLY | _O_DIRECT)
                _reserve(self._plain, self._size)

    def _sync_early(self) -> None:
        """Sends the disk to work while the rest is still being written."""
        if self._syncing is None or self._syncing.done():
            self._unsynced = 0
            self._syncing = io_threads.submit(os.fdatasync, self._plain)

    def _write(self, flat: Any, offset: int) -> None:
        if self._direct >= 0:
            try:
                _write_all(self._direct, flat, offset)
                return
            except OSError as error:
                # Larger sectors, or a file system that allows only the opening.
                if error.errno not in (errno.EINVAL, errno.EOPNOTSUPP):
                    raise
        _write_all(self._plain, flat, offset)

    def finish(self) -> None:
        """Returns when all is written; it may be in the system's cache."""
        while self._writing:
            self._writing.popleft()[0].result()
        if self._syncing is not None:
            self._syncing.result()
        if self._filled:
            self._write_rest()
        os.ftruncate(self._plain, self._offset + self._filled)

    def _write_rest(self) -> None:
        if self._direct < 0:
            _write_all(self._plain, self._buffer[: self._filled], self._offset)
            return
        whole = -(-self._filled // _SECTOR) * _SECTOR
        self._buffer[self._filled : whole] = 0
        self._write(self._buffer[:whole], self._offset)

    def close(self) -> None:
        """Waits for the threads, and ends; their errors are `finish`'s to raise."""
        futures = [future for future, _ in self._writing]
        wait(futures if self._syncing is None else [*futures, self._syncing])
        self._writing.clear()
        self._buffer = None
        if self._direct >= 0:
            os.close(self._direct)
            self._direct = -1


@functools.cache
def _fallocate() -> Callable[[int, int, int, int], int] | None:
    """The system's call, None where there is none.

    Not Python's `posix_fallocate`: where a file system has no such thing, the library
    behind it writes to every block.
    """
    library = ctypes.CDLL(None)
    for name in ("fallocate64", "fallocate"):
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = [ctypes.c_int] * 2 + [ctypes.c_int64] * 2
            return function  # type: ignore[no-any-return]
    return None


def _reserve(descriptor: int, size: int) -> None:
    """Makes a file so long, on blocks of its own, if that can be.

    A disk that is too full is told by the writes: the size may be above what comes.
    """
    function = _fallocate() if size > 0 else None
    if function is not None:
        function(descriptor, 0, 0, size)


def _write_all(descriptor: int, flat: Any, offset: int) -> None:
    at = 0
    while at < flat.size:
        at += os.pwrite(descriptor, flat[at:], offset + at)
