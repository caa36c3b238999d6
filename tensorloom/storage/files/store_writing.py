"""How files get into stores: uploads, renaming, and what is written bit by bit."""

from __future__ import annotations

import contextlib
import io
import shutil
from collections.abc import Iterator
from typing import Any

from tensorloom.framework import errors
from tensorloom.storage.files.file_errors import file_error
from tensorloom.storage.files.filesystem_interface import FileSystem, StagedFile
from tensorloom.storage.files.leftovers import temporary_name

_COPY_CHUNK = 1 << 22


@contextlib.contextmanager
def store_errors(path: str) -> Iterator[None]:
    """Raises TensorFlow's errors for those of a store."""
    try:
        yield
    except errors.OpError:
        raise
    except NotImplementedError:
        raise errors.UnimplementedError(
            None, None, f"{path}; the store does not support this"
        ) from None
    except Exception as error:
        # The clients of stores have their own classes; none may reach the caller.
        raise file_error(path, error) from error


def move(files: Any, source: str, destination: str) -> None:
    """Renames a file or directory of fsspec's, in place of a file that is there.

    Some stores do not replace, HDFS above all. There the earlier file goes aside first,
    so that one of the two has a name whatever happens in between.
    """
    try:
        files.mv(source, destination)
    except Exception:
        if not files.exists(source) or not files.exists(destination):
            raise
    else:
        # WebHDFS tells a refusal in an answer that fsspec does not read.
        if not files.exists(source):
            return
    aside = temporary_name(destination)
    files.mv(destination, aside)
    try:
        files.mv(source, destination)
        if files.exists(source):
            raise OSError(f"{source} was not renamed")
    except BaseException:
        files.mv(aside, destination)
        raise
    files.rm_file(aside)


class Upload(StagedFile):
    """An object of a store where it appears when its upload is completed."""

    def __init__(self, files: Any, inner: str, path: str) -> None:
        self._path = path
        self._published = False
        with store_errors(path):
            self.file = files.open(inner, "wb")

    def seal(self) -> None:
        pass

    def publish(self) -> None:
        with store_errors(self._path):
            self.file.close()
        self._published = True

    def discard(self) -> None:
        if not self._published:
            file: Any = self.file
            with contextlib.suppress(Exception):
                file.discard()
            # Closing would complete the upload.
            file.closed = True


class Renamed(StagedFile):
    """A file under another name, of a store that renames."""

    def __init__(self, files: Any, inner: str, path: str) -> None:
        self._files = files
        self._path = path
        self._inner = inner
        self._beside = temporary_name(inner)
        with store_errors(path):
            self.file = files.open(self._beside, "wb")

    def seal(self) -> None:
        with store_errors(self._path):
            self.file.close()

    def publish(self) -> None:
        with store_errors(self._path):
            move(self._files, self._beside, self._inner)

    def discard(self) -> None:
        with contextlib.suppress(Exception):
            self.file.close()
        with contextlib.suppress(Exception):
            self._files.rm_file(self._beside)


class WrittenObject(io.RawIOBase):
    """An object that is written as if it were a file.

    Object stores have whole objects only. After a flush there is one of what was
    written so far; what comes later is written behind a copy of it, as TensorFlow's
    own file systems do. Who flushes often pays for it.

    Args:
      store: the file system.
      path: of the object.
      append: begin behind what is there.
    """

    def __init__(self, store: FileSystem, path: str, append: bool) -> None:
        self._store = store
        self._path = path
        self._size = 0
        self._staged: StagedFile | None = None
        self._staged = self._begin(append and store.exists(path))

    def _begin(self, append: bool) -> StagedFile:
        # The earlier object stays until the new one is there.
        staged = self._store.stage(self._path)
        try:
            if append:
                with (
                    self._store.open(self._path, "rb") as old,
                    store_errors(self._path),
                ):
                    shutil.copyfileobj(old, staged.file, _COPY_CHUNK)
        except BaseException:
            staged.discard()
            raise
        return staged

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Adds bytes at the end."""
        if self._staged is None:
            self._staged = self._begin(True)
        with store_errors(self._path):
            return int(self._staged.file.write(data))

    def tell(self) -> int:
        """How many bytes there are."""
        return self._size if self._staged is None else int(self._staged.file.tell())

    def flush(self) -> None:
        """Makes the object, if something was written since the last time."""
        super().flush()
        if self._staged is None:
            return
        self._size = self.tell()
        staged, self._staged = self._staged, None
        try:
            staged.seal()
            staged.publish()
        except BaseException:
            staged.discard()
            raise
