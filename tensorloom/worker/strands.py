"""Blocking ops must not stall others: a piece that waits is split into strands.

A queue's dequeue may wait for an enqueue of the same piece, so what does not depend on
a blocking op must run without it. Nodes that depend on the same blocking ops form a
strand; strands run in threads of their own when several could run. A piece without
blocking ops is one strand, run by the caller's thread.

What is received from other tasks may follow, over there, from what a blocking op lets
this piece send. So it is received in no strand that a blocking op stands behind:

    handle -> dequeue -> _Send   _Recv -> assign
    strands: handle | dequeue, _Send | _Recv, assign
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import op_kernel, threads
from tensorloom.framework.called_functions import names_of

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import FunctionIR, Node

Frame = dict[str, Any]

_RECEIVES: Final = frozenset({"_Recv", "_HostRecv", "Recv"})
_SENDS: Final = frozenset({"_Send", "_HostSend", "Send"})
# What nodes wait for that follow from the first tensors received, one after the other.
_RECEIVED: Final = "<received>"


@dataclass(frozen=True, slots=True)
class Plan:
    """The strands of a piece."""

    members: list[list[Node]]
    order: list[tuple[Node, int]]  # every node with its strand, in the piece's order
    after: list[set[int]]  # for each strand: those that must finish before
    blocks: list[bool]  # does the strand begin with a blocking op?

    @property
    def is_sequential(self) -> bool:
        """Whether each strand waits for the one before: one thread runs them all."""
        return all(i - 1 in before for i, before in enumerate(self.after) if i)


def split(
    nodes: Sequence[Node], functions: Mapping[str, FunctionIR], blocking_recv: bool
) -> Plan:
    """Groups nodes by the blocking ops that they wait for."""
    blocking = {n.name for n in nodes if is_blocking(n, functions, blocking_recv)}
    if len(nodes) == 1 or not blocking:
        return Plan([list(nodes)], [(n, 0) for n in nodes], [set()], [False])
    waits = _waits(nodes, blocking)
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
    first, received = groups.get(frozenset()), groups.get(frozenset({_RECEIVED}))
    if first is not None and received is not None:
        after[received].add(first)  # it is soon over, and needs no thread beside it
    waiting = blocking.union(n.name for n in nodes if n.op in _RECEIVES)
    blocks = [any(n.name in waiting for n in group) for group in members]
    return _with_patient_together(Plan(members, order, after, blocks))


def _waits(nodes: Sequence[Node], blocking: set[str]) -> dict[str, frozenset[str]]:
    """What each node waits for: blocking ops, and what is received."""
    waits: dict[str, frozenset[str]] = {}
    is_sent_late = False  # has something been sent that a blocking op lets go?
    for node in nodes:
        own = set()
        if node.name in blocking or (is_sent_late and node.op in _RECEIVES):
            own.add(node.name)
        elif node.op in _RECEIVES:
            own.add(_RECEIVED)
        names = [name for name, _ in node.inputs] + list(node.control_inputs)
        waits[node.name] = frozenset(own.union(*(waits[n] for n in names)))
        if node.op in _SENDS and waits[node.name] - {_RECEIVED}:
            is_sent_late = True
    return waits


def _with_patient_together(plan: Plan) -> Plan:
    """One strand for patient ops that are all waited for by the same strands.

    Nothing can run before the last of them is through, so one thread may wait for one
    after the other.
    """
    groups: dict[tuple[frozenset[int], frozenset[int]], int] = {}
    into = list(range(len(plan.members)))
    for index, members in enumerate(plan.members):
        if all(_is_patient(node) for node in members):
            users = frozenset(i for i, a in enumerate(plan.after) if index in a)
            key = frozenset(plan.after[index]), users
            into[index] = groups.setdefault(key, index)
    kept = sorted(set(into))
    if len(kept) == len(into):
        return plan
    number = {old: new for new, old in enumerate(kept)}
    merged = [number[index] for index in into]
    order = [(node, merged[index]) for node, index in plan.order]
    return Plan(
        [[node for node, index in order if index == new] for new in range(len(kept))],
        order,
        [{merged[before] for before in plan.after[old]} for old in kept],
        [plan.blocks[old] for old in kept],
    )


def _is_patient(node: Node) -> bool:
    return any(kernel.patient for kernel in op_kernel.registered_kernels(node.op))


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
        if inner.op in _RECEIVES:
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
    return [name for name in names_of(node) if name in functions]


@dataclass(slots=True, eq=False)
class Run:
    """One step of a piece with several strands."""

    functions: Sequence[Callable[..., Any]]  # the strands' code
    plan: Plan
    args: Sequence[Any]
    context: Any
    guarded: Callable[[Callable[[], None]], None]  # runs a strand in another thread
    frame: Frame = field(default_factory=dict)  # what strands give each other
    changed: threading.Condition = field(default_factory=threading.Condition)
    started: set[int] = field(default_factory=set)
    finished: set[int] = field(default_factory=set)
    running: int = 0
    error: BaseException | None = None

    def run(self) -> Frame:
        """Runs all strands; returns the values that they gave away.

        Raises:
          The first error of a strand, after the others have been cancelled and ended.
        """
        while ready := self._wait_ready():
            mine, others = self._share(ready)
            for index in others:
                threads.start(lambda i=index: self.guarded(lambda: self._execute(i)))  # type: ignore[misc]
            if mine is not None:
                self._execute(mine)
        if self.error is not None:
            raise self.error
        return self.frame

    def _wait_ready(self) -> list[int]:
        """The strands that can start; none when all is done or one has failed."""
        with self.changed:
            while True:
                ready = [] if self.error is not None else self._ready()
                if ready or self.running == 0:
                    return ready
                self.changed.wait()

    def _ready(self) -> list[int]:
        return [
            index
            for index, before in enumerate(self.plan.after)
            if index not in self.started and before <= self.finished
        ]

    def _share(self, ready: list[int]) -> tuple[int | None, list[int]]:
        """The strand for this thread (one that cannot block, or is alone), others'."""
        blocks = self.plan.blocks
        with self.changed:
            mine = next((i for i in ready if not blocks[i]), None)
            if mine is None and len(ready) == 1 and self.running == 0:
                mine = ready[0]
            others = [i for i in ready if i != mine and (blocks[i] or mine is None)]
            self.started.update(others)
            self.running += len(others)
            if mine is not None:
                self.started.add(mine)
                self.running += 1
        return mine, others

    def _execute(self, index: int) -> None:
        try:
            self.functions[index](self.args, self.context, self.frame)
        except BaseException as error:
            with self.changed:
                first = self.error is None
                if first:
                    self.error = error
            if first:
                self.context.cancellation.cancel(error)
        with self.changed:
            self.finished.add(index)
            self.running -= 1
            self.changed.notify_all()
