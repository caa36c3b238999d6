"""Drops the requests of our clients to lower functional control flow.

A client does not know its master yet when it sends the first graph, and TensorFlow's
masters lower loops and branches only where an attr asks for it. Our masters decide for
themselves, and a lowered node would need all its kernels before the step begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tensorloom.framework.graph.graph_ir import LOWERED, LOWERED_FOR_MASTER

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node


def drop_lowering_requests(graph: GraphIR) -> None:
    """Removes, from a graph that was just read, the attrs that ask for lowering."""
    _drop(graph.nodes.values())
    for function in graph.functions.values():
        _drop(function.nodes.values())


def _drop(nodes: Iterable[Node]) -> None:
    for node in nodes:
        if node.attrs.pop(LOWERED_FOR_MASTER, False):
            node.attrs.pop(LOWERED, None)
