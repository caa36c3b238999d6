"""Blocking ops must not stall others: a piece that waits is split into strands.

A queue's dequeue may wait for an enqueue of the same piece, so what does not depend on
a blocking op must run without it. Nodes that depend on the same blocking ops form a
strand; strands run in threads of their own when several could run. A piece without
blocking ops is one strand, run by the caller's thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tensorloom.framework import op_kernel
from tensorloom.framework.attr_value import NameAttrList
from tensorloom.framework.graph_ir import FunctionIR, Node
from tensorloom.worker import threads

Frame = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Plan:
    """The strands of a piece."""

    members: list[list[Node]]
    order: list[tuple[Node, int]]  # every node with its strand, in the piece's order
    after: list[set[int]]  # for each strand: those that must finish before
    blocks: list[bool]  # does the strand begin with a blocking op?


def split(
    nodes: Sequence[Node], functions: Mapping[str, FunctionIR], blocking_recv: bool
) -> Plan:
    """Groups nodes by the blocking ops that they wait for."""
    blocking = {n.name for n in nodes if is_blocking(n, functions, blocking_recv)}
    if len(nodes) == 1 or not blocking:
        return Plan([list(nodes)], [(n, 0) for n in nodes], [set()], [False])
    waits: dict[str, frozenset[str]] = {}
    for node in nodes:
        own = {node.name} if node.name in blocking else set()
        names = [name for name, _ in node.inputs] + list(node.control_inputs)
        waits[node.name] = frozenset(own.union(*(waits[n] for n in names)))
    groups: dict[frozenset[str], int] = {}
    members: list[list[Node]] = []
    after: list[set[int]] = []
    order = []
    strand_of: dict[str, int] = {}
    for node in nodes:
        index = groups.setdefault(waits[node.name], len(members))
        if index == len(members):
            members.append([])
            after.append(set())
        members[index].append(node)
        strand_of[node.name] = index
        order.append((node, index))
        names = [name for name, _ in node.inputs] + list(node.control_inputs)
        after[index].update(strand_of[n] for n in names)
    for index, before in enumerate(after):
        before.discard(index)
    blocks = [any(n.name in blocking for n in group) for group in members]
    return Plan(members, order, after, blocks)


def is_blocking(
    node: Node, functions: Mapping[str, FunctionIR], blocking_recv: bool
) -> bool:
    """True for ops that may wait for something outside their inputs.

    So may a node whose functions do, whatever they call in turn.
    """
    seen: set[str] = set()
    pending = [node]
    while pending:
        inner = pending.pop()
        if inner.op in ("_Recv", "_HostRecv"):
            if blocking_recv:
                return True
        elif any(k.blocking for k in op_kernel.registered_kernels(inner.op)):
            return True
        for name in _called(inner, functions):
            if name not in seen:
                seen.add(name)
                pending.extend(functions[name].nodes.values())
    return False


def _called(node: Node, functions: Mapping[str, FunctionIR]) -> list[str]:
    """The functions that a node names, as its op or in its attrs."""
    if not functions:
        return []
    called = [node.op] if node.op in functions else []
    for value in node.attrs.values():
        if isinstance(value, NameAttrList) and value.name in functions:
            called.append(value.name)
    return called


class _Run:
    """One step of a piece with several strands."""

    def __init__(self, count: int) -> None:
        self.frame: Frame = {}
        self.lock = threading.Condition()
        self.finished: set[int] = set()
        self.started: set[int] = set()
        self.running = 0
        self.error: BaseException | None = None
        self.count = count


def run(
    functions: Sequence[Callable[..., Any]],
    after: Sequence[set[int]],
    blocks: Sequence[bool],
    args: Sequence[Any],
    context: Any,
    guarded: Callable[[Callable[[], None]], None],
) -> Frame:
    """Runs all strands; returns the values that they gave away.

    Raises:
      The first error of a strand, after the others have been cancelled and ended.
    """
    state = _Run(len(functions))

    def execute(index: int) -> None:
        try:
            functions[index](args, context, state.frame)
        except BaseException as error:  # noqa: BLE001 - it is raised by the caller
            with state.lock:
                first = state.error is None
                if first:
                    state.error = error
            if first:
                context.cancellation.cancel(error)
        with state.lock:
            state.finished.add(index)
            state.running -= 1
            state.lock.notify_all()

    while True:
        with state.lock:
            while True:
                ready = _ready(state, after) if state.error is None else []
                if ready or state.running == 0:
                    break
                state.lock.wait()
            if not ready:
                break
            # The caller's own thread takes what cannot block, or what is alone.
            mine = next((i for i in ready if not blocks[i]), None)
            if mine is None and len(ready) == 1 and state.running == 0:
                mine = ready[0]
            others = [i for i in ready if i != mine and (blocks[i] or mine is None)]
            started = others + ([mine] if mine is not None else [])
            state.started.update(started)
            state.running += len(started)
        for index in others:
            threads.start(lambda i=index: guarded(lambda: execute(i)))  # type: ignore[misc]
        if mine is not None:
            execute(mine)
    if state.error is not None:
        raise state.error
    return state.frame


def _ready(state: _Run, after: Sequence[set[int]]) -> list[int]:
    return [
        index
        for index in range(state.count)
        if index not in state.started and after[index] <= state.finished
    ]
