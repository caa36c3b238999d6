"""The dataflow interpreter: classic control flow, token by token.

Nodes run when their inputs have arrived. A value that a branch not taken would have
made is *dead*, and so is what depends on it, up to a Merge that another input reaches.
`Enter` starts a *frame* for its loop, in which nodes run once for each *iteration*;
`NextIteration` passes a value to the next one, and `Exit` out of the frame. The rules
are those of TensorFlow's executor (Yu et al., "Dynamic Control Flow in Large-Scale
Machine Learning", 2018, section 4); order among ready nodes is first in, first out.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.runtime import concurrency, frame_id, threads
from tensorloom.worker.compile.dataflow_nodes import (
    COPY,
    ENTER,
    EXIT,
    MERGE,
    NEXT,
    PASS,
    RECV,
    RETVAL,
    SEND,
    SWITCH,
    SWITCH_N,
    TRIGGER,
    WATCH,
    Item,
    read_input,
)
from tensorloom.worker.run.runtime import predicate

if TYPE_CHECKING:
    import queue

    from tensorloom.framework.registry.op_kernel import OpKernelContext
    from tensorloom.worker.compile.dataflow_program import Program

DEAD: Final = object()
_CONTROL: Final = -1
_NO_INPUTS: Final[list[Any]] = []
# How many nodes run between two looks at whether the step is cancelled.
_CHECK_EVERY: Final = 256


class _Arrivals:
    """What a node has received in one iteration."""

    __slots__ = ("dead", "inputs", "pending", "started", "value_index")

    def __init__(self, item: Item) -> None:
        if item.kind == MERGE:
            self.pending = item.control_count
        else:
            self.pending = item.input_count + item.control_count
        self.inputs: list[Any] = [None] * item.input_count
        self.dead = 0  # inputs that were dead
        self.value_index = -1  # of a Merge: the input that is passed on
        self.started = False


class _Iteration:
    """One iteration of a frame."""

    __slots__ = ("arrivals", "frame", "index", "outstanding")

    def __init__(self, frame: _Frame, index: int) -> None:
        self.frame = frame
        self.index = index
        self.arrivals: dict[Item, _Arrivals] = {}
        self.outstanding = 0  # nodes that are ready or run, and frames inside


class _Frame:
    """One execution of a loop (or, without a parent, the whole step)."""

    __slots__ = (
        "children",
        "exited",
        "first",
        "id",
        "invariants",
        "iterations",
        "name",
        "parent",
        "pending_enters",
    )

    def __init__(self, name: bytes, parent: _Iteration | None, enters: int) -> None:
        self.name = name
        self.id = frame_id.ROOT
        self.parent = parent
        self.pending_enters = enters
        self.first = 0  # the iterations before this one are over
        self.iterations: dict[int, _Iteration] = {0: _Iteration(self, 0)}
        self.invariants: list[tuple[Item, Any]] = []  # (Enter, its value)
        self.exited: set[Item] = set()
        # By (name, iteration) of this frame.
        self.children: dict[tuple[bytes, int], _Frame] = {}


class Run:
    """One step of a program."""

    def __init__(
        self,
        program: Program,
        args: Sequence[Any],
        context: OpKernelContext,
        guarded: Callable[[Callable[[], None]], None],
    ) -> None:
        self.program = program
        self.args = args
        self.context = context
        self.guarded = guarded
        self.results: dict[int, Any] = {}
        self._ready: deque[tuple[Item, _Iteration, list[Any], bool]] = deque()
        self._finished: queue.SimpleQueue[Any] = concurrency.SimpleQueue()
        self._waiting = 0  # blocking nodes in threads of their own
        self._receiving = 0  # Recvs whose tensor has not come

    def run(self) -> list[Any]:
        """The results by index.

        Raises:
          errors.OpError: a node failed, the step was cancelled, or a fetched value is
            dead.
        """
        root = _Frame(b"", None, 0)
        first = root.iterations[0]
        for item in self.program.roots:
            self._schedule(item, first, _NO_INPUTS, False)
        cancellation = self.context.cancellation
        token = cancellation.register(lambda: self._finished.put(None))
        try:
            self._run_ready()
        except BaseException as error:
            if self._waiting:
                self.context.cancellation.cancel(error)
                self._drain()
            raise
        finally:
            if token is not None:
                cancellation.deregister(token)
        return [self._result(i) for i in self.program.result_indices]

    def _drain(self) -> None:
        """Waits for the nodes in threads of their own."""
        while self._waiting:
            finished = self._finished.get()
            if finished is not None and finished[0].kind != RECV:
                self._waiting -= 1

    def _result(self, index: int) -> Any:
        if index not in self.results:
            raise errors.InvalidArgumentError(
                None, None, f"Retval[{index}] does not have value"
            )
        return self.results[index]

    def _run_ready(self) -> None:
        count = 0
        cancellation = self.context.cancellation
        late = []  # fetches that see what all others have done
        while self._ready or self._waiting or self._receiving:
            count += 1
            if count % _CHECK_EVERY == 0 and cancellation.cancelled:
                cancellation.check()
            if not self._ready:
                self._take_finished()
                continue
            item, iteration, inputs, dead = self._ready.popleft()
            if item.kind == SEND:
                self._send(item, iteration, inputs, dead)
            elif item.kind == RECV:
                self._receive(item, iteration)
                continue
            elif dead:
                self._propagate_dead(item, iteration)
            elif item.blocking:
                self._start(item, iteration, inputs)
                continue
            elif item.is_late:
                late.append((item, iteration, inputs))
                continue
            else:
                self._execute(item, iteration, inputs)
            self._end(iteration)
        for item, iteration, inputs in late:
            self._execute(item, iteration, inputs)

    # --- nodes -------------------------------------------------------------------

    def _execute(self, item: Item, iteration: _Iteration, inputs: list[Any]) -> None:
        kind = item.kind
        for slot in item.read_slots:
            inputs[slot] = read_input(item, inputs[slot])
        if kind == SWITCH:
            outputs: Sequence[Any] = (
                (DEAD, inputs[0]) if predicate(inputs[1]) else (inputs[0], DEAD)
            )
        elif kind == SWITCH_N:
            outputs = _switched(inputs[0], int(inputs[1]), len(item.consumers))
        elif kind == ENTER:
            self._enter(item, iteration, inputs[0])
            return
        elif kind == EXIT:
            iteration.frame.exited.add(item)
            assert iteration.frame.parent is not None
            self._deliver(item, iteration.frame.parent, (inputs[0],))
            return
        elif kind == NEXT:
            self._deliver(item, self._next(iteration), (inputs[0],))
            return
        elif kind == WATCH:
            assert item.call is not None
            outputs = item.call(inputs, _frames(iteration), self.context)
        elif item.call is None:
            # Merge has its outputs already; NoOp and ControlTrigger have none.
            outputs = inputs if kind in (MERGE, PASS, COPY) else (item.constant,)
        else:
            outputs = item.call(inputs, self.args, self.context)
            if kind == RETVAL:
                index = item.node.attrs["index"]
                if index in self.results:  # an iteration outside of any loop
                    raise errors.InternalError(
                        None, None, f"Retval[{index}] has already been set."
                    )
                self.results[index] = outputs[0]
                outputs = ()
        self._deliver(item, iteration, outputs)

    def _send(
        self, item: Item, iteration: _Iteration, inputs: list[Any], dead: bool
    ) -> None:
        """Sends a tensor to another task, dead or alive."""
        value = item.nothing
        if not dead:
            value = read_input(item, inputs[0]) if item.read_slots else inputs[0]
        key = f"{item.key};{iteration.frame.id.number}:{iteration.index}"
        self.context.rendezvous.send(key, value, dead)
        self._deliver(item, iteration, (), dead)

    def _receive(self, item: Item, iteration: _Iteration) -> None:
        """Waits for a tensor of another task, without a thread.

        The sender knows whether it is dead, so a Recv waits in any case.
        """
        self._receiving += 1

        def received(value: Any, is_dead: bool | None) -> None:
            if is_dead is None:
                self._finished.put((item, iteration, None, value))
            else:
                outputs = (DEAD,) if is_dead else (value,)
                self._finished.put((item, iteration, outputs, None))

        key = f"{item.key};{iteration.frame.id.number}:{iteration.index}"
        self.context.rendezvous.recv_async(key, received)

    def _start(self, item: Item, iteration: _Iteration, inputs: list[Any]) -> None:
        """Runs a node that may wait in a thread of its own."""
        call = item.call
        assert call is not None

        def task() -> None:
            try:
                outputs = call(inputs, self.args, self.context)
            except BaseException as error:
                self._finished.put((item, iteration, None, error))
            else:
                self._finished.put((item, iteration, outputs, None))

        self._waiting += 1
        threads.start(lambda: self.guarded(task))

    def _take_finished(self) -> None:
        finished = self._finished.get()
        if finished is None:
            self.context.cancellation.check()
            return
        item, iteration, outputs, error = finished
        if item.kind == RECV:
            self._receiving -= 1
        else:
            self._waiting -= 1
        if error is not None:
            raise error
        is_dead = len(outputs) == 1 and outputs[0] is DEAD
        self._deliver(item, iteration, outputs, is_dead)
        self._end(iteration)

    def _propagate_dead(self, item: Item, iteration: _Iteration) -> None:
        kind = item.kind
        if kind in (EXIT, NEXT):
            # Dead in this iteration does not mean dead in the last; a frame that is
            # over says which exits are dead.
            return
        dead = (DEAD,) * len(item.consumers)
        if kind == ENTER:
            self._enter(item, iteration, DEAD)
        else:
            self._deliver(item, iteration, dead, dead=True)

    # --- edges -------------------------------------------------------------------

    def _deliver(
        self,
        item: Item,
        iteration: _Iteration,
        outputs: Sequence[Any],
        dead: bool = False,
    ) -> None:
        """Passes outputs and the end of a node to its consumers in an iteration."""
        for index, edges in enumerate(item.consumers):
            for consumer, slot in edges:
                self._arrive(consumer, iteration, slot, outputs[index], item)
        for consumer in item.control_consumers:
            self._arrive(consumer, iteration, _CONTROL, DEAD if dead else None, item)

    def _arrive(
        self, item: Item, iteration: _Iteration, slot: int, value: Any, source: Item
    ) -> None:
        arrivals = iteration.arrivals.get(item)
        if arrivals is None:
            arrivals = iteration.arrivals[item] = _Arrivals(item)
        if item.kind == MERGE:
            self._arrive_at_merge(item, iteration, arrivals, slot, value, source)
            return
        arrivals.pending -= 1
        if value is DEAD:
            arrivals.dead += 1
        elif slot != _CONTROL:
            arrivals.inputs[slot] = value
        if arrivals.pending == 0:
            dead = arrivals.dead > 0 and item.kind != TRIGGER
            inputs, arrivals.inputs = arrivals.inputs, _NO_INPUTS
            self._schedule(item, iteration, inputs, dead)

    def _arrive_at_merge(
        self,
        item: Item,
        iteration: _Iteration,
        arrivals: _Arrivals,
        slot: int,
        value: Any,
        source: Item,
    ) -> None:
        if slot == _CONTROL:
            arrivals.pending -= 1
        elif value is DEAD:
            # A loop that is not entered has no other input coming.
            arrivals.dead += item.input_count if source.kind == ENTER else 1
        elif arrivals.value_index < 0:
            arrivals.value_index = slot
            arrivals.inputs = [value, np.int32(slot)]
        if arrivals.started or arrivals.pending:
            return
        lives = arrivals.value_index >= 0
        if lives or arrivals.dead >= item.input_count:
            arrivals.started = True
            inputs, arrivals.inputs = arrivals.inputs, _NO_INPUTS
            self._schedule(item, iteration, inputs, not lives)

    def _schedule(
        self, item: Item, iteration: _Iteration, inputs: list[Any], dead: bool
    ) -> None:
        iteration.outstanding += 1
        self._ready.append((item, iteration, inputs, dead))

    # --- frames ------------------------------------------------------------------

    def _enter(self, item: Item, iteration: _Iteration, value: Any) -> None:
        key = item.frame, iteration.index
        frame = iteration.frame.children.get(key)
        if frame is None:
            frame = _Frame(item.frame, iteration, self.program.enters[item.frame])
            if self.program.crosses_tasks:
                outer = iteration.frame.id
                frame.id = self.program.numbering(outer, iteration.index, item.frame)
            iteration.frame.children[key] = frame
            iteration.outstanding += 1
        frame.pending_enters -= 1
        dead = value is DEAD
        if item.node.attrs["is_constant"]:
            frame.invariants.append((item, value))
            targets = list(frame.iterations.values())
        else:
            targets = [frame.iterations[0]]
        for target in targets:
            self._deliver(item, target, (value,), dead)
        self._settle(frame)

    def _next(self, iteration: _Iteration) -> _Iteration:
        """The iteration after this one, with the loop's invariants in it."""
        frame, index = iteration.frame, iteration.index + 1
        following = frame.iterations.get(index)
        if following is None:
            following = frame.iterations[index] = _Iteration(frame, index)
            for item, value in frame.invariants:
                self._deliver(item, following, (value,), value is DEAD)
        return following

    def _end(self, iteration: _Iteration) -> None:
        iteration.outstanding -= 1
        if iteration.outstanding == 0:
            self._settle(iteration.frame)

    def _settle(self, frame: _Frame) -> None:
        """Drops iterations that are over, and the frame when all are."""
        if frame.pending_enters:
            return
        while frame.iterations:
            oldest = frame.iterations[frame.first]
            if oldest.outstanding:
                return
            del frame.iterations[frame.first]
            frame.first += 1
        parent = frame.parent
        if parent is None:
            return
        del parent.frame.children[frame.name, parent.index]
        for item in self.program.exits.get(frame.name, ()):
            if item not in frame.exited:
                self._deliver(item, parent, (DEAD,), dead=True)
        self._end(parent)


def _frames(iteration: _Iteration | None) -> tuple[tuple[str, int], ...]:
    """The loops around a node, each with its iteration, outermost first."""
    found: list[tuple[str, int]] = []
    while iteration is not None and iteration.frame.parent is not None:
        found.append((iteration.frame.name.decode(), iteration.index))
        iteration = iteration.frame.parent
    return tuple(reversed(found))


def _switched(value: Any, index: int, count: int) -> list[Any]:
    """The outputs of a switch of many: the last one for an index out of range."""
    outputs: list[Any] = [DEAD] * count
    outputs[index if 0 <= index < count else -1] = value
    return outputs
