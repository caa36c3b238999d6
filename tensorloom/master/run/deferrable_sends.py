"""Marks Sends whose tensor only updates state, so that a worker may batch them.

Each message wakes a thread of the receiving task. A tensor that the step's results
depend on is sent at once. A tensor that only changes variables, accumulators or queues,
such as a gradient, can wait for the next message. The attr `_deferrable` on its `_Send`
says so; the worker sends it at the latest before it waits for another task itself.

before: g@w -> _Send    ps: _Recv -> ApplyGradientDescent
after:  g@w -> _Send {_deferrable}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.functions.classic_op_types import MERGES
from tensorloom.framework.partition.graph_partition import DEFERRABLE

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR, Node

# By what the names of ops that change state begin with.
_UPDATES: Final = (
    *("Assign", "Apply", "ResourceApply", "SparseApply", "ResourceSparseApply"),
    *("Scatter", "ResourceScatter", "_FusedApply", "_FusedResourceApply"),
    *("_FusedSparseApply", "_FusedResourceSparseApply"),
    *("Accumulator", "ResourceAccumulator", "SparseAccumulator", "Queue"),
)
# A control edge leaves its task as a constant behind the node; a tensor may travel in
# another dtype than its own.
_LEADS_ON: Final = frozenset({"Cast", "Identity", "NoOp", "_Retval", "Const"})


def mark_deferrable(parts: Mapping[str, GraphIR]) -> dict[str, GraphIR]:
    """The parts of a step by task, with `_deferrable` on `_Send`s.

    A `_Send` gets it if its tensor leads only to updates of state, and to answers to
    the sending task, which sends its deferred tensors before it waits for an answer.
    """
    if any(
        node.op in MERGES for part in parts.values() for node in part.nodes.values()
    ):
        return dict(parts)  # classic loops run in no fixed order
    found: set[bytes] = set()
    for graph in parts.values():
        found |= _only_updating(graph)
    if not found:
        return dict(parts)
    return {task: _marked(graph, found) for task, graph in parts.items()}


def _only_updating(graph: GraphIR) -> set[bytes]:
    """The tensor names of the part's `_Recv`s that lead to nothing but updates."""
    # By node: the tasks that get something because of it; None if it computes.
    reached: dict[str, set[str] | None] = {name: set() for name in graph.nodes}
    found = set()
    for node in reversed(graph.nodes.values()):
        after = reached[node.name]
        if node.op == "_Recv":
            source = task_of(node.attrs["send_device"].decode())
            if after is not None and after <= {source}:
                found.add(node.attrs["tensor_name"])
            continue
        mine = _reach(node, after)
        for name in set(node.producers):
            before = reached.get(name)
            reached[name] = None if before is None or mine is None else before | mine
    return found


def _reach(node: Node, after: set[str] | None) -> set[str] | None:
    """What a node's inputs reach through it."""
    if node.op == "_Send":
        return {task_of(node.attrs["recv_device"].decode())}
    if node.op in _LEADS_ON or node.op.startswith(_UPDATES):
        return after
    return None


def _marked(graph: GraphIR, found: set[bytes]) -> GraphIR:
    return graph.with_nodes(
        [
            node.replace(attrs={**node.attrs, DEFERRABLE: True})
            if node.op == "_Send" and node.attrs["tensor_name"] in found
            else node
            for node in graph.nodes.values()
        ]
    )
