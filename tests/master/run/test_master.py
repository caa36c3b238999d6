"""The master over a worker that only takes notes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf  # registers the ops
from tensorloom.cluster import local
from tensorloom.framework.errors import CancelledError, InternalError, OpError
from tensorloom.framework.graph.graph_ir import GraphIR
from tensorloom.framework.interfaces import (
    DeviceInfo,
    RegisteredGraph,
    StepContext,
    StepSignature,
)
from tensorloom.framework.runtime.session_config import SessionConfig
from tensorloom.master.run.directory import FixedWorkers
from tensorloom.master.run.master import Master, MasterEnvironment
from tensorloom.master.run.task_parallel import Part, TaskParallelStep
from tests.master.graph_text import parse, render

if TYPE_CHECKING:
    from tensorloom.framework.debug.watches import DebugWatches
    from tensorloom.framework.runtime.frame_id import FrameNumbering

_ = tf


class FakeGraph:
    """A registered graph that returns its feeds."""

    def __init__(self, graph: GraphIR) -> None:
        self.graph = graph

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        results = sum(n.op == "_Retval" for n in self.graph.nodes.values())
        return [list(feeds)] * results


class FakeWorker:
    """Notes what it is asked."""

    def __init__(self, task: str = "/job:localhost/replica:0/task:0") -> None:
        self.task = task
        self.calls: list[str] = []
        self.graphs: list[GraphIR] = []

    is_tensorloom = True
    takes_pushes = False
    numbering: FrameNumbering | None = None

    def devices(self) -> Sequence[DeviceInfo]:
        return [DeviceInfo(f"{self.task}/device:CPU:0", "CPU", 1, 7)]

    def create_session(self, session: str, config: SessionConfig) -> None:
        self.calls.append("create_session")

    def delete_session(self, session: str) -> None:
        self.calls.append("delete_session")

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
        self.calls.append("register_graph")
        self.graphs.append(graph)
        return FakeGraph(graph)

    def deregister_graph(self, session: str, graph: RegisteredGraph) -> None:
        self.calls.append("deregister_graph")

    def abort_step(self, step_id: int, error: OpError) -> None:
        self.calls.append("abort_step")

    def cleanup_step(self, step_id: int) -> None:
        self.calls.append("cleanup_step")

    def end_abandoned_step(self, step_id: int, done: Callable[[], None]) -> None:
        self.calls.append("end_abandoned_step")
        done()

    def cleanup_all(self, containers: Sequence[str]) -> None:
        self.calls.append(f"cleanup_all {list(containers)}")


ENVIRONMENT = MasterEnvironment(local.evaluate, local.has_kernel)
GRAPH = """
x = Placeholder {dtype='float32'}
y = Neg(x)
z = Exp(y)
"""
SIGNATURE = StepSignature(("x:0",), ("z:0",))


def test_a_session_from_its_making_to_its_end() -> None:
    worker = FakeWorker()
    master = Master(FixedWorkers([worker]), ENVIRONMENT)
    handle = master.create_session(parse(GRAPH), SessionConfig())
    step = master.prepare_step(handle, SIGNATURE)
    assert step.run([np.float32(1)]) == [[1.0]]
    assert master.prepare_step(handle, SIGNATURE) is step
    other = StepSignature((), ("z:0",))
    assert master.prepare_step(handle, other) is not step
    assert master.list_devices(handle) == worker.devices()
    master.close_session(handle)
    assert worker.calls == [
        "create_session",
        "register_graph",
        "register_graph",
        "delete_session",
    ]


def test_the_registered_graph_is_placed() -> None:
    worker = FakeWorker()
    master = Master(FixedWorkers([worker]), ENVIRONMENT)
    handle = master.create_session(parse(GRAPH), SessionConfig())
    master.prepare_step(handle, SIGNATURE).run([np.float32(1)])
    device = f"{worker.task}/device:CPU:0"
    assert {n.device for n in worker.graphs[0].nodes.values()} == {device}
    assert "_arg_x_0_0" in worker.graphs[0].nodes
    assert "_retval_z_0_0" in worker.graphs[0].nodes


def test_extension() -> None:
    worker = FakeWorker()
    master = Master(FixedWorkers([worker]), ENVIRONMENT)
    whole = parse(GRAPH + "w = Sin(z)\nn = NoOp(^w)")
    parts = [
        whole.with_nodes([whole.nodes[name] for name in names])
        for names in (("x", "y", "z"), ("w", "n"))
    ]
    handle = master.create_session(parts[0], SessionConfig())
    with pytest.raises(OpError, match="FetchOutputs node w:0: not found"):
        master.prepare_step(handle, StepSignature((), ("w:0",)))
    master.extend_session(handle, parts[1])
    master.prepare_step(handle, StepSignature((), ("w:0",), ("n",)))
    with pytest.raises(OpError, match="includes node 'w', which was created by a"):
        master.extend_session(handle, parts[1])


def test_graphs_that_are_wrong() -> None:
    master = Master(FixedWorkers([FakeWorker()]), ENVIRONMENT)
    good = parse(GRAPH)
    y = good.nodes["y"]
    cases = [
        (y.replace(op="NoSuchOp"), 5, "Op type not registered 'NoSuchOp'"),
        (y.replace(inputs=(("gone", 0),)), 3, "Node 'y': Unknown input node 'gone'"),
        (y.replace(inputs=(("z", 0),)), 3, "contains a cycle"),
    ]
    for node, code, message in cases:
        nodes = [good.nodes["x"], node, good.nodes["z"]]
        with pytest.raises(OpError) as info:
            master.create_session(good.with_nodes(nodes), SessionConfig())
        assert info.value.error_code == code
        assert message in info.value.message


def test_nodes_in_any_order() -> None:
    worker = FakeWorker()
    master = Master(FixedWorkers([worker]), ENVIRONMENT)
    graph = parse(GRAPH)
    backwards = graph.with_nodes(reversed(graph.nodes.values()))
    handle = master.create_session(backwards, SessionConfig())
    master.prepare_step(handle, SIGNATURE).run([np.float32(1)])
    assert [n.op for n in worker.graphs[0].nodes.values()] == [
        "_Arg",
        "Neg",
        "Exp",
        "_Retval",
    ]


def test_unknown_sessions() -> None:
    master = Master(FixedWorkers([FakeWorker()]), ENVIRONMENT)
    for use in (
        lambda: master.prepare_step("feed", SIGNATURE),
        lambda: master.extend_session("feed", GraphIR()),
        lambda: master.close_session("feed"),
        lambda: master.list_devices("feed"),
        lambda: master.partial_run("feed", "0", [], []),
    ):
        with pytest.raises(OpError, match=r"Session feed is not found.") as info:
            use()
        assert info.value.error_code == 10


def test_reset() -> None:
    worker = FakeWorker()
    master = Master(FixedWorkers([worker]), ENVIRONMENT)
    handles = [master.create_session(parse(GRAPH), SessionConfig()) for _ in range(2)]
    master.reset(["box"])
    assert worker.calls[2:] == [
        "cleanup_all ['box']",
        "delete_session",
        "delete_session",
    ]
    for handle in handles:
        with pytest.raises(OpError, match="is not found"):
            master.prepare_step(handle, SIGNATURE)


def test_tasks_get_their_parts() -> None:
    """A step over two tasks: each registers its part, joined by a Send and a Recv."""
    tasks = [FakeWorker(f"/job:worker/replica:0/task:{i}") for i in range(2)]
    master = Master(FixedWorkers(tasks), ENVIRONMENT)
    text = """
    x = Placeholder {dtype='float32'} @/job:worker/task:0
    y = Neg(x) @/job:worker/task:1
    z = Exp(y) @/job:worker/task:1
    w = Sin(y) @/job:worker/task:0
    """
    handle = master.create_session(parse(text), SessionConfig())
    step = master.prepare_step(handle, StepSignature(("x:0",), ("w:0", "z:0")))
    assert step.run([np.float32(1)]) == [[], [1.0]]
    ops = [[n.op for n in task.graphs[0].nodes.values()] for task in tasks]
    assert ops[1].count("_Send") == ops[0].count("_Recv") == 1
    assert ops[0].count("_Send") == ops[1].count("_Recv") == 0
    # Feeds and fetches are with the task at their other end.
    assert "_Arg" in ops[1]
    assert ops[0].count("_Retval") == ops[1].count("_Retval") == 1
    assert all(task.calls[-1] == "cleanup_step" for task in tasks)


def test_the_first_error_of_a_part_ends_the_step() -> None:
    release = threading.Event()

    class Waiting:
        def run(self, feeds: Sequence[Any], step: Any = None) -> list[Any]:
            assert release.wait(60)
            raise CancelledError(None, None, "follows")

    class Failing:
        def run(self, feeds: Sequence[Any], step: Any = None) -> list[Any]:
            raise InternalError(None, None, "broken")

    class Releasing(FakeWorker):
        def abort_step(self, step_id: int, error: OpError) -> None:
            super().abort_step(step_id, error)
            release.set()

    workers = [Releasing(), Releasing()]
    step = TaskParallelStep(
        [
            Part(workers[0], Waiting(), None, [], []),
            Part(workers[1], Failing(), None, [], []),
        ]
    )
    with pytest.raises(InternalError, match="broken"):
        step.run([])
    assert [worker.calls for worker in workers] == [
        ["abort_step", "end_abandoned_step"]
    ] * 2


def test_switched_off_passes() -> None:
    text = "a = Const<2.0>\nb = Neg(a)\nc = Exp(b)\n"
    for off in (False, True):
        worker = FakeWorker()
        master = Master(FixedWorkers([worker]), ENVIRONMENT)
        config = SessionConfig()
        if off:
            from tensorloom.framework.runtime.session_config import OptimizerConfig

            config = SessionConfig(optimizer=OptimizerConfig(enabled=False))
        handle = master.create_session(parse(text), config)
        master.prepare_step(handle, StepSignature((), ("c:0",)))
        assert ("Neg" in render(worker.graphs[0])) is off
