"""Blocking ops must not stall others: a piece that waits is split into strands.

A queue's dequeue may wait for an enqueue of the same step, so what does not depend on
a blocking op must run without it. Nodes that depend on the same blocking ops, in this
piece or elsewhere, form a strand; strands run in threads of their own when several
could run. A piece in which nothing depends on a blocking op is one strand, run by the
caller's thread.

    handle -> dequeue -> _Send   _Recv -> assign   _Recv {_waits_for: [dequeue]} -> add
    strands: handle | dequeue, _Send | _Recv, assign | _Recv, add

Why strands cannot wait for each other in a circle, on however many tasks: assume that
the blocking ops of a set go on, and that all is done that depends on fewer of them.
What depends on that very set receives nothing but what is done, or it is in the one
strand of its piece that receives from others like it. Those are in the topological
order of the whole graph; all else that they need is before they begin.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorloom.framework.partition.waiting_ops import RECEIVES, may_wait, waits_of
from tensorloom.framework.registry import op_kernel
from tensorloom.framework.runtime import threads

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.partition.waiting_ops import Waits

Frame = dict[str, Any]

# Whether something that a node follows from was received: nothing, or only what depends
# on no blocking op, or what depends on the same blocking ops as the node.
_NOTHING, _EARLIER, _ALIKE = range(3)
_Key = tuple[frozenset[str], int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The strands of a piece, each after those that it needs."""

    members: list[list[Node]]
    order: list[tuple[Node, int]]  # every node with its strand, in the piece's order
    after: list[set[int]]  # for each strand: those that must finish before
    blocks: list[bool]  # does the strand begin with something that may wait?
    has_blocking_ops: bool = False

    @property
    def is_sequential(self) -> bool:
        """Whether each strand waits for the one before: one thread runs them all."""
        return all(i - 1 in before for i, before in enumerate(self.after) if i)


def split(nodes: Sequence[Node], functions: Mapping[str, FunctionIR]) -> Plan:
    """Groups nodes by the blocking ops that they wait for."""
    waits = waits_of(nodes, functions)
    if len(nodes) == 1 or not any(waits.values()):
        return Plan([list(nodes)], [(n, 0) for n in nodes], [set()], [False])
    keys = _keys(nodes, waits)
    # Each after those that it may need.
    found = dict.fromkeys(keys.values())
    ordered = sorted(found, key=lambda key: (len(key[0]), key[1]))
    groups = {key: index for index, key in enumerate(ordered)}
    after: list[set[int]] = [set() for _ in groups]
    members: list[list[Node]] = [[] for _ in groups]
    order = [(node, groups[keys[node.name]]) for node in nodes]
    for node, index in order:
        members[index].append(node)
        after[index].update(groups[keys[name]] for name in node.producers)
    for index, before in enumerate(after):
        before.discard(index)
        before.update(_over_before_receiving(ordered, index))
    blocking = {n.name for n in nodes if may_wait(n, functions)}
    blocks = [
        any(n.name in blocking or n.op in RECEIVES for n in group) for group in members
    ]
    plan = Plan(members, order, after, blocks, bool(blocking))
    return _in_one_thread(_with_patient_together(plan))


def _keys(nodes: Sequence[Node], waits: Waits) -> dict[str, _Key]:
    """By node: its strand, see the top."""
    keys: dict[str, _Key] = {}
    for node in nodes:
        own = waits[node.name]
        before = [keys[name] for name in node.producers]
        if node.op in RECEIVES or (own, _ALIKE) in before:
            received = _ALIKE
        elif any(r == _EARLIER or (r and not w) for w, r in before):
            received = _EARLIER
        else:
            received = _NOTHING
        keys[node.name] = own, received
    return keys


def _over_before_receiving(keys: Sequence[_Key], index: int) -> list[int]:
    """The strands that end for sure before those can that a strand receives from.

    It need not run beside them.
    """
    own, received = keys[index]
    if received != _ALIKE:
        return []
    return [i for i, (other, _) in enumerate(keys[:index]) if other <= own]


def _in_one_thread(plan: Plan) -> Plan:
    """One strand, in place of those of which each waits for the one before."""
    if len(plan.members) == 1 or not plan.is_sequential:
        return plan
    nodes = [node for group in plan.members for node in _last_first(group)]
    order = [(node, 0) for node in nodes]
    return Plan([nodes], order, [set()], [any(plan.blocks)], plan.has_blocking_ops)


def _last_first(group: list[Node]) -> list[Node]:
    """Of ops that do nothing but wait, none for another: the last one first.

    Programs fill accumulators in the order in which they take from them. Who begins
    with the last is woken once, and not once for each.
    """
    only_wait = all(_is_patient(n) and n.op not in RECEIVES for n in group)
    return group[::-1] if only_wait else group


def _with_patient_together(plan: Plan) -> Plan:
    """One strand for patient ops that are all waited for by the same strands.

    Nothing can run before the last of them is through, so one thread may wait for one
    after the other. To receive is patient: it changes nothing.
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
        plan.has_blocking_ops,
    )


def _is_patient(node: Node) -> bool:
    return node.op in RECEIVES or any(
        kernel.patient for kernel in op_kernel.registered_kernels(node.op)
    )


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
