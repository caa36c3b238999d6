"""Under which outcomes of predicates a value is alive, in a graph of classic nodes.

A While node is dead as soon as one of its inputs is. In a loop of primitives only what
reads the dead value is. So a loop becomes a While only if what its iterations share is
alive whenever the loop runs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from tensorloom.framework.functions.classic_op_types import EXITS, MERGES, SWITCHES
from tensorloom.framework.graph.graph_ir import Edge

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node

Literal = tuple[Edge, int]  # (predicate, outcome)
Condition = frozenset[Literal]  # all that must hold
ALWAYS: Condition = frozenset()


def outlives(graph: GraphIR, shared: Iterable[Node], starts: Iterable[Node]) -> bool:
    """Whether shared values are alive where the starts of loop variables are.

    Those must be alive under one condition.

    Args:
      shared, starts: the Enters of a loop.
    """
    if not any(node.op in SWITCHES for node in graph.nodes.values()):
        return True
    conditions = _conditions(graph)
    runs = {conditions[n.name, 0] for n in starts}
    if len(runs) > 1:
        # The counter of a gradient that is taken in a branch, of a loop outside of it.
        return False
    return all(conditions[n.name, 0] <= ALWAYS.union(*runs) for n in shared)


def _conditions(graph: GraphIR) -> dict[Edge, Condition]:
    """The condition of each output; nodes are in topological order."""
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
    return conditions


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
