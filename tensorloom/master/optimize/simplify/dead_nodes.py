"""Removes nodes that no result needs.

before: a = Const;  b = Neg(a);  c = Neg(a);  _Retval(b)
after:  a = Const;  b = Neg(a);  _Retval(b)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.master.optimize.target import OptimizeTarget


def remove_dead_nodes(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The nodes that the `_Retval` nodes and the preserved ones depend on, and `_Arg`s.

    Stateful nodes count as any other: pruning has kept those that the targets need.
    """
    nodes = graph.nodes
    live = {name for name in target.preserve if name in nodes}
    live.update([n.name for n in nodes.values() if n.op in ("_Retval", "_Arg")])
    stack = list(live)
    while stack:
        node = nodes[stack.pop()]
        for name, _ in node.inputs:
            if name not in live:
                live.add(name)
                stack.append(name)
        for name in node.control_inputs:
            if name not in live:
                live.add(name)
                stack.append(name)
    if len(live) == len(nodes):
        return graph
    return graph.with_nodes([n for n in nodes.values() if n.name in live])
