"""Messages in files, binary or as text."""

from __future__ import annotations

from typing import Any

from tensorloom.storage.files import filesystem


def read(path: Any, message: Any, binary: bool, what: str) -> Any:
    """Reads a file into a message, and returns it.

    Raises:
      OSError: there is no such file.
    """
    if not filesystem.exists(path):
        raise OSError(f"Input {what} file '{path}' does not exist!")
    data = filesystem.read_file(path)
    if binary:
        message.ParseFromString(data)
        return message
    from google.protobuf import text_format

    return text_format.Merge(data.decode(), message)


def write(path: Any, message: Any, binary: bool) -> None:
    """Writes a message to a file."""
    from google.protobuf import text_format

    data = (
        message.SerializeToString()
        if binary
        else text_format.MessageToString(message).encode()
    )
    filesystem.write_file(path, data)


def names(text: str | None) -> list[str]:
    """The names in a list with commas."""
    return [name for name in (text or "").replace(" ", "").split(",") if name]
