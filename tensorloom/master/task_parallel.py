"""A step whose parts run on several tasks at once."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors, threads
from tensorloom.framework.cancellation import CancellationManager, Deadline
from tensorloom.framework.interfaces import (
    RegisteredGraph,
    RemoteGraph,
    StepContext,
    StepOptions,
    WorkerInterface,
)
from tensorloom.transport import status

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import GraphIR


def new_step_id() -> int:
    """Random, with the top bits zero, as TensorFlow's masters choose it."""
    return secrets.randbits(56) or 1


@dataclass(frozen=True, slots=True)
class Part:
    """What one task does of a step."""

    worker: WorkerInterface
    registered: RegisteredGraph
    args: list[int]  # which feeds of the step are its own
    results: list[int]  # which fetches

    @staticmethod
    def of(
        worker: WorkerInterface, registered: RegisteredGraph, graph: GraphIR
    ) -> Part:
        """The part that a worker registered `graph` for."""
        return Part(
            worker, registered, _indices(graph, "_Arg"), _indices(graph, "_Retval")
        )


def _indices(part: GraphIR, op: str) -> list[int]:
    return sorted(n.attrs["index"] for n in part.nodes.values() if n.op == op)


class TaskParallelStep:
    """Runs the parts of a step side by side under one step id.

    The parts meet in the rendezvous of that step id. Implements `PreparedStep`.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        # Parts elsewhere are under way before this thread turns to its own.
        self._parts = sorted(
            parts, key=lambda part: not isinstance(part.registered, RemoteGraph)
        )

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs all parts; the first error of one cancels the others."""
        asked = step or StepContext(StepOptions())
        return _Run(self._parts, asked).run(feeds)


class _Run:
    """One run of the parts."""

    def __init__(self, parts: Sequence[Part], asked: StepContext) -> None:
        self._parts = parts
        self._timeout_s = asked.options.timeout_s
        self._outer = asked.cancellation
        # The whole step has one limit, kept here.
        self._context = StepContext(
            replace(asked.options, timeout_s=None), asked.metadata, new_step_id()
        )
        self._cancellation = CancellationManager()
        self._changed = threading.Condition()
        self._pending = len(parts)
        self._errors: list[errors.OpError] = []
        self._values: dict[int, Any] = {}

    def run(self, feeds: Sequence[Any]) -> list[Any]:
        """Runs the parts to their end.

        Raises:
          errors.OpError: the first error that does not follow from another.
        """
        limit = (
            Deadline(self._cancellation, self._timeout_s)
            if self._timeout_s
            else nullcontext()
        )
        self._cancellation.register(self._abort)
        token = self._follow_outer()
        try:
            with limit:
                self._run_parts(feeds)
        finally:
            if self._outer is not None and token is not None:
                self._outer.deregister(token)
            for part in self._parts:
                part.worker.cleanup_step(self._context.step_id)
        if self._errors:
            raise self._cause()
        return [self._values[i] for i in range(len(self._values))]

    def _follow_outer(self) -> int | None:
        outer = self._outer
        if outer is None:
            return None

        def follow() -> None:
            assert outer is not None
            self._cancellation.cancel(outer.cause or outer.error())

        token = outer.register(follow)
        if token is None:
            follow()
        return token

    def _run_parts(self, feeds: Sequence[Any]) -> None:
        last = self._parts[-1]
        for part in self._parts:
            values = [feeds[i] for i in part.args]
            if isinstance(part.registered, RemoteGraph):
                self._start(part, part.registered, values)
            elif part is last:
                self._run_here(part, values)
            else:
                threads.start(lambda p=part, v=values: self._run_here(p, v))  # type: ignore[misc]
        with self._changed:
            while self._pending:
                self._changed.wait()

    def _start(self, part: Part, graph: RemoteGraph, feeds: list[Any]) -> None:
        graph.start(
            feeds,
            self._context,
            lambda values, error: self._ended(part, values, error),
        )

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

    def _ended(
        self, part: Part, values: list[Any] | None, error: errors.OpError | None
    ) -> None:
        if error is not None:
            self._errors.append(error)
            self._cancellation.cancel(error)
        else:
            assert values is not None
            self._values.update(zip(part.results, values, strict=True))
        with self._changed:
            self._pending -= 1
            self._changed.notify_all()

    def _abort(self) -> None:
        cause = self._cancellation.cause
        error = (
            cause
            if isinstance(cause, errors.OpError)
            else errors.CancelledError(None, None, "Step was cancelled")
        )
        for part in self._parts:
            part.worker.abort_step(self._context.step_id, status.derived(error))

    def _cause(self) -> errors.OpError:
        """The error that the others follow from."""
        limit = self._cancellation.cause
        if isinstance(limit, errors.OpError) and limit not in self._errors:
            return limit  # the deadline, or who asked for the step
        own = [e for e in self._errors if not _follows(e)]
        return own[0] if own else status.without_mark(self._errors[0])


def _follows(error: errors.OpError) -> bool:
    """True for what a part raises because another one has failed."""
    return isinstance(error, errors.CancelledError) or status.is_derived(error)
