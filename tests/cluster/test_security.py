"""Who is heard, what is run, and that nothing can be read on the way."""

from __future__ import annotations

import os
import socket
import struct
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import grpc
import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.framework.graph import graph_def as graph_io
from tensorloom.framework.registry import op_registry
from tensorloom.framework.registry.op_policy import SAFE, OpPolicy
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.peers import security
from tensorloom.transport.sockets.server import PROTOCOL
from tensorloom.transport.wire import frames
from tensorloom.transport.wire.methods import master_methods, worker_methods
from tests.certificates import make_certificates
from tests.cluster.clusters import cluster, free_ports, over_the_network

PACKAGE = Path(tf.__file__).parent


@pytest.fixture(autouse=True)
def _over_the_network(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    over_the_network(monkeypatch)
    yield
    security.configure_from_environment()


def test_no_pickle_on_the_wire() -> None:
    """Nothing that comes from outside is a program."""
    for package in ("transport", "master", "worker", "cluster", "client"):
        for file in (PACKAGE / package).rglob("*.py"):
            text = file.read_text()
            for word in ("pickle", "marshal", "shelve", "dill"):
                assert f"import {word}" not in text, file
                assert f"{word}.loads" not in text, file


def sum_on_two_tasks(target: str) -> float:
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            x = tf.constant([1.0, 2.0])
        with tf.device("/job:worker/task:0"):
            y = tf.reduce_sum(x * 3)
        with tf.Session(target) as sess:
            return float(sess.run(y))


# --- tokens --------------------------------------------------------------------------


@pytest.mark.parametrize("transport", ["sockets", "grpc"])
def test_a_token(monkeypatch: pytest.MonkeyPatch, transport: str) -> None:
    monkeypatch.setenv("TENSORLOOM_TRANSPORT", transport)
    security.configure(token="open sesame")
    with cluster(ps=1, worker=1) as servers:
        target = servers["worker"][0].target
        assert sum_on_two_tasks(target) == 9.0
        for token in ("", "open barley"):
            security.configure(token=token)
            with pytest.raises(tf.errors.UnauthenticatedError):
                sum_on_two_tasks(target)


def test_strangers_are_not_parsed() -> None:
    """A hello that is wrong, long or none ends the connection; the task goes on."""
    with cluster(worker=1) as servers:
        server = servers["worker"][0]
        info = GrpcChannel(server.target.removeprefix("grpc://"))
        method = worker_methods()["GetStatus"]
        endpoint, _ = info.call(method, method.request(), 5).task_info.endpoint
        info.close()
        head = struct.Struct("<BBHIQ")
        for content in (
            b"GET / HTTP/1.1\r\n\r\n",
            os.urandom(200),
            head.pack(frames.HELLO, 0, 0, 2**31 - 1, 0),
            head.pack(frames.HELLO, 0, 0, 3, 2**40) + b"abc",
            head.pack(frames.HELLO, 0, 0, 3, 0) + b"abc",
            head.pack(frames.CALL, 0, 0, 5, 0) + b"/a\0bc",
        ):
            with socket.socket(socket.AF_UNIX) as stranger:
                stranger.settimeout(20)
                stranger.connect("\0" + endpoint.split("@")[1])
                stranger.sendall(content)
                stranger.shutdown(socket.SHUT_WR)
                while stranger.recv(4096):
                    pass
        # One that is known, and sends what is too large or malformed.
        for content in (
            head.pack(frames.VALUES, 0, 2, 0, 2**40),
            head.pack(frames.VALUES, 0, 2, 0, 2**62),
            head.pack(frames.VALUES, 0, 2, 3, 8) + os.urandom(11),
            head.pack(frames.VALUES | frames.SHARED, 0, 2, 0, 25) + os.urandom(25),
            head.pack(frames.CALL, 0, 0, 50, 0) + os.urandom(50),
            head.pack(frames.VALUES, 0, 5, 2, 0) + b"ab",
            head.pack(frames.VALUES, 0, 4, 2, 0) + b"ab",
            head.pack(frames.VALUES, 0, 6, 2, 0) + b"ab",
        ):
            with socket.socket(socket.AF_UNIX) as peer:
                peer.settimeout(20)
                peer.connect("\0" + endpoint.split("@")[1])
                hello = PROTOCOL + b"\0"
                peer.sendall(head.pack(frames.HELLO, 0, 0, len(hello), 0) + hello)
                assert peer.recv(4096)
                peer.sendall(content)
                peer.shutdown(socket.SHUT_WR)
                while peer.recv(4096):
                    pass
        with tf.Session(server.target) as sess:
            assert sess.run(tf.constant(3)) == 3


def answers(call: Any, content: bytes) -> None:
    """Calls, and fails if there is no answer of any kind."""
    try:
        call(content, timeout=60)
    except grpc.RpcError as error:
        if error.code() == grpc.StatusCode.DEADLINE_EXCEEDED:
            raise


def test_a_master_survives_malformed_messages() -> None:
    """Every method, with garbage and with a valid message cut or changed somewhere."""
    with cluster(worker=1) as servers:
        server = servers["worker"][0]
        with tf.Graph().as_default() as graph:
            tf.reduce_sum(tf.constant([1.0, 2.0]) + 1, name="y")
        request = master_methods()["CreateSession"].request()
        request.graph_def.MergeFromString(graph.as_graph_def().SerializeToString())
        valid = request.SerializeToString()
        changed = [os.urandom(40), b"", valid[: len(valid) // 2]]
        for position in range(0, len(valid), 7):
            changed += [valid[:position] + b"\xff" + valid[position + 1 :]]
        address = server.target.removeprefix("grpc://")
        with grpc.insecure_channel(address) as channel:
            for methods in (master_methods(), worker_methods()):
                for method in methods.values():
                    # These do what they are asked to, or wait for what never comes.
                    skipped = method.name in ("Reset", "CleanupAll", "RecvTensor")
                    call = channel.unary_unary(method.path)
                    for content in () if skipped else changed[:20]:
                        answers(call, content)
            call = channel.unary_unary(master_methods()["CreateSession"].path)
            for content in changed:
                answers(call, content)
        with tf.Session(server.target) as sess:
            assert sess.run(tf.constant(3)) == 3


# --- TLS -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An authority, and a certificate of its for localhost."""
    folder = tmp_path_factory.mktemp("tls")
    return make_certificates(folder, "localhost", "DNS:localhost,IP:127.0.0.1")


def tls(
    folder: Path, ca: str = "ca.pem", cert: bool = True, mutual: bool = False
) -> Any:
    return security.Tls(
        str(folder / "task.pem") if cert else None,
        str(folder / "task.key") if cert else None,
        str(folder / ca),
        mutual,
    )


@pytest.mark.parametrize("mutual", [False, True])
def test_tls(certificates: Path, mutual: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tasks and clients that have the authority speak; others do not."""
    monkeypatch.setenv("TENSORLOOM_TRANSPORT", "grpc")
    limit = tf.ConfigProto(operation_timeout_in_ms=2000)
    security.configure(tls(certificates, mutual=mutual))
    with cluster(ps=1, worker=1) as servers:
        target = servers["worker"][0].target
        assert sum_on_two_tasks(target) == 9.0
        strangers = [None, tls(certificates, "other.pem")]
        if mutual:
            strangers.append(tls(certificates, cert=False))
        for stranger in strangers:
            security.configure(stranger)
            with (
                tf.Session(target, config=limit) as sess,
                pytest.raises(tf.errors.UnavailableError),
            ):
                sess.run(tf.constant(1))


def test_tls_from_the_environment(
    certificates: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENSORLOOM_TLS_CA", str(certificates / "ca.pem"))
    with pytest.raises(ValueError, match="TENSORLOOM_TLS_CERT"):
        tf.train.Server.create_local_server()
    monkeypatch.setenv("TENSORLOOM_TLS_CERT", str(certificates / "task.pem"))
    monkeypatch.setenv("TENSORLOOM_TLS_KEY", str(certificates / "task.key"))
    monkeypatch.setenv("TENSORLOOM_TLS_MUTUAL", "1")
    with cluster(ps=1, worker=1) as servers:
        assert sum_on_two_tasks(servers["worker"][0].target) == 9.0


# --- addresses -----------------------------------------------------------------------


def test_a_public_address_is_warned_of() -> None:
    (port,) = free_ports(1)
    with pytest.warns(UserWarning, match="all interfaces"):
        server = tf.train.Server({"a": [f"somewhere.example:{port}"]})
    server.stop()
    security.configure(token="word")
    server = tf.train.Server({"a": [f"somewhere.example:{port}"]})  # no warning
    server.stop()


# --- what is run ---------------------------------------------------------------------


def test_denied_ops(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    path.write_text("secret")
    (port,) = free_ports(1)
    server = tf.train.Server({"a": [f"localhost:{port}"]}, deny_ops=[SAFE, "MatMul"])
    try:
        with tf.Graph().as_default():
            x = tf.constant(1) + 1
            with tf.Session(server.target) as sess:
                assert sess.run(x) == 2
                read = tf.read_file(str(path))
                with pytest.raises(tf.errors.PermissionDeniedError, match="ReadFile"):
                    sess.run(read)
        with tf.Graph().as_default():
            tf.read_file(str(path))
            with (
                tf.Session(server.target) as sess,
                pytest.raises(tf.errors.PermissionDeniedError, match="ReadFile"),
            ):
                sess.run(tf.constant(1))

        @Defun(tf.string)
        def hidden(name: Any) -> Any:
            return tf.read_file(name)

        with tf.Graph().as_default(), tf.Session(server.target) as sess:
            content = hidden(tf.constant(str(path)))
            with pytest.raises(tf.errors.PermissionDeniedError, match="ReadFile"):
                sess.run(content)
        with pytest.raises(tf.errors.PermissionDeniedError):
            tf.train.stop_server(server.target)
    finally:
        server.stop()


def test_denied_ops_in_functions_that_cannot_be_called() -> None:
    """Another task may know what this one does not."""
    graph_def = tf.GraphDef()
    function = graph_def.library.function.add()
    function.signature.name = "f"
    for op in ("Unheard", "ReadFile"):
        function.node_def.add(name=op, op=op)
    graph = graph_io.from_proto(graph_def)
    assert graph.functions["f"].problem is not None
    OpPolicy(["MatMul"]).check(graph)
    with pytest.raises(tf.errors.PermissionDeniedError, match=r"ReadFile.*'f'"):
        OpPolicy([SAFE]).check(graph)


def test_workers_check_too() -> None:
    """Another task's master cannot register what the worker refuses."""
    ports = free_ports(2)
    spec = {"worker": [f"localhost:{port}" for port in ports]}
    master = tf.train.Server(spec, job_name="worker", task_index=0)
    worker = tf.train.Server(spec, "worker", 1, deny_ops=["Tanh"])
    try:
        with tf.Graph().as_default(), tf.device("/job:worker/task:1"):
            y = tf.tanh(tf.placeholder_with_default([1.0], [1]))
            with (
                tf.Session(master.target) as sess,
                pytest.raises(tf.errors.PermissionDeniedError, match="Tanh"),
            ):
                sess.run(y)
    finally:
        master.stop()
        worker.stop()


def test_no_client_names_the_tasks() -> None:
    """A task with a policy connects to those of its own cluster alone."""
    ports = free_ports(3)
    own = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    bait = socket.create_server(("localhost", ports[2]))
    bait.settimeout(0)
    more = {**own, "worker": [*own["worker"], f"localhost:{ports[2]}"]}
    servers = [tf.train.Server(own, job, 0, deny_ops=[SAFE]) for job in own]
    ps, worker = servers
    try:
        made = tf.train.ClusterSpec(more).as_cluster_def()
        config = tf.ConfigProto(cluster_def=made)
        with (
            tf.Session(worker.target, config=config) as sess,
            pytest.raises(tf.errors.PermissionDeniedError, match=r"worker.*task:1"),
        ):
            sess.run(tf.constant(1))
        # One that names the tasks as they are is heard.
        made = tf.train.ClusterSpec(own).as_cluster_def()
        with tf.Session(worker.target, config=tf.ConfigProto(cluster_def=made)) as sess:
            assert sess.run(tf.constant(1)) == 1
        address = ps.target.removeprefix("grpc://")
        with closing(GrpcChannel(address)) as channel:
            method = worker_methods()["CreateWorkerSession"]
            cluster_def = tf.train.ClusterSpec(more).as_cluster_def()
            request = method.request(session_handle="s")
            request.server_def.cluster.MergeFrom(cluster_def)
            channel.call(method, request, 60)
        assert sum_on_two_tasks(worker.target) == 9.0
        with pytest.raises(BlockingIOError):
            bait.accept()
    finally:
        bait.close()
        for server in servers:
            server.stop()


def test_a_step_comes_to_a_task_that_is_not_connected_to() -> None:
    """The other tasks may know it: the step says why it fails, and others go on."""
    ports = free_ports(3)
    own = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    joined = {"ps": own["ps"], "worker": {1: f"localhost:{ports[2]}"}}
    with ExitStack() as stack:

        def start(spec: Any, job: str, index: int, **how: Any) -> tf.train.Server:
            server = tf.train.Server(spec, job, index, **how)
            stack.callback(server.stop)
            return server

        ps = start(own, "ps", 0, deny_ops=["Tanh"])
        first, second = start(own, "worker", 0), start(joined, "worker", 1)
        graph = tf.Graph()
        with graph.as_default():
            with tf.device("/job:ps/task:0"):
                one = tf.get_variable("one", [], initializer=tf.ones_initializer())
            with tf.device("/job:worker/task:1"):
                two = one + 1.0
        with tf.Session(second.target, graph=graph) as sess:
            sess.run(one.initializer)
            assert sess.run(two) == 2.0  # what it calls for comes with the reply
        first.update_cluster({"worker": joined["worker"]})
        with tf.Session(first.target, graph=graph) as sess:
            assert sess.run(one) == 1.0
            with pytest.raises(tf.errors.PermissionDeniedError, match="not one of"):
                sess.run(two)
            assert sess.run(one) == 1.0
            ps.update_cluster({"worker": joined["worker"]})  # its own program may
            assert sess.run(two) == 2.0
        assert sum_on_two_tasks(first.target) == 9.0


def test_the_safe_preset_has_all_ops_with_files() -> None:
    """By the names of their arguments; a new op with a file is noticed here."""
    policy = OpPolicy([SAFE])
    words = ("file", "path", "directory", "uri", "url", "prefix")
    known = {  # names that are no files
        "CTCBeamSearchDecoder",
        "SetStatsAggregatorDataset",
        "ExperimentalSetStatsAggregatorDataset",
        "EncodeAudio",
        "EncodeAudioV2",
    }  # fmt: skip
    open_ops = []
    for op in op_registry.registered_ops():
        name = op if isinstance(op, str) else op.name
        definition = op_registry.find(name)
        assert definition is not None
        arguments = [
            getattr(a, "name", a) for a in (*definition.inputs, *definition.attrs)
        ]
        suspicious = any(word in a for a in arguments for word in words)
        if suspicious and policy.allows(name) and name not in known:
            open_ops.append((name, arguments))
    assert not open_ops
    for name in ("MatMul", "VariableV2", "AssignAdd", "QueueDequeueV2", "While"):
        assert policy.allows(name)
    with pytest.raises(ValueError, match="NoSuchOp"):
        OpPolicy(["NoSuchOp"])
