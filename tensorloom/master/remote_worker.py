"""A worker on another task, behind WorkerService's calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final, Protocol

from tensorloom.framework import errors, graph_def, run_metadata, threads
from tensorloom.framework.called_functions import called_functions
from tensorloom.framework.cancellation import (
    CancellationManager,
    Deadline,
    Following,
)
from tensorloom.framework.device_name import task_of
from tensorloom.framework.frame_id import (
    NUMBERINGS,
    FrameNumbering,
    child_of_number,
    child_of_path,
)
from tensorloom.framework.interfaces import DeviceInfo, StepContext, StepOptions
from tensorloom.master.client_ends import Ends, with_client_ends
from tensorloom.master.settling import settle_step
from tensorloom.transport import status, tensors, value_methods
from tensorloom.transport.device_attributes import read_device
from tensorloom.transport.methods import worker_methods
from tensorloom.transport.request_ids import new_request_id, new_step_id
from tensorloom.transport.socket_connection import NotConnected

if TYPE_CHECKING:
    from tensorloom.framework.graph_ir import GraphIR
    from tensorloom.framework.session_config import SessionConfig
    from tensorloom.transport.call_link import CallLink
    from tensorloom.transport.interface import Channel, PendingCall
    from tensorloom.transport.socket_channel import SocketReply
    from tensorloom.transport.value_methods import Sent

# What a worker answers at once may take this long; then it is taken for lost.
_CONTROL_TIMEOUT_S = 60.0


class Home(Protocol):
    """The worker beside the master."""

    @property
    def task(self) -> str:
        """Its task."""
        ...

    def take_pushed(self, step_id: int, tensors: Sequence[Sent]) -> None:
        """Takes tensors from another task."""
        ...

    def link(self, step_id: int, task: str, link: CallLink) -> None:
        """Has a step exchange tensors with a task on the connection of a call."""
        ...


class RemoteWorker:
    """Implements `WorkerInterface` over a channel to the task."""

    def __init__(
        self,
        task: str,
        channel: Channel,
        cluster: Callable[[], Any] | None = None,
        origin: Callable[[], tuple[str, int]] | None = None,
        home: Home | None = None,
    ) -> None:
        """Makes a worker that is asked for its devices by `refresh`.

        Args:
          task: its name.
          channel: the way there.
          cluster: gives the `ClusterDef` that our own tasks are told of with each
            session, so that they know a task that joined later.
          origin: gives the task of the master, and its incarnation.
          home: the worker beside the master, which takes what comes with replies.
        """
        self._home = home
        name = home.task.encode() if home is not None else b""
        self._home_name = bytes([len(name)]) + name
        self._task = task
        self._cluster = cluster
        self._origin = origin
        self._channel = channel
        self._devices: list[DeviceInfo] = []
        self._is_tensorloom = False
        self._numbering: FrameNumbering = child_of_path
        self._lock = threading.Lock()
        self._running: dict[int, _Running] = {}  # by step id
        # Steps that are over; the next call to the task says so.
        self._over: list[int] = []

    @property
    def task(self) -> str:
        """The task's name."""
        return self._task

    @property
    def is_tensorloom(self) -> bool:
        """Whether the task runs this system, by what it said last."""
        return self._is_tensorloom

    @property
    def channel(self) -> Channel:
        """The way to the task."""
        return self._channel

    def refresh(self, timeout_s: float | None) -> None:
        """Asks the task for its devices and incarnations.

        Raises:
          errors.UnavailableError, errors.DeadlineExceededError: it does not answer.
          errors.InvalidArgumentError: at its address is another task.
        """
        methods = worker_methods()["GetStatus"]
        response = self._channel.call(methods, methods.request(), timeout_s)
        devices = [
            read_device(device)
            for device in response.device_attributes
            # TensorFlow 1.15 lists devices that only XLA places nodes on.
            if not device.device_type.startswith("XLA_")
        ]
        strangers = [d for d in devices if not d.name.startswith(self._task + "/")]
        if strangers or not devices:
            found = strangers[0].name if strangers else "a task without devices"
            raise errors.InvalidArgumentError(
                None,
                None,
                f"At {self._channel.address} is not {self._task} but {found}",
            )
        self._devices = devices
        self._is_tensorloom = response.HasField("task_info")
        # Only TensorFlow 2 tells this number, which is -1 for want of a device.
        is_newer = any(d.xla_global_id for d in response.device_attributes)
        self._numbering = child_of_number if is_newer else child_of_path
        self._channel.negotiate(response.task_info if self._is_tensorloom else None)

    def devices(self) -> Sequence[DeviceInfo]:
        """The devices, as the task told them last."""
        return self._devices

    # --- sessions --------------------------------------------------------------------

    def _call(self, name: str, **fields: Any) -> Any:
        method = worker_methods()[name]
        try:
            return self._channel.call(
                method, method.request(**fields), _CONTROL_TIMEOUT_S
            )
        except errors.OpError as error:
            raise self._from(error) from None

    def _from(self, error: errors.OpError) -> errors.OpError:
        """The error with the task in its message."""
        code, message = status.to_wire(error)
        if status.is_derived(error):
            return error
        return status.from_wire(code, f"From {self._task}:\n{message}")

    def create_session(self, session: str, config: SessionConfig) -> None:
        """Makes the state of a session."""
        fields: dict[str, Any] = {}
        if self._is_tensorloom and self._cluster is not None:
            # TensorFlow's tasks would take it for a cluster of the session's own.
            fields["server_def"] = {"cluster": self._cluster()}
        if self._origin is not None:
            fields["master_task"], fields["master_incarnation"] = self._origin()
        self._call(
            "CreateWorkerSession",
            session_handle=session,
            isolate_session_state=config.isolate_session_state,
            **fields,
        )

    def delete_session(self, session: str) -> None:
        """Drops the session on the task; a task that is gone has dropped it."""
        with self._lock:
            over, self._over = self._over, []
            calls = [r.call for r in self._running.values() if r.session == session]
        # A worker of TensorFlow lets what runs go on to its end.
        for call in calls:
            call.cancel()
        for step_id in over:
            self.settle_step(step_id, lambda: None)
        method = worker_methods()["DeleteWorkerSession"]
        request = method.request(session_handle=session)
        self._channel.start(method, request, _ignore, timeout_s=10.0)

    def cleanup_all(self, containers: Sequence[str]) -> None:
        """Deletes the resources of the containers."""
        self._call("CleanupAll", container=list(containers))

    # --- graphs ----------------------------------------------------------------------

    @property
    def numbering(self) -> FrameNumbering | None:
        """How it numbers the frames of loops; None if it can be told."""
        return None if self._is_tensorloom else self._numbering

    @property
    def takes_pushes(self) -> bool:
        """Whether tasks can send it tensors that it did not ask for."""
        return self._channel.values is not None

    def register_graph(
        self,
        session: str,
        graph: GraphIR,
        config: SessionConfig,
        *,
        pushes: bool = False,
        numbering: FrameNumbering | None = None,
    ) -> RemoteRegisteredGraph:
        """Registers a part on the task; see `WorkerInterface.register_graph`."""
        incarnations = {d.name: d.incarnation for d in self._devices}
        part, ends = with_client_ends(graph, incarnations)
        part.functions = called_functions(part)
        method = worker_methods()["RegisterGraph"]
        request = method.request(
            session_handle=session,
            graph_def=graph_def.to_proto(part),
            create_worker_session_called=True,
            is_ordered=True,
            pushes=pushes,
            frame_numbering=next(
                (n for n, known in NUMBERINGS.items() if known is numbering), 0
            ),
        )
        if config.proto is not None:
            request.graph_options.MergeFromString(
                config.proto.graph_options.SerializeToString()
            )
        try:
            response = self._channel.call(method, request)
        except errors.OpError as error:
            raise self._from(error) from None
        method_number = value_methods.RUN_GRAPH
        if pushes and self._home is not None:
            if _is_source(graph, self._home.task):
                method_number = value_methods.RUN_SOURCE
            elif response.is_sequential and _exchanges(graph, self._home.task):
                method_number = value_methods.RUN_LINKED
        return RemoteRegisteredGraph(
            self, session, response.graph_handle, ends, method_number
        )

    def deregister_graph(self, session: str, graph: Any) -> None:
        """Drops a registered graph on the task."""
        method = worker_methods()["DeregisterGraph"]
        request = method.request(
            graph_handle=graph.handle,
            session_handle=session,
            create_worker_session_called=True,
        )
        self._channel.start(method, request, _ignore, timeout_s=10.0)

    # --- steps -----------------------------------------------------------------------

    def run_graph(
        self,
        request: Any,
        step: StepContext,
        done: Callable[[Any, errors.OpError | None], None],
    ) -> None:
        """Starts RunGraph; `done` gets its response or its error."""
        step_id = step.step_id

        def ended(response: Any, error: errors.OpError | None) -> None:
            self._end_call(step_id, is_answered=error is None)
            if error is None and response.status_code:
                error = status.from_wire(
                    response.status_code, response.status_error_message
                )
            done(response, None if error is None else self._from(error))

        running = self._begin_call(request.session_handle, step_id)
        request.over_step_id.extend(running.over)
        running.call = self._channel.start(worker_methods()["RunGraph"], request, ended)

    def _begin_call(self, session: str, step_id: int) -> _Running:
        with self._lock:
            running = self._running[step_id] = _Running(session, self._over)
            self._over = []
        return running

    def _end_call(self, step_id: int, *, is_answered: bool) -> None:
        """Forgets a call; the next one says what this one may not have said."""
        with self._lock:
            running = self._running.pop(step_id, None)
            if running is not None and not is_answered:
                self._over += running.over

    def begin_graph(
        self,
        session: str,
        handle: int,
        feeds: Sequence[Any],
        step: StepContext,
        method: int,
    ) -> GraphReply | None:
        """Sends RunGraph with values; None where the channel takes messages only.

        Args:
          session, handle, feeds, step: as they are.
          method: `RUN_GRAPH` or one of its forms.

        Raises:
          errors.OpError: the task cannot be reached.
        """
        channel = self._channel.values
        if channel is None:
            return None
        step_id = step.step_id
        running = self._begin_call(session, step_id)
        header = value_methods.RUN_GRAPH_HEADER.pack(handle, step_id)
        if method == value_methods.RUN_LINKED and not channel.has_links:
            method = value_methods.RUN_GRAPH
        if method != value_methods.RUN_GRAPH:
            header += self._home_name
        if running.over:
            header += b"".join(map(value_methods.STEP_ID.pack, running.over))

        def sending(reply: SocketReply) -> None:
            running.call = reply

        try:
            reply = channel.begin_values(method, header, feeds, sending)
        except NotConnected:
            self._end_call(step_id, is_answered=False)
            self._channel.negotiate(None)  # the task is gone, or was restarted
            return None
        except errors.OpError as error:
            self._end_call(step_id, is_answered=False)
            raise self._from(error) from None
        if method == value_methods.RUN_LINKED:
            assert self._home is not None
            self._home.link(step_id, self._task, reply.link(step_id))
        return GraphReply(self, step_id, reply, method == value_methods.RUN_SOURCE)

    def take_reply(self, step_id: int, reply: SocketReply) -> list[Any]:
        """Waits for the end of a part that `begin_graph` began."""
        is_answered = False
        try:
            header, values = reply.take()
            is_answered = True
        except errors.OpError as error:
            raise self._from(error) from None
        finally:
            self._end_call(step_id, is_answered=is_answered)
        return self._kept(step_id, header, values) if header else values

    def _kept(self, step_id: int, header: bytes, values: list[Any]) -> list[Any]:
        """Hands on the tensors that came with a reply; returns the other values."""
        assert self._home is not None
        keys = value_methods.unpacked_keys(header)
        count = len(values) - len(keys)
        self._home.take_pushed(
            step_id,
            [
                (key, value, dead)
                for (key, dead), value in zip(keys, values[count:], strict=True)
            ],
        )
        return values[:count]

    def abort_step(self, step_id: int, error: errors.OpError) -> None:
        """Gives up the task's part of a step; the task cancels it."""
        with self._lock:
            running = self._running.get(step_id)
        if running is not None:
            running.call.cancel()

    def cleanup_step(self, step_id: int) -> None:
        """Tells the task that a step is over, without waiting."""
        if self._is_tensorloom:  # the next call tells it: a call of its own costs more
            with self._lock:
                self._over.append(step_id)
            return
        self.settle_step(step_id, lambda: None)

    def settle_step(self, step_id: int, done: Callable[[], None]) -> None:
        """Tells the task at once that a step is over; calls back when it knows."""
        method = worker_methods()["CleanupGraph"]
        request = method.request(step_id=step_id)
        self._channel.start(method, request, lambda *_: done(), _CONTROL_TIMEOUT_S)


# What a part may have that waits for nothing and takes no time.
_SOURCES: Final = frozenset(
    {
        *("Const", "Identity", "VariableV2", "VarHandleOp", "ReadVariableOp", "NoOp"),
        *("_Send", "_Arg", "_Retval"),
    }
)


def _is_source(part: GraphIR, home: str) -> bool:
    """Whether a part does little more than send variables to a task."""
    nodes = part.nodes.values()
    return all(node.op in _SOURCES for node in nodes) and any(
        node.op == "_Send" and task_of(node.attrs["recv_device"].decode()) == home
        for node in nodes
    )


def _exchanges(part: GraphIR, home: str) -> bool:
    """Whether a part sends tensors to a task, or gets some from it."""
    return any(
        task_of(node.attrs[end].decode()) == home
        for node in part.nodes.values()
        for end in ("send_device", "recv_device")
        if node.op in ("_Send", "_Recv")
    )


class _NotYet:
    """Stands for a call that is just being made."""

    def cancel(self) -> None:
        """There is nothing to cancel."""


_NOT_YET = _NotYet()


class _Running:
    """A part of a step under way on the task."""

    __slots__ = ("call", "over", "session")

    def __init__(self, session: str, over: list[int]) -> None:
        self.session = session
        self.call: PendingCall = _NOT_YET
        self.over = over  # the steps that the call says are over


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


def _ignore(response: Any, error: errors.OpError | None) -> None:
    """For calls that nobody waits for."""


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
        ends: Ends,
        method: int,
    ) -> None:
        self._method = method
        self._worker = worker
        self._session = session
        self.handle = handle
        self._number = int(handle, 16) if worker.is_tensorloom else 0
        self._ends = ends

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs the part as a whole step and waits for it."""
        asked = step or StepContext(StepOptions())
        context = StepContext(asked.options, asked.metadata, new_step_id())
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
                settle_step([self._worker], context.step_id)
            else:
                self._worker.cleanup_step(context.step_id)

    def _run_message(self, feeds: Sequence[Any], context: StepContext) -> list[Any]:
        ended = threading.Event()
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
