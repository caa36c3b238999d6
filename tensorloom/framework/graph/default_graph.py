"""The default graph: the innermost of this thread, or the process-wide one."""

from __future__ import annotations

import threading

from tensorloom.framework.export import export
from tensorloom.framework.graph.dataflow_graph import Graph
from tensorloom.framework.runtime.default_stack import stacks

_global_graph: Graph | None = None  # the process-wide default graph
_global_lock = threading.Lock()


@export("get_default_graph")
def get_default_graph() -> Graph:
    """The innermost graph of this thread's `as_default`, or the process-wide one."""
    graphs = stacks.graphs
    return graphs[-1] if graphs else global_graph()


def global_graph() -> Graph:
    """The process-wide default graph."""
    global _global_graph
    # Read once: another thread may reset it.
    graph = _global_graph
    if graph is None:
        with _global_lock:
            graph = _global_graph
            if graph is None:
                graph = _global_graph = Graph()
    return graph


@export("reset_default_graph")
def reset_default_graph() -> None:
    """Replaces the process-wide default graph by an empty one.

    Raises:
      AssertionError: called inside a graph's or session's `as_default` block.
    """
    global _global_graph
    if stacks.graphs:
        raise AssertionError(
            "Do not use tf.reset_default_graph() to clear nested graphs. If you need "
            "a cleared graph, exit the nesting and create a new graph."
        )
    with _global_lock:
        _global_graph = None
