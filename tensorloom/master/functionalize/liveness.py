"""Under which outcomes of predicates a value is alive, in a graph of classic nodes.

A While node is dead as soon as one of its inputs is. In a loop of primitives only what
reads the dead value is. So a loop becomes a While only if what its iterations share is
alive whenever the loop runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from tensorloom.framework.functions.classic_op_types import EXITS, MERGES, SWITCHES
from tensorloom.framework.graph.graph_ir import Edge

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node

Literal = tuple[Edge, int]  # (predicate, outcome)
Condition = frozenset[Literal]  # all that must hold
ALWAYS: Condition = frozenset()


class Liveness:
    """The conditions of a graph's values; they are found when they are first asked for.

    A graph in which loops have become nodes may be asked about by the one before.
    """

    def __init__(self, graph: GraphIR) -> None:
        self._graph = graph
        # Of outputs, and of nodes.
        self._found: tuple[dict[Edge, Condition], dict[str, Condition]] | None = None

    def of(self, nodes: Iterable[Node]) -> list[Condition]:
        """The condition of each node's first output."""
        found = self._conditions()[0]
        return [found.get((node.name, 0), ALWAYS) for node in nodes]

    def of_outputs(self, edges: Iterable[Edge]) -> list[Condition]:
        """The condition of each output."""
        found = self._conditions()[0]
        return [found.get(edge, ALWAYS) for edge in edges]

    def of_nodes(self, nodes: Iterable[Node]) -> list[Condition]:
        """The condition under which each node runs."""
        found = self._conditions()[1]
        return [found.get(node.name, ALWAYS) for node in nodes]

    def outlives(self, shared: Iterable[Node], starts: Iterable[Node]) -> bool:
        """Whether shared values are alive where all starts of loop variables are.

        Args:
          shared, starts: the Enters of a loop.
        """
        runs = ALWAYS.union(*self.of(starts))
        return all(condition <= runs for condition in self.of(shared))

    def outliving(self, starts: Sequence[Node]) -> list[int]:
        """Which loop variables are alive, in a branch or not, without all others.

        The counter that a gradient taken in a branch adds to a loop outside of it
        lives in the branch, for one.
        """
        nodes = self._graph.nodes
        conditions = self.of(starts)
        runs = ALWAYS.union(*conditions)
        # Of the last iteration of a loop around nobody reads anything.
        branches = {(e, o) for e, o in runs if nodes[e[0]].op != "LoopCond"}
        return [i for i, c in enumerate(conditions) if not branches <= c]

    def _conditions(self) -> tuple[dict[Edge, Condition], dict[str, Condition]]:
        if self._found is None:
            self._found = {}, {}
            if any(node.op in SWITCHES for node in self._graph.nodes.values()):
                self._found = _conditions(self._graph)
        return self._found


def _conditions(graph: GraphIR) -> tuple[dict[Edge, Condition], dict[str, Condition]]:
    """The conditions of outputs and of nodes, which are in topological order."""
    conditions: dict[Edge, Condition] = {}
    of_nodes: dict[str, Condition] = {}
    for node in graph.nodes.values():
        edges = [conditions[e] for e in node.inputs if e in conditions]
        waits = [of_nodes[c] for c in node.control_inputs if c in of_nodes]
        if node.op in MERGES and edges:
            edges = [frozenset.intersection(*edges)]
        elif node.op == "ControlTrigger" and waits:
            waits = [frozenset.intersection(*waits)]
        condition = ALWAYS.union(*edges, *waits)
        if node.op in EXITS:
            condition = _after_loop(graph.nodes, node, condition)
        of_nodes[node.name] = condition
        for index in range(len(node.output_types)):
            under = condition
            if node.op in SWITCHES:
                under = condition | {(_predicate(graph.nodes, node), index)}
            conditions[node.name, index] = under
    return conditions, of_nodes


def _predicate(nodes: Mapping[str, Node], switch: Node) -> Edge:
    """What decides a Switch: `tf.cond` has it under several Identities."""
    edge = switch.inputs[1]
    while nodes[edge[0]].op == "Identity":
        edge = nodes[edge[0]].inputs[0]
    return edge


def _after_loop(
    nodes: Mapping[str, Node], leaving: Node, condition: Condition
) -> Condition:
    """What is left of the condition of an Exit: its loop is over."""
    switch = nodes[leaving.inputs[0][0]]
    if switch.op not in SWITCHES:
        return condition
    over = _predicate(nodes, switch)
    return frozenset(literal for literal in condition if literal[0] != over)
