"""A graph that a worker was given: compiled for its devices, run step after step."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework import errors
from tensorloom.framework.debug import publishers
from tensorloom.framework.devices import device_name
from tensorloom.framework.graph import node_shapes
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.partition import graph_partition
from tensorloom.framework.partition.waiting_ops import (
    SENDS,
    waits_of,
    with_waiting_receives,
)
from tensorloom.framework.runtime import concurrency, custom_stages
from tensorloom.framework.runtime.cancellation import Deadline, Following
from tensorloom.framework.runtime.frame_id import FrameNumbering, child_of_path
from tensorloom.framework.runtime.rendezvous_key import key_of
from tensorloom.worker.compile.dataflow_nodes import is_classic
from tensorloom.worker.compile.dataflow_piece import DataflowPiece
from tensorloom.worker.compile.piece import Piece
from tensorloom.worker.debug.debugged_graph import debugged
from tensorloom.worker.run.step import Step, run_pieces
from tensorloom.worker.run.step_table import StepRendezvous

if TYPE_CHECKING:
    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.types.dtypes import DType
    from tensorloom.worker.compile.generated_code import Code
    from tensorloom.worker.run.worker import Worker
    from tensorloom.worker.run.worker_session import WorkerSession

_NO_OPTIONS = StepOptions()
_UNLIMITED: Final = nullcontext()


class RegisteredGraph:
    """A graph compiled for the devices of this worker."""

    def __init__(
        self,
        worker: Worker,
        session: WorkerSession,
        graph: GraphIR,
        ordered: bool = True,
        pushes: bool = False,
        numbering: FrameNumbering | None = None,
        schedules: Sequence[str] = (),
        debug: DebugWatches | None = None,
    ) -> None:
        """Compiles a graph; the arguments are those of `Worker.register_graph`.

        Args:
          schedules: names that the session's config has, some of schedules
            (`custom_stages.schedule`).
          debug: what a debugger watches. Then every node is interpreted by itself.
        """
        self._schedules = schedules
        self._pushes = pushes
        self._numbering = numbering or child_of_path
        self._worker = worker
        self._session = session
        self._remote_keys = _keys_from_elsewhere(graph, worker.task)
        # Without a branch or loop of its own a part may still get dead tensors of
        # another's; only the interpreter knows them.
        self._is_dataflow = (
            debug is not None
            or is_classic(graph.nodes)
            or (numbering is not None and bool(self._remote_keys))
        )
        if self._is_dataflow:
            # It asks for tensors itself, iteration by iteration.
            self._remote_keys = []
        self._targets = _tasks_sent_to(graph) - {worker.task} if pushes else set()
        self._sent_dtypes = _quantized_sends(graph)
        graph = graph if ordered else with_waiting_receives(graph)
        self._debug_urls = debug.urls if debug is not None else ()
        if debug is not None:
            graph = debugged(graph, debug, worker)
        self._graph = node_shapes.infer_missing(graph)
        self.parts = self._partition()
        indices = sorted(
            n.attrs["index"] for n in graph.nodes.values() if n.op == "_Arg"
        )
        # Where feed indices have gaps, values go to their index in a longer list.
        self._spread = indices if indices != list(range(len(indices))) else None
        self._pieces = self._compile(traced=False)
        self._traced: list[Piece | DataflowPiece] | None = None
        self._lock = concurrency.Lock()
        self._gone: errors.OpError | None = None
        single = len(self._pieces) == 1 and self._spread is None
        self._simple = (
            self._pieces[0] if single and not self._pieces[0].uses_context else None
        )

    def _partition(self) -> dict[str, GraphIR]:
        """The parts by device; classic control flow is interpreted in one."""
        devices = self._worker.local_devices
        if self._is_dataflow:
            return {devices[0].name: self._graph}
        parts = graph_partition.partition(
            self._graph,
            lambda node: node.device,
            {d.name: d.incarnation for d in devices},
            waits=(
                waits_of(self._graph.nodes.values(), self._graph.functions)
                if len(devices) > 1
                else None
            ),
        )
        if not self._schedules:
            return parts
        return {
            place: custom_stages.scheduled(self._schedules, part)
            for place, part in parts.items()
        }

    def _compile(self, traced: bool) -> Sequence[Piece | DataflowPiece]:
        functions = self._graph.functions
        if self._is_dataflow:
            return [
                DataflowPiece(
                    self._graph.nodes,
                    self._worker.local_devices[0],
                    self._worker.device_named,
                    self._session.resources,
                    functions,
                    self._session.kernels,
                    traced,
                    self._numbering,
                )
            ]
        return [
            Piece(
                part.nodes,
                self._worker.device_named(place),
                self._session.resources,
                functions,
                self._session.kernels,
                traced=traced,
            )
            for place, part in self.parts.items()
        ]

    @property
    def may_block(self) -> bool:
        """Whether a step may wait for something outside of it, as at a queue."""
        return any(piece.may_block for piece in self._pieces)

    @property
    def is_sequential(self) -> bool:
        """Whether one thread does all of a step, waiting included."""
        return len(self._pieces) == 1 and self._pieces[0].is_sequential

    @property
    def codes(self) -> list[tuple[str, Code]]:
        """The generated functions of all pieces, each with its piece's device."""
        return [(p.device.name, code) for p in self._pieces for code in p.codes]

    @property
    def source(self) -> str:
        """The generated Python source of all pieces."""
        return "\n".join(piece.source for piece in self._pieces)

    def retire(self, error: errors.OpError) -> None:
        """Makes later steps fail with `error`."""
        self._gone = error
        self._simple = None

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs one step; see `interfaces.PreparedStep.run`."""
        if self._simple is not None and step is None:
            return self._simple.run(feeds, None)
        return self._run(feeds, step)

    def _run(self, feeds: Sequence[Any], asked: StepContext | None) -> list[Any]:
        if self._gone is not None:
            raise self._gone.with_traceback(None)
        if not self._pieces:
            return []
        options = asked.options if asked is not None else _NO_OPTIONS
        pieces, metadata = self._pieces, None
        if asked is not None and options.trace:
            pieces, metadata = self._traced_pieces(), asked.metadata
        if asked is not None and options.output_partition_graphs:
            asked.metadata.partition_graphs.extend(self.parts.values())
        step = self._new_step(asked)
        timeout = options.timeout_s
        self._session.begin(step)
        outer = asked.cancellation if asked is not None else None
        try:
            if outer is None and not timeout:
                results = run_pieces(pieces, self._by_index(feeds), step, metadata)
            else:
                limit = Deadline(step.cancellation, timeout) if timeout else _UNLIMITED
                with Following(outer, step.cancellation), limit:
                    results = run_pieces(pieces, self._by_index(feeds), step, metadata)
        except errors.OpError as error:
            if asked is not None and asked.step_id:
                self._worker.steps.abort(asked.step_id, error)
                self._worker.steps.tell_failure(self._targets, asked.step_id, error)
            raise
        finally:
            self._session.end(step)
            step.rendezvous.unlink()
            if self._debug_urls:
                publishers.close(self._debug_urls)
        return [results[index] for index in sorted(results)]

    def run_independent(
        self, feeds: Sequence[Any], step_id: int, rendezvous: StepRendezvous
    ) -> list[Any]:
        """Runs a part that receives no tensor and never waits: it is not cancelled.

        Args:
          feeds: the values of its `_Arg`s.
          step_id: of the step.
          rendezvous: takes the tensors that it gives, see `StepTable.independent`.

        Raises:
          errors.OpError: as `run`.
        """
        if len(self._pieces) != 1:
            context = StepContext(_NO_OPTIONS, step_id=step_id, rendezvous=rendezvous)
            return self._run(feeds, context)
        self._session.check_open()
        self._prepare(rendezvous)
        (piece,) = self._pieces
        step = Step(self._session.resources, step_id, rendezvous)
        try:
            return piece.run(self._by_index(feeds), step.context(piece.device.name))
        except errors.OpError as error:
            self._worker.steps.tell_failure(self._targets, step_id, error)
            raise

    def _new_step(self, asked: StepContext | None) -> Step:
        """The state of one run; shared with other tasks if the step has an id."""
        resources = self._session.resources
        if asked is None or not asked.step_id:
            return Step(resources)
        if asked.rendezvous is not None:
            step = Step(resources, asked.step_id, asked.rendezvous)
        else:
            step = self._worker.steps.begin(asked.step_id, resources)
        assert isinstance(step.rendezvous, StepRendezvous)
        self._prepare(step.rendezvous)
        return step

    def _prepare(self, rendezvous: StepRendezvous) -> None:
        """Tells the rendezvous of a step what the part sends and gets."""
        if self._sent_dtypes:
            rendezvous.dtypes.update(self._sent_dtypes)
        if self._pushes:
            rendezvous.pushes = True
        else:
            rendezvous.pull(self._remote_keys)

    def _by_index(self, feeds: Sequence[Any]) -> Sequence[Any]:
        if self._spread is None:
            return feeds
        if len(feeds) != len(self._spread):  # the graph has an _Arg of its own
            raise errors.InvalidArgumentError(
                None,
                None,
                f"GetArg {self._spread[-1]} is not within [0, {len(feeds)})",
            )
        spread: list[Any] = [None] * (self._spread[-1] + 1)
        for index, value in zip(self._spread, feeds, strict=True):
            spread[index] = value
        return spread

    def _traced_pieces(self) -> Sequence[Piece | DataflowPiece]:
        with self._lock:
            if self._traced is None:
                self._traced = list(self._compile(traced=True))
            return self._traced


def _keys_from_elsewhere(graph: GraphIR, task: str) -> list[str]:
    """The rendezvous keys that other tasks send under, of a part of a graph."""
    return [
        key_of(node)
        for node in graph.nodes.values()
        if node.op in ("_Recv", "_HostRecv")
        and not node.attrs["client_terminated"]
        and device_name.task_of(node.attrs["send_device"].decode()) != task
    ]


def _quantized_sends(graph: GraphIR) -> dict[str, DType]:
    """The dtypes of what a part sends as base integers; see `StepRendezvous.dtypes`."""
    return {
        key_of(node).rpartition(";")[0]: node.attrs["T"].base_dtype
        for node in graph.nodes.values()
        if node.op in SENDS and node.attrs["T"].is_quantized
    }


def _tasks_sent_to(graph: GraphIR) -> set[str]:
    """The tasks that a part of a graph sends tensors to."""
    return {
        device_name.task_of(node.attrs["recv_device"].decode())
        for node in graph.nodes.values()
        if node.op in SENDS
    }
