"""Messages as files, and MetaGraphs and SavedModels in text format.

TensorFlow's text format writes a message in an `Any` out, by its name
`tensorflow.NAME`. Our messages of the same fields have names of their own, so that both
packages fit into one process: the names are exchanged on the way in.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterable, Iterator
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem

_PREFIX: Final = "type.googleapis.com/"
# At the beginning of a line: a string in text format has no line break.
_WRITTEN_OUT: Final = re.compile(
    rf"^(\s*\[{re.escape(_PREFIX)})tensorflow\.", re.MULTILINE
)


def type_url(message_class: Any) -> str:
    """The name in an `Any` of one of our messages: TensorFlow's."""
    return f"{_PREFIX}tensorflow.{message_class.DESCRIPTOR.name}"


def write_message(message: Any, filename: str, as_text: bool) -> None:
    """Writes a message; the file appears whole, and its directory is made."""
    from google.protobuf import text_format

    data = (
        text_format.MessageToString(message).encode()
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


def parse_text(data: bytes, message: Any, meta_graphs: Any) -> None:
    """Fills a message from text.

    Args:
      meta_graphs: the MetaGraphs of a message that was filled.

    Raises:
      text_format.ParseError: it is not the text of such a message.
      UnicodeDecodeError: it is not text.
    """
    from google.protobuf import text_format

    text = _WRITTEN_OUT.sub(r"\1tensorloom.", data.decode("utf-8"))
    try:
        text_format.Merge(text, message)
    except RecursionError:
        raise text_format.ParseError("Message too deep.") from None
    _rename(meta_graphs(message))


def _rename(meta_graphs: Iterable[Any]) -> None:
    ours, theirs = f"{_PREFIX}tensorloom.", f"{_PREFIX}tensorflow."
    for meta_graph in meta_graphs:
        anys = [meta_graph.meta_info_def.any_info]
        for collection in meta_graph.collection_def.values():
            anys.extend(collection.any_list.value)
        for item in anys:
            if item.type_url.startswith(ours):
                item.type_url = theirs + item.type_url[len(ours) :]
