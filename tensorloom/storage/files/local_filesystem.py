"""The local disk, by system calls."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat as stat_modes
from typing import Any, BinaryIO

from tensorloom.framework import errors
from tensorloom.storage.files import spare_files
from tensorloom.storage.files.direct_file import DirectFile
from tensorloom.storage.files.file_errors import as_file_errors, file_error
from tensorloom.storage.files.filesystem_interface import (
    FileStatistics,
    FileSystem,
    StagedFile,
)
from tensorloom.storage.files.leftovers import hold, temporary_name

_BUFFER = 1 << 18


def local_path(path: str) -> str:
    """The path without `file://`, and without slashes at its end.

    As TensorFlow cleans it: "name/" is the file or directory "name".

    Raises:
      InvalidArgumentError: no file can have that name.
    """
    if "\0" in path:
        raise errors.InvalidArgumentError(None, None, f"{path!r} holds a NUL")
    if path.startswith("file://"):
        rest = path[len("file://") :]
        path = rest if rest.startswith("/") else "/" + rest.partition("/")[2]
    if path.endswith("/"):
        return path.rstrip("/") or "/"
    return path


def sync_directory(path: str) -> None:
    """Brings the names in a directory to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path or ".", os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class _LocalStagedFile(StagedFile):
    """A temporary file beside the name, on the disk before it is renamed."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._name = local_path(path)
        self._appended: DirectFile | None = None
        self._size = 0
        while True:
            self._beside = temporary_name(self._name)
            try:
                self.file = open(self._beside, "xb", buffering=_BUFFER)  # noqa: SIM115
            except OSError as error:
                raise file_error(path, error) from None
            if hold(self.file.fileno()):
                break
            self.file.close()

    def reserve(self, size: int) -> None:
        self._size = size

    def append(self, data: Any) -> None:
        if self._appended is None:
            self._take_spare()
            self._appended = DirectFile(self._beside, self.file.fileno(), self._size)
        self._appended.append(data)

    def _take_spare(self) -> None:
        """Goes on with an earlier file's blocks, if there is one to be had."""
        found = spare_files.take(self._beside, self.file.fileno(), self._size)
        if found is None:
            return
        os.remove(self._beside)
        self.file.close()
        self._beside, descriptor = found
        self.file = open(descriptor, "wb", buffering=_BUFFER)  # noqa: SIM115
        # After a crash its earlier name must not stand for what is written now.
        sync_directory(os.path.dirname(self._beside))

    def seal(self) -> None:
        with as_file_errors(self._path):
            if self._appended is not None:
                self._appended.finish()
            self.file.flush()
            os.fsync(self.file.fileno())

    def _close(self) -> None:
        if self._appended is not None:
            self._appended.close()
        self.file.close()

    def publish(self) -> None:
        with as_file_errors(self._path):
            os.replace(self._beside, self._name)
            # Closing ends the lock, which has to last until the file has its name.
            self._close()
        sync_directory(os.path.dirname(self._name))

    def discard(self) -> None:
        with contextlib.suppress(OSError):
            self._close()
        with contextlib.suppress(OSError):
            os.remove(self._beside)


class LocalFileSystem(FileSystem):
    """Paths without a scheme, and `file://`."""

    def open(self, path: str, mode: str) -> BinaryIO:
        """A binary file, buffered by Python."""
        name = local_path(path)
        try:
            # The caller closes it.
            return open(name, mode)  # type: ignore[return-value]
        except OSError as error:
            raise file_error(path, error) from None

    def stage(self, path: str) -> StagedFile:
        """A temporary file beside the name."""
        return _LocalStagedFile(path)

    def stat(self, path: str) -> FileStatistics:
        """Size, time and kind."""
        with as_file_errors(path):
            found = os.stat(local_path(path))
        return FileStatistics(
            found.st_size, found.st_mtime_ns, stat_modes.S_ISDIR(found.st_mode)
        )

    def exists(self, path: str) -> bool:
        """Whether there is a file or a directory."""
        return os.path.exists(local_path(path))

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory."""
        return os.path.isdir(local_path(path))

    def list_directory(self, path: str) -> list[str]:
        """The names in a directory, sorted."""
        with as_file_errors(path):
            return sorted(os.listdir(local_path(path) or "."))

    def make_directory(self, path: str) -> None:
        """Makes one directory."""
        with as_file_errors(path):
            os.mkdir(local_path(path))

    def make_directories(self, path: str) -> None:
        """Makes a directory and those above it."""
        with as_file_errors(path):
            os.makedirs(local_path(path) or ".", exist_ok=True)

    def remove(self, path: str) -> None:
        """Removes a file."""
        with as_file_errors(path):
            os.remove(local_path(path))

    def retire(self, path: str) -> None:
        """Removes a file; a large one's blocks are kept for a moment."""
        with as_file_errors(path):
            spare_files.retire(local_path(path))

    def remove_directory(self, path: str) -> None:
        """Removes an empty directory."""
        with as_file_errors(path):
            os.rmdir(local_path(path))

    def remove_tree(self, path: str) -> None:
        """Removes a directory with everything under it; links are not followed."""
        local = local_path(path)
        if os.path.islink(local):
            raise errors.FailedPreconditionError(
                None, None, f"{path}; Not a directory, but a symbolic link"
            )
        with as_file_errors(path):
            shutil.rmtree(local)

    def rename(self, source: str, destination: str) -> None:
        """Renames in one step."""
        with as_file_errors(source):
            os.replace(local_path(source), local_path(destination))

    def copy(self, source: str, destination: str) -> None:
        """Copies a file; the copy appears whole, at the end of a link if there is one.

        A new file gets the permissions of its source, an earlier one keeps its own.
        """
        of_directory = self.stat(source).is_directory
        if self.is_directory(destination):
            raise errors.FailedPreconditionError(
                None, None, f"{destination}; Is a directory"
            )
        name = local_path(destination)
        place = os.path.realpath(name) if os.path.islink(name) else destination
        with self.writer(place) as out:
            if of_directory:
                raise errors.InvalidArgumentError(
                    None, None, f"{destination}; Invalid argument"
                )
            with self.open(source, "rb") as reader:
                shutil.copyfileobj(reader, out, 1 << 22)
                mode = _mode_of_copy(reader.fileno(), name, out.fileno())
                os.fchmod(out.fileno(), mode)


def _mode_of_copy(source: int, destination: str, made: int) -> int:
    """The permissions that a copy gets, where its new file has been made."""
    with contextlib.suppress(OSError):
        return stat_modes.S_IMODE(os.stat(destination).st_mode)
    # The process's mask took some of reading and writing away; running goes with
    # reading.
    left = stat_modes.S_IMODE(os.fstat(made).st_mode)
    return os.fstat(source).st_mode & (left | (left & 0o444) >> 2)
