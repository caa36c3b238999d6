"""Debug servers over TensorFlow's calls, and steppers of steps elsewhere."""

from __future__ import annotations

import traceback
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.debug import (
    GrpcDebugHook,
    GrpcDebugWrapperSession,
    Stepper,
    TensorBoardDebugWrapperSession,
)
from tensorloom.debug.remote.event_server import (
    DebugWatch,
    EventListenerBaseServicer,
    EventListenerBaseStreamHandler,
)
from tensorloom.debug.sessions.grpc import (
    send_eager_tracebacks,
    send_graph_tracebacks,
)
from tests.cluster.clusters import OTHER, WORKER, cluster


class _Server(EventListenerBaseServicer):
    """Keeps what it hears."""

    def __init__(self) -> None:
        self.values: list[tuple[str, Any]] = []
        self.graphs: list[Any] = []
        self.runs: list[str] = []
        self.files: list[Any] = []
        self.calls: list[Any] = []
        self.replaced: dict[str, Any] = {}
        super().__init__(0, lambda: _Streams(self), host="127.0.0.1")
        self.run_server(blocking=False)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    def SendSourceFiles(self, request: Any, context: Any) -> Any:
        self.files += [file.file_path for file in request.source_files]
        return super().SendSourceFiles(request, context)

    def SendTracebacks(self, request: Any, context: Any) -> Any:
        self.files.append(request.call_key)
        self.calls.append(request)
        return super().SendTracebacks(request, context)


class _Streams(EventListenerBaseStreamHandler):
    def __init__(self, server: _Server) -> None:
        self._server = server

    def on_core_metadata_event(self, event: Any) -> None:
        self._server.runs.append(event.log_message.message)

    def on_graph_def(self, graph_def: Any, device_name: Any, wall_time: int) -> None:
        self._server.graphs.append((device_name, graph_def))

    def on_value_event(self, event: Any) -> None:
        name = event.summary.value[0].node_name
        self._server.values.append((name, tf.debug.load_tensor_from_event(event)))


@pytest.fixture
def server() -> Iterator[_Server]:
    running = _Server()
    yield running
    running.stop_server(0.0).wait()


def test_runs_are_sent(server: _Server) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.square(x, name="y")
    large = tf.ones([1500, 1000], name="large")
    sess = GrpcDebugWrapperSession(tf.Session(), server.address)
    assert sess.run([y, large], {x: 3.0})[0] == 9.0
    assert sess.run(y, {x: 4.0}) == 16.0
    told = {name: value for name, value in server.values}
    assert [v for n, v in server.values if n == "y:0:DebugIdentity"] == [9.0, 16.0]
    assert told["large:0:DebugIdentity"].shape == (1500, 1000)
    assert (told["large:0:DebugIdentity"] == 1).all()
    assert len(server.runs) == 2
    assert '"input_names": ["x:0"]' in server.runs[0]
    device, graph = server.graphs[0]
    assert device == b"/job:localhost/replica:0/task:0/device:CPU:0"
    assert "__copy_y_0" in {node.name for node in graph.node}


def test_gated_watches_are_heard_when_asked_for(server: _Server) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.square(x, name="y")
    tf.exp(x, name="other")
    sess = TensorBoardDebugWrapperSession(tf.Session(), [f"grpc://{server.address}"])
    assert sess.run(y, {x: 1.0}) == 1.0
    assert server.values == []
    assert DebugWatch("y", 0, "DebugIdentity") in server.gated_grpc_debug_watches()
    server.request_watch("y", 0, "DebugIdentity")
    assert sess.run(y, {x: 2.0}) == 4.0
    assert server.values == [("y:0:DebugIdentity", 4.0)]
    server.request_unwatch("y", 0, "DebugIdentity")
    assert sess.run(y, {x: 3.0}) == 9.0
    assert len(server.values) == 1
    assert __file__ in server.files  # the program's source, once
    assert len([f for f in server.files if f == __file__]) == 1


def test_tracebacks_by_hand(server: _Server) -> None:
    tf.square(1.0, name="y")
    stack = traceback.extract_stack()
    send_graph_tracebacks(
        f"grpc://{server.address}", "a run", stack, tf.get_default_graph()
    )
    assert server.files[0] == "a run"
    assert __file__ in server.files
    (told,) = server.calls
    frame = told.origin_stack.traces[len(stack) - 1]
    assert told.origin_id_to_string[frame.file_id] == __file__
    assert told.origin_id_to_string[frame.line_id] == stack[-1].line
    assert [entry.name for entry in told.graph_traceback.log_entries][-1] == "y"
    server.files.clear()
    send_eager_tracebacks([server.address], stack, send_source=False)
    assert server.files == [""]


def test_hooks_and_bad_addresses(server: _Server) -> None:
    step = tf.train.get_or_create_global_step()
    grow = tf.assign_add(step, 1, name="grow")
    with tf.train.MonitoredSession(hooks=[GrpcDebugHook(server.address)]) as sess:
        assert sess.run(grow) == 1
    assert ("grow:0:DebugIdentity", 1) in server.values
    for wrong in (3, [3]):
        with pytest.raises(TypeError, match="grpc_debug_server_addresses"):
            GrpcDebugWrapperSession(tf.Session(), wrong)
    with pytest.raises(ValueError, match="already started"):
        server.run_server()


@pytest.mark.parametrize("is_functional", [True, False])
def test_steps_over_tasks_stand_still(is_functional: bool) -> None:
    if not is_functional:
        tf.disable_control_flow_v2()
    try:
        with cluster(worker=2) as servers, tf.Graph().as_default():

            def body(i: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
                with tf.device(OTHER):
                    grown = tf.multiply(y, 2.0, name="grown")
                return [i + 1, grown]

            with tf.device(WORKER):
                _, y = tf.while_loop(lambda i, y: i < 4, body, [0, 1.0], name="loop")
            with tf.Session(servers["worker"][0].target) as sess:
                with Stepper(sess, y) as stepper:
                    stop = stepper.until(".*/grown", iteration=2)
                    assert stop is not None
                    assert stop.value == np.float32(8.0)
                    assert stop.device_name.startswith("/job:worker/replica:0/task:1")
                    stepper.change(100.0)
                    assert stepper.finish() == 200.0
                with Stepper(sess, y) as stepper:
                    assert stepper.step() is not None  # and is given up there
                assert sess.run(y) == 16.0
    finally:
        tf.enable_control_flow_v2()
