"""Removes redundant control inputs.

before: a = Exp(x);  g = NoOp(^a, ^u);  h = NoOp(^g, ^c);  c = Const;  b = Neg(y, ^h)
after:  b = Neg(y, ^u)

A pure node that is read only by control edges is not computed: its readers wait for its
inputs instead. Nested groups become one. The control inputs of an identity go to its
readers:

before: y = Identity(x, ^u);  z = Exp(y)
after:  z = Exp(x, ^u)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.master.optimize.node_facts import CONTROL_FLOW, is_pure
from tensorloom.master.optimize.redirection import with_inputs
from tensorloom.master.optimize.rewriting import ALWAYS_READY, Rewriting, as_group

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node
    from tensorloom.master.optimize.target import OptimizeTarget

# A group may be replaced by its members if that makes no more edges than it saves, or
# few in any case.
_MAX_MEMBERS = 8


def simplify_dependencies(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with fewer control edges and nodes that exist only for their sake."""
    if not any(node.control_inputs for node in graph.nodes.values()):
        return graph
    graph = _drop_unread(graph, target)
    graph = _bypass_identities(graph, target)
    return _flatten_groups(graph, target)


def _drop_unread(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """Turns pure nodes whose value nobody reads into NoOps.

    Backwards, so that what only such a node read is unread itself.
    """
    read: set[str] = set()
    # Reading a reference, or what may be dead, means something by itself.
    special = {
        node.name
        for node in graph.nodes.values()
        if node.op in CONTROL_FLOW or any(t._is_ref_dtype for t in node.output_types)
    }
    kept: list[Node] = []
    for node in reversed(graph.nodes.values()):
        if (
            node.name not in read
            and node.output_types
            and node.name not in target.preserve
            and is_pure(node)
            and special.isdisjoint([name for name, _ in node.inputs])
        ):
            node = as_group(node)
        else:
            read.update([name for name, _ in node.inputs])
        kept.append(node)
    kept.reverse()
    return graph.with_nodes(kept)


def _flatten_groups(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """Replaces waits for a NoOp by waits for its members, forwards."""
    members: dict[str, tuple[str, ...]] = {}
    kept: list[Node] = []
    for node in graph.nodes.values():
        if node.control_inputs:
            node = _with_fewer_waits(node, members)
        waits = node.control_inputs
        if node.op == "NoOp" and node.name not in target.preserve:
            if len(waits) <= _MAX_MEMBERS:
                members[node.name] = waits
        elif node.op in ALWAYS_READY and not waits:
            members[node.name] = ()
        kept.append(node)
    return graph.with_nodes(kept)


def _with_fewer_waits(node: Node, members: dict[str, tuple[str, ...]]) -> Node:
    inputs = [name for name, _ in node.inputs]
    waits: dict[str, None] = {}
    for name in node.control_inputs:
        for member in members.get(name, (name,)):
            if member not in inputs:
                waits[member] = None
    control = tuple(waits)
    if control == node.control_inputs:
        return node
    return with_inputs(node, node.inputs, control)


# --- identities that wait -------------------------------------------------------------

_MAX_WAITS = 4


def _bypass_identities(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """Connects readers of an identity with what it copies, and with what it awaits."""
    rewriting = Rewriting(graph, target)
    for node in graph.nodes.values():
        node = rewriting.current(node)
        if not (0 < len(node.control_inputs) <= _MAX_WAITS and rewriting.bypass(node)):
            rewriting.keep(node)
    return rewriting.result()
