"""MasterService: TensorFlow's calls from clients, answered by a master."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from tensorloom.framework import errors
from tensorloom.framework.graph import graph_def
from tensorloom.framework.interfaces import StepContext, StepOptions, StepSignature
from tensorloom.framework.registry.op_policy import ALLOW_ALL, OpPolicy
from tensorloom.framework.runtime import concurrency, run_metadata, session_config
from tensorloom.framework.runtime.cancellation import (
    SESSION_CLOSED,
    SESSION_COLLECTED,
    CancellationManager,
)
from tensorloom.master.lower.lowering_requests import drop_lowering_requests
from tensorloom.master.prepare.prune import parse_tensor_name
from tensorloom.transport.wire import status, tensors, value_methods
from tensorloom.transport.wire.device_attributes import fill_device
from tensorloom.transport.wire.feed_types import check_types
from tensorloom.transport.wire.methods import master_methods
from tensorloom.transport.wire.request_ids import RecentRequests

if TYPE_CHECKING:
    import threading

    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.interfaces import PreparedStep
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.master.run.master import Master
    from tensorloom.protos.tensor_pb2 import TensorProto
    from tensorloom.transport.interface import Call, Handlers
    from tensorloom.transport.wire.value_methods import ValueHandlers


@dataclass(slots=True, eq=False)
class _Step:
    """A signature as a client spells it, prepared."""

    prepared: PreparedStep
    feed_types: list[DType]
    fetch_types: list[DType]


@dataclass(slots=True, eq=False)
class _ClientSession:
    """What the service remembers of a session beside the master's state."""

    config: SessionConfig
    version: int = 0  # of the graph; grows with each extension
    steps: dict[StepSignature, _Step] = field(default_factory=dict)
    callables: dict[int, tuple[_Step, StepOptions]] = field(default_factory=dict)
    numbers: itertools.count[int] = field(default_factory=itertools.count)
    lock: threading.Lock = field(default_factory=lambda: concurrency.Lock())
    #: When the client was heard last, and how many of its calls run now.
    heard: float = field(default_factory=lambda: concurrency.monotonic())
    calls: int = 0
    #: Set when the session is over; there for a client that says when it is gone.
    over: threading.Event | None = None
    #: Why steps that ran when it ended were cancelled.
    cause: str = ""

    def shown(self, error: errors.OpError) -> errors.OpError:
        """What the client hears when a step ends with an error."""
        if self.cause and isinstance(error, errors.CancelledError):
            return errors.CancelledError(None, None, self.cause)
        return error


class MasterService:
    """Answers MasterService's methods for one master."""

    def __init__(self, master: Master, task: str, policy: OpPolicy = ALLOW_ALL) -> None:
        """Makes a service for the master of `task`; `policy` says what it runs."""
        self._policy = policy
        self._master = master
        # Of steps whose clients name no timeout.
        self._default_options = StepOptions(master.operation_timeout_s)
        self._task = task
        self._requests = RecentRequests()
        self._sessions: dict[str, _ClientSession] = {}
        # Prepared steps of clients that send values, by number.
        self._numbered: dict[int, tuple[str, _Step]] = {}
        # Random: a client of this task's predecessor must not meet another's step.
        self._numbers = itertools.count(concurrency.randbits(62))

    def handlers(self) -> Handlers:
        """What a server needs to answer for this master."""
        answers: Mapping[str, Callable[[Any, Call], Any]] = {
            "CreateSession": self._create_session,
            "ExtendSession": self._extend_session,
            "PartialRunSetup": self._partial_run_setup,
            "RunStep": self._run_step,
            "CloseSession": self._close_session,
            "ListDevices": self._list_devices,
            "Reset": self._reset,
            "MakeCallable": self._make_callable,
            "RunCallable": self._run_callable,
            "ReleaseCallable": self._release_callable,
        }
        methods = master_methods()
        return {methods[name]: answer for name, answer in answers.items()}

    def value_handlers(self) -> ValueHandlers:
        """What answers calls with values."""
        return {
            value_methods.PREPARE_STEP: self._prepare_step,
            value_methods.RUN_STEP: self._run_step_values,
            value_methods.HOLD_SESSION: self._hold_session,
        }

    # --- sessions --------------------------------------------------------------------

    def _create_session(self, request: Any, call: Call) -> Any:
        if request.config.use_per_session_threads:
            raise errors.InvalidArgumentError(
                None,
                None,
                "Distributed sessions do not support use_per_session_threads",
            )
        config = session_config.from_proto(request.config)
        graph = graph_def.from_proto(request.graph_def)
        drop_lowering_requests(graph)
        self._policy.check(graph)
        handle = self._master.create_session(graph, config)
        self._sessions[handle] = _ClientSession(config)
        return master_methods()["CreateSession"].response(session_handle=handle)

    def _extend_session(self, request: Any, call: Call) -> Any:
        handle: str = request.session_handle
        session = self._find(handle)
        with session.lock:
            if request.current_graph_version != session.version:
                raise errors.AbortedError(
                    None,
                    None,
                    f"Current version is {session.version} but caller expected "
                    f"{request.current_graph_version}.",
                )
            known = self._master.graph_of(handle)
            addition = graph_def.from_proto(
                request.graph_def, known.functions, existing=known.nodes
            )
            drop_lowering_requests(addition)
            self._policy.check(addition)
            self._master.extend_session(handle, addition)
            session.version += 1
            version = session.version
        return master_methods()["ExtendSession"].response(new_graph_version=version)

    def _close_session(self, request: Any, call: Call) -> Any:
        self._forget(request.session_handle, SESSION_CLOSED)
        self._master.close_session(request.session_handle)
        return master_methods()["CloseSession"].response()

    def _forget(self, handle: str, cause: str = "") -> None:
        """Drops a session; its steps say the cause of their end, if there is one."""
        session = self._sessions.pop(handle, None)
        if session is not None:
            session.cause = cause
            if session.over is not None:
                session.over.set()
        for number, (of, _) in list(self._numbered.items()):
            if of == handle:
                self._numbered.pop(number, None)

    def _hold_session(
        self, header: bytes, values: list[Any], call: Call
    ) -> tuple[bytes, list[Any]]:
        """Waits for the end of a session, which is closed if its client is gone."""
        handle = header.decode(errors="replace")
        session = self._find(handle)
        over = session.over = concurrency.Event()
        call.on_cancel(over.set)
        over.wait()
        self._collect(handle)
        return b"", []

    def _collect(self, handle: str) -> None:
        """Closes a session whose client is gone."""
        if handle in self._sessions:
            self._forget(handle, SESSION_COLLECTED)
            with suppress(errors.OpError):  # it was closed just now
                self._master.close_session(handle)

    def collect_idle(self, idle_s: float) -> None:
        """Closes the sessions that were idle for so long."""
        limit = concurrency.monotonic() - idle_s
        for handle, session in list(self._sessions.items()):
            is_idle = session.heard < limit and not session.calls
            if is_idle and session.over is None:
                self._collect(handle)

    def _list_devices(self, request: Any, call: Call) -> Any:
        response = master_methods()["ListDevices"].response()
        for device in self._master.list_devices(request.session_handle or None):
            fill_device(response.local_device.add(), device)
        return response

    def _reset(self, request: Any, call: Call) -> Any:
        self._master.reset(list(request.container))
        for handle in list(self._sessions):
            self._forget(handle)
        return master_methods()["Reset"].response()

    def _find(self, handle: str) -> _ClientSession:
        session = self._sessions.get(handle)
        if session is None:
            raise errors.AbortedError(None, None, f"Session {handle} is not found.")
        session.heard = concurrency.monotonic()
        return session

    @contextmanager
    def _used(self, handle: str) -> Iterator[_ClientSession]:
        """The session, which is not idle within the block."""
        session = self._find(handle)
        session.calls += 1
        try:
            yield session
        except errors.CancelledError as error:
            raise session.shown(error) from None
        finally:
            session.calls -= 1
            session.heard = concurrency.monotonic()

    # --- steps -----------------------------------------------------------------------

    def _run_step(self, request: Any, call: Call) -> Any:
        response = master_methods()["RunStep"].response()
        try:
            self._requests.check(request.request_id, "RunStep (Master)")
            with self._used(request.session_handle) as session:
                if request.partial_run_handle:
                    self._continue_partial_run(request, response)
                else:
                    self._run_whole(session, request, response, call)
        except Exception as error:
            shown = self._from_here(error)
            if not request.store_errors_in_response_body:
                raise shown from None
            response.Clear()
            code, message = status.to_wire(shown)
            response.status_code = code
            response.status_error_message = message
        return response

    def _run_whole(
        self, session: _ClientSession, request: Any, response: Any, call: Call
    ) -> None:
        options = run_metadata.decode_options(request.options, self._default_options)
        step = self._step(
            request.session_handle,
            session,
            [named.name for named in request.feed],
            request.fetch,
            request.target,
            options.debug,
        )
        feeds = _decode_feeds(
            [(named.name, named.tensor) for named in request.feed], step.feed_types
        )
        values, context = _run(step, feeds, options, call)
        response.metadata.SetInParent()
        _add_fetches(response, request.fetch, values, step.fetch_types)
        _fill_metadata(response.metadata, context, session.config)

    def _step(
        self,
        handle: str,
        session: _ClientSession,
        feeds: Sequence[str],
        fetches: Sequence[str],
        targets: Sequence[str],
        debug: DebugWatches | None = None,
    ) -> _Step:
        signature = StepSignature(tuple(feeds), tuple(fetches), tuple(targets), debug)
        step = session.steps.get(signature)
        if step is None:
            canonical = _canonical(signature)
            step = _Step(
                self._master.prepare_step(handle, canonical),
                self._types(handle, canonical.feeds),
                self._types(handle, canonical.fetches),
            )
            if debug is None:
                session.steps[signature] = step
        return step

    def _types(self, handle: str, names: Sequence[str]) -> list[DType]:
        nodes = self._master.graph_of(handle).nodes
        types = []
        for name in names:
            node, index = parse_tensor_name(name)
            found = nodes[node].output_types if node in nodes else ()
            if index >= len(found):
                message = f"There is no tensor {name} in the session's graph"
                raise errors.InvalidArgumentError(None, None, message)
            types.append(found[index].base_dtype)
        return types

    def _from_here(self, error: Exception) -> Exception:
        """A node's error with the task where it ran, if that is this one."""
        if not isinstance(error, errors.OpError) or "[[{{node" not in error.message:
            return error
        if error.message.startswith("From /job:"):
            return error
        code, message = status.to_wire(error)
        return status.from_wire(code, f"From {self._task}:\n{message}")

    def _prepare_step(
        self, header: bytes, values: list[Any], call: Call
    ) -> tuple[bytes, list[Any]]:
        """Prepares the signature of a RunStep message for `_run_step_values`."""
        request = master_methods()["RunStep"].request.FromString(header)
        session = self._find(request.session_handle)
        feeds = [named.name for named in request.feed]
        step = self._step(
            request.session_handle, session, feeds, request.fetch, request.target
        )
        number = next(self._numbers)
        self._numbered[number] = request.session_handle, step
        return value_methods.STEP_NUMBER.pack(number), []

    def _run_step_values(
        self, header: bytes, feeds: list[Any], call: Call
    ) -> tuple[bytes, list[Any]]:
        number, timeout_s = value_methods.RUN_STEP_HEADER.unpack(header)
        found = self._numbered.get(number)
        if found is None:
            raise errors.AbortedError(None, None, "The session is not found.")
        handle, step = found
        session = self._find(handle)  # the client says when it is gone
        check_types(feeds, step.feed_types)
        try:
            options = StepOptions(timeout_s) if timeout_s else self._default_options
            return b"", _run(step, feeds, options, call)[0]
        except errors.OpError as error:
            raise self._from_here(session.shown(error)) from None

    # --- partial runs ----------------------------------------------------------------

    def _partial_run_setup(self, request: Any, call: Call) -> Any:
        self._requests.check(request.request_id, "PartialRunSetup (Master)")
        self._find(request.session_handle)
        signature = StepSignature(
            tuple(request.feed), tuple(request.fetch), tuple(request.target)
        )
        handle = self._master.partial_run_setup(
            request.session_handle, _canonical(signature)
        )
        return master_methods()["PartialRunSetup"].response(partial_run_handle=handle)

    def _continue_partial_run(self, request: Any, response: Any) -> None:
        names = [_full_name(named.name) for named in request.feed]
        types = self._types(request.session_handle, names)
        values = _decode_feeds(
            [(named.name, named.tensor) for named in request.feed], types
        )
        fetches = [_full_name(name) for name in request.fetch]
        fetched = self._master.partial_run(
            request.session_handle,
            request.partial_run_handle,
            list(zip(names, values, strict=True)),
            fetches,
        )
        types = self._types(request.session_handle, fetches)
        _add_fetches(response, request.fetch, fetched, types)

    # --- callables -------------------------------------------------------------------

    def _make_callable(self, request: Any, call: Call) -> Any:
        self._requests.check(request.request_id, "MakeCallable (Master)")
        session = self._find(request.session_handle)
        options = request.options
        if options.tensor_connection:
            raise errors.UnimplementedError(
                None, None, "Callables with tensor connections are not supported"
            )
        run_options = run_metadata.decode_options(
            options.run_options, self._default_options
        )
        step = self._step(
            request.session_handle,
            session,
            options.feed,
            options.fetch,
            options.target,
            run_options.debug,
        )
        handle = next(session.numbers)
        session.callables[handle] = step, run_options
        return master_methods()["MakeCallable"].response(handle=handle)

    def _run_callable(self, request: Any, call: Call) -> Any:
        self._requests.check(request.request_id, "RunCallable (Master)")
        session = self._find(request.session_handle)
        found = session.callables.get(request.handle)
        if found is None:
            raise errors.InvalidArgumentError(
                None, None, f"No such callable handle: {request.handle}"
            )
        step, options = found
        if len(request.feed) != len(step.feed_types):
            raise errors.InvalidArgumentError(
                None,
                None,
                f"Expected {len(step.feed_types)} feed tensors, but got "
                f"{len(request.feed)}",
            )
        named = [(str(i), tensor) for i, tensor in enumerate(request.feed)]
        feeds = _decode_feeds(named, step.feed_types)
        try:
            with self._used(request.session_handle):
                values, context = _run(step, feeds, options, call)
        except errors.OpError as error:
            raise self._from_here(error) from None
        response = master_methods()["RunCallable"].response()
        response.metadata.SetInParent()
        for value, dtype in zip(values, step.fetch_types, strict=True):
            tensors.encode(value, response.fetch.add(), dtype)
        _fill_metadata(response.metadata, context, session.config)
        return response

    def _release_callable(self, request: Any, call: Call) -> Any:
        session = self._find(request.session_handle)
        session.callables.pop(request.handle, None)
        return master_methods()["ReleaseCallable"].response()


def _run(
    step: _Step, feeds: list[Any], options: StepOptions, call: Call
) -> tuple[list[Any], StepContext]:
    """Runs a step that ends when its client gives it up."""
    cancellation = CancellationManager()
    call.on_cancel(
        lambda: cancellation.cancel(
            errors.CancelledError(None, None, "The client gave up the step")
        )
    )
    context = StepContext(options, cancellation=cancellation)
    return step.prepared.run(feeds, context), context


def _decode_feeds(
    named: Sequence[tuple[str, TensorProto]], types: Sequence[DType]
) -> list[Any]:
    values = []
    for (name, tensor), dtype in zip(named, types, strict=True):
        if tensor.dtype != dtype.as_datatype_enum:
            raise errors.InvalidArgumentError(
                None,
                None,
                f"The feed of {name} must be of dtype {dtype.name}, but its DataType "
                f"is {tensor.dtype}",
            )
        values.append(tensors.decode(tensor))
    return values


def _add_fetches(
    response: Any, names: Sequence[str], values: list[Any], types: Sequence[DType]
) -> None:
    for name, value, dtype in zip(names, values, types, strict=True):
        tensors.encode(value, response.tensor.add(name=name).tensor, dtype)


def _fill_metadata(proto: Any, context: StepContext, config: SessionConfig) -> None:
    options = context.options
    if options.trace or options.output_partition_graphs:
        run_metadata.fill(proto, context, config.build_cost_model > 0)


def _canonical(signature: StepSignature) -> StepSignature:
    return StepSignature(
        tuple([_full_name(name) for name in signature.feeds]),
        tuple([_full_name(name) for name in signature.fetches]),
        signature.targets,
        signature.debug,
    )


def _full_name(name: str) -> str:
    node, index = parse_tensor_name(name)
    return f"{node}:{index}"
