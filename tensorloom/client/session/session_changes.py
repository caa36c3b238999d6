"""Handles operations that changed after a session had sent them to its master.

The gradient of `tf.cond` and `tf.while_loop` makes the forward node give more than
before. Steps that are prepared already stay as they are; later ones see the change.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.graph.graph_ir import Node, sort_topologically

if TYPE_CHECKING:
    from tensorloom.framework.graph.dataflow_graph import Graph
    from tensorloom.framework.graph.operation import Operation


def with_changed(
    graph: Graph, nodes: Sequence[Node], changes: Sequence[Operation], sent: int
) -> list[Node]:
    """The new nodes and those of changed operations, producers first.

    Args:
      nodes: of the operations after the first `sent`.
      changes: operations that changed since the graph was last sent.
    """
    wanted = {node.name: node for node in nodes}
    for op in dict.fromkeys(changes):
        if op._name not in wanted:
            wanted[op._name] = graph.to_node(op)
    known = [op._name for op in graph._operations[:sent] if op._name not in wanted]
    return sort_topologically(wanted, known)
