"""`BaseSession`: how a graph is run.

A session maps the structure of fetches and feeds to a signature once
(`run_plan.py`), sends its graph to a master (`master_factory.py`) as far as the master
has not seen it, and then runs prepared steps.
"""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tensorloom.client.session import (
    cost_model,
    master_factory,
    session_arguments,
    session_changes,
    session_errors,
    session_names,
)
from tensorloom.client.session.fetch_mapper import FetchPlan
from tensorloom.client.session.graph_growth import GrowthWatch
from tensorloom.client.session.partial_run import PartialRuns
from tensorloom.client.session.run_plan import (
    FeedPlan,
    RunFunction,
    make_run_function,
    plan_key,
)
from tensorloom.client.session.session_callable import (
    make_callable,
    make_options_callable,
)
from tensorloom.client.session.session_devices import DeviceAttributes
from tensorloom.client.session.session_handles import bind_handles
from tensorloom.client.settings.mixed_precision import MIXED_PRECISION
from tensorloom.client.settings.process_settings import SETTINGS
from tensorloom.framework.debug import watches
from tensorloom.framework.errors import (
    CancelledError,
    FailedPreconditionError,
    OpError,
)
from tensorloom.framework.graph.graph import Graph, get_default_graph
from tensorloom.framework.graph.graph_ir import GraphIR
from tensorloom.framework.interfaces import (
    MasterInterface,
    PreparedStep,
    StepContext,
    StepOptions,
    StepSignature,
)
from tensorloom.framework.registry import late_modules
from tensorloom.framework.runtime import concurrency, default_stack
from tensorloom.framework.runtime.cancellation import SESSION_CLOSED
from tensorloom.framework.runtime.garbage import collection_paused

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from tensorloom.framework.runtime import session_config


# (session, fetches, feed_dict, run) to an explanation; `inspect/explain/` adds it.
EXPLAINERS: list[Callable[[BaseSession, Any, Any, bool], Any]] = []


class SessionInterface:
    """What every kind of session can do; `isinstance` checks in user code use it."""

    @property
    def graph(self) -> Graph:
        """The graph that the session runs."""
        raise NotImplementedError("graph")

    @property
    def sess_str(self) -> bytes | None:
        """The target."""
        raise NotImplementedError("sess_str")

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """See `BaseSession.run`."""
        raise NotImplementedError("run")

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """See `BaseSession.partial_run_setup`."""
        raise NotImplementedError("partial_run_setup")

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """See `BaseSession.partial_run`."""
        raise NotImplementedError("partial_run")


class BaseSession(SessionInterface):
    """A session without the rules of being the default session."""

    # Whether functions of `make_callable` may do without `run`: who watches runs by
    # another `run` says no.
    _callables_skip_run = True

    def __init__(
        self, target: str = "", graph: Graph | None = None, config: Any = None
    ) -> None:
        """Makes a session for a graph.

        Args:
          target: of the master; "" runs in this process.
          graph: the default graph when None.
          config: a `tf.ConfigProto`; what `tf.config` set when None.

        Raises:
          TypeError: an argument is of the wrong type.
          errors.NotFoundError: nobody serves that kind of target.
          errors.InvalidArgumentError: another session has the name in its metadata.
        """
        # Set first: `__del__` reads them even when this constructor fails.
        self._closed = True
        self._handle: str | None = None
        if graph is not None and not isinstance(graph, Graph):
            raise TypeError(f"graph must be a tf.Graph, but got {type(graph)}")
        session_arguments.check_target(target)
        self._graph = get_default_graph() if graph is None else graph
        self._target = target.encode() if isinstance(target, str) else target or b""
        if config is None:
            config = SETTINGS.session_config()
        self._decoded_config = self._decode(config)
        self._config = MIXED_PRECISION.applied_to(config)
        if self._config is not config:
            self._decoded_config = self._decode(self._config)
        self._master: MasterInterface = master_factory.make_master(
            self._target.decode(), self._decoded_config
        )
        timeout_s = self._decoded_config.operation_timeout_s
        timeout_s = timeout_s or self._master.operation_timeout_s
        self._default_options = None if timeout_s is None else StepOptions(timeout_s)
        self._lock = concurrency.RLock()
        # Handles of tensors in the session that nobody holds any more.
        self.dead_tensor_handles: list[str] = []
        # Prepared runs by fetches and feed keys, see `plan_key`.
        self._plans: dict[Any, RunFunction] = {}
        self._sent_operations = 0
        self._sent_functions = 0
        self._sent_changes = 0
        self._growth = GrowthWatch(self._graph)
        self._partial_runs = PartialRuns()
        self._was_reset = False
        metadata = self._decoded_config.metadata
        self._metadata = metadata if not self._target else None
        if self._metadata is not None:
            session_names.take(self._metadata)
        if not self._target:
            local_sessions.add(self)
        self._closed = False

    def _decode(self, config: Any) -> session_config.SessionConfig:
        return session_arguments.decode_config(config)

    # --- identity ----------------------------------------------------------------

    @property
    def graph(self) -> Graph:
        """The graph that the session runs."""
        return self._graph

    @property
    def graph_def(self) -> Any:
        """The graph as a `GraphDef` proto, with shapes if the config asks for them."""
        proto = self._decoded_config.proto
        infer_shapes = proto is not None and proto.graph_options.infer_shapes
        return self._graph.as_graph_def(add_shapes=infer_shapes)

    @property
    def sess_str(self) -> bytes:
        """The target."""
        return self._target

    def as_default(self) -> AbstractContextManager[Any]:
        """Makes this the default session of the thread, in a `with` block."""
        return default_stack.session_as_default(self)

    def list_devices(self) -> list[DeviceAttributes]:
        """The devices that the session can use.

        Raises:
          errors.CancelledError: the session is closed.
        """
        if self._closed:
            raise CancelledError(None, None, "Session has been closed.")
        if self._target:
            self._make_empty()  # a master knows the device filters with the session
        return [
            DeviceAttributes(d.name, d.device_type, d.memory_limit, d.incarnation)
            for d in self._master.list_devices(self._handle)
        ]

    # --- running -------------------------------------------------------------------

    def run(
        self,
        fetches: Any,
        feed_dict: Any = None,
        options: Any = None,
        run_metadata: Any = None,
    ) -> Any:
        """Runs operations and evaluates tensors.

        Args:
          fetches: a tensor, operation, variable, name, SparseTensor or IndexedSlices,
            or lists, tuples, namedtuples, dicts and attrs classes of them.
          feed_dict: values that replace those of tensors in this step.
          options: a `tf.RunOptions`.
          run_metadata: a `tf.RunMetadata` to be filled.

        Returns:
          The values in the structure of `fetches`: NumPy arrays and scalars, bytes
          for a string scalar, None for an operation.

        Raises:
          RuntimeError: the session is closed, or the graph empty.
          TypeError: a fetch, feed key or feed value is of a wrong type.
          ValueError: a fetch or feed is not of the graph, or a value has a wrong
            shape.
          errors.OpError: the step failed.
        """
        if options is not None and watches.is_debugged(options):
            return self._run_debugged(fetches, feed_dict, options, run_metadata)
        kind = type(fetches)
        key = (kind, *fetches) if kind is list or kind is tuple else fetches
        try:
            if feed_dict:
                key = (key, *feed_dict.keys())
            run = self._plans[key]
        except (KeyError, TypeError, AttributeError):
            run = self._make_plan(fetches, feed_dict)
        if self._graph._next_id_value != self._growth.version:
            self._growth.note()
        try:
            if options is None and run_metadata is None:
                if self._default_options is None:
                    return run(feed_dict, None)
                return run(feed_dict, StepContext(self._default_options))
            return self._run_with_metadata(run, feed_dict, options, run_metadata)
        except OpError as error:
            raise self._shown(error) from error.__cause__

    def _run_debugged(
        self, fetches: Any, feed_dict: Any, options: Any, run_metadata: Any
    ) -> Any:
        """Runs a step that a debugger watches; it has no plan for another time."""
        self._check_usable()
        feeds = FeedPlan(self._graph, feed_dict) if feed_dict else None
        fetch_plan = FetchPlan(self._graph, fetches)
        bind_handles(fetch_plan, self)
        asked = watches.decode(options.debug_options)
        run = make_run_function(
            fetch_plan,
            feeds,
            lambda signature: self._prepare(replace(signature, debug=asked)),
        )
        try:
            return self._run_with_metadata(run, feed_dict, options, run_metadata)
        except OpError as error:
            raise self._shown(error) from error.__cause__

    def explain(self, fetches: Any, feed_dict: Any = None, run: bool = True) -> Any:
        """Says what becomes of a step: each stage, the generated code, memory, time.

        Args:
          fetches: as for `run`.
          feed_dict: as for `run`.
          run: whether to run the step, once and traced: with all its effects. Otherwise
            it is compiled for any shapes of the feeds, and has no times.

        Returns:
          A `tensorloom.inspect.explain.Explanation`. Print it; ask `node(name)`,
          `stage(name)`, `diff(pass)`, `as_dict()`; its `results` are what `run` gives.

        Raises:
          TypeError, ValueError, RuntimeError, errors.OpError: as for `run`.
          errors.UnimplementedError: the session's master is another process's, and
            `run` is False.
        """
        self._check_usable()
        late_modules.load_kind("explain")
        try:
            return EXPLAINERS[-1](self, fetches, feed_dict, run)
        except OpError as error:
            raise self._shown(error) from error.__cause__

    def _guarded(self, run: RunFunction, feed_dict: Any) -> Any:
        """Runs a plan whose errors get their operation."""
        try:
            return run(feed_dict, None)
        except OpError as error:
            raise self._shown(error) from error.__cause__

    def _run_with_metadata(
        self, run: RunFunction, feed_dict: Any, options: Any, run_metadata: Any
    ) -> Any:
        from tensorloom.framework.runtime import run_metadata as metadata_protos

        if run_metadata is not None:
            metadata_protos.check_type(run_metadata)
        decoded = metadata_protos.decode_options(
            options, self._default_options, self._decoded_config.thread_pools
        )
        with_costs = run_metadata is not None and cost_model.tells_costs(run)
        step = StepContext(replace(decoded, trace=True) if with_costs else decoded)
        result = run(feed_dict, step)
        if run_metadata is not None:
            metadata_protos.fill(run_metadata, step, with_costs)
        return result

    def _make_plan(self, fetches: Any, feed_dict: Any) -> RunFunction:
        """Compiles a run; keeps it where the same call can be recognised."""
        self._check_usable()
        feeds = FeedPlan(self._graph, feed_dict) if feed_dict else None
        fetch_plan = FetchPlan(self._graph, fetches)
        bind_handles(fetch_plan, self)
        if feeds is not None and not fetch_plan.tensors and not fetch_plan.targets:
            feeds.convert(feed_dict)
        run = make_run_function(fetch_plan, feeds, self._prepare)
        run = cost_model.counted(run, self._decoded_config)
        key = plan_key(fetches, feed_dict)
        if key is not None:
            self._plans[key] = run
        return run

    def _shown(self, error: OpError) -> OpError:
        """What the program sees of a step's error."""
        if self._closed and self._target and isinstance(error, CancelledError):
            return CancelledError(None, None, SESSION_CLOSED)
        return session_errors.with_operation(error, self._graph)

    def _check_usable(self) -> None:
        if self._closed:
            raise RuntimeError("Attempted to use a closed Session.")
        if self._was_reset:
            raise CancelledError(None, None, "Session has been closed.")
        if self._graph.version == 0:
            raise RuntimeError(
                "The Session graph is empty.  Add operations to the graph before "
                "calling run()."
            )

    def _prepare(self, signature: StepSignature) -> PreparedStep:
        try:
            with collection_paused():
                return self._master.prepare_step(self._extend_graph(), signature)
        except OpError as error:
            raise self._shown(error) from None

    def _make_empty(self) -> None:
        """Makes the session at its master; the graph may be one that it refuses."""
        graph = self._graph
        with self._lock:
            if self._handle is None:
                self._handle = self._master.create_session(
                    GraphIR({}, {}, graph._producer, graph._min_consumer),
                    self._decoded_config,
                )

    def _extend_graph(self) -> str:
        """Sends what the master has not seen of the graph; returns the handle."""
        graph = self._graph
        with graph._construction.taking(), self._lock, graph._lock:
            count = len(graph._operations)
            functions = dict(list(graph._functions.items())[self._sent_functions :])
            changes = graph._mutations[self._sent_changes :]
            is_new = count != self._sent_operations or functions or changes
            if self._handle is not None and not is_new:
                return self._handle
            nodes = graph.nodes_since(self._sent_operations)
            if changes:
                nodes = session_changes.with_changed(
                    graph, nodes, changes, self._sent_operations
                )
            addition = self._placed(
                GraphIR(
                    {node.name: node for node in nodes},
                    functions,
                    graph._producer,
                    graph._min_consumer,
                )
            )
            if self._handle is None:
                self._handle = self._master.create_session(
                    addition, self._decoded_config
                )
            elif self._decoded_config.is_static and not self._target:
                raise FailedPreconditionError(
                    None,
                    None,
                    "Extending the graph is not supported when "
                    "`optimize_for_static_graph` is true.",
                )
            else:
                self._master.extend_session(self._handle, addition)
            self._sent_operations = count
            self._sent_functions += len(functions)
            self._sent_changes += len(changes)
            graph._sent_count = max(graph._sent_count, count)
            self._growth.started()
            return self._handle

    def _placed(self, graph: GraphIR) -> GraphIR:
        """What the master gets of the graph: a session may move parts elsewhere."""
        return graph

    def make_callable(
        self, fetches: Any, feed_list: Any = None, accept_options: bool = False
    ) -> Any:
        """A function that runs one step, faster than `run`.

        Args:
          fetches: as for `run`.
          feed_list: tensors; the function takes a value for each, in order.
          accept_options: whether the function takes `options` and `run_metadata`.

        Raises:
          TypeError: `feed_list` is not a list or tuple; as for `run`.
          ValueError, RuntimeError: as for `run`.
        """
        return make_callable(self, fetches, feed_list, accept_options)

    def _make_callable_from_options(self, callable_options: Any) -> Any:
        """A function for a `CallableOptions` proto; it returns a list."""
        return make_options_callable(self, callable_options)

    # --- partial runs ----------------------------------------------------------------

    def partial_run_setup(self, fetches: Any, feeds: Any = None) -> str:
        """Announces a step whose feeds come, and whose fetches go, in several calls.

        Args:
          fetches: everything that will be fetched, and operations to run.
          feeds: every tensor that will be fed.

        Returns:
          A handle for `partial_run`.

        Raises:
          RuntimeError, TypeError, ValueError: as for `run`.
          errors.OpError: the master cannot prepare them.
        """
        self._check_usable()
        fetch_plan = FetchPlan(self._graph, fetches)
        return self._partial_runs.setup(self, fetch_plan, list(feeds or ()))

    def partial_run(self, handle: Any, fetches: Any, feed_dict: Any = None) -> Any:
        """Continues a partial run with more feeds; no node runs twice.

        Raises:
          errors.InvalidArgumentError: a fetch or feed was not announced or came
            before, or the fetches need more feeds.
          RuntimeError: an operation is fetched.
        """
        if handle is None:
            return self.run(fetches, feed_dict)
        self._check_usable()
        try:
            return self._partial_runs.run(self, handle, fetches, feed_dict or {})
        except OpError as error:
            raise self._shown(error) from error.__cause__

    # --- the end ---------------------------------------------------------------------

    def close(self) -> None:
        """Cancels the running steps and frees what the session holds."""
        self._closed = True
        with self._lock:
            handle, self._handle = self._handle, None
            self._plans.clear()
            metadata, self._metadata = self._metadata, None
        if metadata is not None:
            session_names.give_back(metadata)
        if handle is not None:
            self._master.close_session(handle)

    def _reset(self, containers: Sequence[str]) -> None:
        """Empties containers of the session's own master; the session is over."""
        self._was_reset = True
        with self._lock:
            self._handle = None
            self._plans.clear()
        self._master.reset(containers)

    def __del__(self) -> None:
        # Nobody is left to hear of an error. At the end of the process other threads
        # stand still: a thread that waits for one waits forever.
        try:
            if not self._closed and not sys.is_finalizing():
                self.close()
        except Exception:
            self._closed = True


# The sessions of this process that have a master of their own.
local_sessions: weakref.WeakSet[BaseSession] = weakref.WeakSet()
