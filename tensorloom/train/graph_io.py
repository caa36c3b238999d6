"""`tf.train.write_graph`: a graph as a file."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.dataflow_graph import Graph
from tensorloom.framework.export import export
from tensorloom.storage import filesystem
from tensorloom.train.meta_graph import write_message


@export("io.write_graph", "train.write_graph")
def write_graph(
    graph_or_graph_def: Any, logdir: Any, name: str, as_text: bool = True
) -> str:
    """Writes a graph, or any message, to `logdir/name`; the file appears whole.

    Args:
      graph_or_graph_def: a `Graph`, or a `GraphDef` message.
      logdir: a directory of any file system, made if it is not there.
      as_text: text format instead of binary.

    Returns:
      The path of the file.
    """
    message = graph_or_graph_def
    if isinstance(message, Graph):
        message = message.as_graph_def()
    path = filesystem.join(filesystem.path_text(logdir), name)
    write_message(message, path, as_text)
    return path
