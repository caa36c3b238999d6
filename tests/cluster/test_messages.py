"""What messages tell of tensors and options, to those that are strict about it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.framework.graph import graph_def
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.runtime.rendezvous_key import key_of
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.wire.methods import master_methods, worker_methods
from tests.cluster.clusters import cluster

DEVICE = "/job:ps/replica:0/task:0/device:CPU:0"
OTHER = "/job:worker/replica:0/task:0/device:CPU:0"
QUANTIZED = ["qint8", "quint8", "qint16", "quint16", "qint32"]


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with cluster(ps=1, worker=1) as running:
        yield running["ps"][0]


class _Caller:
    """Calls a server as TensorFlow does."""

    def __init__(self, server: Any) -> None:
        self._channel = GrpcChannel(server.target.removeprefix("grpc://"))
        self.close = self._channel.close

    def worker(self, name: str, **fields: Any) -> Any:
        method = worker_methods()[name]
        return self._channel.call(method, method.request(**fields))

    def master(self, name: str, **fields: Any) -> Any:
        method = master_methods()[name]
        return self._channel.call(method, method.request(**fields))


@pytest.fixture
def caller(server: Any) -> Iterator[_Caller]:
    made = _Caller(server)
    yield made
    made.close()


def _part(dtype: dtypes.DType, incarnation: int) -> tuple[GraphIR, list[str]]:
    """A part that sends what it is fed to its master, and to another task."""

    def end(name: str, op: str, target: str = DEVICE) -> Node:
        is_send = op == "_Send"
        attrs = {
            "T" if is_send else "tensor_type": dtype,
            "tensor_name": name.encode(),
            "send_device": DEVICE.encode(),
            "send_device_incarnation": incarnation,
            "recv_device": target.encode(),
            "client_terminated": target == DEVICE,
        }
        outputs = () if is_send else (dtype,)
        shapes = (TensorShape(None),) * len(outputs)
        inputs = (("feed", 0),) if is_send else ()
        return Node(name, op, inputs, (), DEVICE, attrs, outputs, shapes)

    nodes = [end("feed", "_Recv"), end("fetch", "_Send"), end("sent", "_Send", OTHER)]
    return GraphIR({n.name: n for n in nodes}, {}), [key_of(n) for n in nodes]


def _tensor(dtype: dtypes.DType) -> Any:
    proto = {"dtype": dtype.as_datatype_enum, "tensor_content": b"\1\0\0\0\2\0\0\0"}
    count = 8 // dtype.size
    return {**proto, "tensor_shape": {"dim": [{"size": count}]}}


@pytest.mark.parametrize("is_partial", [False, True])
@pytest.mark.parametrize("name", QUANTIZED)
def test_a_worker_tells_quantized_dtypes(
    caller: _Caller, name: str, is_partial: bool
) -> None:
    dtype = dtypes.as_dtype(name)
    devices = caller.worker("GetStatus").device_attributes
    incarnation = next(d.incarnation for d in devices if d.name == DEVICE)
    part, (feed, fetch, sent) = _part(dtype, incarnation)
    session = f"quantized_{name}_{is_partial}"
    step_id = 1000 + 2 * QUANTIZED.index(name) + is_partial
    caller.worker("CreateWorkerSession", session_handle=session)
    known = {"session_handle": session, "create_worker_session_called": True}
    handle = caller.worker(
        "RegisterGraph", graph_def=graph_def.to_proto(part), **known
    ).graph_handle
    try:
        ran = caller.worker(
            "RunGraph",
            graph_handle=handle,
            step_id=step_id,
            send=[{"name": feed, "tensor": _tensor(dtype)}],
            recv_key=[fetch],
            is_partial=is_partial,
            is_last_partial_run=is_partial,
            **known,
        )
        received = caller.worker("RecvTensor", step_id=step_id, rendezvous_key=sent)
    finally:
        caller.worker("CleanupGraph", step_id=step_id)
        caller.worker("DeleteWorkerSession", session_handle=session)
    for tensor in (ran.recv[0].tensor, received.tensor):
        assert tensor.dtype == dtype.as_datatype_enum
        assert tensor.tensor_content == b"\1\0\0\0\2\0\0\0"


@pytest.mark.parametrize("name", QUANTIZED)
def test_a_master_tells_quantized_dtypes(caller: _Caller, name: str) -> None:
    dtype = dtypes.as_dtype(name)
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(dtype, name="x")
        tf.identity(x, name="y")
    made = caller.master("CreateSession", graph_def=graph.as_graph_def())
    session = made.session_handle
    fed = {"name": "x:0", "tensor": _tensor(dtype)}
    plain = caller.master("RunStep", session_handle=session, feed=[fed], fetch=["y:0"])
    partial = caller.master(
        "PartialRunSetup", session_handle=session, feed=["x:0"], fetch=["y:0"]
    )
    continued = caller.master(
        "RunStep",
        session_handle=session,
        feed=[fed],
        fetch=["y:0"],
        partial_run_handle=partial.partial_run_handle,
    )
    callable_ = caller.master(
        "MakeCallable",
        session_handle=session,
        options={"feed": ["x:0"], "fetch": ["y:0"]},
    )
    called = caller.master(
        "RunCallable",
        session_handle=session,
        handle=callable_.handle,
        feed=[fed["tensor"]],
    )
    caller.master("CloseSession", session_handle=session)
    found = [plain.tensor[0].tensor, continued.tensor[0].tensor, called.fetch[0]]
    for tensor in found:
        assert tensor.dtype == dtype.as_datatype_enum
        assert tensor.tensor_content == b"\1\0\0\0\2\0\0\0"


def test_servers_debug_steps(caller: _Caller, tmp_path: Path) -> None:
    with tf.Graph().as_default() as graph:
        tf.constant(1.0, name="x")
    made = caller.master("CreateSession", graph_def=graph.as_graph_def())
    session = made.session_handle
    asked = tf.RunOptions()
    tf.debug.watch_graph(asked, graph, debug_urls=f"file://{tmp_path}/step")
    step = {"session_handle": session, "fetch": ["x:0"]}
    caller.master("RunStep", **step, options=asked)
    dump = tf.debug.DebugDumpDir(f"{tmp_path}/step")
    assert dump.get_tensors("x", 0, "DebugIdentity") == [1.0]
    tf.debug.watch_graph(asked, graph, debug_urls=f"file://{tmp_path}/call")
    call = caller.master(
        "MakeCallable",
        session_handle=session,
        options={"run_options": asked, "fetch": ["x:0"]},
    )
    caller.master("RunCallable", session_handle=session, handle=call.handle)
    dump = tf.debug.DebugDumpDir(f"{tmp_path}/call")
    assert dump.get_tensors("x", 0, "DebugIdentity") == [1.0]
    asks = {"options": {"debug_options": {"global_step": 3}}}
    assert caller.master("RunStep", **step, **asks).tensor[0].tensor.dtype == 1
    caller.master("CloseSession", session_handle=session)


def test_partial_runs_of_what_does_not_exist(caller: _Caller) -> None:
    handle = caller.master("CreateSession").session_handle
    for fields in (
        {"feed": [{"name": "nowhere:0", "tensor": _tensor(dtypes.float32)}]},
        {"feed": [{"name": "", "tensor": _tensor(dtypes.float32)}]},
        {"fetch": ["nowhere:0"]},
    ):
        with pytest.raises(tf.errors.InvalidArgumentError):
            caller.master(
                "RunStep", session_handle=handle, partial_run_handle="none", **fields
            )
    caller.master("CloseSession", session_handle=handle)


def test_a_step_says_that_its_session_was_closed(caller: _Caller) -> None:
    with tf.Graph().as_default() as graph:
        started, queue = (tf.FIFOQueue(1, tf.int32, [[]]) for _ in range(2))
        begun = started.dequeue()
        with tf.control_dependencies([started.enqueue(1)]):
            waiting = queue.dequeue()
        handle = caller.master(
            "CreateSession", graph_def=graph.as_graph_def()
        ).session_handle
    caught: list[tf.errors.OpError] = []

    def run() -> None:
        try:
            caller.master("RunStep", session_handle=handle, fetch=[waiting.name])
        except tf.errors.OpError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    caller.master("RunStep", session_handle=handle, fetch=[begun.name])
    caller.master("CloseSession", session_handle=handle)
    thread.join(60)
    (error,) = caught
    assert isinstance(error, tf.errors.CancelledError)
    assert error.message == (
        "Step was cancelled by an explicit call to `Session::Close()`."
    )
