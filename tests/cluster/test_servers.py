"""Servers: their end, their sessions' end, and who joins or leaves."""

from __future__ import annotations

import socket
import threading
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.transport.negotiated import TRANSPORT_VARIABLE, NegotiatedChannel
from tensorloom.transport.wire.methods import worker_methods
from tests.cluster.clusters import (
    assert_not_made,
    cluster,
    cluster_at,
    free_ports,
    over_the_network,
)
from tests.cluster.processes import eventually


@pytest.fixture(autouse=True)
def _over_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    over_the_network(monkeypatch)


def test_join_ends_with_stop() -> None:
    server = tf.train.Server.create_local_server()
    thread = threading.Thread(target=server.join)
    thread.start()
    thread.join(0.1)
    assert thread.is_alive()
    tf.train.stop_server(server.target)
    thread.join(60)
    assert not thread.is_alive()
    server.stop()
    with pytest.raises(tf.errors.FailedPreconditionError):
        server.start()


def test_a_stopped_server_frees_its_port() -> None:
    (port,) = free_ports(1)
    for _ in range(3):
        server = tf.train.Server({"a": [f"localhost:{port}"]})
        with tf.Session(server.target) as sess:
            assert sess.run(tf.constant(1)) == 1
        server.stop()


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as listener:
            listener.bind(("::1", 0))
    except OSError:
        return False
    return True


@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")
@pytest.mark.parametrize("transport", ["grpc", "sockets"])
def test_a_cluster_over_ipv6(transport: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if transport == "grpc":
        monkeypatch.setenv(TRANSPORT_VARIABLE, "grpc")
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            weights = tf.get_variable("w", [64, 3], initializer=tf.ones_initializer())
        with tf.device("/job:worker/task:1"):
            moved = weights + 1.0
        with tf.device("/job:worker/task:0"):
            total = tf.reduce_sum(moved)
        with (
            cluster_at("[::1]", "::1", ps=1, worker=2) as servers,
            tf.Session(servers["worker"][0].target) as sess,
        ):
            sess.run(tf.global_variables_initializer())
            assert sess.run(total) == 384


@pytest.mark.parametrize("transport", ["grpc", "sockets"])
def test_calls_find_a_task_whose_endpoint_is_gone(
    transport: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was restarted: the first call fails, and the next one comes through."""
    if transport == "grpc":
        monkeypatch.setenv(TRANSPORT_VARIABLE, "grpc")
    method = worker_methods()["GetStatus"]
    with cluster(worker=2) as servers:
        first, second = servers["worker"]
        channel = NegotiatedChannel(second.target.removeprefix("grpc://"))
        other = NegotiatedChannel(first.target.removeprefix("grpc://"))
        channel.negotiate(other.ask_status(None).task_info)
        other.close()
        first.stop()
        outcomes: list[Any] = []
        for _ in range(2):
            done = threading.Event()

            def ended(response: Any, error: Any, done: Any = done) -> None:
                outcomes.append(error or response)
                done.set()

            channel.start(method, method.request(), ended)
            assert done.wait(60)
        channel.close()
    failed, answer = outcomes
    assert isinstance(failed, tf.errors.UnavailableError)
    assert answer.device_attributes


def test_a_client_that_hangs_up_has_its_session_closed() -> None:
    """Without a CloseSession: its connections just end."""
    with cluster(worker=1) as servers:
        server = servers["worker"][0]
        session = tf.Session(server.target)
        assert session.run(tf.constant(1)) == 1
        masters = server._masters
        assert len(masters._sessions) == 1
        assert len(masters._numbered) == 1
        session._master._channel.close()  # as the end of its process would
        # They go one after the other, in the thread that hears of it.
        left = (masters._sessions, masters._numbered, server.master._sessions)
        assert eventually(lambda: not any(left))


def test_a_step_says_that_its_session_was_closed() -> None:
    with cluster(worker=1) as servers, tf.Graph().as_default():
        started, queue = (tf.FIFOQueue(1, tf.int32, [[]]) for _ in range(2))
        begun = started.dequeue()
        with tf.control_dependencies([started.enqueue(1)]):
            waiting = queue.dequeue()
        session = tf.Session(servers["worker"][0].target)
        caught: list[tf.errors.OpError] = []

        def wait() -> None:
            try:
                session.run(waiting)
            except tf.errors.OpError as error:
                caught.append(error)

        thread = threading.Thread(target=wait)
        thread.start()
        session.run(begun)
        session.close()
        thread.join(60)
        (error,) = caught
        assert isinstance(error, tf.errors.CancelledError)
        assert error.message == (
            "Step was cancelled by an explicit call to `Session::Close()`."
        )


def test_idle_sessions_of_other_clients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(TRANSPORT_VARIABLE, "grpc")
    # TensorFlow's clients know gRPC's calls alone, and do not say when they are gone.
    monkeypatch.setattr(NegotiatedChannel, "negotiate", lambda *_: None)
    monkeypatch.setenv("TENSORLOOM_SESSION_IDLE_S", "1000")
    with cluster(worker=1) as servers:
        server = servers["worker"][0]
        target, sessions = server.target, server._masters._sessions
        with tf.Graph().as_default():
            queue = tf.FIFOQueue(1, tf.int32, [[]])
            x, put = queue.dequeue(), queue.enqueue(7)
            idle, busy = tf.Session(target), tf.Session(target)
            idle.run(tf.constant(1))
            got: list[Any] = []
            thread = threading.Thread(target=lambda: got.append(busy.run(x)))
            thread.start()
            assert eventually(lambda: sum(s.calls for s in [*sessions.values()]) == 1)
            for session in sessions.values():
                session.heard -= 2000
            server.collect_garbage()
            with pytest.raises(tf.errors.AbortedError, match="is not found"):
                idle.run(tf.constant(2))
            busy.run(put)  # it has waited all the time
            thread.join(60)
            assert got == [7]
            busy.close()


def test_a_worker_joins_and_leaves() -> None:
    """The others need not know it before."""
    ports = free_ports(3)
    spec = {"ps": [f"localhost:{ports[0]}"], "worker": [f"localhost:{ports[1]}"]}
    graph = tf.Graph()
    with graph.as_default(), tf.device("/job:ps/task:0"):
        v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
    ps = tf.train.Server(spec, "ps", 0)
    first = tf.train.Server(spec, "worker", 0)
    with tf.Session(first.target, graph=graph) as sess:
        sess.run(v.initializer)
    joined = {"ps": spec["ps"], "worker": {1: f"localhost:{ports[2]}"}}
    second = tf.train.Server(joined, "worker", 1)
    try:
        with graph.as_default(), tf.device("/job:worker/task:1"):
            one = tf.constant(1.0) * 1
            with tf.device("/job:ps/task:0"):
                add = tf.assign_add(v, one)
            seen = add + 0.0  # the ps sends to it as well
        with tf.Session(second.target, graph=graph) as sess:
            assert sess.run(seen) == 1.0
        # The first worker can be told of it, and that it has left.
        with graph.as_default(), tf.device("/job:worker/task:1"):
            there = tf.constant(5) + 0
        tf.train.update_server(first.target, {"worker": joined["worker"]})
        with tf.Session(first.target, graph=graph) as sess:
            assert sess.run(there) == 5
        second.stop()
        first.update_cluster({"worker": {1: ""}})
        with tf.Graph().as_default(), tf.Session(first.target) as sess:
            assert sess.run(tf.constant(3)) == 3
            assert len(sess.list_devices()) == 2
    finally:
        for server in (ps, first, second):
            server.stop()


def test_a_cluster_that_the_client_makes() -> None:
    ports = free_ports(2)
    addresses = [f"localhost:{port}" for port in ports]
    servers = [
        tf.train.Server({"worker": {i: address}}) for i, address in enumerate(addresses)
    ]
    try:
        spec = tf.train.ClusterSpec({"worker": addresses})
        config = tf.ConfigProto(cluster_def=spec.as_cluster_def())
        with tf.device("/job:worker/task:1"):
            x = tf.constant(2) * 3
        with tf.Session(servers[0].target, config=config) as sess:
            assert sess.run(x) == 6
        other = tf.train.ClusterSpec({"other": addresses})
        config = tf.ConfigProto(cluster_def=other.as_cluster_def())
        with (
            tf.Session(servers[0].target, config=config) as sess,
            pytest.raises(tf.errors.InvalidArgumentError, match="explicitly assigned"),
        ):
            sess.run(x)
    finally:
        for server in servers:
            server.stop()


def test_the_tasks_of_one_session_are_not_those_of_others() -> None:
    """A client names a task that is not there: others do not wait for it."""
    with cluster(worker=1, ps=1) as servers:
        first = servers["worker"][0]
        spec = first.server_def.cluster
        more = {job.name: dict(job.tasks) for job in spec.job}
        more["worker"][1] = f"localhost:{free_ports(1)[0]}"
        made = tf.train.ClusterSpec(more).as_cluster_def()
        assert_not_made(first.target, "/task:1", cluster_def=made)
        with tf.Session(first.target) as sess:
            assert sess.run(tf.constant(3)) == 3
            tasks = {device.name.split("/")[1] for device in sess.list_devices()}
            assert tasks == {"job:ps", "job:worker"}


def test_per_session_threads_are_refused() -> None:
    with cluster(worker=1) as servers:
        config = tf.ConfigProto(use_per_session_threads=True)
        with (
            tf.Session(servers["worker"][0].target, config=config) as sess,
            pytest.raises(tf.errors.InvalidArgumentError, match="use_per_session"),
        ):
            sess.run(tf.constant(1))


def test_steps_without_a_master_are_forgotten() -> None:
    """A peer's tensor for a step that never begins here, after two rounds."""
    with cluster(worker=1) as servers:
        worker = servers["worker"][0]._worker
        worker.steps.rendezvous(77).deliver("key", 1.0, False)
        servers["worker"][0].collect_garbage()
        assert len(worker.steps) == 1
        servers["worker"][0].collect_garbage()
        assert len(worker.steps) == 0


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2"])
def test_a_task_of_loopback_listens_there_alone(host: str) -> None:
    (port,) = free_ports(1)
    # Warnings, such as that of a public task, are errors in these tests.
    server = tf.train.Server({"worker": [f"{host}:{port}"]})
    try:
        assert server.target == f"grpc://{host}:{port}"
        with tf.Graph().as_default(), tf.Session(server.target) as sess:
            assert sess.run(tf.constant(2) + 1) == 3
    finally:
        server.stop()


@pytest.mark.parametrize("address", ["localhost", "", "localhost:99999", "h:1/x"])
def test_addresses_that_are_none(address: str) -> None:
    (port,) = free_ports(1)
    spec = {"worker": [f"localhost:{port}"], "ps": [address]}
    with pytest.raises(tf.errors.InvalidArgumentError, match="as a host-port pair"):
        tf.train.Server(spec, "worker", 0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse port"):
        tf.train.Server({"worker": [address]})
    with (
        pytest.raises(tf.errors.InvalidArgumentError, match="as a host-port pair"),
        tf.Session(f"grpc://{address}"),
    ):
        pass


@pytest.mark.parametrize("remotely", [False, True])
def test_a_server_s_config_counts_for_its_sessions(
    remotely: bool, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """What the server sets wins; the rest is as the session says."""
    if remotely:
        over_the_network(monkeypatch)
    config = tf.ConfigProto(operation_timeout_in_ms=200, log_device_placement=True)
    server = tf.train.Server.create_local_server(config=config)
    try:
        with tf.Graph().as_default(), tf.Session(server.target) as session:
            waiting = tf.FIFOQueue(1, tf.float32).dequeue()
            with pytest.raises(tf.errors.DeadlineExceededError):
                session.run(waiting)
            assert "/job:local/replica:0/task:0/device:CPU:0" in capfd.readouterr().err
    finally:
        server.stop()
