"""Files of any scheme: a local path, `s3://...`, `memory://...`, what a user registers.

A `FileSystem` is found by the scheme of a path. Paths without one and `file://` are
the local disk, natively; every other scheme comes from `register_filesystem`, or from
fsspec, whose packages are extras of ours (`tensorloom[s3]`). The functions here take
any path and raise TensorFlow's errors. `filesystem_interface.py` has the classes that
a file system is made of, `paths.py` what only looks at the text of a path.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterable, Iterator
from typing import Any, BinaryIO

from tensorloom.framework import errors
from tensorloom.storage.files.filesystem_interface import (
    FileStatistics,
    FileSystem,
    StagedFile,
    copy_contents,
)
from tensorloom.storage.files.paths import (
    Path,
    absolute,
    is_absolute,
    is_scheme,
    join,
    parent,
    path_text,
    scheme_of,
)

__all__ = [
    "FileStatistics",
    "FileSystem",
    "Path",
    "StagedFile",
    "absolute",
    "copy",
    "exists",
    "filesystem_of",
    "glob",
    "is_absolute",
    "is_directory",
    "join",
    "list_directory",
    "make_directories",
    "make_directory",
    "open_file",
    "open_writer",
    "parent",
    "path_text",
    "read_file",
    "register_filesystem",
    "remove",
    "remove_directory",
    "remove_if_exists",
    "remove_tree",
    "rename",
    "retire_if_exists",
    "scheme_of",
    "stage_file",
    "stat",
    "total_size",
    "walk",
    "write_file",
]

# --- schemes -------------------------------------------------------------------------

# Schemes whose paths name the server, as in hdfs://host:8020/run: each has its own file
# system. In other schemes a bucket, or nothing, stands there.
_WITH_SERVER = {"hdfs", "webhdfs", "ftp", "sftp", "ssh", "smb", "abfs", "abfss"}

_lock = threading.Lock()
_factories: dict[str, Callable[[], Any]] = {}
_found: dict[str, FileSystem] = {}


def register_filesystem(scheme: str, factory: Callable[[], Any]) -> None:
    """Makes paths `scheme://...` known.

    Args:
      scheme: without `://`; what was registered for it before is replaced.
      factory: makes a `FileSystem` or an fsspec file system, at the first use.

    Raises:
      InvalidArgumentError: `scheme` is not one.
    """
    if not is_scheme(scheme):
        raise errors.InvalidArgumentError(None, None, f"not a scheme: {scheme!r}")
    with _lock:
        _factories[scheme] = factory
        _found.pop(scheme, None)


def filesystem_of(path: Path) -> FileSystem:
    """The file system of a path.

    Raises:
      UnimplementedError: the scheme is unknown, or its package is not installed.
    """
    scheme = key = scheme_of(path)
    if scheme in _WITH_SERVER and scheme not in _factories:
        text = path_text(path)
        key = text[: len(scheme) + 3] + text[len(scheme) + 3 :].partition("/")[0]
    found = _found.get(key)
    if found is None:
        found = _find(scheme, path_text(path))
        with _lock:
            _found[key] = found
    return found


def _find(scheme: str, path: str) -> FileSystem:
    factory = _factories.get(scheme)
    if factory is None and scheme in ("", "file"):
        from tensorloom.storage.files.local_filesystem import LocalFileSystem

        return LocalFileSystem()
    from tensorloom.storage.files.fsspec_filesystem import FsspecFileSystem, find_fsspec

    made = find_fsspec(scheme, path) if factory is None else factory()
    return made if isinstance(made, FileSystem) else FsspecFileSystem(scheme, made)


# --- functions over any path ---------------------------------------------------------


def open_file(path: Path, mode: str = "rb") -> BinaryIO:
    """Opens a binary file: "rb", "wb", "ab" or "xb"."""
    return filesystem_of(path).open(path_text(path), mode)


def open_writer(path: Path) -> contextlib.AbstractContextManager[BinaryIO]:
    """Opens a file that appears whole when the block ends well, or not at all."""
    return filesystem_of(path).writer(path_text(path))


def stage_file(path: Path) -> StagedFile:
    """A new file that gets its name later, see `StagedFile`."""
    return filesystem_of(path).stage(path_text(path))


def read_file(path: Path) -> bytes:
    """The bytes of a file."""
    with open_file(path) as file:
        return file.read()


def write_file(path: Path, data: bytes) -> None:
    """Writes a file whole: it has its old or its new contents, never half."""
    with open_writer(path) as file:
        file.write(data)


def exists(path: Path) -> bool:
    """Whether there is a file or directory."""
    return filesystem_of(path).exists(path_text(path))


def is_directory(path: Path) -> bool:
    """Whether there is a directory."""
    return filesystem_of(path).is_directory(path_text(path))


def stat(path: Path) -> FileStatistics:
    """Size, time and kind."""
    return filesystem_of(path).stat(path_text(path))


def list_directory(path: Path) -> list[str]:
    """The names in a directory, sorted."""
    return filesystem_of(path).list_directory(path_text(path))


def make_directory(path: Path) -> None:
    """Makes one directory. Raises AlreadyExistsError."""
    filesystem_of(path).make_directory(path_text(path))


def make_directories(path: Path) -> None:
    """Makes a directory and those above it, as far as they are missing."""
    filesystem_of(path).make_directories(path_text(path))


def remove(path: Path) -> None:
    """Removes a file."""
    filesystem_of(path).remove(path_text(path))


def remove_if_exists(path: Path) -> None:
    """Removes a file if there is one."""
    with contextlib.suppress(errors.NotFoundError):
        remove(path)


def retire_if_exists(path: Path) -> None:
    """Removes a file if there is one; its room may be kept for what is written next."""
    with contextlib.suppress(errors.NotFoundError):
        filesystem_of(path).retire(path_text(path))


def remove_directory(path: Path) -> None:
    """Removes an empty directory."""
    filesystem_of(path).remove_directory(path_text(path))


def remove_tree(path: Path) -> None:
    """Removes a directory with everything under it."""
    filesystem_of(path).remove_tree(path_text(path))


def rename(source: Path, destination: Path, overwrite: bool = True) -> None:
    """Renames; between stores it copies and removes.

    Raises:
      AlreadyExistsError: the destination exists, and `overwrite` is false.
    """
    old, new = path_text(source), path_text(destination)
    if not overwrite and exists(new):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    from_files, to_files = filesystem_of(old), filesystem_of(new)
    if from_files is to_files:
        from_files.rename(old, new)
        return
    copy_contents(from_files, old, to_files, new)
    from_files.remove(old)


def copy(source: Path, destination: Path, overwrite: bool = False) -> None:
    """Copies a file, between stores too; the copy appears whole.

    Raises:
      AlreadyExistsError: the destination exists, and `overwrite` is false.
    """
    old, new = path_text(source), path_text(destination)
    if not overwrite and exists(new):
        raise errors.AlreadyExistsError(None, None, "file already exists")
    from_files, to_files = filesystem_of(old), filesystem_of(new)
    if from_files is to_files:
        from_files.copy(old, new)
    else:
        copy_contents(from_files, old, to_files, new)


def glob(pattern: Path) -> list[str]:
    """The paths that match a pattern, sorted; see `glob.py` for what it may hold."""
    from tensorloom.storage.files.glob import match_paths

    text = path_text(pattern)
    return match_paths(filesystem_of(text), text)


def walk(
    top: Path,
    top_down: bool = True,
    on_error: Callable[[errors.OpError], None] | None = None,
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Directories under `top`, itself first, each with its directories and files.

    An error of listing one is handed to `on_error`, or the directory left out.
    """
    text = path_text(top)
    try:
        if not is_directory(text):
            raise errors.NotFoundError(None, None, f"Could not find directory {text}")
        names = list_directory(text)
    except errors.OpError as error:
        if on_error is not None:
            on_error(error)
        return
    directories: list[str] = []
    files: list[str] = []
    for name in names:
        (directories if is_directory(join(text, name)) else files).append(name)
    here = (text, directories, files)
    if top_down:
        yield here
    for name in directories:
        yield from walk(join(text, name), top_down, on_error)
    if not top_down:
        yield here


def total_size(paths: Iterable[str]) -> int:
    """The bytes of some files together."""
    return sum(stat(path).length for path in paths)
