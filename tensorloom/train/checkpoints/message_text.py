"""Messages as files, in binary and in text format."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem

_PREFIX: Final = "type.googleapis.com/"


def type_url(message_class: Any) -> str:
    """The name of a message in an `Any`."""
    return f"{_PREFIX}{message_class.DESCRIPTOR.full_name}"


def write_message(message: Any, filename: str, as_text: bool) -> None:
    """Writes a message; the file appears whole, and its directory is made."""
    from google.protobuf import text_format

    from tensorloom.protos.pool import ANY_TYPES

    data = (
        text_format.MessageToString(message, descriptor_pool=ANY_TYPES).encode()
        if as_text
        else message.SerializeToString()
    )
    directory = filesystem.parent(filename)
    if directory:
        filesystem.make_directories(directory)
    filesystem.write_file(filename, data)


@contextlib.contextmanager
def errors_name_the_file(what: str) -> Iterator[None]:
    """Errors of what a message holds say which file holds it.

    Args:
      what: the kind of the file, and its path.
    """
    from google.protobuf.message import DecodeError

    try:
        yield
    except errors.OpError as error:
        kind: Any = type(error)
        message = f"{what}: {error.message}"
        raise kind(error.node_def, error.op, message) from error
    except (DecodeError, KeyError, TypeError, AttributeError, UnicodeError) as error:
        raise errors.InvalidArgumentError(
            None, None, f"{what} is malformed: {error}"
        ) from error
    except (ValueError, RuntimeError) as error:
        raise type(error)(f"{what}: {error}") from error


def parse_text(data: bytes, message: Any) -> None:
    """Fills a message from text.

    Raises:
      text_format.ParseError: it is not the text of such a message.
      UnicodeDecodeError: it is not text.
    """
    from google.protobuf import text_format

    from tensorloom.protos.pool import ANY_TYPES

    text = data.decode("utf-8")
    try:
        text_format.Merge(text, message, descriptor_pool=ANY_TYPES)
    except RecursionError:
        raise text_format.ParseError("Message too deep.") from None
