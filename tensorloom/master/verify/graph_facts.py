"""What the verifier knows of a graph: its effects, its reads, and their order.

Nodes that have effects or read what may change are *marked*; there are few of them.
The set of marked nodes before a node is the bits of one number, so that all orders
of a graph take one walk over its nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.node_facts import CONTROL_FLOW, is_pure
from tensorloom.master.optimize.rewriting import IDENTITIES
from tensorloom.master.verify.flat_view import ONE_OF, PASSES_ON

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node

# What only looks at a resource. Whoever needs nothing of it may leave it out.
_READS: Final = frozenset(
    {
        *("ReadVariableOp", "ResourceGather", "ResourceGatherNd", "VariableShape"),
        *("VarIsInitializedOp", "IsVariableInitialized", "TensorArraySizeV3"),
    }
)
# Neither has what only chooses between values, or hands them on.
_ENDS: Final = CONTROL_FLOW | {
    *("_Arg", "_Retval", "Placeholder", "PlaceholderV2", "ControlTrigger"),
    *(PASSES_ON, ONE_OF),
}


@dataclass(slots=True, eq=False)
class GraphFacts:
    """The marked nodes of a graph."""

    nodes: dict[str, Node]
    #: Of each node the marked nodes before it, and itself, as bits.
    before: dict[str, int] = field(default_factory=dict)
    #: Nodes with effects, and the states (handles, references) that each is given.
    effects: dict[str, frozenset[Edge]] = field(default_factory=dict)
    #: Nodes that read, and the variables that they read.
    reads: dict[str, frozenset[Edge]] = field(default_factory=dict)
    #: Outputs that are a reference, or an identity of one: the variable.
    shown: dict[Edge, Edge] = field(default_factory=dict)
    effect_bits: int = 0


class BitNumbers:
    """The bit of each marked node, the same in all graphs that are compared."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}

    def bit(self, name: str) -> int:
        """The bit of a node."""
        return 1 << self._numbers.setdefault(name, len(self._numbers))

    def names(self, bits: int) -> list[str]:
        """The nodes of some bits."""
        return [name for name, number in self._numbers.items() if bits >> number & 1]


def facts_of(graph: GraphIR, bits: BitNumbers) -> GraphFacts:
    """The facts of a graph in topological order."""
    facts = GraphFacts(graph.nodes)
    states: dict[Edge, Edge] = {}  # handles by where they come from
    before = facts.before
    for name, node in graph.nodes.items():
        mask = 0
        for producer, _ in node.inputs:
            mask |= before.get(producer, 0)
        for producer in node.control_inputs:
            mask |= before.get(producer, 0)
        _note_states(node, states, facts.shown)
        if node.op == "_Arg":
            before[name] = mask
            continue
        given = frozenset([states[e] for e in node.inputs if e in states])
        shown = frozenset([facts.shown[e] for e in node.inputs if e in facts.shown])
        if node.op in _READS:
            facts.reads[name] = given | shown
        elif _has_effect(node, graph):
            facts.effects[name] = given | _references(node, facts)
            facts.effect_bits |= bits.bit(name)
        if shown and node.op not in IDENTITIES and node.op not in _READS:
            facts.reads[name] = shown
        if name in facts.effects or name in facts.reads:
            mask |= bits.bit(name)
        before[name] = mask
    return facts


def _note_states(node: Node, states: dict[Edge, Edge], shown: dict[Edge, Edge]) -> None:
    """Notes the outputs of a node that are handles, or show a variable."""
    if node.op in IDENTITIES and node.inputs:
        source = node.inputs[0]
        edge = node.name, 0
        if source in states:
            states[edge] = states[source]
        if source in shown:
            shown[edge] = shown[source]
        return
    for index, dtype in enumerate(node.output_types):
        if dtype._is_ref_dtype:
            # What writes through a reference hands it on.
            first = next((e for e in node.inputs if e in shown), None)
            made = node.name, index
            shown[made] = made if first is None else shown[first]
        elif dtype is dtypes.resource:
            states[node.name, index] = node.name, index


def _references(node: Node, facts: GraphFacts) -> frozenset[Edge]:
    """The variables that a node is given to write; a value it can only read."""
    return frozenset(
        [
            facts.shown[name, index]
            for name, index in node.inputs
            if (name, index) in facts.shown
            and facts.nodes[name].output_types[index]._is_ref_dtype
        ]
    )


def _has_effect(node: Node, graph: GraphIR) -> bool:
    """Whether leaving a node out, or its order, may matter to more than its outputs."""
    if node.op in _ENDS or is_pure(node):
        return False
    op_def = op_registry.find(node.op)
    if op_def is None:
        function = graph.functions.get(node.op)
        return function is None or function.is_stateful
    if any(attr.type in ("func", "list(func)") for attr in op_def.attrs.values()):
        return op_def.is_stateful
    if any(arg.is_ref for arg in op_def.inputs):
        return True
    # What makes a handle or a reference does nothing that can be seen.
    makes_handle = any(
        t._is_ref_dtype or t is dtypes.resource for t in node.output_types
    )
    return bool(node.inputs) or not makes_handle
