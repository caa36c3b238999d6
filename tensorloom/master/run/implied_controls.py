"""Control edges between tasks that other edges imply are dropped: each is a tensor.

before: a@w -> b@w -> c@ps, ^a@w -> c@ps
after:  a@w -> b@w -> c@ps
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.functions.classic_op_types import MERGES

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node

# A node that a walk has looked at costs a microsecond; what a large graph could save
# is not worth more than this many.
_MAX_VISITED: Final = 300_000


def drop_implied_controls(graph: GraphIR) -> GraphIR:
    """The placed graph without them; its nodes are in topological order.

    A graph with `Merge` nodes stays as it is: what is before one may not have run.
    """
    nodes = graph.nodes
    if any(node.op in MERGES for node in nodes.values()):
        return graph
    walk = _Walk(graph)
    changed = []
    for node in nodes.values():
        away = [name for name in node.control_inputs if walk.crosses(name, node)]
        implied = walk.implied(node, away) if away else set()
        kept = tuple(name for name in node.control_inputs if name not in implied)
        changed.append(node.replace(control_inputs=kept) if implied else node)
    return graph.with_nodes(changed)


class _Walk:
    def __init__(self, graph: GraphIR) -> None:
        self._nodes = graph.nodes
        self._index = {name: index for index, name in enumerate(graph.nodes)}
        self._visited = 0

    def crosses(self, name: str, node: Node) -> bool:
        """Whether an edge goes from one task to another."""
        source = self._nodes[name].device
        return source != node.device and task_of(source) != task_of(node.device)

    def implied(self, node: Node, controls: list[str]) -> set[str]:
        """Those of the control inputs that are before another input."""
        wanted = set(controls)
        first = min(self._index[name] for name in controls)
        inputs = set(node.producers)
        waiting = [before for name in inputs for before in self._before(name)]
        seen = set(waiting)
        while waiting and self._visited < _MAX_VISITED:
            self._visited += 1
            for before in self._before(waiting.pop()):
                if before not in seen and self._index[before] >= first:
                    seen.add(before)
                    waiting.append(before)
        # Through a data input the tensor itself comes as well: nothing more to send.
        return wanted & seen.union(name for name, _ in node.inputs)

    def _before(self, name: str) -> list[str]:
        node = self._nodes[name]
        return [*(source for source, _ in node.inputs), *node.control_inputs]
