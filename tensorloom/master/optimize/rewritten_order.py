"""A graph with some nodes exchanged for others, in an order that changes no value.

Nodes may move in front of others then, and one that reads a variable must not pass one
that writes any.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework.graph.graph_ir import Edge, Node, sort_topologically
from tensorloom.framework.graph.node_shapes import infer_missing
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.master.optimize.node_facts import is_pure
from tensorloom.master.optimize.redirection import with_inputs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tensorloom.framework.graph.graph_ir import GraphIR

_READERS: Final = frozenset(["ReadVariableOp", "ResourceGather", "VariableShape"])


@dataclass
class Exchange:
    """What takes the place of some nodes of a graph."""

    graph: GraphIR
    #: New nodes, by the node in front of which they come.
    added: dict[str, list[Node]] = field(default_factory=dict)
    #: Nodes that keep their names.
    changed: dict[str, Node] = field(default_factory=dict)
    removed: set[str] = field(default_factory=set)
    #: Outputs that others stand in for.
    moved: dict[Edge, Edge] = field(default_factory=dict)
    _names: set[str] = field(default_factory=set)

    def add(
        self,
        before: Node,
        name: str,
        op: str,
        inputs: Sequence[Edge],
        attrs: dict[str, Any],
        outputs: int = 1,
    ) -> str:
        """A new node of the dtype and device of `before`; returns its name."""
        types = (before.output_types[0],) * outputs
        return self._add(before, name, op, tuple(inputs), attrs, types)

    def add_constant(self, before: Node, name: str, value: int | list[int]) -> Edge:
        """A new Const of int32."""
        array = np.array(value, np.int32)
        attrs = {"dtype": dtypes.int32, "value": array}
        return self._add(before, name, "Const", (), attrs, (dtypes.int32,)), 0

    def _add(
        self,
        before: Node,
        name: str,
        op: str,
        inputs: tuple[Edge, ...],
        attrs: dict[str, Any],
        types: tuple[dtypes.DType, ...],
    ) -> str:
        unique = name
        count = 0
        while unique in self.graph.nodes or unique in self._names:
            count += 1
            unique = f"{name}_{count}"
        self._names.add(unique)
        shapes = (TensorShape(attrs["value"].shape),) if op == "Const" else None
        node = Node(
            *(unique, op, inputs, (), before.device, attrs, types, shapes),
            before.source,
        )
        self.added.setdefault(before.name, []).append(node)
        return unique

    def apply(self) -> GraphIR | None:
        """The new graph; None if a node would pass one that writes variables."""
        sequence: list[Node] = []
        for node in self.graph.nodes.values():
            sequence += self.added.get(node.name, ())
            if node.name not in self.removed:
                sequence.append(self.changed.get(node.name, node))
        nodes = {n.name: self._redirected(n) for n in sequence}
        ordered = sort_topologically(nodes)
        if not self._keeps_epochs(ordered):
            return None
        return infer_missing(self.graph.with_nodes(ordered))

    def _redirected(self, node: Node) -> Node:
        moved = self.moved
        if not any(edge in moved for edge in node.inputs):
            return node
        inputs = tuple([moved.get(edge, edge) for edge in node.inputs])
        return with_inputs(node, inputs, node.control_inputs)

    def _keeps_epochs(self, ordered: Sequence[Node]) -> bool:
        """Whether as many writers as before come before each node.

        What is new must come between the same writers as all whose place it takes.
        """
        nodes = self.graph.nodes
        if not any(_may_write(node, nodes) for node in nodes.values()):
            return True
        before = epochs(list(nodes.values()), nodes)
        after = epochs(ordered, {n.name: n for n in ordered})
        places = {before[name] for name in (*self.changed, *self.removed)}
        return len(places) == 1 and all(
            epoch == before[name] if name in before else epoch in places
            for name, epoch in after.items()
        )


def epochs(ordered: Sequence[Node], nodes: Mapping[str, Node]) -> dict[str, int]:
    """For each node how many that may write variables come before it."""
    epoch = 0
    found = {}
    for node in ordered:
        found[node.name] = epoch
        epoch += _may_write(node, nodes)
    return found


def _may_write(node: Node, nodes: Mapping[str, Node]) -> bool:
    if is_pure(node) or node.op in _READERS:
        return False
    if op_registry.find(node.op) is None:
        return True  # a function
    types = [nodes[name].output_types[index] for name, index in node.inputs]
    return any(t._is_ref_dtype or t.base_dtype == dtypes.resource for t in types)
