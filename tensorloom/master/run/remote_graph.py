"""A part of the graph that is registered on another task, and its steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime import concurrency, run_metadata, threads
from tensorloom.framework.runtime.cancellation import (
    CancellationManager,
    Deadline,
    Following,
)
from tensorloom.master.run.abandoned_steps import end_abandoned_step
from tensorloom.transport.wire import tensors, value_methods
from tensorloom.transport.wire.methods import worker_methods
from tensorloom.transport.wire.request_ids import new_request_id, new_step_id

if TYPE_CHECKING:
    from tensorloom.master.run.remote_feeds import FeedKeys
    from tensorloom.master.run.remote_worker import RemoteWorker
    from tensorloom.transport.sockets.reply import SocketReply


class GraphReply:
    """A part of a step under way on another task. Implements `PendingReply`."""

    __slots__ = ("_reply", "_step_id", "_worker", "is_source")

    def __init__(
        self, worker: RemoteWorker, step_id: int, reply: SocketReply, is_source: bool
    ) -> None:
        self.is_source = is_source
        self._worker = worker
        self._step_id = step_id
        self._reply = reply

    def fileno(self) -> int:
        """The socket's number, for `select.poll`; negative if there is none."""
        return self._reply.fileno()

    def is_there(self) -> bool:
        """Whether `take` would not wait."""
        return self._reply.is_there()

    def watch(self, lost: Callable[[errors.OpError], None]) -> None:
        """Calls back with an error when the task is gone before `take`."""
        task, reply = self._worker.task, self._reply

        def hung_up() -> None:
            reason = reply.lost or "its connection broke"
            lost(errors.UnavailableError(None, None, f"{task} is gone: {reason}"))

        reply.watch(hung_up)

    def take(self) -> list[Any]:
        """Waits for the end; returns the fetches."""
        values = self._worker.take_reply(self._step_id, self._reply)
        return [tensors.as_fetched(value) for value in values]


class RemoteRegisteredGraph:
    """A part that is registered on another task. Implements `RemoteGraph`."""

    def __init__(
        self,
        worker: RemoteWorker,
        session: str,
        handle: str,
        ends: FeedKeys,
        method: int,
    ) -> None:
        self._method = method
        self._worker = worker
        self._session = session
        self.handle = handle
        self._number = int(handle, 16) if worker.is_tensorloom else 0
        self._ends = ends

    def retire(self, error: errors.OpError) -> None:
        """Nothing: its task does not know the session any more, and says so."""

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs the part as a whole step and waits for it."""
        asked = step or StepContext(StepOptions())
        step_id = asked.step_id or new_step_id()
        context = StepContext(asked.options, asked.metadata, step_id)
        timeout_s = asked.options.timeout_s
        inner = CancellationManager()
        inner.register(lambda: self._worker.abort_step(context.step_id, inner.error()))
        limit = Deadline(inner, timeout_s) if timeout_s else nullcontext()
        try:
            with Following(asked.cancellation, inner), limit:
                reply = self.begin(feeds, context)
                if reply is not None:
                    return reply.take()
                return self._run_message(feeds, context)
        except errors.OpError:
            if isinstance(inner.cause, errors.OpError):
                raise inner.cause from None
            raise
        finally:
            if inner.cancelled:
                end_abandoned_step([self._worker], context.step_id)
            else:
                self._worker.cleanup_step(context.step_id)

    def _run_message(self, feeds: Sequence[Any], context: StepContext) -> list[Any]:
        ended = concurrency.Event()
        outcome: list[Any] = []

        def done(values: list[Any] | None, error: errors.OpError | None) -> None:
            outcome[:] = values, error
            ended.set()

        self.start(feeds, context, done)
        ended.wait()
        values, error = outcome
        if error is not None:
            raise error
        result: list[Any] = values
        return result

    def begin(
        self, feeds: Sequence[Any], step: StepContext, is_linked: bool = False
    ) -> GraphReply | None:
        """Begins a step with values; see `RemoteGraph.begin`."""
        options = step.options
        if options.trace or options.output_partition_graphs:
            return None
        method = self._method
        if method == value_methods.RUN_LINKED and not is_linked:
            method = value_methods.RUN_GRAPH
        return self._worker.begin_graph(
            self._session, self._number, feeds, step, method
        )

    def start(
        self,
        feeds: Sequence[Any],
        step: StepContext,
        done: Callable[[list[Any] | None, errors.OpError | None], None],
    ) -> None:
        """Begins a step; see `RemoteGraph.start`."""
        try:
            reply = self.begin(feeds, step)
        except errors.OpError as error:
            done(None, error)
            return
        if reply is not None:
            threads.start(lambda: _take_into(reply, done))
            return
        try:
            request = self._request(feeds, step)
        except errors.OpError as error:
            done(None, error)
            return

        def ended(response: Any, error: errors.OpError | None) -> None:
            if error is not None:
                done(None, error)
                return
            try:
                values = self._values(response, step)
            except errors.OpError as malformed:
                done(None, malformed)
            else:
                done(values, None)

        self._worker.run_graph(request, step, ended)

    def _request(self, feeds: Sequence[Any], step: StepContext) -> Any:
        request = worker_methods()["RunGraph"].request(
            graph_handle=self.handle,
            session_handle=self._session,
            step_id=step.step_id,
            create_worker_session_called=True,
            store_errors_in_response_body=True,
            request_id=new_request_id(),
        )
        for (key, dtype), value in zip(self._ends.feeds, feeds, strict=True):
            tensors.encode(value, request.send.add(name=key).tensor, dtype)
        request.recv_key.extend(self._ends.fetches)
        request.exec_opts.record_timeline = step.options.trace
        request.exec_opts.record_partition_graphs = step.options.output_partition_graphs
        return request

    def _values(self, response: Any, step: StepContext) -> list[Any]:
        received = {named.name: named.tensor for named in response.recv}
        if step.options.trace:
            run_metadata.read_step_stats(response.step_stats, step.metadata)
        if step.options.output_partition_graphs:
            step.metadata.partition_graphs.extend(response.partition_graph)
        missing = [key for key in self._ends.fetches if key not in received]
        if missing:
            raise errors.InternalError(
                None, None, f"{self._worker.task} did not return {missing[0]}"
            )
        return [
            tensors.as_fetched(tensors.decode(received[key]))
            for key in self._ends.fetches
        ]


def _take_into(
    reply: GraphReply,
    done: Callable[[list[Any] | None, errors.OpError | None], None],
) -> None:
    try:
        values = reply.take()
    except errors.OpError as error:
        done(None, error)
    else:
        done(values, None)
