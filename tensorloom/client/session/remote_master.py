"""A master on another task, behind MasterService's calls."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tensorloom.framework import errors
from tensorloom.framework.debug import watches
from tensorloom.framework.functions.called_functions import broken_functions
from tensorloom.framework.functions.function_problem import names_in
from tensorloom.framework.functions.functional_op_types import BRANCHES, LOOPS
from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.graph_ir import LOWERED, LOWERED_FOR_MASTER
from tensorloom.framework.interfaces import (
    DeviceInfo,
    StepContext,
    StepOptions,
    StepSignature,
)
from tensorloom.framework.runtime import concurrency, run_metadata
from tensorloom.transport.peers.reachability import describe_address
from tensorloom.transport.sockets.connection import NotConnected
from tensorloom.transport.wire import status, tensors, value_methods
from tensorloom.transport.wire.device_attributes import read_device
from tensorloom.transport.wire.methods import Method, master_methods, worker_methods
from tensorloom.transport.wire.request_ids import new_request_id

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.transport.interface import Channel
    from tensorloom.transport.sockets.channel import SocketChannel

# The master keeps a step's limit; then it waits, for a second at most, until its tasks
# have given the step up, before it answers.
_GRACE_S = 1.5
# A master needs time to look for the workers that did not answer.
_FINDING_OUT_S = 5.0


def _message_of(graph: GraphIR, broken: Collection[str]) -> Any:
    """The graph as a master of either kind reads it.

    TensorFlow's take loops and branches apart where they are asked to; they run what is
    left whole on one task, whatever devices its nodes ask for. Ours need no asking.
    Where a loop or branch comes to call one of the `broken` functions, TensorFlow would
    fail with every step of the session, if it was to take it apart.
    """
    proto = graph_def.to_proto(graph)
    functions = proto.library.function
    bodies = [f.node_def for f in functions if f.signature.name not in broken]
    for nodes in (proto.node, *bodies):
        for node in nodes:
            if (node.op in LOOPS or node.op in BRANCHES) and not (
                broken and any(name in broken for name in names_in([node]))
            ):
                _ask(node.attr)
    return proto


def _ask(attrs: Any) -> None:
    if LOWERED not in attrs or not attrs[LOWERED].b:
        attrs[LOWERED].b = attrs[LOWERED_FOR_MASTER].b = True


# Whose sessions are open. What is left of them at the end of the process is closed
# while threads still run: over gRPC a master does not hear that its client is gone.
_open: Final[weakref.WeakSet[RemoteMaster]] = weakref.WeakSet()


@atexit.register
def _close_all() -> None:
    for master in list(_open):
        with suppress(errors.OpError):  # it is gone
            master.close_session(master.handle)


class RemoteMaster:
    """Implements `MasterInterface` for one client session."""

    def __init__(self, target: str, channel: Channel, wait_s: float) -> None:
        """Makes a master.

        Args:
          target: as the session was given it, `grpc://host:port`.
          channel: the way there.
          wait_s: how long to wait for the master and its workers to be there.
        """
        self._wait_s = wait_s
        self._target = target
        self._channel = channel
        self._lock = concurrency.Lock()
        self._version = 0  # of the graph at the master
        # The dtypes of quantized tensors, which are fed as their base integers.
        self._quantized: dict[str, DType] = {}
        # Functions that cannot be called, or come to call one that cannot.
        self._broken: set[str] = set()
        #: Of the session; "" before it was made.
        self.handle = ""

    def _call(self, name: str, timeout_s: float | None = None, **fields: Any) -> Any:
        method = master_methods()[name]
        return self._channel.call(method, method.request(**fields), timeout_s)

    # --- sessions --------------------------------------------------------------------

    @property
    def operation_timeout_s(self) -> None:
        """None: the master applies its own."""
        return None

    def create_session(self, graph: GraphIR, config: SessionConfig) -> str:
        """Makes a session at the master; see `MasterInterface`.

        Raises:
          errors.UnavailableError: the master cannot be reached.
        """
        method = master_methods()["CreateSession"]
        request = method.request(graph_def=self._message(graph), target=self._target)
        if config.proto is not None:
            request.config.MergeFromString(config.proto.SerializeToString())
        limit_s = config.operation_timeout_s or self._wait_s
        self._wait_for_master(limit_s)
        try:
            # The master waits for its workers as long, and knows best what is missing.
            response = self._channel.call(method, request, limit_s + _FINDING_OUT_S)
        except errors.DeadlineExceededError:
            raise errors.UnavailableError(
                None,
                None,
                f"The master at {self._target} did not make a session within "
                f"{limit_s:g} s",
            ) from None
        self._version = response.graph_version
        self._quantized.update(_quantized_tensors(graph))
        handle = self.handle = str(response.session_handle)
        self._hold(handle)
        _open.add(self)
        return handle

    def _message(self, graph: GraphIR) -> Any:
        self._broken |= broken_functions(graph.functions, self._broken)
        return _message_of(graph, self._broken)

    def _hold(self, handle: str) -> None:
        """Lets the master hear when this process is gone."""
        sockets = self._channel.values
        if sockets is not None:
            with suppress(NotConnected, errors.OpError):  # the first step will tell
                sockets.hold(value_methods.HOLD_SESSION, handle.encode())

    def _wait_for_master(self, limit_s: float) -> None:
        """Waits until the task of the master is there, and asks if it is one of ours.

        Raises:
          errors.UnavailableError: it did not answer in time.
        """
        method = worker_methods()["GetStatus"]
        try:
            status_of_task = self._channel.call(
                method, method.request(), limit_s, wait_for_ready=True
            )
        except errors.DeadlineExceededError:
            raise errors.UnavailableError(
                None,
                None,
                f"The master at {self._target} did not answer within {limit_s:g} s: "
                f"{describe_address(self._channel.address)}; "
                f"last answer: {self._answer()}",
            ) from None
        except errors.UnimplementedError:
            return  # it serves no workers: nothing but gRPC is known of it
        if status_of_task.HasField("task_info"):
            self._channel.negotiate(status_of_task.task_info)

    def _answer(self) -> str:
        """What the task of the master says when it is not waited for."""
        method = worker_methods()["GetStatus"]
        try:
            self._channel.call(method, method.request(), _FINDING_OUT_S / 2)
        except errors.OpError as error:
            return error.message
        return "it is there now"

    def extend_session(self, session: str, graph: GraphIR) -> None:
        """Adds nodes and functions; see `MasterInterface`."""
        with self._lock:
            response = self._call(
                "ExtendSession",
                session_handle=session,
                graph_def=self._message(graph),
                current_graph_version=self._version,
            )
            self._version = response.new_graph_version
            self._quantized.update(_quantized_tensors(graph))

    def close_session(self, session: str) -> None:
        """Ends the session at the master, and the connection."""
        _open.discard(self)
        try:
            self._call("CloseSession", 10.0, session_handle=session)
        finally:
            self._channel.close()

    def list_devices(self, session: str | None = None) -> Sequence[DeviceInfo]:
        """All devices of all workers."""
        response = self._call("ListDevices", session_handle=session or "")
        return [
            read_device(device)
            for device in [*response.local_device, *response.remote_device]
        ]

    def reset(self, containers: Sequence[str]) -> None:
        """Empties containers on all workers, and closes all sessions of the master."""
        self._call("Reset", container=list(containers))

    # --- steps -----------------------------------------------------------------------

    def prepare_step(self, session: str, signature: StepSignature) -> RemoteStep:
        """A step; the master prepares it when it runs first."""
        types = self._types(signature.feeds)
        return RemoteStep(self._channel, session, signature, types)

    def _types(self, feeds: Sequence[str]) -> list[DType | None]:
        """The dtypes of feeds where their values do not tell them."""
        return [self._quantized.get(name) for name in feeds]

    def partial_run_setup(self, session: str, signature: StepSignature) -> str:
        """Begins a partial run; see `MasterInterface`."""
        response = self._call(
            "PartialRunSetup",
            session_handle=session,
            feed=signature.feeds,
            fetch=signature.fetches,
            target=signature.targets,
            request_id=new_request_id(),
        )
        handle: str = response.partial_run_handle
        return handle

    def partial_run(
        self,
        session: str,
        partial_handle: str,
        feeds: Sequence[tuple[str, Any]],
        fetches: Sequence[str],
    ) -> list[Any]:
        """Continues a partial run; see `MasterInterface`."""
        names = tuple(name for name, _ in feeds)
        step = RemoteStep(
            self._channel,
            session,
            StepSignature(names, tuple(fetches)),
            self._types(names),
            partial_handle,
        )
        return step.run_messages([value for _, value in feeds], None)


class RemoteStep:
    """A step at a remote master. Implements `PreparedStep`."""

    def __init__(
        self,
        channel: Channel,
        session: str,
        signature: StepSignature,
        feed_types: Sequence[DType | None],
        partial_handle: str = "",
    ) -> None:
        self._channel = channel
        self._signature = signature
        self._feed_types = feed_types
        self._method: Method = master_methods()["RunStep"]
        self._number: tuple[Any, int] | None = None  # of (channel, prepared step)
        self._template = self._method.request(
            session_handle=session,
            fetch=signature.fetches,
            target=signature.targets,
            partial_run_handle=partial_handle,
            store_errors_in_response_body=True,
        )

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs the step; see `PreparedStep.run`."""
        values = self._channel.values
        if values is not None and (step is None or _is_plain(step.options)):
            timeout_s = step.options.timeout_s if step is not None else None
            try:
                return self._run_values(values, feeds, timeout_s)
            except NotConnected:
                self._channel.negotiate(None)  # the task is gone, or was restarted
        return self.run_messages(feeds, step)

    def run_messages(self, feeds: Sequence[Any], step: StepContext | None) -> list[Any]:
        """Runs the step with a RunStep message."""
        request = self._method.request()
        request.CopyFrom(self._template)
        request.request_id = new_request_id()
        names = self._signature.feeds
        for name, value, dtype in zip(names, feeds, self._feed_types, strict=True):
            tensors.encode(value, request.feed.add(name=name).tensor, dtype)
        timeout_s = None
        if step is not None:
            _fill_options(request.options, step.options)
            timeout_s = step.options.timeout_s
        response = self._channel.call(
            self._method, request, timeout_s + _GRACE_S if timeout_s else None
        )
        if response.status_code:
            raise status.from_wire(response.status_code, response.status_error_message)
        if step is not None:
            run_metadata.read(response.metadata, step)
        return self._values(response)

    def _run_values(
        self, channel: SocketChannel, feeds: Sequence[Any], timeout_s: float | None
    ) -> list[Any]:
        known = self._number
        if known is None or known[0] is not channel:
            known = self._number = channel, self._prepare(channel)
        header = value_methods.RUN_STEP_HEADER.pack(known[1], timeout_s or 0.0)
        limit_s = timeout_s + _GRACE_S if timeout_s else None
        _, values = channel.call_values(value_methods.RUN_STEP, header, feeds, limit_s)
        return [tensors.as_fetched(value) for value in values]

    def _prepare(self, channel: SocketChannel) -> int:
        request = self._method.request()
        request.CopyFrom(self._template)
        for name in self._signature.feeds:
            request.feed.add(name=name)
        header, _ = channel.call_values(
            value_methods.PREPARE_STEP, request.SerializeToString(), ()
        )
        (number,) = value_methods.STEP_NUMBER.unpack(header)
        return int(number)

    def _values(self, response: Any) -> list[Any]:
        received = {named.name: named.tensor for named in response.tensor}
        missing = [name for name in self._signature.fetches if name not in received]
        if missing:
            raise errors.InternalError(
                None, None, f"The master did not return the fetch {missing[0]}"
            )
        return [_owned(tensors.decode(received[n])) for n in self._signature.fetches]


def _quantized_tensors(graph: GraphIR) -> Iterator[tuple[str, DType]]:
    for node in graph.nodes.values():
        for index, dtype in enumerate(node.output_types):
            if dtype.is_quantized:
                yield f"{node.name}:{index}", dtype.base_dtype


def _is_plain(options: StepOptions) -> bool:
    """Whether nothing but values is asked of a step."""
    return not (options.trace or options.output_partition_graphs or options.debug)


def _owned(value: Any) -> Any:
    """A fetched value that is the caller's to change; rank 0 as a scalar, or bytes."""
    if not isinstance(value, np.ndarray):
        return value
    return value.copy() if value.ndim else value[()]


def _fill_options(proto: Any, options: StepOptions) -> None:
    if options.timeout_s:
        proto.timeout_in_ms = max(1, int(options.timeout_s * 1000))
    proto.trace_level = 3 if options.trace else 0  # FULL_TRACE
    proto.output_partition_graphs = options.output_partition_graphs
    if options.debug is not None:
        watches.encode(options.debug, proto.debug_options)
