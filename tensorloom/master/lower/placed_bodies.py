"""Which function bodies are placed node by node, as the graph around them is.

As in TensorFlow: bodies of partitioned calls, and branches and loops that become part
of the graph. Others run where their caller is, whatever devices their nodes name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from tensorloom.framework.functions.called_functions import names_of
from tensorloom.framework.functions.functional_op_types import CALLS
from tensorloom.framework.graph.graph_ir import LOWERED

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node


def placed_bodies(graph: GraphIR) -> Iterator[FunctionIR]:
    """The bodies that the nodes of a graph bring along, each once."""
    if not graph.functions:
        return
    seen: set[str] = set()
    waiting = [node for node in graph.nodes.values() if _is_placed_through(node)]
    while waiting:
        for name in names_of(waiting.pop()):
            function = graph.functions.get(name)
            if function is not None and name not in seen:
                seen.add(name)
                yield function
                waiting += filter(_is_placed_through, function.nodes.values())


def _is_placed_through(node: Node) -> bool:
    return node.op in CALLS or bool(node.attrs.get(LOWERED))
