"""`FileSystem`: what a file system has to offer, and a file that is being written."""

from __future__ import annotations

import abc
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from tensorloom.framework import errors
from tensorloom.storage.files.file_errors import file_error

_COPY_CHUNK = 1 << 22


@dataclass(frozen=True, slots=True)
class FileStatistics:
    """Size, time of the last change and kind of a file."""

    length: int  # bytes
    mtime_nsec: int  # since the epoch; 0 where the store does not know
    is_directory: bool


class StagedFile(abc.ABC):
    """A file that is written without a name, and gets its name in one step."""

    file: BinaryIO

    def append(self, data: Any) -> None:
        """Writes more, bytes or a flat uint8 array; large files by other threads.

        Not to be mixed with writing to `file`. Raises OSError.
        """
        self.file.write(data)

    def reserve(self, size: int) -> None:  # noqa: B027 - most have no use for it
        """Tells before all else about how many bytes will be appended."""

    @abc.abstractmethod
    def seal(self) -> None:
        """Ends the writing. What takes long is done here."""

    @abc.abstractmethod
    def publish(self) -> None:
        """Gives the file its name, in place of an earlier file."""

    @abc.abstractmethod
    def discard(self) -> None:
        """Leaves no trace of it; does nothing after `publish`. Raises nothing."""


class FileSystem(abc.ABC):
    """The operations of a store. Paths come with their scheme.

    Every method raises the errors of `tensorloom.errors`, NotFoundError above all.
    """

    @abc.abstractmethod
    def open(self, path: str, mode: str) -> BinaryIO:
        """A binary file; `mode` is "rb", "wb", "ab" or "xb"."""

    @abc.abstractmethod
    def stage(self, path: str) -> StagedFile:
        """A new file that has no name yet."""

    @contextlib.contextmanager
    def writer(self, path: str) -> Iterator[BinaryIO]:
        """A file that appears under its name whole, when the block ends well.

        An earlier file of that name stays until then, and stays when it does not.
        """
        staged = self.stage(path)
        try:
            try:
                yield staged.file
            except OSError as error:
                raise file_error(path, error) from None
            staged.seal()
            staged.publish()
        except BaseException:
            staged.discard()
            raise

    @abc.abstractmethod
    def stat(self, path: str) -> FileStatistics:
        """Size, time and kind."""

    @abc.abstractmethod
    def list_directory(self, path: str) -> list[str]:
        """The names in a directory, sorted."""

    @abc.abstractmethod
    def make_directory(self, path: str) -> None:
        """Makes one directory. Raises AlreadyExistsError."""

    @abc.abstractmethod
    def make_directories(self, path: str) -> None:
        """Makes a directory and those above it, as far as they are missing."""

    @abc.abstractmethod
    def remove(self, path: str) -> None:
        """Removes a file."""

    def retire(self, path: str) -> None:
        """Removes a file; its room may be kept for what is written next."""
        self.remove(path)

    @abc.abstractmethod
    def remove_directory(self, path: str) -> None:
        """Removes an empty directory."""

    @abc.abstractmethod
    def remove_tree(self, path: str) -> None:
        """Removes a directory with everything under it."""

    @abc.abstractmethod
    def rename(self, source: str, destination: str) -> None:
        """Renames, in place of what is there."""

    def exists(self, path: str) -> bool:
        """Whether there is a file or a directory."""
        try:
            self.stat(path)
        except errors.NotFoundError:
            return False
        return True

    def is_directory(self, path: str) -> bool:
        """Whether there is a directory."""
        try:
            return self.stat(path).is_directory
        except errors.NotFoundError:
            return False

    def copy(self, source: str, destination: str) -> None:
        """Copies a file within the store."""
        copy_contents(self, source, self, destination)


def copy_contents(
    from_files: FileSystem, source: str, to_files: FileSystem, destination: str
) -> None:
    """Copies a file between stores; it appears whole."""
    with from_files.open(source, "rb") as reader, to_files.writer(destination) as out:
        while chunk := reader.read(_COPY_CHUNK):
            out.write(chunk)
