"""`tf.train.write_graph`: a graph as a file."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.storage.files import filesystem
from tensorloom.train.checkpoints import large_graph
from tensorloom.train.checkpoints.message_text import write_message


@export("io.write_graph", "train.write_graph")
def write_graph(
    graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True
) -> str:
    """Writes a graph, or any message, to `logdir/name`; the file appears whole.

    The constants of a graph above 2 GB are written beside it, see `large_graph.py`.

    Args:
      graph_or_graph_def: a `Graph`, or a `GraphDef` message.
      logdir: a directory of any file system, made if it is not there.
      as_text: text format instead of binary.

    Returns:
      The path of the file.
    """
    message = graph_or_graph_def
    path = filesystem.join(filesystem.path_text(logdir), name)
    if isinstance(message, Graph):
        if large_graph.is_large(message):
            return large_graph.write_large_graph(message, path, as_text=as_text)
        message = message.as_graph_def()
    elif _is_large_graph_def(message):
        return large_graph.write_large_message(message, path, as_text=as_text)
    write_message(message, path, as_text)
    return path


def _is_large_graph_def(message: Any) -> bool:
    from tensorloom.protos.graph_pb2 import GraphDef

    if not isinstance(message, GraphDef):
        return False
    return large_graph.message_constant_bytes(message) >= large_graph.MAX_BYTES
