"""Every other scheme, through fsspec and its packages."""

from __future__ import annotations

import datetime
from typing import Any, BinaryIO, cast

from tensorloom.framework import errors
from tensorloom.storage.files.file_errors import file_error
from tensorloom.storage.files.filesystem_interface import (
    FileStatistics,
    FileSystem,
    StagedFile,
)
from tensorloom.storage.files.leftovers import temporary_name
from tensorloom.storage.files.store_writing import (
    Renamed,
    Upload,
    WrittenObject,
    move,
    store_errors,
)

# What to install for a scheme whose package is missing.
_EXTRAS = {
    "s3": "s3",
    "s3a": "s3",
    "gs": "gcs",
    "gcs": "gcs",
    "hdfs": "hdfs",
    "http": "http",
    "https": "http",
    "abfs": "azure",
    "az": "azure",
}
# Object stores: an object appears when its upload ends, and renaming would copy it.
_PUBLISHED_ON_CLOSE = frozenset(
    ("s3", "s3a", "gs", "gcs", "abfs", "abfss", "az", "adl", "oss", "oci", "r2")
)
# Where a flush, or going on behind the end, needs help: these, and fsspec's WebHDFS.
_WRITTEN_WHOLE = _PUBLISHED_ON_CLOSE | {"webhdfs"}
_READ_ONLY = frozenset(("http", "https", "data", "zip", "tar"))


def find_fsspec(scheme: str, path: str) -> Any:
    """fsspec's file system for a path, with its settings from the environment.

    Args:
      scheme: of the path.
      path: may name a server, with a port and a user, in the schemes that have one.

    Raises:
      UnimplementedError: fsspec knows no such scheme, or its package is missing.
      UnknownError: the file system cannot be made.
    """
    import fsspec

    unknown = f"File system scheme '{scheme}' not implemented (file: '{path}')"
    try:
        kind = fsspec.get_filesystem_class(scheme)
        return kind(**kind._get_kwargs_from_urls(path))
    except ImportError as error:
        extra = _EXTRAS.get(scheme)
        hint = f": pip install 'tensorloom[{extra}]'" if extra else f": {error}"
        raise errors.UnimplementedError(None, None, unknown + hint) from None
    except ValueError:
        raise errors.UnimplementedError(None, None, unknown) from None
    except (OSError, TypeError) as error:  # no server, or one of its libraries
        raise file_error(path, error) from None


class FsspecFileSystem(FileSystem):
    """A file system of fsspec's as one of ours."""

    def __init__(self, scheme: str, files: Any) -> None:
        self._scheme = scheme
        self._files = files

    def _inner(self, path: str) -> Any:
        # Urls are the paths of http; elsewhere the scheme comes off.
        return self._files._strip_protocol(path)

    def open(self, path: str, mode: str) -> BinaryIO:
        """A binary file."""
        if mode == "rb" and self.is_directory(path):
            raise errors.FailedPreconditionError(None, None, f"{path}; Is a directory")
        if mode != "rb":
            self._check_writable(path)
        if mode == "xb":
            if self.exists(path):
                raise errors.AlreadyExistsError(None, None, f"{path}; File exists")
            mode = "wb"
        if mode != "rb" and self._scheme in _WRITTEN_WHOLE:
            return cast("BinaryIO", WrittenObject(self, path, mode == "ab"))
        with store_errors(path):
            return cast("BinaryIO", self._files.open(self._inner(path), mode))

    def _check_writable(self, path: str) -> None:
        if self._scheme in _READ_ONLY:
            raise errors.PermissionDeniedError(
                None, None, f"{path}; {self._scheme} is read-only"
            )

    def stage(self, path: str) -> StagedFile:
        """An upload that ends when it is published, or a file to be renamed."""
        self._check_writable(path)
        kind = Upload if self._scheme in _PUBLISHED_ON_CLOSE else Renamed
        return kind(self._files, self._inner(path), path)

    def stat(self, path: str) -> FileStatistics:
        """Size, time and kind."""
        inner = self._inner(path)
        if not inner.strip("/"):
            return FileStatistics(0, 0, True)
        with store_errors(path):
            # Another process may have written since the store was last listed.
            self._files.invalidate_cache(self._files._parent(inner))
            info = self._files.info(inner)
        directory = info.get("type") == "directory"
        return FileStatistics(
            0 if directory else int(info.get("size") or 0), _time(info), directory
        )

    def list_directory(self, path: str) -> list[str]:
        """The names in a directory, sorted."""
        inner = self._inner(path)
        with store_errors(path):
            self._files.invalidate_cache(inner)
            names = list(self._files.ls(inner, detail=False))
        own = inner.strip("/")
        found = {n.rstrip("/").rpartition("/")[2] for n in names if n.strip("/") != own}
        return sorted(found - {""})

    def make_directory(self, path: str) -> None:
        """Makes one directory; many stores have none, and do nothing."""
        if self.exists(path):
            raise errors.AlreadyExistsError(None, None, f"{path}; File exists")
        with store_errors(path):
            self._files.mkdir(self._inner(path), create_parents=False)

    def make_directories(self, path: str) -> None:
        """Makes a directory and those above it."""
        if self._inner(path).strip("/"):
            with store_errors(path):
                self._files.makedirs(self._inner(path), exist_ok=True)

    def remove(self, path: str) -> None:
        """Removes a file."""
        if self.stat(path).is_directory:
            raise errors.FailedPreconditionError(None, None, f"{path}; Is a directory")
        with store_errors(path):
            self._files.rm_file(self._inner(path))

    def remove_directory(self, path: str) -> None:
        """Removes an empty directory."""
        # Some stores would remove what is in it, and some do nothing.
        if self.list_directory(path):
            raise errors.FailedPreconditionError(
                None, None, f"{path}; Directory not empty"
            )
        with store_errors(path):
            self._files.rmdir(self._inner(path))
        if self.exists(path):
            with store_errors(path):
                self._files.rm(self._inner(path))

    def remove_tree(self, path: str) -> None:
        """Removes everything under a directory."""
        if not self.exists(path):
            raise errors.NotFoundError(None, None, f"{path}; No such file or directory")
        with store_errors(path):
            self._files.rm(self._inner(path), recursive=True)

    def rename(self, source: str, destination: str) -> None:
        """Renames; in object stores it copies and removes."""
        directory = self.stat(source).is_directory
        if self.is_directory(destination):
            raise errors.FailedPreconditionError(
                None, None, f"{source}; Is a directory"
            )
        old, new = self._inner(source), self._inner(destination)
        with store_errors(source):
            if directory and self._scheme in _PUBLISHED_ON_CLOSE:
                self._move_objects(old, new)
            elif directory and self._renames_by_copies():
                self._files.mv(old, new, recursive=True)
            else:
                move(self._files, old, new)

    def _renames_by_copies(self) -> bool:
        from fsspec import AbstractFileSystem

        return type(self._files).mv is AbstractFileSystem.mv

    def _move_objects(self, old: str, new: str) -> None:
        """Gives all objects under a name another: there are no directories."""
        for name in self._files.find(old):
            self._files.cp_file(name, new + name[len(old) :])
        self._files.rm(old, recursive=True)

    def copy(self, source: str, destination: str) -> None:
        """Copies within the store; the copy appears whole."""
        if self.stat(source).is_directory:
            raise errors.InvalidArgumentError(
                None, None, f"{destination}; Invalid argument"
            )
        with store_errors(source):
            inner = self._inner(destination)
            if self._scheme in _PUBLISHED_ON_CLOSE:
                self._files.cp_file(self._inner(source), inner)
                return
            beside = temporary_name(inner)
            self._files.cp_file(self._inner(source), beside)
            move(self._files, beside, inner)


def _time(info: dict[str, Any]) -> int:
    """The time of the last change; every store has its own name for it."""
    for key in ("mtime", "LastModified", "updated", "last_modified", "created"):
        value = info.get(key)
        if isinstance(value, int | float):
            return int(value * 1e9)
        if isinstance(value, datetime.datetime):
            return int(value.timestamp() * 1e9)
    return int(info.get("modificationTime") or 0) * 1_000_000  # HDFS, in ms
