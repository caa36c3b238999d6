"""What a partial run must not cut: the nodes between Switch and Merge, and loops.

Between two parts of a run only live values are kept. So what may be dead runs in one
part with what kills it and with what takes it; and the nodes of a loop run together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.functions.classic_op_types import ENTERS, EXITS, SWITCHES
from tensorloom.master.functionalize.liveness import Liveness
from tensorloom.master.optimize.node_facts import CONTROL_FLOW

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node


def atomic_units(graph: GraphIR) -> dict[str, tuple[str, ...]]:
    """The nodes that run together, by the name of each; alone ones are left out.

    Results are alone: one that is dead is an error of its own.
    """
    if not any(node.op in CONTROL_FLOW for node in graph.nodes.values()):
        return {}
    after = {
        name: [p for p in node.producers if p in graph.nodes]
        for name, node in graph.nodes.items()
        if node.op != "_Retval"
    }
    inside = _inside(graph)
    for name, producers in list(after.items()):
        for producer in producers:
            if producer in inside:
                after[producer].append(name)
    return {
        name: unit
        for unit in _strongly_connected(after)
        if len(unit) > 1
        for name in unit
    }


def _inside(graph: GraphIR) -> set[str]:
    """The nodes with an output that may be dead, or that is one of many iterations."""
    liveness = Liveness(graph)
    nodes = list(graph.nodes.values())
    found = {
        node.name
        for node, condition in zip(nodes, liveness.of_nodes(nodes), strict=True)
        if condition or node.op in SWITCHES
    }
    depths: dict[str, int] = {}  # in loops; what comes back has none yet
    for node in nodes:
        depth = max((depths.get(name, 0) for name in node.producers), default=0)
        depth += _deeper(node)
        depths[node.name] = depth
        if depth:
            found.add(node.name)
    return found


def _deeper(node: Node) -> int:
    if node.op in ENTERS:
        return 1
    return -1 if node.op in EXITS else 0


def _strongly_connected(after: dict[str, list[str]]) -> list[tuple[str, ...]]:
    """The strongly connected components, by Tarjan's algorithm without recursion."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    path: list[str] = []
    on_path: set[str] = set()
    components = []
    for root in after:
        if root in numbers:
            continue
        work = [(root, iter(after[root]))]
        numbers[root] = lowest[root] = len(numbers)
        path.append(root)
        on_path.add(root)
        while work:
            name, others = work[-1]
            for other in others:
                if other not in numbers:
                    numbers[other] = lowest[other] = len(numbers)
                    path.append(other)
                    on_path.add(other)
                    work.append((other, iter(after[other])))
                    break
                if other in on_path:
                    lowest[name] = min(lowest[name], numbers[other])
            else:
                work.pop()
                if work:
                    above = work[-1][0]
                    lowest[above] = min(lowest[above], lowest[name])
                if lowest[name] == numbers[name]:
                    start = path.index(name)
                    components.append(tuple(path[start:]))
                    on_path.difference_update(path[start:])
                    del path[start:]
    return components
