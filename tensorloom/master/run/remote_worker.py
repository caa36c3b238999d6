"""A worker on another task, behind WorkerService's calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

from tensorloom.framework import errors
from tensorloom.framework.debug import watches
from tensorloom.framework.functions.called_functions import called_functions
from tensorloom.framework.graph import graph_def
from tensorloom.framework.runtime.frame_id import (
    NUMBERINGS,
    FrameNumbering,
    child_of_number,
    child_of_path,
)
from tensorloom.master.run.collective_step import graph_key_of
from tensorloom.master.run.in_flight_calls import InFlightCalls
from tensorloom.master.run.remote_feeds import with_remote_feeds
from tensorloom.master.run.remote_graph import GraphReply, RemoteRegisteredGraph
from tensorloom.master.run.run_forms import form_of
from tensorloom.transport.sockets.connection import NotConnected
from tensorloom.transport.wire import status, value_methods
from tensorloom.transport.wire.device_attributes import read_device
from tensorloom.transport.wire.methods import worker_methods

if TYPE_CHECKING:
    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.interfaces import DeviceInfo, StepContext
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.transport.interface import Channel
    from tensorloom.transport.sockets.call_link import CallLink
    from tensorloom.transport.sockets.reply import SocketReply
    from tensorloom.transport.wire.value_methods import Sent

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
        cluster: Callable[[SessionConfig], Any] | None = None,
        origin: Callable[[], tuple[str, int]] | None = None,
        home: Home | None = None,
    ) -> None:
        """Makes a worker that is asked for its devices by `refresh`.

        Args:
          task: its name.
          channel: the way there.
          cluster: gives the `ClusterDef` of a session, which our own tasks are told
            of, so that they know a task that joined later.
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
        self._calls = InFlightCalls()

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
        response = self._channel.ask_status(timeout_s)
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
            fields["server_def"] = {"cluster": self._cluster(config)}
        if config.fence is not None and self._is_tensorloom:
            fields["fence"] = asdict(config.fence)
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
        # A worker of TensorFlow lets what runs go on to its end.
        self._calls.cancel_session(session)
        for step_id in self._calls.take_unreported():
            self.end_abandoned_step(step_id, lambda: None)
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
        debug: DebugWatches | None = None,
    ) -> RemoteRegisteredGraph:
        """Registers a part on the task; see `WorkerInterface.register_graph`.

        Raises:
          errors.OpError: it refuses the part, or cannot be reached.
        """
        incarnations = {d.name: d.incarnation for d in self._devices}
        part, ends = with_remote_feeds(graph, incarnations)
        part.functions = called_functions(part)
        method = worker_methods()["RegisterGraph"]
        request = method.request(
            session_handle=session,
            graph_def=graph_def.to_proto(part),
            create_worker_session_called=True,
            is_ordered=True,
            pushes=pushes,
            collective_graph_key=graph_key_of(part),
            frame_numbering=next(
                (n for n, known in NUMBERINGS.items() if known is numbering), 0
            ),
        )
        if debug is not None:
            watches.encode(debug, request.debug_options)
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
            method_number = form_of(graph, self._home.task, response.is_sequential)
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
            self._calls.end(step_id, is_answered=error is None)
            if error is None and response.status_code:
                error = status.from_wire(
                    response.status_code, response.status_error_message
                )
            done(response, None if error is None else self._from(error))

        running = self._calls.begin(request.session_handle, step_id)
        request.over_step_id.extend(running.over)
        running.call = self._channel.start(worker_methods()["RunGraph"], request, ended)

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
        running = self._calls.begin(session, step_id)
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
            self._calls.end(step_id, is_answered=False)
            self._channel.negotiate(None)  # the task is gone, or was restarted
            return None
        except errors.OpError as error:
            self._calls.end(step_id, is_answered=False)
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
            self._calls.end(step_id, is_answered=is_answered)
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
        self._calls.cancel(step_id)

    def cleanup_step(self, step_id: int) -> None:
        """Tells the task that a step is over, without waiting."""
        if self._is_tensorloom:  # the next call tells it: a call of its own costs more
            self._calls.report_with_next_call(step_id)
            return
        self.end_abandoned_step(step_id, lambda: None)

    def end_abandoned_step(self, step_id: int, done: Callable[[], None]) -> None:
        """Tells the task at once that a step is over; calls back when it knows."""
        method = worker_methods()["CleanupGraph"]
        request = method.request(step_id=step_id)
        self._channel.start(method, request, lambda *_: done(), _CONTROL_TIMEOUT_S)


def _ignore(response: Any, error: errors.OpError | None) -> None:
    """For calls that nobody waits for."""
