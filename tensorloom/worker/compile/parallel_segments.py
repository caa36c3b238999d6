"""Splits a piece with blocking ops into segments that run in parallel.

A queue's dequeue may wait for an enqueue of the same step, so nodes that do not depend
on a blocking op must run without it. Nodes that depend on the same blocking ops, in
this piece or elsewhere, form a segment. Segments run in threads of their own when
several can run. A piece in which nothing depends on a blocking op is one segment, run
by the caller's thread.

    handle -> dequeue -> _Send   _Recv -> assign   _Recv {_waits_for: [dequeue]} -> add
    segments: handle | dequeue, _Send | _Recv, assign | _Recv, add

Fetches of references are a last segment: nothing needs them, and they read the variable
after all updates.

Segments cannot deadlock, on however many tasks. Proof by induction over sets of
blocking ops: assume that the ops of a set return, and that every segment has finished
that depends on fewer of them. A segment that depends on exactly this set receives only
from finished segments, or it is the one segment of its piece that receives from
segments with the same set. Those run in the topological order of the whole graph, and
everything else that they need is done before they begin.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorloom.framework.partition.waiting_ops import RECEIVES, may_wait, waits_of
from tensorloom.framework.registry import op_kernel
from tensorloom.framework.runtime import concurrency, threads

if TYPE_CHECKING:
    import threading

    from tensorloom.framework.graph.graph_ir import FunctionIR, Node
    from tensorloom.framework.partition.waiting_ops import Waits

Frame = dict[str, Any]

# Which tensors a node depends on that were received: none; only such as depend on fewer
# blocking ops than the node; or also such as depend on the same ones.
_NOTHING, _EARLIER, _ALIKE = range(3)
_Key = tuple[frozenset[str], int]


@dataclass(frozen=True, slots=True)
class Plan:
    """The segments of a piece, each after those that it needs."""

    members: list[list[Node]]
    order: list[tuple[Node, int]]  # every node with its segment, in the piece's order
    after: list[set[int]]  # for each segment: those that must finish before
    blocks: list[bool]  # does the segment begin with something that may wait?
    has_blocking_ops: bool = False

    @property
    def is_sequential(self) -> bool:
        """Whether each segment waits for the one before: one thread runs them all."""
        return all(i - 1 in before for i, before in enumerate(self.after) if i)


def split(nodes: Sequence[Node], functions: Mapping[str, FunctionIR]) -> Plan:
    """Groups nodes by the blocking ops that they wait for."""
    waits = waits_of(nodes, functions)
    if len(nodes) == 1 or not any(waits.values()):
        return Plan([list(nodes)], [(n, 0) for n in nodes], [set()], [False])
    late = _late_reads(nodes)
    nodes = [node for node in nodes if node.name not in late]
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
        before.update(_finished_before_receiving(ordered, index))
    blocking = {n.name for n in nodes if may_wait(n, functions)}
    blocks = [
        any(n.name in blocking or n.op in RECEIVES for n in group) for group in members
    ]
    if late:
        order += [(node, len(members)) for node in late.values()]
        after.append(set(range(len(members))))
        members.append(list(late.values()))
        blocks.append(False)
    plan = Plan(members, order, after, blocks, bool(blocking))
    return _in_one_thread(_with_waits_merged(plan))


def _late_reads(nodes: Sequence[Node]) -> dict[str, Node]:
    """The fetches of references, by name: they give what the step left there.

    TensorFlow fetches the variable's buffer, in which later updates of the step show:
    `_, step = session.run([train_op, global_step])` counts this step.
    """
    types = {node.name: node.output_types for node in nodes}
    found = {}
    for node in nodes:
        if node.op == "_Retval":
            name, output = node.inputs[0]
            if types[name][output]._is_ref_dtype:
                found[node.name] = node
    return found


def _keys(nodes: Sequence[Node], waits: Waits) -> dict[str, _Key]:
    """By node name: what identifies its segment (see the module's docstring)."""
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


def _finished_before_receiving(keys: Sequence[_Key], index: int) -> list[int]:
    """The segments that finish before any segment that segment `index` receives from.

    Segment `index` may therefore wait for them.
    """
    own, received = keys[index]
    if received != _ALIKE:
        return []
    return [i for i, (other, _) in enumerate(keys[:index]) if other <= own]


def _in_one_thread(plan: Plan) -> Plan:
    """The plan with a single segment, if each segment waits for the one before."""
    if len(plan.members) == 1 or not plan.is_sequential:
        return plan
    nodes = [node for group in plan.members for node in _last_first(group)]
    order = [(node, 0) for node in nodes]
    return Plan([nodes], order, [set()], [any(plan.blocks)], plan.has_blocking_ops)


def _last_first(group: list[Node]) -> list[Node]:
    """The nodes in reverse order if all of them only wait, and not for each other.

    Programs fill accumulators in the order in which they take from them. A thread that
    waits for the last one first is woken once, and not once for each.
    """
    only_wait = all(_only_waits(n) and n.op not in RECEIVES for n in group)
    return group[::-1] if only_wait else group


def _with_waits_merged(plan: Plan) -> Plan:
    """Merges segments of ops that only wait that the same segments wait for.

    Nothing can run before the last of these ops ends, so one thread may wait for them
    in turn. A receive only waits, too: it changes nothing.
    """
    groups: dict[tuple[frozenset[int], frozenset[int]], int] = {}
    into = list(range(len(plan.members)))
    for index, members in enumerate(plan.members):
        if all(_only_waits(node) for node in members):
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


def _only_waits(node: Node) -> bool:
    return node.op in RECEIVES or any(
        kernel.only_waits for kernel in op_kernel.registered_kernels(node.op)
    )


@dataclass(slots=True, eq=False)
class Run:
    """One step of a piece with several segments."""

    functions: Sequence[Callable[..., Any]]  # the segments' code
    plan: Plan
    args: Sequence[Any]
    context: Any
    guarded: Callable[[Callable[[], None]], None]  # runs a segment in another thread
    frame: Frame = field(default_factory=dict)  # values that segments exchange
    changed: threading.Condition = field(
        default_factory=lambda: concurrency.Condition()
    )
    started: set[int] = field(default_factory=set)
    finished: set[int] = field(default_factory=set)
    running: int = 0
    error: BaseException | None = None

    def run(self) -> Frame:
        """Runs all segments; returns the values that they exported.

        Raises:
          The first error of a segment, after the others have been cancelled and ended.
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
        """The segments that can start; none when all is done or one has failed."""
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
        """The segment for this thread (non-blocking, or the only one); the others."""
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
