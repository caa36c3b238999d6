"""`tf.gfile.GFile`: files of any scheme, with TensorFlow's modes and errors."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from tensorloom.framework import errors
from tensorloom.framework.export import export
from tensorloom.storage.files import filesystem
from tensorloom.storage.files.file_errors import as_file_errors

_MODES = ("r", "w", "a", "r+", "w+", "a+")


class FileIO:
    """A file that is opened at the first read or write.

    Reading and writing have places of their own: writes go to the end, and are read
    after a `flush`. As in TensorFlow, the first write in mode "r+" or "w" empties the
    file.

    Args:
      name: the path, of any scheme.
      mode: "r", "w", "a", "r+", "w+" or "a+", with a "b" for bytes instead of text.

    Raises:
      InvalidArgumentError: another mode.
    """

    def __init__(self, name: Any, mode: str) -> None:
        self._name = name
        self._mode = mode
        self._binary = "b" in mode
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise errors.InvalidArgumentError(
                None, None, "mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'"
            )
        self._readable = plain not in ("w", "a")
        self._writable = plain != "r"
        self._appends = plain[0] == "a"
        self._reader: BinaryIO | None = None
        self._writer: BinaryIO | None = None

    @property
    def name(self) -> Any:
        """The path."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode, as given."""
        return self._mode

    def _open_reader(self) -> BinaryIO:
        if self._reader is None:
            if not self._readable:
                raise errors.PermissionDeniedError(
                    None, None, "File isn't open for reading"
                )
            self._reader = filesystem.open_file(self._name, "rb")
        return self._reader

    def _open_writer(self) -> BinaryIO:
        if self._writer is None:
            if not self._writable:
                raise errors.PermissionDeniedError(
                    None, None, "File isn't open for writing"
                )
            self._writer = filesystem.open_file(
                self._name, "ab" if self._appends else "wb"
            )
        return self._writer

    def _value(self, data: bytes) -> Any:
        return data if self._binary else data.decode("utf-8")

    def size(self) -> int:
        """The bytes in the file, without what was not flushed."""
        return filesystem.stat(self._name).length

    def write(self, file_content: Any) -> None:
        """Writes text (as UTF-8) or bytes at the end.

        Raises:
          TypeError: it is neither.
        """
        writer = self._open_writer()
        if isinstance(file_content, str):
            file_content = file_content.encode()
        elif not isinstance(file_content, bytes | bytearray | memoryview):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        with as_file_errors(self._name):
            writer.write(file_content)

    def read(self, n: int = -1) -> Any:
        """`n` bytes, or all that is left.

        Raises:
          InvalidArgumentError: `n` is less than -1.
        """
        if n < -1:
            raise errors.InvalidArgumentError(
                None, None, f"Can't read a negative number of bytes: {n}"
            )
        reader = self._open_reader()
        with as_file_errors(self._name):
            # Not every store takes a negative number.
            return self._value(reader.read() if n < 0 else reader.read(n))

    def seek(
        self, offset: int | None = None, whence: int = 0, position: int | None = None
    ) -> None:
        """Moves the place of reading.

        Args:
          offset: in bytes.
          whence: 0 from the start, 1 from where it is, 2 from the end.
          position: the old name of `offset`.

        Raises:
          TypeError: neither or both of `offset` and `position`.
          InvalidArgumentError: a place before the start.
          OutOfRangeError: a place after the end.
        """
        reader = self._open_reader()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        if offset is not None and position is not None:
            raise TypeError(
                "seek(): offset and position may not be set simultaneously."
            )
        place: int = offset if position is None else position  # type: ignore[assignment]
        if whence == 1:
            place += self.tell()
        elif whence == 2:
            place += self.size()
        elif whence:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.",
            )
        if place < 0:
            raise errors.InvalidArgumentError(
                None, None, f"Seeking to a negative position: {place}"
            )
        if place > reader.seek(0, 2):
            raise errors.OutOfRangeError(None, None, "reached end of file")
        reader.seek(place)

    def readline(self) -> Any:
        """The next line with its end, empty at the end of the file.

        Lines lose their carriage returns, as in TensorFlow: text of other systems reads
        the same.
        """
        reader = self._open_reader()
        with as_file_errors(self._name):
            return self._value(reader.readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """All lines that are left."""
        return list(self)

    def tell(self) -> int:
        """The place of reading; of writing in a file that is only written."""
        if self._readable:
            return self._open_reader().tell()
        return self._open_writer().tell()

    def __enter__(self) -> FileIO:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def __del__(self) -> None:
        # Programs often leave closing to us: GFile(path).read().
        with contextlib.suppress(Exception):
            self.close()

    def __iter__(self) -> Iterator[Any]:
        return self

    def next(self) -> Any:
        """The next line. Raises StopIteration at the end."""
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __next__(self) -> Any:
        return self.next()

    def flush(self) -> None:
        """Hands what was written to the system."""
        if self._writer is not None:
            with as_file_errors(self._name):
                self._writer.flush()

    def close(self) -> None:
        """Flushes and closes; reading or writing again opens the file again."""
        reader, self._reader = self._reader, None
        writer, self._writer = self._writer, None
        if reader is not None:
            reader.close()
        if writer is not None:
            with as_file_errors(self._name):
                writer.close()

    def seekable(self) -> bool:
        """True."""
        return True


@export("gfile.GFile", "gfile.Open", "io.gfile.GFile")
class GFile(FileIO):
    """A file of any file system; see `FileIO`."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        super().__init__(name, mode)


@export("gfile.FastGFile")
class FastGFile(FileIO):
    """The old name of `GFile`."""

    def __init__(self, name: Any, mode: str = "r") -> None:
        super().__init__(name, mode)
