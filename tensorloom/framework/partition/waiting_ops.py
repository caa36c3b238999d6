"""Finds the blocking ops (of queues, barriers, ...) that each node waits for.

A blocking op returns when another node does something, maybe a node of the same step:
so a node that does not depend on a blocking op must not wait for it. The graph of a
whole step shows the dependencies. In a part of it, the attr `_waits_for` of a `_Recv`
names the blocking ops in other parts that the received tensor depends on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from tensorloom.framework.functions.called_functions import names_called
from tensorloom.framework.registry import op_kernel

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node

SENDS: Final = frozenset({"_Send", "_HostSend", "Send"})
RECEIVES: Final = frozenset({"_Recv", "_HostRecv", "Recv"})
# On a Recv: the names of the ops elsewhere that may wait and that it follows from.
WAITS_FOR: Final = "_waits_for"

Waits = Mapping[str, frozenset[str]]


def waits_of(
    nodes: Iterable[Node],
    functions: Mapping[str, FunctionIR],
    given: Waits | None = None,
) -> dict[str, frozenset[str]]:
    """By node: the ops that may wait among it and all that it follows from.

    before: a = Dequeue   b = _Recv {_waits_for: [x]}   c = Add(a, b)
    after:  a: {a}        b: {x}                        c: {a, x}

    Args:
      nodes: in topological order.
      functions: that they may call.
      given: what the arguments of a function whose nodes they are wait for.
    """
    nodes = list(nodes)
    own = {node.name: mine for node in nodes if (mine := _own(node, functions))}
    nothing: frozenset[str] = frozenset()
    waits = {**dict.fromkeys([node.name for node in nodes], nothing), **(given or {})}
    if not own and not given:
        return waits
    for node in nodes:
        found = {waits.get(name, nothing) for name, _ in node.inputs}
        found.update(waits.get(name, nothing) for name in node.control_inputs)
        found.add(own.get(node.name, nothing))
        if len(found) > 1:
            found.discard(nothing)
        waits[node.name] = found.pop() if len(found) == 1 else nothing.union(*found)
    return waits


def _own(node: Node, functions: Mapping[str, FunctionIR]) -> frozenset[str]:
    """What a node waits for that its inputs do not."""
    if node.op in RECEIVES:
        return frozenset(name.decode() for name in node.attrs.get(WAITS_FOR, ()))
    return frozenset((node.name,) if may_wait(node, functions) else ())


def may_wait(node: Node, functions: Mapping[str, FunctionIR]) -> bool:
    """True for ops that may wait for something outside their inputs.

    So may a node whose functions do, whatever they call in turn.
    """
    seen: set[str] = set()
    pending = [node]
    while pending:
        inner = pending.pop()
        if any(kernel.blocking for kernel in op_kernel.registered_kernels(inner.op)):
            return True
        for name in _called(inner, functions):
            if name not in seen:
                seen.add(name)
                pending.extend(functions[name].nodes.values())
    return False


def _called(node: Node, functions: Mapping[str, FunctionIR]) -> list[str]:
    """The functions that a node names, as its op or in its attrs."""
    return names_called([node], functions) if functions else []


def waits_in_any_order(
    nodes: Iterable[Node], functions: Mapping[str, FunctionIR]
) -> bool:
    """Whether two of these nodes may block that do not depend on each other.

    Run one after the other, the first might wait for what the second does.

    Args:
      nodes: in topological order.
      functions: that they may call.
    """
    nodes = list(nodes)
    waiting = [node.name for node in nodes if may_wait(node, functions)]
    if len(waiting) < 2:
        return False
    waits = waits_of(nodes, functions)
    sizes = {len(waits[name]) for name in waiting}
    # In a row, each waits for all before it, and for itself.
    return sizes != set(range(1, len(waiting) + 1))


def with_waiting_receives(graph: GraphIR) -> GraphIR:
    """The part of a step whose Recvs do not say yet what they wait for.

    Each may wait for anything: it stands for it itself.
    """
    changed = [
        node.replace(attrs={**node.attrs, WAITS_FOR: [node.name.encode()]})
        if node.op in RECEIVES
        else node
        for node in graph.nodes.values()
    ]
    return graph.with_nodes(changed)
