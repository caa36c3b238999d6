"""What client, master and workers say to each other, in process or over a network.

    Session --MasterInterface--> master --WorkerInterface--> workers

Each side holds the other by these protocols alone. The in-process implementations are
`master/run/master.py` and `worker/run/worker.py`; remote ones stand behind the same
calls.

A step goes through the interfaces once to be prepared (`prepare_step`,
`register_graph`) and then runs by one plain call: what `prepare_step` returns is, on
one machine, the worker's own registered graph.

Values: feeds and fetches are host values in the order of the signature. That is an
`np.ndarray` or NumPy scalar of exactly the tensor's dtype, an object array of `bytes`
for strings (a fetched string scalar is `bytes`), the resource object for a handle.

Errors are `errors.OpError`s. One that a node caused has `[[{{node NAME}}]]` in its
message; the client turns it into the operation and its source line.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.errors import OpError
    from tensorloom.framework.graph.graph_ir import GraphIR
    from tensorloom.framework.runtime.cancellation import CancellationManager
    from tensorloom.framework.runtime.frame_id import FrameNumbering
    from tensorloom.framework.runtime.session_config import SessionConfig
    from tensorloom.protos.graph_pb2 import GraphDef


@dataclass(frozen=True, slots=True)
class DeviceInfo:
    """One device as `list_devices` shows it and the placer sees it."""

    name: str  # full name
    device_type: str  # "CPU", "GPU", ...
    memory_limit: int  # bytes
    incarnation: int  # non-zero; new with each start of the device
    physical_description: str = ""
    kernel_type: str = ""  # whose kernels it runs; its own type's when empty


@dataclass(frozen=True, slots=True)
class StepSignature:
    """What a step takes and gives; the key under which it is prepared once.

    Feeds and fetches are tensor names with their index (`x:0`), targets node names.
    No name occurs twice in a field.
    """

    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    targets: tuple[str, ...] = ()
    # What a debugger watches. Such a step is prepared for one run.
    debug: DebugWatches | None = None
    # Whether feeds may have other shapes than the graph says of their tensors.
    any_fed_shapes: bool = False


@dataclass(frozen=True, slots=True)
class StepOptions:
    """What one step was asked for beside its values: `RunOptions`, decoded."""

    timeout_s: float | None = None  # None: no limit
    trace: bool = False  # record when and where each node ran
    output_partition_graphs: bool = False
    debug: DebugWatches | None = None  # what a debugger watches
    # Names the graph to other tasks' masters; 0: its collectives do.
    collective_graph_key: int = 0


@dataclass(slots=True)
class NodeStats:
    """One execution of one node, or one copy between devices."""

    device: str  # full name
    node_name: str
    op: str
    start_ns: int  # of time.time_ns()
    end_ns: int
    thread_id: int = 0
    # (dtype name, shape, bytes) of each output, where known.
    outputs: tuple[tuple[str, tuple[int, ...], int], ...] = ()
    # What a timeline shows, e.g. "y = Add(x, x)"; made from name and op when empty.
    label: str = ""
    # Bytes of the outputs that are in memory of their own, and not in an input's.
    allocated: int = 0
    # Of each output (memory, buffer, its bytes): "host" for NumPy's, "device", or
    # "variable" for a reference; a number that values in the same memory share.
    buffers: tuple[tuple[str, int, int], ...] = ()


@dataclass(slots=True)
class StepMetadata:
    """What the workers tell about a step; they append, in any order and thread."""

    node_stats: list[NodeStats] = field(default_factory=list)
    # One graph for each device's piece, with `_Send` and `_Recv` nodes. Another task's
    # are messages: they may have ops that only that task knows.
    partition_graphs: list[GraphIR | GraphDef] = field(default_factory=list)


@dataclass(slots=True)
class StepContext:
    """Handed down with a step that asks for more than its values."""

    options: StepOptions
    metadata: StepMetadata = field(default_factory=StepMetadata)
    step_id: int = 0  # non-zero where several workers share the step
    # Of this step alone. Whoever asked for it may cancel it; so does an error.
    cancellation: CancellationManager | None = None
    # Where the tensors of a part go that gets none: others need not find it.
    rendezvous: Any = None


class PreparedStep(Protocol):
    """A step that only needs its values."""

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        """Runs the step; may be called by many threads at once.

        Args:
          feeds: one value for each feed of the signature, in its order.
          step: None when nothing beside the fetches is asked for.

        Returns:
          One value for each fetch, in the signature's order. They are the caller's:
          no later step changes them.

        Raises:
          errors.OpError: a node failed; the deadline passed; the session was closed.
        """
        ...


class RegisteredGraph(PreparedStep, Protocol):
    """A worker's compiled piece of a graph.

    Its feeds are the graph's `_Arg` nodes and its fetches the `_Retval` nodes, both
    ordered by their `index` attr.
    """

    def retire(self, error: OpError) -> None:
        """Makes later steps fail with `error`: the session is gone."""
        ...


class PendingReply(Protocol):
    """A part of a step that runs on another task."""

    @property
    def is_source(self) -> bool:
        """Whether it ends at once, and tensors for the caller's task come with it."""
        ...

    def fileno(self) -> int:
        """The socket's number, for `select.poll`; negative if there is none."""
        ...

    def is_there(self) -> bool:
        """Whether `take` would not wait, as far as it can be told."""
        ...

    def watch(self, lost: Callable[[OpError], None]) -> None:
        """Calls back with an error when the task is gone before `take`."""
        ...

    def take(self) -> list[Any]:
        """Waits for the end; returns the fetches.

        Raises:
          errors.OpError: the part failed, or was aborted.
        """
        ...


@runtime_checkable
class RemoteGraph(RegisteredGraph, Protocol):
    """A registered graph on another task: it runs beside the caller's thread."""

    def begin(
        self, feeds: Sequence[Any], step: StepContext, is_linked: bool = False
    ) -> PendingReply | None:
        """Begins a step whose end the caller waits for; None where only `start` can.

        Args:
          feeds: of its part.
          step: of the step.
          is_linked: whether one thread does all of the caller's own part, so that it
            can exchange tensors on the connection of the call.

        Raises:
          errors.OpError: the step could not be begun.
        """
        ...

    def start(
        self,
        feeds: Sequence[Any],
        step: StepContext,
        done: Callable[[list[Any] | None, OpError | None], None],
    ) -> None:
        """Begins a step; `done` is called with its fetches or its error."""
        ...


class WorkerInterface(Protocol):
    """What a master asks of a worker: one task with its devices."""

    @property
    def is_tensorloom(self) -> bool:
        """Whether it knows the ops that our passes make (TensorFlow's do not)."""
        ...

    @property
    def task(self) -> str:
        """The task's name, `/job:localhost/replica:0/task:0`."""
        ...

    def devices(self) -> Sequence[DeviceInfo]:
        """The devices, CPUs first. Allocates nothing on them."""
        ...

    def create_session(self, session: str, config: SessionConfig) -> None:
        """Makes the state of a session: its running steps, its kernels.

        Steps of sessions whose fence is older than that of the config have ended when
        it returns, and no more of them run.

        Raises:
          errors.AbortedError: the fence of the config is older than another's.
        """
        ...

    def delete_session(self, session: str) -> None:
        """Cancels the session's running steps (CancelledError) and drops its state.

        Resources in containers stay unless the config isolates the session.
        """
        ...

    @property
    def takes_pushes(self) -> bool:
        """Whether tasks can send it tensors that it did not ask for."""
        ...

    @property
    def numbering(self) -> FrameNumbering | None:
        """How it numbers the frames of loops; None if it can be told."""
        ...

    def register_graph(
        self,
        session: str,
        graph: GraphIR,
        config: SessionConfig,
        *,
        pushes: bool = False,
        numbering: FrameNumbering | None = None,
        debug: DebugWatches | None = None,
    ) -> RegisteredGraph:
        """Compiles a graph whose nodes are all placed on devices of this task.

        Nodes come in the order of the whole step's one topological order. A stateful
        node of the same name in several graphs of a session is the same kernel.
        `pushes` says that tensors for other tasks are pushed to them; `numbering` how
        all tasks number frames, where a loop or branch spans them; `debug` what a
        debugger watches.

        Raises:
          errors.OpError: a node has no kernel, or cannot be compiled.
        """
        ...

    def deregister_graph(self, session: str, graph: RegisteredGraph) -> None:
        """Drops a compiled graph, which nobody runs any more."""
        ...

    def abort_step(self, step_id: int, error: OpError) -> None:
        """Cancels the task's part of a step that spans tasks."""
        ...

    def cleanup_step(self, step_id: int) -> None:
        """Forgets such a step after its end, however it ended."""
        ...

    def end_abandoned_step(self, step_id: int, done: Callable[[], None]) -> None:
        """The same of a step that was cancelled; calls `done` when it runs no more.

        Where the task is gone, `done` is called, too.
        """
        ...

    def cleanup_all(self, containers: Sequence[str]) -> None:
        """Deletes the resources of the containers; of all when there are none."""
        ...


class WorkerDirectory(Protocol):
    """The workers that a master has."""

    def for_session(self, config: SessionConfig) -> Sequence[WorkerInterface]:
        """The workers of a new session, the master's own task first.

        Waits for tasks that are not there yet, as long as the config allows.

        Raises:
          errors.OpError: a task cannot be had.
        """
        ...

    def known(self) -> Sequence[WorkerInterface]:
        """The workers that are in reach now."""
        ...

    @property
    def collectives(self) -> Any:
        """The `CollectiveSteps` of the master's own task; None without other tasks."""
        ...


class MasterInterface(Protocol):
    """What a session asks of a master."""

    @property
    def operation_timeout_s(self) -> float | None:
        """For steps of sessions that name no timeout; None: no limit known here."""
        ...

    def create_session(self, graph: GraphIR, config: SessionConfig) -> str:
        """Makes a session that holds `graph`; returns its handle.

        Raises:
          errors.InvalidArgumentError: a node is malformed or occurs twice.
          errors.NotFoundError: an op is not registered.
        """
        ...

    def extend_session(self, session: str, graph: GraphIR) -> None:
        """Adds new nodes and functions.

        Raises:
          errors.InvalidArgumentError: a node exists already or is malformed.
          errors.NotFoundError: an op is not registered.
          errors.AbortedError: there is no such session.
        """
        ...

    def prepare_step(self, session: str, signature: StepSignature) -> PreparedStep:
        """Prunes, optimizes, places, partitions and compiles; once per signature.

        Where the shapes that are fed can tell more than the graph, all but the pruning
        waits for the first run, which raises what stands against it.

        Raises:
          errors.NotFoundError: a feed, fetch or target does not exist.
          errors.InvalidArgumentError: the signature or the graph is not valid, or a
            node cannot be placed.
        """
        ...

    def partial_run_setup(self, session: str, signature: StepSignature) -> str:
        """Begins a step whose feeds and fetches come in several calls."""
        ...

    def partial_run(
        self,
        session: str,
        partial_handle: str,
        feeds: Sequence[tuple[str, Any]],
        fetches: Sequence[str],
    ) -> list[Any]:
        """Continues a partial run: more feeds in, some fetches out.

        Raises:
          errors.InvalidArgumentError: a feed or fetch was not announced, came before,
            or a fetch needs feeds that have not come yet.
        """
        ...

    def list_devices(self, session: str | None = None) -> Sequence[DeviceInfo]:
        """All devices of all workers.

        Raises:
          errors.CancelledError: the session was closed.
        """
        ...

    def close_session(self, session: str) -> None:
        """Cancels the session's running steps and drops its state."""
        ...

    def reset(self, containers: Sequence[str]) -> None:
        """Closes all sessions and deletes the resources of the containers."""
        ...
