"""A step whose parts run on several tasks at once."""

from __future__ import annotations

import select
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.interfaces import (
    RegisteredGraph,
    RemoteGraph,
    StepContext,
    StepOptions,
    WorkerInterface,
)
from tensorloom.framework.runtime import concurrency, threads
from tensorloom.framework.runtime.cancellation import CancellationManager, Deadline
from tensorloom.master.run.abandoned_steps import end_abandoned_step
from tensorloom.transport.wire import status
from tensorloom.transport.wire.request_ids import new_step_id

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.interfaces import PendingReply


@dataclass(frozen=True, slots=True)
class Part:
    """What one task does of a step."""

    worker: WorkerInterface
    registered: RegisteredGraph
    remote: RemoteGraph | None  # the same, on a task elsewhere
    args: list[int]  # which feeds of the step are its own
    results: list[int]  # which fetches

    @staticmethod
    def of(
        worker: WorkerInterface, registered: RegisteredGraph, graph: GraphIR
    ) -> Part:
        """The part that a worker registered `graph` for."""
        return Part(
            worker,
            registered,
            registered if isinstance(registered, RemoteGraph) else None,
            _indices(graph, "_Arg"),
            _indices(graph, "_Retval"),
        )


def _indices(part: GraphIR, op: str) -> list[int]:
    return sorted(n.attrs["index"] for n in part.nodes.values() if n.op == op)


class TaskParallelStep:
    """Runs the parts of a step side by side under one step id.

    The parts meet in the rendezvous of that step id. Implements `PreparedStep`.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        # Parts elsewhere are under way before this thread turns to its own.
        self._parts = sorted(parts, key=lambda part: part.remote is None)
        here = [part for part in self._parts if part.remote is None]
        # This thread alone can run the step, but not where its own part may wait for
        # something outside of it: nobody would hear of another part's failure.
        self._waits_at_sockets = len(here) <= 1 and not any(
            getattr(part.registered, "may_block", True) for part in here
        )

        # And where it is alone in its own part, it takes tensors at the sockets, too.
        self._is_linked = self._waits_at_sockets and any(
            getattr(part.registered, "is_sequential", False) for part in here
        )

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs all parts; the first error of one cancels the others."""
        asked = step or StepContext(StepOptions())
        return _Run(self._parts, asked, self._waits_at_sockets, self._is_linked).run(
            feeds
        )


class _Run:
    """One run of the parts."""

    def __init__(
        self,
        parts: Sequence[Part],
        asked: StepContext,
        waits_at_sockets: bool,
        is_linked: bool,
    ) -> None:
        self._parts = parts
        self._is_linked = is_linked
        self._waits_at_sockets = waits_at_sockets
        self._timeout_s = asked.options.timeout_s
        options = asked.options
        if options.timeout_s is not None:  # the whole step has one limit, kept here
            options = replace(options, timeout_s=None)
        # Its own part follows: the step may be cancelled before that has begun.
        self._cancellation = asked.cancellation or CancellationManager()
        self._context = StepContext(
            options,
            asked.metadata,
            asked.step_id or new_step_id(),
            self._cancellation,
        )
        # Those that keep something of the step until they hear that it is over.
        self._keepers = [part.worker for part in parts]
        self._lock = concurrency.Lock()
        self._pending = len(parts)
        self._all_ended = concurrency.Lock()  # released by the last part
        if parts:
            self._all_ended.acquire()
        self._errors: list[errors.OpError] = []
        self._values: dict[int, Any] = {}

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """Runs the parts to their end.

        Raises:
          errors.OpError: the first error that does not follow from another.
        """
        token = self._cancellation.register(self._abort)
        try:
            if self._timeout_s:
                with Deadline(self._cancellation, self._timeout_s):
                    self._run_parts(feeds)
            else:
                self._run_parts(feeds)
        finally:
            if token is not None:  # or the values stay until garbage is collected
                self._cancellation.deregister(token)
            self._clean_up()
        if self._errors:
            raise self._cause()
        return [self._values[i] for i in range(len(self._values))]

    def _clean_up(self) -> None:
        step_id = self._context.step_id
        if self._cancellation.cancelled:
            end_abandoned_step([part.worker for part in self._parts], step_id)
            return
        for worker in self._keepers:
            worker.cleanup_step(step_id)

    def _run_parts(self, feeds: Sequence[Any]) -> None:
        if self._waits_at_sockets:
            self._run_at_sockets(feeds)
            return
        last = self._parts[-1]
        for part in self._parts:
            values = [feeds[i] for i in part.args]
            if part.remote is not None:
                self._start(part, part.remote, values)
            elif part is last:
                self._run_here(part, values)
            else:
                threads.start(lambda p=part, v=values: self._run_here(p, v))  # type: ignore[misc]
        self._all_ended.acquire()

    def _run_at_sockets(self, feeds: Sequence[Any]) -> None:
        """Sends to the tasks elsewhere, runs the own part, then takes the replies."""
        pending: list[tuple[Part, PendingReply]] = []
        own: Part | None = None
        for part in self._parts:
            values = [feeds[i] for i in part.args]
            if part.remote is None:
                own = part
            else:
                self._begin(part, part.remote, values, pending)
        for taken in [p for p in pending if p[1].is_source]:
            pending.remove(taken)
            self._keepers.remove(taken[0].worker)
            self._take(*taken)
        if own is not None:
            self._run_here(own, [feeds[i] for i in own.args])
        if len(pending) == 1:
            self._take(*pending[0])
        else:
            self._take_all(pending)
        self._all_ended.acquire()

    def _begin(
        self,
        part: Part,
        graph: RemoteGraph,
        feeds: list[Any],
        pending: list[tuple[Part, PendingReply]],
    ) -> None:
        try:
            reply = graph.begin(feeds, self._context, self._is_linked)
        except errors.OpError as error:
            self._ended(part, None, error)
            return
        if reply is None:
            self._start(part, graph, feeds)
        else:
            # While this thread is in its own part it reads no reply.
            reply.watch(self._cancellation.cancel)
            pending.append((part, reply))
            self._abort_late(part)

    def _take_all(self, pending: Sequence[tuple[Part, PendingReply]]) -> None:
        """Takes the replies as they come."""
        at_sockets: dict[int, tuple[Part, PendingReply]] = {}
        others: list[tuple[Part, PendingReply]] = []
        for part, reply in pending:
            if reply.is_there():  # the own part may have met it
                self._take(part, reply)
            elif reply.fileno() < 0:
                others.append((part, reply))
            else:
                at_sockets[reply.fileno()] = part, reply
        # Where there is no socket, a thread waits for each: this one for the last.
        last = others.pop() if others and not at_sockets else None
        for taken in others:
            threads.start(lambda t=taken: self._take(*t))  # type: ignore[misc]
        if last is not None:
            self._take(*last)
        while at_sockets:
            for number in _ready(at_sockets):
                if len(at_sockets) == 1 or at_sockets[number][1].is_there():
                    self._take(*at_sockets.pop(number))

    def _start(self, part: Part, graph: RemoteGraph, feeds: list[Any]) -> None:
        graph.start(
            feeds,
            self._context,
            lambda values, error: self._ended(part, values, error),
        )
        self._abort_late(part)

    def _run_here(self, part: Part, feeds: list[Any]) -> None:
        try:
            values = part.registered.run(feeds, self._context)
        except errors.OpError as error:
            self._ended(part, None, error)
        except Exception as error:
            cause = errors.InternalError(None, None, f"{type(error).__name__}: {error}")
            self._ended(part, None, cause)
        else:
            self._ended(part, values, None)

    def _take(self, part: Part, reply: PendingReply) -> None:
        try:
            self._ended(part, reply.take(), None)
        except errors.OpError as error:
            self._ended(part, None, error)

    def _ended(
        self, part: Part, values: list[Any] | None, error: errors.OpError | None
    ) -> None:
        if error is not None:
            self._errors.append(error)
            self._cancellation.cancel(error)
        else:
            assert values is not None
            self._values.update(zip(part.results, values, strict=True))
        with self._lock:
            self._pending -= 1
            is_last = not self._pending
        if is_last:
            self._all_ended.release()

    def _abort(self) -> None:
        cause = self._cancellation.cause
        error = (
            cause
            if isinstance(cause, errors.OpError)
            else errors.CancelledError(None, None, "Step was cancelled")
        )
        for part in self._parts:
            part.worker.abort_step(self._context.step_id, status.derived(error))

    def _abort_late(self, part: Part) -> None:
        """Ends a part that began while the step was being cancelled."""
        if self._cancellation.cancelled:
            error = self._cancellation.error()
            part.worker.abort_step(self._context.step_id, status.derived(error))

    def _cause(self) -> errors.OpError:
        """The error that the others follow from."""
        limit = self._cancellation.cause
        if isinstance(limit, errors.OpError) and limit not in self._errors:
            return limit  # the deadline, or who asked for the step
        own = [e for e in self._errors if not _follows(e)]
        return own[0] if own else status.without_mark(self._errors[0])


def _ready(replies: Mapping[int, object]) -> list[int]:
    """Those of the sockets at which there is something."""
    if len(replies) == 1:
        return list(replies)
    poll = select.poll()
    for number in replies:
        poll.register(number, select.POLLIN)
    return [number for number, _ in poll.poll()]


def _follows(error: errors.OpError) -> bool:
    """True for what a part raises because another one has failed."""
    return isinstance(error, errors.CancelledError) or status.is_derived(error)
