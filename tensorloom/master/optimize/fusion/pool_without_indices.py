"""Marks max pools whose argmax is not needed: the step has no gradient of a pool.

before: y = MaxPool(x)
after:  y = MaxPool(x) [_values_only]        where no node is a MaxPoolGrad

The places are what a gradient needs; to find them takes the kernel three times as long
as to find the maxima.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget


def pool_without_indices(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with its max pools marked, if nothing in it is a pool's gradient."""
    if not any(node.op == "MaxPool" for node in graph.nodes.values()):
        return graph
    if _has_gradient(graph.nodes.values()) or any(
        _has_gradient(function.nodes.values()) for function in graph.functions.values()
    ):
        return graph
    return graph.with_nodes(
        node.replace(attrs={**node.attrs, "_values_only": True})
        if node.op == "MaxPool"
        else node
        for node in graph.nodes.values()
    )


def _has_gradient(nodes: Iterable[Node]) -> bool:
    return any(node.op.startswith("MaxPoolGrad") for node in nodes)
