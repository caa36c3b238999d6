"""Files and folders of a test, removed after it."""

from __future__ import annotations

import os
import shutil
from typing import IO, Any


class TemporaryDirectory:
    """A folder of a test, as absl's `create_tempdir` gives it."""

    def __init__(self, path: str) -> None:
        self.full_path = path

    def __fspath__(self) -> str:
        return self.full_path

    def create_file(self, file_path: str | None = None, **kwargs: Any) -> TemporaryFile:
        """A file in the folder."""
        name = file_path or f"tmp{len(os.listdir(self.full_path))}"
        return write_file(os.path.join(self.full_path, name), **kwargs)

    def mkdir(self, dir_path: str | None = None) -> TemporaryDirectory:
        """A folder in the folder."""
        name = dir_path or f"tmp{len(os.listdir(self.full_path))}"
        path = os.path.join(self.full_path, name)
        os.makedirs(path, exist_ok=True)
        return TemporaryDirectory(path)


class TemporaryFile:
    """A file of a test, as absl's `create_tempfile` gives it."""

    def __init__(self, path: str, encoding: str, errors: str) -> None:
        self.full_path = path
        self._encoding, self._errors = encoding, errors

    def __fspath__(self) -> str:
        return self.full_path

    def read_text(self) -> str:
        """The text that it holds."""
        with self.open() as file:
            return str(file.read())

    def read_bytes(self) -> bytes:
        """The bytes that it holds."""
        with open(self.full_path, "rb") as file:
            return file.read()

    def write_text(self, text: str, mode: str = "w") -> None:
        """Writes a text."""
        with self.open(mode) as file:
            file.write(text)

    def write_bytes(self, data: bytes, mode: str = "wb") -> None:
        """Writes bytes."""
        with open(self.full_path, mode) as file:
            file.write(data)

    def open(self, mode: str = "rt") -> IO[Any]:
        """The open file."""
        if "b" in mode:
            return open(self.full_path, mode)
        return open(self.full_path, mode, encoding=self._encoding, errors=self._errors)


def write_file(
    path: str,
    content: str | bytes | None = None,
    mode: str = "w",
    encoding: str = "utf8",
    errors: str = "strict",
) -> TemporaryFile:
    """Writes a file, making its folder."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    file = TemporaryFile(path, encoding, errors)
    if isinstance(content, bytes):
        file.write_bytes(content)
    else:
        file.write_text(content or "", mode)
    return file


def remove(path: str) -> None:
    """Removes a file or a folder."""
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
    elif os.path.exists(path):
        os.remove(path)
