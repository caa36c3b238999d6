"""WorkerService: TensorFlow's calls from masters and peers, answered by a worker."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.debug import watches
from tensorloom.framework.functions.function_instances import with_instances
from tensorloom.framework.graph import graph_def
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.registry.op_policy import ALLOW_ALL, OpPolicy
from tensorloom.framework.runtime import concurrency, run_metadata, session_config
from tensorloom.framework.runtime.frame_id import (
    NUMBERINGS,
    FrameNumbering,
    child_of_number,
    child_of_path,
)
from tensorloom.framework.types.message_tensor import with_message_constants
from tensorloom.transport.wire import status, tensors, value_methods
from tensorloom.transport.wire.device_attributes import fill_device
from tensorloom.transport.wire.feed_types import check_types
from tensorloom.transport.wire.methods import worker_methods
from tensorloom.transport.wire.request_ids import RecentRequests
from tensorloom.worker.collective.service import CollectiveService
from tensorloom.worker.run.partial_step import PartialSteps
from tensorloom.worker.run.peer_tensors import PeerTensors
from tensorloom.worker.run.remote_feeds import GraphWithArguments, with_arguments

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.transport.interface import Call, Handlers
    from tensorloom.transport.wire.value_methods import Sent, ValueCall, ValueHandlers
    from tensorloom.worker.run.registered_graph import RegisteredGraph
    from tensorloom.worker.run.worker import Worker

_NO_OPTIONS = StepOptions()

# How many steps a call may end beside the one that it names: anybody can say a number.
_MOST_MORE: Final = 255

# Masters that never created a session on the worker share this one.
_LEGACY_SESSION = ""


class _HeldGraph:
    """A registered graph, and its form for partial runs once there is one."""

    def __init__(
        self,
        session: str,
        ends: GraphWithArguments,
        graph: RegisteredGraph,
        compile_open: Callable[[], RegisteredGraph],
    ) -> None:
        self.session = session
        self.ends = ends
        self.graph = graph
        self._compile_open = compile_open
        self._open: RegisteredGraph | None = None
        self._lock = concurrency.Lock()

    @property
    def open_graph(self) -> RegisteredGraph:
        """The graph with its Sends and Recvs: feeds may come while it runs."""
        with self._lock:
            if self._open is None:
                self._open = self._compile_open()
            return self._open


class WorkerService:
    """Answers WorkerService's methods for one worker."""

    def __init__(
        self,
        worker: Worker,
        endpoints: Sequence[str] = (),
        policy: OpPolicy = ALLOW_ALL,
        learn: Callable[[Any], None] | None = None,
    ) -> None:
        """Makes a service.

        Args:
          worker: who does the work.
          endpoints: where it is also reached, see `TaskInfo`.
          policy: what it runs.
          learn: takes the `ClusterDef` of a session that has tasks unknown here.
        """
        self._policy = policy
        self._learn = learn
        self._worker = worker
        self._info = _task_info(worker.task, endpoints)
        self._graphs: dict[str, _HeldGraph] = {}
        # Random: a master of this task's predecessor must not run another's graph.
        self._numbers = itertools.count(concurrency.randbits(62))
        self._requests = RecentRequests()
        self.peer_tensors = PeerTensors(worker, self._requests)
        self._partial = PartialSteps(worker)
        self._lock = concurrency.Lock()
        self._has_legacy_session = False
        # By master's task: its incarnation, and its sessions.
        self._masters: dict[str, tuple[int, set[str]]] = {}

    def handlers(self) -> Handlers:
        """What a server needs to answer for this worker."""
        methods = worker_methods()
        answers: dict[str, Callable[[Any, Call], Any]] = {
            "GetStatus": self._get_status,
            "CreateWorkerSession": self._create_worker_session,
            "DeleteWorkerSession": self._delete_worker_session,
            "RegisterGraph": self._register_graph,
            "DeregisterGraph": self._deregister_graph,
            "RunGraph": self._run_graph,
            "CleanupGraph": self._cleanup_graph,
            "CleanupAll": self._cleanup_all,
            "RecvTensor": self.peer_tensors.recv_tensor,
            "Logging": self._logging,
            "MarkRecvFinished": self._mark_recv_finished,
        }
        if self._worker.collectives is not None:
            collective = CollectiveService(self._worker, self._requests)
            answers |= {
                "CompleteGroup": collective.complete_group,
                "CompleteInstance": collective.complete_instance,
                "GetStepSequence": collective.get_step_sequence,
                "RecvBuf": collective.recv_buf,
            }
        for name in methods:
            answers.setdefault(name, _unimplemented(name))
        return {methods[name]: answer for name, answer in answers.items()}

    def value_handlers(self) -> ValueHandlers:
        """What answers calls with values."""
        return {
            value_methods.RUN_GRAPH: self._run_graph_values,
            value_methods.RUN_SOURCE: self._run_source,
            value_methods.RUN_LINKED: self._run_linked,
        }

    # --- sessions --------------------------------------------------------------------

    def _get_status(self, request: Any, call: Call) -> Any:
        response = worker_methods()["GetStatus"].response()
        for device in self._worker.devices():
            fill_device(response.device_attributes.add(), device)
        response.task_info.CopyFrom(self._info)
        if self._worker.collectives is not None:
            for told in self._worker.collectives.waits.told():
                response.task_info.waiting.add(**asdict(told))
        return response

    def _create_worker_session(self, request: Any, call: Call) -> Any:
        config = session_config.SessionConfig(
            isolate_session_state=request.isolate_session_state,
            fence=session_config.fence_of(request),
        )
        if self._learn is not None and request.server_def.cluster.job:
            self._learn(request.server_def.cluster)
        if request.master_task:
            self._note_master(request)
        self._worker.create_session(request.session_handle, config)
        return worker_methods()["CreateWorkerSession"].response()

    def _note_master(self, request: Any) -> None:
        """Drops what a master has left here that was restarted since."""
        master, incarnation = request.master_task, request.master_incarnation
        with self._lock:
            known, sessions = self._masters.get(master, (incarnation, set()))
            left = sessions if known != incarnation else set()
            kept = sessions - left
            self._masters[master] = incarnation, {*kept, request.session_handle}
        for session in left:
            self._drop(session)

    def _delete_worker_session(self, request: Any, call: Call) -> Any:
        session: str = request.session_handle
        with self._lock:
            for _, sessions in self._masters.values():
                sessions.discard(session)
        self._drop(session)
        return worker_methods()["DeleteWorkerSession"].response()

    def _drop(self, session: str) -> None:
        with self._lock:
            gone = [h for h, held in self._graphs.items() if held.session == session]
            for handle in gone:
                del self._graphs[handle]
        self._worker.delete_session(session)

    def _session_of(self, request: Any) -> str:
        if request.create_worker_session_called:
            handle: str = request.session_handle
            return handle
        with self._lock:
            if not self._has_legacy_session:
                self._worker.create_session(_LEGACY_SESSION, session_config.DEFAULT)
                self._has_legacy_session = True
        return _LEGACY_SESSION

    # --- graphs ----------------------------------------------------------------------

    def _register_graph(self, request: Any, call: Call) -> Any:
        session = self._session_of(request)
        graph = graph_def.from_proto(request.graph_def, internal=True)
        self._policy.check(graph)
        graph = with_message_constants(with_instances(graph, graph.functions))
        self._check_devices(graph)
        config = _config_of(request)
        ends = with_arguments(graph)
        registered = self._worker.register_graph(
            session,
            ends.graph,
            config,
            request.is_ordered,
            request.pushes,
            _numbering_of(request),
            watches.decode(request.debug_options),
        )
        held = _HeldGraph(
            session,
            ends,
            registered,
            lambda: self._worker.register_graph(session, graph, config, ordered=False),
        )
        handle = f"{next(self._numbers):016x}"
        with self._lock:
            self._graphs[handle] = held
        return worker_methods()["RegisterGraph"].response(
            graph_handle=handle, is_sequential=registered.is_sequential
        )

    def _check_devices(self, graph: GraphIR) -> None:
        for node in graph.nodes.values():
            if not node.device:
                raise errors.InvalidArgumentError(
                    None, None, f"Node '{node.name}' is missing a device specification"
                )
            self._worker.device_named(node.device)

    def _deregister_graph(self, request: Any, call: Call) -> Any:
        with self._lock:
            held = self._graphs.pop(request.graph_handle, None)
        if held is None:
            raise _no_graph(request.graph_handle)
        self._worker.deregister_graph(held.session, held.graph)
        return worker_methods()["DeregisterGraph"].response()

    # --- steps -----------------------------------------------------------------------

    def _run_graph(self, request: Any, call: Call) -> Any:
        response = worker_methods()["RunGraph"].response()
        for over in request.over_step_id:
            self._partial.forget(over)
            self._worker.cleanup_step(over)
        try:
            self._requests.check(request.request_id, "RunGraph (Worker)")
            self._check_fence()
            with self._lock:
                held = self._graphs.get(request.graph_handle)
            if held is None:
                raise _no_graph(request.graph_handle)
            if request.is_partial:
                self._partial.advance(held.open_graph, request, response)
            else:
                self._run_whole(held, request, response, call)
        except Exception as error:
            if not request.store_errors_in_response_body:
                raise
            response.Clear()
            code, message = status.to_wire(error)
            response.status_code = code
            response.status_error_message = message
        return response

    def _run_whole(
        self, held: _HeldGraph, request: Any, response: Any, call: Call
    ) -> None:
        feeds = _feeds(held.ends, request.send)
        wanted = [_index_of(held.ends, key) for key in request.recv_key]
        step = StepContext(_options(request.exec_opts), step_id=request.step_id)
        values = self._run_held(held, feeds, step, call)
        for key, index in zip(request.recv_key, wanted, strict=True):
            named = response.recv.add(name=key)
            tensors.encode(values[index], named.tensor, held.ends.fetch_types[index])
        run_metadata.fill_worker_response(response, step)

    def _run_held(
        self, held: _HeldGraph, feeds: list[Any], step: StepContext, call: Call
    ) -> list[Any]:
        """Runs a graph; a caller that hangs up cancels it."""
        step_id = step.step_id
        is_over = is_cancelled = False

        def cancelled() -> None:
            nonlocal is_cancelled
            if not is_over:
                is_cancelled = True
                self._worker.abort_step(step_id, _step_cancelled(step_id))

        call.on_cancel(cancelled)
        try:
            return held.graph.run(feeds, step)
        finally:
            is_over = True
            if is_cancelled:  # the master may be gone, and never say that it is over
                self._worker.cleanup_step(step_id)

    def _run_graph_values(
        self, header: bytes, feeds: list[Any], call: ValueCall
    ) -> tuple[bytes, list[Any]]:
        over = header[value_methods.RUN_GRAPH_HEADER.size :]
        return b"", self._run_numbered(header, over, feeds, call)

    def _run_source(
        self, header: bytes, feeds: list[Any], call: ValueCall
    ) -> tuple[bytes, list[Any]]:
        step_id, name, over = _of_caller(header)
        rendezvous = self._worker.steps.independent(step_id)
        carried = rendezvous.carry(name)
        held = self._numbered(header, over, feeds, call)
        return _with_carried(
            held.graph.run_independent(feeds, step_id, rendezvous), carried
        )

    def _run_linked(
        self, header: bytes, feeds: list[Any], call: ValueCall
    ) -> tuple[bytes, list[Any]]:
        step_id, name, over = _of_caller(header)
        rendezvous = self._worker.steps.rendezvous(step_id)
        carried = rendezvous.link_caller(name, call.link(step_id))
        values = self._run_numbered(header, over, feeds, call)
        return _with_carried(values, carried)

    def _run_numbered(
        self, header: bytes, over: bytes, feeds: list[Any], call: ValueCall
    ) -> list[Any]:
        held = self._numbered(header, over, feeds, call)
        _, step_id = value_methods.RUN_GRAPH_HEADER.unpack_from(header)
        return self._run_held(
            held, feeds, StepContext(_NO_OPTIONS, step_id=step_id), call
        )

    def _numbered(
        self, header: bytes, over: bytes, feeds: list[Any], call: ValueCall
    ) -> _HeldGraph:
        """The graph that a call runs; `over` is cleaned up after the call."""
        handle, _ = value_methods.RUN_GRAPH_HEADER.unpack_from(header)
        if over:
            ended = [number for (number,) in value_methods.STEP_ID.iter_unpack(over)]
            call.after_reply(lambda: self._clean_up(ended))
        self._check_fence()
        held = self._graphs.get(f"{handle:016x}")
        if held is None:
            raise _no_graph(f"{handle:016x}")
        check_types(feeds, held.ends.feed_types)
        return held

    def _check_fence(self) -> None:
        if self._worker.fence is not None:
            self._worker.fence()

    def _clean_up(self, step_ids: Sequence[int]) -> None:
        for step_id in step_ids:
            self._worker.cleanup_step(step_id)

    def _cleanup_graph(self, request: Any, call: Call) -> Any:
        count = 1 + min(max(request.more, 0), _MOST_MORE)
        for step_id in range(request.step_id, request.step_id + count):
            self._partial.forget(step_id)
            self._worker.end_abandoned_step(step_id, lambda: None)
        return worker_methods()["CleanupGraph"].response()

    def _cleanup_all(self, request: Any, call: Call) -> Any:
        self._worker.cleanup_all(list(request.container))
        return worker_methods()["CleanupAll"].response()

    # --- the rest --------------------------------------------------------------------

    def _logging(self, request: Any, call: Call) -> Any:
        return worker_methods()["Logging"].response()

    def _mark_recv_finished(self, request: Any, call: Call) -> Any:
        return worker_methods()["MarkRecvFinished"].response()


def _task_info(task: str, endpoints: Sequence[str]) -> Any:
    from tensorloom.protos.worker_pb2 import TaskInfo

    return TaskInfo(version=_version(), endpoint=endpoints, task=task)


def _version() -> str:
    from importlib import metadata

    try:
        return metadata.version("tensorloom")
    except metadata.PackageNotFoundError:
        return "unknown"


def _unimplemented(name: str) -> Callable[[Any, Call], Any]:
    def answer(request: Any, call: Call) -> Any:
        raise errors.UnimplementedError(None, None, f"WorkerService.{name}")

    return answer


def _numbering_of(request: Any) -> FrameNumbering | None:
    """How the step's tasks number frames; None if no loop or branch spans them."""
    if request.is_ordered:
        return NUMBERINGS.get(request.frame_numbering)
    # A master of TensorFlow 2 says more than one of 1.15 does.
    return child_of_number if request.HasField("config_proto") else child_of_path


def _config_of(request: Any) -> SessionConfig:
    from tensorloom.protos.config_pb2 import ConfigProto

    if request.HasField("config_proto"):
        return session_config.from_proto(request.config_proto)
    return session_config.from_proto(ConfigProto(graph_options=request.graph_options))


def _options(exec_opts: Any) -> StepOptions:
    return StepOptions(
        trace=exec_opts.record_timeline or exec_opts.record_costs,
        output_partition_graphs=exec_opts.record_partition_graphs,
    )


def _feeds(ends: GraphWithArguments, sent: Sequence[Any]) -> list[Any]:
    values: list[Any] = [None] * len(ends.feed_types)
    missing = set(ends.feeds)
    for named in sent:
        index = ends.feeds.get(named.name)
        if index is None:
            raise errors.InvalidArgumentError(
                None, None, f"The graph does not receive {named.name}"
            )
        dtype = ends.feed_types[index]
        if named.tensor.dtype != dtype.as_datatype_enum:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"{named.name} must be of dtype {dtype.name}, not "
                f"DataType {named.tensor.dtype}",
            )
        values[index] = tensors.decode(named.tensor)
        missing.discard(named.name)
    if missing:
        raise errors.InvalidArgumentError(
            None, None, f"The step got no value for {', '.join(sorted(missing))}"
        )
    return values


def _of_caller(header: bytes) -> tuple[int, str, bytes]:
    """Of a call by a task that takes tensors: the step, the task, and ended steps."""
    _, step_id = value_methods.RUN_GRAPH_HEADER.unpack_from(header)
    start = value_methods.RUN_GRAPH_HEADER.size + 1
    end = start + header[start - 1]
    return step_id, header[start:end].decode(), header[end:]


def _with_carried(
    values: list[Any], carried: Sequence[Sent]
) -> tuple[bytes, list[Any]]:
    if not carried:
        return b"", values
    keys = value_methods.packed_keys(carried)
    return keys, [*values, *(value for _, value, _ in carried)]


def _index_of(ends: GraphWithArguments, key: str) -> int:
    index = ends.fetches.get(key)
    if index is None:
        raise errors.InvalidArgumentError(None, None, f"The graph does not send {key}")
    return index


def _no_graph(handle: str) -> errors.OpError:
    return errors.AbortedError(None, None, f"Graph handle is not found: {handle}")


def _step_cancelled(step_id: int) -> errors.OpError:
    return errors.AbortedError(
        None, None, f"Step {step_id} cancelled.  Cancelling rendezvous."
    )
