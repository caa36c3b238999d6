"""`tf.gfile` and `tf.io.gfile`: files and directories of any scheme.

The functions of `tf.io.gfile` and their older names; both raise TensorFlow's errors.
"""

from __future__ import annotations

import contextlib
import zlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_io import FileIO

if TYPE_CHECKING:
    from tensorloom.storage.files.filesystem_interface import FileStatistics


@export("io.gfile.exists")
def exists(path: Any) -> bool:
    """Whether there is a file or directory."""
    return filesystem.exists(path)


@export("io.gfile.remove")
def remove(path: Any) -> None:
    """Removes a file. Raises NotFoundError, FailedPreconditionError for a directory."""
    filesystem.remove(path)


@export("io.gfile.glob")
def glob(pattern: Any) -> list[str]:
    """The paths that match a pattern, or any of several, sorted for each.

    Raises:
      NotFoundError: the directory before the first special character is not there.
    """
    if isinstance(pattern, str | bytes) or hasattr(pattern, "__fspath__"):
        return filesystem.glob(pattern)
    return [path for one in pattern for path in filesystem.glob(one)]


@export("io.gfile.mkdir")
def mkdir(path: Any) -> None:
    """Makes one directory; it may exist. Raises NotFoundError without a parent."""
    with contextlib.suppress(errors.AlreadyExistsError):
        filesystem.make_directory(path)


@export("io.gfile.makedirs")
def makedirs(path: Any) -> None:
    """Makes a directory and those above it, as far as they are missing."""
    with contextlib.suppress(errors.AlreadyExistsError):
        filesystem.make_directories(path)


@export("io.gfile.copy")
def copy(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Copies a file. Raises AlreadyExistsError if there is one, unless `overwrite`."""
    filesystem.copy(src, dst, overwrite)


@export("io.gfile.rename")
def rename(src: Any, dst: Any, overwrite: bool = False) -> None:
    """Renames. Raises AlreadyExistsError if there is one, unless `overwrite`."""
    filesystem.rename(src, dst, overwrite)


@export("io.gfile.rmtree")
def rmtree(path: Any) -> None:
    """Removes a directory with everything under it.

    Raises:
      NotFoundError: it does not exist.
    """
    text = filesystem.path_text(path)
    if not filesystem.exists(text):
        raise errors.NotFoundError(None, None, f"{text} not found")
    filesystem.remove_tree(text)


@export("io.gfile.isdir")
def isdir(path: Any) -> bool:
    """Whether there is a directory."""
    return filesystem.is_directory(path)


@export("io.gfile.listdir")
def listdir(path: Any) -> list[str]:
    """The names in a directory. Raises NotFoundError if it is none."""
    text = filesystem.path_text(path)
    if not filesystem.is_directory(text):
        raise errors.NotFoundError(None, None, f"Could not find directory {text}")
    return filesystem.list_directory(text)


@export("io.gfile.walk")
def walk(
    top: Any,
    topdown: bool = True,
    onerror: Callable[[errors.OpError], None] | None = None,
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each directory under `top` with the names of its directories and files.

    Args:
      topdown: a directory comes before those in it.
      onerror: called with an error of listing; None leaves the directory out.
    """
    return filesystem.walk(top, topdown, onerror)


@export("io.gfile.stat")
def stat(path: Any) -> FileStatistics:
    """`length` in bytes, `mtime_nsec`, `is_directory`. Raises NotFoundError."""
    return filesystem.stat(path)


# The older names, whose arguments are called differently.


@export("gfile.Exists")
def file_exists(filename: Any) -> bool:
    """Whether there is a file or directory."""
    return exists(filename)


@export("gfile.Remove")
def delete_file(filename: Any) -> None:
    """Removes a file."""
    remove(filename)


@export("gfile.Glob")
def get_matching_files(filename: Any) -> list[str]:
    """The paths that match a pattern, or any of several."""
    return glob(filename)


@export("gfile.MkDir")
def create_dir(dirname: Any) -> None:
    """Makes one directory; it may exist."""
    mkdir(dirname)


@export("gfile.MakeDirs")
def recursive_create_dir(dirname: Any) -> None:
    """Makes a directory and those above it."""
    makedirs(dirname)


@export("gfile.Copy")
def copy_file(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:
    """Copies a file."""
    copy(oldpath, newpath, overwrite)


@export("gfile.Rename")
def rename_file(oldname: Any, newname: Any, overwrite: bool = False) -> None:
    """Renames a file or directory."""
    rename(oldname, newname, overwrite)


@export("gfile.DeleteRecursively")
def delete_recursively(dirname: Any) -> None:
    """Removes a directory with everything under it."""
    rmtree(dirname)


@export("gfile.IsDirectory")
def is_directory(dirname: Any) -> bool:
    """Whether there is a directory."""
    return isdir(dirname)


@export("gfile.ListDirectory")
def list_directory(dirname: Any) -> list[str]:
    """The names in a directory."""
    return listdir(dirname)


@export("gfile.Walk")
def walk_directory(
    top: Any, in_order: bool = True
) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each directory under `top` with the names of its directories and files."""
    return walk(top, in_order)


@export("gfile.Stat")
def stat_file(filename: Any) -> FileStatistics:
    """`length` in bytes, `mtime_nsec`, `is_directory`."""
    return stat(filename)


def read_file_to_string(filename: Any, binary_mode: bool = False) -> str | bytes:
    """What a file holds, as text or as bytes."""
    data = filesystem.read_file(filename)
    return data if binary_mode else data.decode()


def write_string_to_file(filename: Any, file_content: str | bytes) -> None:
    """Makes a file hold this."""
    data = file_content.encode() if isinstance(file_content, str) else file_content
    filesystem.write_file(filename, data)


def atomic_write_string_to_file(
    filename: Any, contents: str | bytes, overwrite: bool = True
) -> None:
    """Makes a file hold this, all at once.

    Raises:
      errors.AlreadyExistsError: it is there, and not to be written over.
    """
    if not overwrite and filesystem.exists(filename):
        raise errors.AlreadyExistsError(None, None, f"{filename} exists")
    write_string_to_file(filename, contents)


def has_atomic_move(path: Any) -> bool:
    """Whether files are renamed at once there: here they always are."""
    return True


def file_crc32(filename: Any, block_size: int = 16 << 20) -> str:
    """The CRC-32 of a file, in hexadecimal digits behind `0x`.

    Args:
      filename: of the file.
      block_size: how many bytes to read at a time; -1 for all at once.
    """
    checksum = 0
    with FileIO(filename, "rb") as file:
        while block := file.read(block_size):
            checksum = zlib.crc32(block, checksum)
    return hex(checksum)


def filecmp(filename_a: Any, filename_b: Any) -> bool:
    """Whether two files hold the same bytes."""
    if filesystem.stat(filename_a).length != filesystem.stat(filename_b).length:
        return False
    return filesystem.read_file(filename_a) == filesystem.read_file(filename_b)
