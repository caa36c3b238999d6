"""Where values of a flat graph come from, and what decides that its nodes run.

A value is called by the node that makes it, past all that hands it on: identities,
Switches, Enters, Exits, arguments and results of functions. What a branch gives is
called by its predicate and the values that it may be, a variable of a loop by the value
that it begins with. So a value has one name before and after its part of the graph has
moved into a function, or out of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.functions.classic_op_types import (
    ENTERS,
    EXITS,
    MERGES,
    NEXT_ITERATIONS,
    SWITCHES,
)
from tensorloom.framework.types import dtypes
from tensorloom.master.functionalize.liveness import Condition, Liveness
from tensorloom.master.verify.flat_view import ONE_OF, PASSES_ON, FlatView

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node

_HANDS_ON: Final = frozenset(
    {"Identity", PASSES_ON, "_SwitchN", *SWITCHES, *ENTERS, *EXITS, *NEXT_ITERATIONS}
)
# As deep as values of branches and loops are looked into.
_DEEPEST: Final = 100

_LARGEST_CONSTANT: Final = 64  # bytes

#: The number of a name; None: there is no telling.
Source = int | None


class SourceNames:
    """The names of values, numbered: those of both graphs that are compared."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[Any, ...], int] = {}

    def number(self, *name: Any) -> int:
        """The number of a name."""
        return self._numbers.setdefault(name, len(self._numbers))

    def told(self, number: int) -> str:
        """A name in words."""
        kind, *parts = [*self._numbers][number]
        if kind == "edge":
            return f"'{parts[0]}:{parts[1]}'"
        if kind == "constant":
            return f"the constant {parts[1]}"
        if kind == "variable":
            return f"a variable of a loop that begins as {self.told(parts[0])}"
        return f"one of {' and '.join(map(self.told, parts[1]))}"


class Sources:
    """The names of the values of one flat graph."""

    def __init__(self, view: FlatView, ordered: GraphIR, names: SourceNames) -> None:
        """Names nothing yet.

        Args:
          ordered: the nodes of the view without edges that go back.
        """
        self._view = view
        self._nodes = view.nodes
        self.variables = {**view.variables, **classic_variables(view.nodes)}
        self._results = {
            (n.name, 0): n.inputs[0]
            for n in view.nodes.values()
            if n.op == ONE_OF and n.name not in view.choosers
        }
        self._names = names
        self._liveness = Liveness(
            ordered.with_nodes(map(_as_alive, ordered.nodes.values()))
        )
        self._known: dict[Edge, Source] = {}

    def of(self, edge: Edge, depth: int = 0) -> Source:
        """The name of a value."""
        if edge not in self._known:
            if depth > _DEEPEST:
                return None
            self._known[edge] = None  # of a loop that is looked at already
            self._known[edge] = self._find(edge, depth)
        return self._known[edge]

    def _find(self, edge: Edge, depth: int) -> Source:
        for _ in range(len(self._nodes) + 1):
            edge = self._results.get(edge, edge)
            variable = self.variables.get(edge)
            if variable is not None:
                first, following = variable
                if self._leads_to(following, edge):
                    edge = first
                    continue
                begin = self.of(first, depth + 1)
                return None if begin is None else self._names.number("variable", begin)
            node = self._nodes.get(edge[0])
            if node is not None and node.op == "Const":
                return self._constant(node)
            if node is None or not node.inputs:
                break
            if node.op == ONE_OF:
                chooser = self._view.choosers[node.name]
                return self._one_of(chooser, node.inputs, depth)
            if node.op in MERGES:
                return self._merged(node, edge, depth)
            if node.op not in _HANDS_ON:
                break
            edge = node.inputs[0]
        # What both branches of a cond took from outside of it is there once in each.
        return self._names.number("edge", edge[0].rstrip("'"), edge[1])

    def _constant(self, node: Node) -> Source:
        """A small constant is called by its value: it may be made anew."""
        value = np.asarray(node.attrs["value"])
        if value.nbytes > _LARGEST_CONSTANT:
            return self._names.number("edge", node.name, 0)
        return self._names.number("constant", value.dtype.str, repr(value))

    def _one_of(self, chooser: Edge, values: Iterable[Edge], depth: int) -> Source:
        parts = tuple(self.of(value, depth + 1) for value in values)
        predicate = self.predicate(chooser, depth)
        if predicate is None or None in parts:
            return None
        return self._names.number("one of", predicate, parts)

    def _merged(self, merge: Node, edge: Edge, depth: int) -> Source:
        """The end of a classic cond, by its values for false and true."""
        if edge[1] or len(merge.inputs) != 2:
            return None
        first, second = self._liveness.of_outputs(merge.inputs)
        only = [*(first - second)], [*(second - first)]
        if len(only[0]) != 1 or len(only[1]) != 1:
            return None
        (predicate, outcome), (other, opposite) = only[0][0], only[1][0]
        if predicate != other or {outcome, opposite} != {0, 1}:
            return None
        values = merge.inputs if outcome == 0 else merge.inputs[::-1]
        return self._one_of(predicate, values, depth)

    def predicate(self, edge: Edge, depth: int = 0) -> Source:
        """The name of a predicate, whether it was made a bool for a Switch or not."""
        node = self._nodes.get(edge[0])
        while node is not None and node.op in _HANDS_ON and edge not in self.variables:
            edge = node.inputs[0]
            node = self._nodes.get(edge[0])
        is_cast = node is not None and node.op == "Cast"
        if node is not None and is_cast and node.output_types[0] is dtypes.bool:
            edge = node.inputs[0]
        return self.of(edge, depth + 1)

    def conditions(self) -> dict[str, frozenset[tuple[Source, int]]]:
        """Of each node what decides that it runs, but that a loop goes on."""
        found = {}
        nodes = list(self._nodes.values())
        classic = self._liveness.of_nodes(nodes)
        for node, condition in zip(nodes, classic, strict=True):
            literals: Condition = condition | self._view.conditions.get(
                node.name, frozenset()
            )
            found[node.name] = frozenset(
                [
                    (self.predicate(edge), outcome)
                    for edge, outcome in literals
                    if self._nodes[edge[0]].op != "LoopCond"
                ]
            )
        return found

    def steps(self, needed: set[str]) -> dict[int, set[Source]]:
        """Of each needed variable of a loop its next value."""
        found: dict[int, set[Source]] = {}
        for edge, (_, following) in self.variables.items():
            name = self.of(edge)
            if name is None or edge[0] not in needed or self._leads_to(following, edge):
                continue
            found.setdefault(name, set()).add(self.of(following))
        return found

    def _leads_to(self, edge: Edge, end: Edge) -> bool:
        """Whether a value is another one, only handed on."""
        for _ in range(len(self._nodes)):
            if edge == end:
                return True
            node = self._nodes.get(edge[0])
            if node is None or node.op not in _HANDS_ON:
                return False
            edge = node.inputs[0]
        return False


def _as_alive(node: Node) -> Node:
    """A node for its conditions: a ControlTrigger runs after what is dead, too."""
    return node.replace(control_inputs=()) if node.op == "ControlTrigger" else node


def classic_variables(nodes: Mapping[str, Node]) -> dict[Edge, tuple[Edge, Edge]]:
    """The Merges of classic loops: what enters, and what comes back."""
    found: dict[Edge, tuple[Edge, Edge]] = {}
    for name, node in nodes.items():
        if node.op not in MERGES or len(node.inputs) != 2:
            continue
        ops = [nodes[n].op if n in nodes else "" for n, _ in node.inputs]
        for first, back in ((0, 1), (1, 0)):
            if ops[first] in ENTERS and ops[back] in NEXT_ITERATIONS:
                found[name, 0] = node.inputs[first], node.inputs[back]
    return found


def without_back_edges(graph: GraphIR) -> GraphIR:
    """A graph of classic loops as one without cycles.

    What leaves a loop comes after what comes back in it.
    """
    nodes = graph.nodes
    variables = classic_variables(nodes)
    if not variables:
        return graph
    changed = dict(nodes)
    for (name, _), (first, _back) in variables.items():
        changed[name] = nodes[name].replace(inputs=(first,))
    after = {name: back[0] for (name, _), (_, back) in variables.items()}
    for name, node in nodes.items():
        if node.op in EXITS:
            switch = nodes.get(node.inputs[0][0])
            inputs = () if switch is None else switch.inputs
            back = after.get(inputs[0][0]) if inputs else None
            if back is not None:
                waits = (*node.control_inputs, back)
                changed[name] = node.replace(control_inputs=waits)
    return graph.with_nodes(changed.values())
