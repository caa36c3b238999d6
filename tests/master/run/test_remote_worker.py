"""What the master tells a task beside the calls themselves."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime import run_metadata, session_config
from tensorloom.master.run.remote_feeds import FeedKeys
from tensorloom.master.run.remote_graph import RemoteRegisteredGraph
from tensorloom.master.run.remote_worker import RemoteWorker
from tensorloom.protos.config_pb2 import RunMetadata
from tensorloom.transport.sockets.connection import NotConnected
from tensorloom.transport.wire import value_methods
from tensorloom.transport.wire.methods import worker_methods


class _Reply:
    def __init__(self, error: errors.OpError | None) -> None:
        self._error = error

    def take(self) -> tuple[bytes, list[Any]]:
        if self._error is not None:
            raise self._error
        return b"", []


class _Channel:
    """Keeps which steps each call says are over."""

    address = "nowhere"

    def __init__(self) -> None:
        self.values = self
        self.told: list[list[int]] = []
        self.error: Exception | None = None

    def begin_values(
        self, method: int, header: bytes, values: Any, sending: Any
    ) -> Any:
        over = header[value_methods.RUN_GRAPH_HEADER.size :]
        self.told.append([n for (n,) in value_methods.STEP_ID.iter_unpack(over)])
        if isinstance(self.error, NotConnected):
            raise self.error
        assert self.error is None or isinstance(self.error, errors.OpError)
        return _Reply(self.error)

    def negotiate(self, info: Any) -> None:
        pass


@pytest.mark.parametrize(
    "error",
    [NotConnected("gone"), errors.UnavailableError(None, None, "the stream broke")],
)
def test_steps_that_a_lost_call_named_are_told_again(error: Exception) -> None:
    """A call that the task may never have seen told it nothing."""
    channel: Any = _Channel()
    worker = RemoteWorker("/job:ps/replica:0/task:0", channel)
    worker._is_tensorloom = True

    def run(step_id: int) -> None:
        step = StepContext(StepOptions(), SimpleNamespace(), step_id)  # type: ignore[arg-type]
        reply = worker.begin_graph("session", 1, [], step, value_methods.RUN_GRAPH)
        if reply is not None:
            reply.take()
        worker.cleanup_step(step_id)

    run(1)
    channel.error = error
    try:
        run(2)
    except errors.UnavailableError:
        worker.cleanup_step(2)
    channel.error = None
    run(3)
    run(4)
    assert channel.told == [[], [1], [1, 2], [3]]


class _Messages:
    """Answers RunGraph with the graph of a task that has ops of its own."""

    address = "nowhere"
    values = None

    def start(self, method: Any, request: Any, done: Any, timeout_s: Any = 0) -> Any:
        methods = worker_methods()
        response = method.response()
        if method is methods["RunGraph"]:
            assert request.exec_opts.record_partition_graphs
            node = response.partition_graph.add().node.add(name="y", op="_MklSoftmax")
            node.attr["workspace_enabled"].b = True
        done(response, None)
        return SimpleNamespace(cancel=lambda: None)


def test_graphs_of_other_tasks_are_handed_on_as_they_are() -> None:
    """A worker may have rewritten its part into ops that nobody else knows."""
    channel: Any = _Messages()
    worker = RemoteWorker("/job:ps/replica:0/task:0", channel)
    ends = FeedKeys([], [])
    graph = RemoteRegisteredGraph(worker, "s", "1", ends, value_methods.RUN_GRAPH)
    step = StepContext(StepOptions(trace=True, output_partition_graphs=True))
    assert graph.run([], step) == []
    filled = RunMetadata()
    run_metadata.fill(filled, step, session_config.DEFAULT)
    assert [node.op for node in filled.partition_graphs[0].node] == ["_MklSoftmax"]
    assert filled.partition_graphs[0].node[0].attr["workspace_enabled"].b
    # A client reads them from its master.
    client = StepContext(step.options)
    run_metadata.read(filled, client)
    response = worker_methods()["RunGraph"].response()
    run_metadata.fill_worker_response(response, client)
    assert list(response.partition_graph) == list(filled.partition_graphs)
