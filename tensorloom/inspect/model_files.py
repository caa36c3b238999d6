"""Opens a file or directory with a graph in it, whatever TensorFlow's format is."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

from tensorloom.framework import errors
from tensorloom.storage.files import filesystem

_NAME: Final = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")
_OP: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.>]*")
_TABLE_MAGIC: Final = (0xDB4775248B80FB57).to_bytes(8, "little")
_SHARD: Final = re.compile(r"\.data-\d+-of-\d+$")


@dataclass(frozen=True)
class GraphInFile:
    """One graph of a file."""

    label: str  # its tags, "" where a file has one graph only
    graph_def: Any
    meta_graph_def: Any  # None for a plain GraphDef
    #: The bundle of its constants that are too large for the file, "" without any.
    constants: str = ""


@dataclass(frozen=True)
class ModelFile:
    """A file or directory that was opened."""

    path: str
    kind: str  # "GraphDef", "MetaGraphDef" or "SavedModel"
    graphs: tuple[GraphInFile, ...]

    def choose(self, tag_set: str | None = None) -> GraphInFile:
        """The graph with these tags, separated by commas; the only one when None.

        Raises:
          errors.NotFoundError: there is none, or several.
        """
        if tag_set is None:
            if len(self.graphs) == 1:
                return self.graphs[0]
            wanted = None
        else:
            wanted = {tag for tag in tag_set.split(",") if tag}
        for graph in self.graphs:
            if wanted is not None and set(graph.label.split(",")) - {""} == wanted:
                return graph
        labels = [graph.label for graph in self.graphs]
        raise errors.NotFoundError(
            None, None, f"{self.path}: choose one of the tag-sets {labels}"
        )


def checkpoint_prefix(path: str) -> str | None:
    """The checkpoint that a path means: its prefix, one of its files, its directory."""
    from tensorloom.train.checkpoints.checkpoint_management import (
        checkpoint_exists,
        latest_checkpoint,
    )

    if filesystem.is_directory(path):
        return latest_checkpoint(path)
    for prefix in (path.removesuffix(".index"), _SHARD.sub("", path)):
        # An index is a table, too: as version 1 it would be an empty checkpoint.
        if prefix != path and filesystem.exists(prefix + ".index"):
            return prefix
    if filesystem.exists(path):
        # Version 1 has one file, which is the checkpoint if it is a table.
        return path if _is_table(path) else None
    return path if checkpoint_exists(path) else None


def _is_table(path: str) -> bool:
    if filesystem.is_directory(path):
        return False
    with filesystem.open_file(path) as file:
        file.seek(0, os.SEEK_END)
        if file.tell() < len(_TABLE_MAGIC):
            return False
        file.seek(-len(_TABLE_MAGIC), os.SEEK_END)
        return file.read() == _TABLE_MAGIC


def open_model(path: str) -> ModelFile:
    """The graphs of a file or a SavedModel's directory.

    Raises:
      errors.NotFoundError: there is nothing of that name.
      errors.InvalidArgumentError: it is not a graph, or damaged.
    """
    from tensorloom.saved_model.export_directory import find_message

    if filesystem.is_directory(path):
        message = find_message(path)
        if message is None:
            raise errors.InvalidArgumentError(
                None, None, f"{path}: a directory that is not a SavedModel"
            )
        return _open_file(path, message)
    if not filesystem.exists(path):
        raise errors.NotFoundError(None, None, f"{path}: no such file or directory")
    return _open_file(path, path)


def _open_file(path: str, file: str) -> ModelFile:
    data = filesystem.read_file(file)
    for kind, parse in _READERS.items():
        graphs = parse(data)
        if graphs is not None:
            found = tuple(_with_constants(graph, file) for graph in graphs)
            return ModelFile(path, kind, found)
    raise errors.InvalidArgumentError(
        None, None, f"{file}: not a GraphDef, MetaGraphDef or SavedModel, or damaged"
    )


def _with_constants(graph: GraphInFile, file: str) -> GraphInFile:
    from tensorloom.train.checkpoints import large_graph

    if not large_graph.has_outside_constants(graph.graph_def):
        return graph
    return replace(graph, constants=large_graph.constants_prefix(file))


def _as_graph_def(data: bytes) -> tuple[GraphInFile, ...] | None:
    from tensorloom.protos import graph_pb2

    message = _parsed(data, graph_pb2.GraphDef())
    if message is None or not message.node or not _is_graph(message):
        return None
    return (GraphInFile("", message, None),)


def _as_meta_graph(data: bytes) -> tuple[GraphInFile, ...] | None:
    from tensorloom.protos import meta_graph_pb2

    message = _parsed(data, meta_graph_pb2.MetaGraphDef())
    if message is None or not message.HasField("graph_def"):
        return None
    if not _is_graph(message.graph_def):
        return None
    return (_of_meta_graph(message),)


def _as_saved_model(data: bytes) -> tuple[GraphInFile, ...] | None:
    from tensorloom.protos import saved_model_pb2

    message = _parsed(data, saved_model_pb2.SavedModel())
    if message is None or not message.meta_graphs:
        return None
    if not all(_is_graph(one.graph_def) for one in message.meta_graphs):
        return None
    return tuple(_of_meta_graph(one) for one in message.meta_graphs)


_READERS: Final[dict[str, Callable[[bytes], tuple[GraphInFile, ...] | None]]] = {
    "GraphDef": _as_graph_def,
    "SavedModel": _as_saved_model,
    "MetaGraphDef": _as_meta_graph,
}


def _of_meta_graph(message: Any) -> GraphInFile:
    label = ",".join(sorted(message.meta_info_def.tags))
    return GraphInFile(label, message.graph_def, message)


def _parsed(data: bytes, message: Any) -> Any:
    """The message in binary or text form; None when it is neither."""
    from google.protobuf import text_format
    from google.protobuf.message import DecodeError

    from tensorloom.train.checkpoints.message_text import parse_text

    try:
        message.ParseFromString(data)
    except DecodeError:
        message.Clear()
        try:
            parse_text(data, message)
        except (text_format.ParseError, UnicodeDecodeError):
            return None
    return message


def _is_graph(graph_def: Any) -> bool:
    """Whether nodes look like nodes: the formats' bytes resemble each other."""
    return all(
        _NAME.fullmatch(node.name) and _OP.fullmatch(node.op) for node in graph_def.node
    )
