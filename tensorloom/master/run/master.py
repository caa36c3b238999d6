"""The master: keeps sessions, and turns a new signature into registered pieces.

One signature goes prune -> optimize -> place -> partition -> register once; after that
a step is one call of what came out.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.devices import device_name
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR
from tensorloom.framework.graph.node_shapes import infer_missing
from tensorloom.framework.interfaces import (
    DeviceInfo,
    PreparedStep,
    RegisteredGraph,
    StepSignature,
    WorkerDirectory,
    WorkerInterface,
)
from tensorloom.framework.partition import graph_partition
from tensorloom.framework.partition.waiting_ops import waits_of
from tensorloom.framework.runtime import concurrency
from tensorloom.framework.runtime.session_config import (
    DEFAULT,
    SessionConfig,
    check_executor_type,
)
from tensorloom.master import verify
from tensorloom.master.functionalize import functionalize, with_shapes_inside
from tensorloom.master.lower.interdependent_bodies import interdependent_nodes
from tensorloom.master.lower.lower_functional import lower_functional
from tensorloom.master.lower.task_spans import branches_on_references, classic_spans
from tensorloom.master.optimize import Evaluate, OptimizeTarget, optimize
from tensorloom.master.optimize.precision.fast_devices import fast_in_half
from tensorloom.master.place.cost_model import CostModel
from tensorloom.master.place.place_step import place_step, places_by_cost
from tensorloom.master.place.placer import HasKernel, Placer
from tensorloom.master.prepare import session_state
from tensorloom.master.prepare.fed_shapes import (
    FedShapes,
    ShapedStep,
    open_feeds,
    with_any_fed_shapes,
    with_fed_shapes,
    with_shapes_of_feeds,
)
from tensorloom.master.prepare.prune import prune
from tensorloom.master.run.collective_step import (
    CollectiveStep,
    graph_key_of,
    with_leader,
)
from tensorloom.master.run.debug_step import DebugSteps
from tensorloom.master.run.deferrable_sends import mark_deferrable
from tensorloom.master.run.frame_numbering import common_numbering
from tensorloom.master.run.implied_controls import drop_implied_controls
from tensorloom.master.run.measured_step import MeasuredStep
from tensorloom.master.run.partial_run import PartialRun
from tensorloom.master.run.route_feeds_and_fetches import route_feeds_and_fetches
from tensorloom.master.run.task_parallel import Part, TaskParallelStep

if TYPE_CHECKING:
    import threading

    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.runtime.stage_journal import StageJournal

_NO_SHAPES: Final[FedShapes] = {}


@dataclass(frozen=True, slots=True)
class MasterEnvironment:
    """What passes need from outside; the wiring hands it in."""

    #: Computes a node from the values of its inputs, for constant folding; None where
    #: it cannot.
    evaluate: Evaluate
    #: Whether a node has a kernel on a device type.
    has_kernel: HasKernel


def _without_implied_controls(placed: GraphIR) -> GraphIR:
    """The placed graph with fewer control edges between tasks, verified in tests."""
    reduced = drop_implied_controls(placed)
    if verify.ENABLED:
        verify.new_verifier(()).check("implied_controls", placed, reduced)
    return reduced


@dataclass(slots=True, eq=False)
class _Session:
    """One session. `lock` guards everything but the config."""

    handle: str
    config: SessionConfig
    workers: dict[str, WorkerInterface]  # by task; the master's own first
    devices: list[DeviceInfo]
    placer: Placer
    graph: GraphIR = field(default_factory=GraphIR)
    steps: dict[StepSignature, PreparedStep] = field(default_factory=dict)
    registered: list[tuple[WorkerInterface, RegisteredGraph]] = field(
        default_factory=list
    )
    # Functions before and after optimization.
    functions: dict[str, tuple[FunctionIR, FunctionIR]] = field(default_factory=dict)
    partial_runs: dict[str, PartialRun] = field(default_factory=dict)
    partial_count: int = 0
    debug_steps: DebugSteps = field(default_factory=DebugSteps)
    # Of steps that are placed by what they take.
    costs: dict[StepSignature, CostModel] = field(default_factory=dict)
    edge_numbers: Iterator[int] = field(default_factory=lambda: itertools.count(1))
    lock: threading.RLock = field(default_factory=lambda: concurrency.RLock())


def _pruned(session: _Session, signature: StepSignature) -> GraphIR:
    """The part of the session's graph that a step needs."""
    pruned = prune(session.graph, signature, session.devices[0].name)
    verify.check_pruned(session.graph, pruned, signature)
    return with_any_fed_shapes(pruned) if signature.any_fed_shapes else pruned


class Master:
    """Implements `MasterInterface` over the workers of a directory."""

    def __init__(
        self,
        directory: WorkerDirectory,  # of its workers
        environment: MasterEnvironment,
        defaults: SessionConfig = DEFAULT,  # what is set here counts for all sessions
    ) -> None:
        self._directory = directory
        self._environment = environment
        self._defaults = defaults
        self._sessions: dict[str, _Session] = {}
        self._lock = concurrency.Lock()

    # --- sessions ------------------------------------------------------------------

    @property
    def operation_timeout_s(self) -> float | None:
        """The server's, for steps of sessions that name none."""
        return self._defaults.operation_timeout_s

    def create_session(self, graph: GraphIR, config: SessionConfig) -> str:
        """Makes a session; see `MasterInterface`."""
        config = self._defaults.over(config)
        extended = session_state.extend(GraphIR(), graph)
        handle = f"{concurrency.randbits(64):016x}"
        workers = self._directory.for_session(config)
        devices = [device for worker in workers for device in worker.devices()]
        placer = Placer(devices, self._environment.has_kernel, config, graph.producer)
        by_task = {worker.task: worker for worker in workers}
        session = _Session(handle, config, by_task, devices, placer)
        session.graph = extended
        placer.extend(graph.nodes.values())
        try:
            for worker in workers:
                worker.create_session(handle, config)
        except errors.OpError:
            for worker in workers:  # one that has no such session does not mind
                worker.delete_session(handle)
            raise
        with self._lock:
            self._sessions[handle] = session
        return handle

    def extend_session(self, session: str, graph: GraphIR) -> None:
        """Adds nodes and functions; see `MasterInterface`."""
        state = self._find(session)
        with state.lock:
            state.graph = session_state.extend(state.graph, graph)
            state.placer.extend(graph.nodes.values())

    def close_session(self, session: str) -> None:
        """Cancels the session's steps and drops its state.

        Raises:
          errors.AbortedError: there is no such session.
        """
        self._close_session(session)

    def _close_session(self, session: str) -> _Session:
        with self._lock:
            state = self._sessions.pop(session, None)
        if state is None:
            raise errors.AbortedError(
                None,
                None,
                f"Session {session} is not found. Possibly, this master has restarted.",
            )
        for worker, graph in state.registered:
            if not worker.is_tensorloom:  # ours drop them with their session
                worker.deregister_graph(session, graph)
        for worker in state.workers.values():
            worker.delete_session(session)
        return state

    def reset(self, containers: Sequence[str]) -> None:
        """Empties containers on all workers, then closes all sessions."""
        for worker in self._directory.known():
            worker.cleanup_all(containers)
        with self._lock:
            handles = list(self._sessions)
        for handle in handles:
            for _, graph in self._close_session(handle).registered:
                graph.retire(_not_found(handle))

    def list_devices(self, session: str | None = None) -> Sequence[DeviceInfo]:
        """All devices of a session's workers, or of the workers in reach."""
        if session is not None:
            return self._find(session).devices
        return [d for worker in self._directory.known() for d in worker.devices()]

    def sessions(self) -> list[dict[str, Any]]:
        """The open sessions, with what they have: nodes, steps, tasks."""
        with self._lock:
            open_sessions = list(self._sessions.values())
        return [
            {
                "session": state.handle,
                "nodes": len(state.graph.nodes),
                "prepared": len(state.steps),
                "tasks": list(state.workers),
            }
            for state in open_sessions
        ]

    def graph_of(self, session: str) -> GraphIR:
        """What a session's graph is now.

        Raises:
          errors.AbortedError: there is no such session.
        """
        return self._find(session).graph

    def _find(self, handle: str) -> _Session:
        session = self._sessions.get(handle)
        if session is None:
            raise _not_found(handle)
        return session

    # --- steps -----------------------------------------------------------------------

    def prepare_step(self, session: str, signature: StepSignature) -> PreparedStep:
        """The registered step of a signature; see `MasterInterface`."""
        state = self._find(session)
        if signature.debug is not None:
            register = partial(self._registered_for_debugger, state, signature)
            return state.debug_steps.step(signature, signature.debug, register)
        step = state.steps.get(signature)
        if step is None:
            with state.lock:
                step = state.steps.get(signature)
                if step is None:
                    step = self._first_prepared(state, signature)
                    state.steps[signature] = step
        return step

    def _first_prepared(
        self, session: _Session, signature: StepSignature
    ) -> PreparedStep:
        """The step; one that is to be placed by what it takes measures itself."""
        pruned = _pruned(session, signature)
        if len(session.devices) == 1 or not places_by_cost(session.config):
            return self._compiled(session, pruned, signature)

        def prepare() -> PreparedStep:
            with session.lock:
                return self._compiled(session, pruned, signature)

        costs = session.costs[signature] = CostModel()
        return MeasuredStep(prepare, costs, session.config.build_cost_model_after)

    def _registered_for_debugger(
        self, state: _Session, signature: StepSignature
    ) -> tuple[PreparedStep, Callable[[], None]]:
        """A step as the program said it, watched; and what drops it again."""
        with state.lock:
            pruned = _pruned(state, signature)
            session_state.check_called_functions(pruned)
            placer = state.placer.for_step()
            lowered = lower_functional(infer_missing(pruned), placer, everything=True)
            placed = place_step(lowered, placer, state.config, CostModel())
            parts = self._parts(state, placed, signature.debug)

        def drop() -> None:
            for part in parts:
                part.worker.deregister_graph(state.handle, part.registered)

        return _joined(parts), drop

    def explain_step(
        self, session: str, signature: StepSignature, journal: StageJournal
    ) -> PreparedStep:
        """Prepares a step anew, and tells the journal of each stage.

        Where shapes of feeds tell more than the graph, the journal hears of all but the
        pruning when the step first runs, or is compiled for shapes (`ShapedStep`).

        Raises:
          errors.OpError: as `prepare_step`.
        """
        state = self._find(session)
        with state.lock:
            pruned = _pruned(state, signature)
            journal.stage("prune", state.graph, pruned)
            return self._compiled(state, pruned, signature, journal)

    def _compiled(
        self,
        session: _Session,
        pruned: GraphIR,
        signature: StepSignature,
        journal: StageJournal | None = None,
    ) -> PreparedStep:
        """The step; where shapes of feeds are to tell more, it is compiled later."""
        feeds = open_feeds(pruned)
        if not feeds or not session.config.optimizer.enabled:
            return self._register(session, pruned, signature, journal=journal)

        def compile_for(shapes: FedShapes) -> PreparedStep:
            with session.lock:
                return self._register(session, pruned, signature, shapes, journal)

        return ShapedStep(compile_for, feeds)

    def _register(
        self,
        session: _Session,
        pruned: GraphIR,
        signature: StepSignature,
        shapes: FedShapes = _NO_SHAPES,
        journal: StageJournal | None = None,
    ) -> PreparedStep:
        check_executor_type(session.config.executor_type)
        session_state.check_called_functions(pruned)
        target = OptimizeTarget(
            preserve=frozenset(
                [name.rpartition(":")[0] for name in signature.fetches]
                + list(signature.targets)
            ),
            config=session.config.optimizer,
            evaluate=self._environment.evaluate,
            # What was optimized before would not be told.
            function_cache=session.functions if journal is None else {},
            portable=not all(w.is_tensorloom for w in session.workers.values()),
            is_fast_in_half=fast_in_half(session.devices, self._environment.has_kernel),
            journal=journal,
        )
        functional = None
        if shapes:
            shaped = with_fed_shapes(pruned, shapes)
            functional = self._functional(session, shaped, target)
            before = functional
            functional = with_shapes_of_feeds(functional, target.evaluate)
            if journal is not None and functional is not None:
                journal.stage("fed_shapes", before, functional)
        if functional is None:
            functional = with_shapes_inside(
                pruned, self._functional(session, pruned, target)
            )
        placer = session.placer.for_step()
        optimized = self._optimized(session, functional, target, placer)
        costs = session.costs.get(signature) or CostModel()
        placed = place_step(optimized, placer, session.config, costs, journal)
        named = self._collective_leader(session)
        if self._directory.collectives is not None:
            placed = with_leader(placed, named, next(iter(session.workers)))
        parts = self._parts(session, placed, None, journal)
        session.registered += [(part.worker, part.registered) for part in parts]
        graph_key = graph_key_of(placed) if named else 0
        if graph_key:
            return self._numbered(parts, graph_key, named)
        return _joined(parts)

    def _collective_leader(self, session: _Session) -> str:
        """The task that counts the steps with collectives; "" where nobody does."""
        steps = self._directory.collectives
        if steps is None:
            return ""
        leader: str = steps.leader_of(session.config.collective_group_leader)
        return leader

    def _numbered(
        self, parts: Sequence[Part], graph_key: int, leader: str
    ) -> CollectiveStep:
        """The step of these parts under ids that other tasks' masters know."""
        is_here = len(parts) == 1 and parts[0].remote is None
        clean_up = parts[0].worker.cleanup_step if is_here else None
        steps = self._directory.collectives
        return CollectiveStep(_joined(parts), steps, graph_key, leader, clean_up)

    def _parts(
        self,
        session: _Session,
        placed: GraphIR,
        debug: DebugWatches | None = None,
        journal: StageJournal | None = None,
    ) -> list[Part]:
        """The parts of a placed graph, registered with the workers of their tasks."""
        parts: list[Part] = []
        graphs = self._partition(session, placed)
        pushes = len(graphs) > 1 and all(
            session.workers[task].takes_pushes for task in graphs
        )
        if pushes:
            graphs = mark_deferrable(graphs)
        numbering = common_numbering(placed, [session.workers[task] for task in graphs])
        for task, graph in graphs.items():
            worker = session.workers[task]
            registered = worker.register_graph(
                session.handle,
                graph,
                session.config,
                pushes=pushes,
                numbering=numbering,
                debug=debug,
            )
            if journal is not None:
                journal.part(task, graph, registered)
            parts.append(Part.of(worker, registered, graph))
        return parts

    @staticmethod
    def _functional(
        session: _Session, pruned: GraphIR, target: OptimizeTarget
    ) -> GraphIR:
        """The graph made functional, but for what spans tasks or is interdependent."""
        functional = functionalize(pruned)
        verify.check_structure("functionalize", pruned, functional, target.preserve)
        if target.journal is not None and functional is not pruned:
            target.journal.stage("functionalize", pruned, functional)
        if functional is not pruned and (
            interdependent_nodes(functional)
            or (target.portable and branches_on_references(pruned, functional))
            or (
                len(session.workers) > 1
                and classic_spans(pruned, functional, session.placer)
            )
        ):
            return pruned
        return functional

    @staticmethod
    def _optimized(
        session: _Session, functional: GraphIR, target: OptimizeTarget, placer: Placer
    ) -> GraphIR:
        """The graph to place."""
        optimized = optimize(functional, target)
        if len(session.workers) == 1 and not interdependent_nodes(optimized):
            return optimized
        lowered = lower_functional(optimized, placer)
        if target.journal is not None and lowered is not optimized:
            target.journal.stage("lower_functional", optimized, lowered)
        verify.check_structure(
            "lower_functional", optimized, lowered, target.preserve, own_names=False
        )
        return lowered

    def _partition(self, session: _Session, placed: GraphIR) -> dict[str, GraphIR]:
        """The parts by task; the graph itself where there is one task."""
        if len(session.workers) == 1:
            return {next(iter(session.workers)): placed}
        if not session.config.sends_as:  # that shortens what is fed and fetched, too
            placed = route_feeds_and_fetches(placed, session.devices)
        routed = _without_implied_controls(placed)
        return graph_partition.partition(
            routed,
            lambda node: device_name.task_of(node.device),
            {d.name: d.incarnation for d in session.devices},
            "_S",
            waits_of(routed.nodes.values(), routed.functions),
            session.edge_numbers,
            session.config.sends_as,
        )

    # --- partial runs ----------------------------------------------------------------

    def partial_run_setup(self, session: str, signature: StepSignature) -> str:
        """Begins a partial run; see `MasterInterface`."""
        state = self._find(session)
        with state.lock:
            graph = _pruned(state, signature)
            run = PartialRun(graph, signature, self._prepare_part(state, signature))
            handle = (
                f"{','.join(signature.feeds)}->{','.join(signature.fetches)}/"
                f"{','.join(signature.targets)}/{state.partial_count}"
            )
            state.partial_count += 1
            state.partial_runs[handle] = run
        return handle

    def _prepare_part(
        self, state: _Session, signature: StepSignature
    ) -> Callable[[GraphIR, StepSignature], PreparedStep]:
        def prepare(part: GraphIR, part_signature: StepSignature) -> PreparedStep:
            # The same part of the same partial run is compiled once.
            key = StepSignature(
                (*signature.feeds, "|", *part_signature.feeds),
                (*signature.fetches, "|", *part_signature.fetches),
                (*signature.targets, "|", *part_signature.targets),
            )
            with state.lock:
                step = state.steps.get(key)
                if step is None:
                    step = self._register(state, part, part_signature)
                    state.steps[key] = step
            return step

        return prepare

    def partial_run(
        self,
        session: str,
        partial_handle: str,
        feeds: Sequence[tuple[str, Any]],
        fetches: Sequence[str],
    ) -> list[Any]:
        """Continues a partial run; see `MasterInterface`."""
        state = self._find(session)
        run = state.partial_runs.get(partial_handle)
        if run is None:
            raise errors.InvalidArgumentError(
                None, None, "Must run 'setup' before performing partial runs!"
            )
        values = run.advance(feeds, fetches)
        if run.is_complete:
            state.partial_runs.pop(partial_handle, None)
        return values


def _joined(parts: Sequence[Part]) -> PreparedStep:
    """The step whose parts these are."""
    return parts[0].registered if len(parts) == 1 else TaskParallelStep(parts)


def _not_found(handle: str) -> errors.AbortedError:
    return errors.AbortedError(None, None, f"Session {handle} is not found.")
