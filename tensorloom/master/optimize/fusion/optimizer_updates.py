"""All updates of a training step in one call.

before: u1 = ApplyAdam(v1, ..., lr, ..., g1);  u2 = ApplyAdam(v2, ..., lr, ..., g2)
after:  u2 = _FusedApplyAdam([v1, v2], ..., lr, ..., [g1, g2])

The updates of a group have the same rule, dtype, device and scalars, none of them
depends on another, and each has variables of its own. Which rules have a fused op
stands in `ops/training/training_ops.py`. What `summed_sparse_updates` made of sparse
updates is such an op of one variable.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Any

from tensorloom.framework.graph.graph_ir import Edge, GraphIR, Node
from tensorloom.framework.registry import op_registry
from tensorloom.framework.types import dtypes
from tensorloom.master.optimize.rewriting import Rewriting

if TYPE_CHECKING:
    from tensorloom.framework.registry.op_registry import OpDef
    from tensorloom.master.optimize.target import OptimizeTarget


def fuse_optimizer_updates(graph: GraphIR, target: OptimizeTarget) -> GraphIR:
    """The graph with each group of two or more updates as one node.

    It has the name of the group's last update, and comes when all gradients are there;
    what waits for an update comes after it.
    """
    for group in _groups(graph, target):
        # What was fused before may have changed these nodes, and may lead from one
        # of them to another.
        members = _independent(graph, [graph.nodes[node.name] for node in group])
        if len(members) > 1:
            graph = _fuse(graph, members, target)
    return graph


def _groups(graph: GraphIR, target: OptimizeTarget) -> list[list[Node]]:
    found: dict[Hashable, list[Node]] = {}
    for node in graph.nodes.values():
        if "Apply" in node.op and node.name not in target.preserve:
            fused = op_registry.find(_fused_op(node))
            if fused is not None:
                found.setdefault(_group_key(node, fused, graph), []).append(node)
    groups = [_independent(graph, _apart(members)) for members in found.values()]
    return [members for members in groups if len(members) > 1]


def _fused_op(node: Node) -> str:
    return node.op if node.attrs.get("N") == 1 else f"_Fused{node.op}"


def _group_key(node: Node, fused: OpDef, graph: GraphIR) -> Hashable:
    state, _ = _split(node, fused)
    attrs = [(k, v) for k, v in node.attrs.items() if not k.startswith("_")]
    return (
        node.op,
        node.device,
        tuple(graph.nodes[name].device for name, _ in state),
        tuple(_shared_inputs(node, fused)),
        tuple(sorted(attrs, key=lambda item: item[0])),
    )


def _split(node: Node, fused: OpDef) -> tuple[list[Edge], list[Edge]]:
    """The inputs that are lists in the fused op, and those that are shared."""
    listed: list[Edge] = []
    shared: list[Edge] = []
    for arg, edge in zip(fused.inputs, node.inputs, strict=True):
        (listed if arg.number_attr else shared).append(edge)
    return listed, shared


def _shared_inputs(node: Node, fused: OpDef) -> list[Edge]:
    return _split(node, fused)[1]


def _apart(members: Sequence[Node]) -> list[Node]:
    """The members that update no variable that an earlier one does."""
    if len(members) < 2:
        return list(members)
    fused = op_registry.find(_fused_op(members[0]))
    assert fused is not None
    is_state = [arg.is_ref or arg.type == dtypes.resource for arg in fused.inputs]
    taken: set[Edge] = set()
    kept = []
    for node in members:
        state = set(itertools.compress(node.inputs, is_state))
        if taken.isdisjoint(state):
            taken |= state
            kept.append(node)
    return kept


def _independent(graph: GraphIR, members: Sequence[Node]) -> list[Node]:
    """The members that no earlier member leads to."""
    if len(members) < 2:
        return list(members)
    names = {node.name for node in members}
    after = _followers(graph, names)
    return [node for node in members if node.name not in after]


def _followers(graph: GraphIR, names: set[str]) -> set[str]:
    """The nodes that depend on one of the named nodes."""
    reached: set[str] = set()
    sources = set(names)
    for node in graph.nodes.values():
        if any(name in sources for name, _ in node.inputs) or any(
            name in sources for name in node.control_inputs
        ):
            reached.add(node.name)
            sources.add(node.name)
    return reached


def _fuse(graph: GraphIR, members: Sequence[Node], target: OptimizeTarget) -> GraphIR:
    names = {node.name for node in members}
    last = members[-1]
    after = _followers(graph, names)
    fused = _fused_node(members)
    rewriting = Rewriting(graph, target)
    for index, node in enumerate(members):
        outputs = [(fused.name, index)] * len(node.output_types)
        rewriting.redirect(node, outputs, (fused.name,))
    ordered: list[Node] = []
    deferred: list[Node] = []
    is_before = True
    for node in graph.nodes.values():
        if node.name in names:
            if node is last:
                ordered += [fused, *deferred]
                is_before = False
        elif is_before and node.name in after:
            deferred.append(rewriting.current(node))
        else:
            ordered.append(rewriting.current(node))
    for node in ordered:
        rewriting.keep(node)
    return rewriting.result()


def _fused_node(members: Sequence[Node]) -> Node:
    last = members[-1]
    op = _fused_op(last)
    op_def = op_registry.find(op)
    assert op_def is not None
    inputs: list[Edge] = []
    for position, arg in enumerate(op_def.inputs):
        if arg.number_attr:
            inputs += [node.inputs[position] for node in members]
        else:
            inputs.append(last.inputs[position])
    control = dict.fromkeys(n for node in members for n in node.control_inputs)
    attrs: dict[str, Any] = {
        name: value for name, value in last.attrs.items() if not name.startswith("_")
    }
    attrs["N"] = len(members)
    shapes = [node.output_shapes for node in members]
    return Node(
        last.name,
        op,
        tuple(inputs),
        tuple(control),
        last.device,
        attrs,
        tuple(t for node in members for t in node.output_types),
        tuple(s for each in shapes for s in each or ()),
        last.source,
    )
