"""Graphs of our clients as their programs wrote them.

A client does not know its master yet when it sends the first graph, and TensorFlow's
masters take loops and branches apart where they are asked to. Ours need no asking; and
what is to be taken apart has all its kernels before the step begins.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tensorloom.framework.graph.graph_ir import LOWERED, LOWERED_FOR_MASTER

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node


def forget_asking(graph: GraphIR) -> None:
    """Takes back, in a graph that was just read, what a client asked masters for."""
    _forget(graph.nodes.values())
    for function in graph.functions.values():
        _forget(function.nodes.values())


def _forget(nodes: Iterable[Node]) -> None:
    for node in nodes:
        if node.attrs.pop(LOWERED_FOR_MASTER, False):
            node.attrs.pop(LOWERED, None)
