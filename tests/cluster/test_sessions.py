"""Sessions over several tasks, with each transport."""

from __future__ import annotations

import importlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.transport.grpc.channel import GrpcChannel
from tensorloom.transport.wire.methods import worker_methods
from tensorloom.worker.run.worker import Worker
from tests.cluster.clusters import (
    assert_not_made,
    cluster_over,
    free_ports,
    over_the_network,
)
from tests.peer import cluster as programs

Servers = dict[str, list[Any]]


@pytest.fixture(scope="module", params=["sockets", "grpc"])
def servers(request: Any) -> Iterator[Servers]:
    with cluster_over(request.param, ps=1, worker=2) as running:
        yield running


@pytest.fixture(params=["in process", "over the network"])
def target(request: Any, servers: Servers, monkeypatch: pytest.MonkeyPatch) -> str:
    """The first worker's target, for a client of its process or of another."""
    if request.param == "over the network":
        over_the_network(monkeypatch)
    return str(servers["worker"][0].target)


ERRORS = {
    "closed_queue": "OutOfRangeError",
    "endless_loop_over_tasks": "DeadlineExceededError",
    "kernel_error": "InvalidArgumentError",
    "uninitialized": "FailedPreconditionError",
    "unknown_device": "InvalidArgumentError",
    "missing_feed": "InvalidArgumentError",
    "timeout": "DeadlineExceededError",
}


# They find each other as real TensorFlow's interpreters run them: in their folder.
sys.path.append(programs.__path__[0])
running: Any = importlib.import_module("running")
PROGRAMS = [
    program
    for module in ("steps", "training", "control_flow")
    for program in running.programs_of(module)
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_programs(program: Any, target: str) -> None:
    """They compute; what they give is compared with TensorFlow in tests/peer."""
    found = running.outcome(program, tf, target)
    assert found.get("error") == ERRORS.get(program.__name__), found
    assert "failure" not in found


def test_sparse_cluster_and_filters() -> None:
    """A task is waited for only if the session may use it."""
    ports = free_ports(2)
    spec = {"worker": {3: f"localhost:{ports[0]}", 7: f"localhost:{ports[1]}"}}
    server = tf.train.Server(spec, job_name="worker", task_index=3)
    try:
        config = tf.ConfigProto(device_filters=["/job:worker/task:3"])
        with tf.Session(server.target, config=config) as sess:
            assert sess.run(tf.constant(2)) == 2
        assert_not_made(
            server.target,
            "/task:7",
            "port is not open",
            "device_filters",
            str(ports[1]),
        )
    finally:
        server.stop()


def test_a_task_that_comes_late_is_waited_for() -> None:
    ports = free_ports(2)
    spec = {"worker": [f"localhost:{port}" for port in ports]}
    first = tf.train.Server(spec, job_name="worker", task_index=0)
    results: list[Any] = []

    def work() -> None:
        with tf.Graph().as_default():
            with tf.device("/job:worker/task:1"):
                x = tf.constant(5) * 2
            with tf.Session(first.target) as sess:
                results.append(sess.run(x))

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(0.3)
    second = tf.train.Server(spec, job_name="worker", task_index=1)
    thread.join(60)
    assert results == [10]
    first.stop()
    second.stop()


def test_another_task_at_the_address() -> None:
    ports = free_ports(2)
    stranger = tf.train.Server({"other": [f"localhost:{ports[1]}"]})
    spec = {"worker": [f"localhost:{port}" for port in ports]}
    server = tf.train.Server(spec, job_name="worker", task_index=0)
    try:
        assert_not_made(server.target, "but /job:other")
    finally:
        server.stop()
        stranger.stop()


def test_many_sessions_share_variables(servers: Servers) -> None:
    graph = tf.Graph()
    with graph.as_default():
        with tf.device("/job:ps/task:0"):
            v = tf.Variable(0.0, name="counted")
        add = tf.assign_add(v, 1.0, use_locking=True)
        init = v.initializer
    with tf.Session(servers["worker"][0].target, graph=graph) as sess:
        sess.run(init)

    def work(server: Any) -> None:
        with tf.Session(server.target, graph=graph) as sess:
            for _ in range(25):
                sess.run(add)

    threads = [
        threading.Thread(target=work, args=(server,))
        for server in servers["worker"]
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with tf.Session(servers["worker"][1].target, graph=graph) as sess:
        assert sess.run(v) == 200.0


def test_nothing_is_left_of_steps(servers: Servers) -> None:
    """Steps on several tasks leave no state behind, failed ones neither."""
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            x = tf.placeholder(tf.int32, [])
            y = tf.gather(tf.constant([1, 2, 3]), x)
        with tf.device("/job:worker/task:0"):
            z = y + 1
        with tf.Session(servers["worker"][0].target) as sess:
            for i in (0, 1, 9, 2):
                try:
                    sess.run(z, {x: i})
                except tf.errors.InvalidArgumentError:
                    assert i == 9
            assert sess.run(z, {x: 2}) == 4
    deadline = time.monotonic() + 60
    workers = [server._worker for job in servers.values() for server in job]
    while any(len(w.steps) for w in workers) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert [len(w.steps) for w in workers] == [0, 0, 0]


def test_large_tensors_go_whole(servers: Servers) -> None:
    values = np.random.RandomState(0).rand(500_000).astype(np.float32)
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None])
        with tf.device("/job:ps/task:0"):
            y = x + 1
        with tf.device("/job:worker/task:1"):
            z = y * 2
        with tf.Session(servers["worker"][0].target) as sess:
            for _ in range(3):
                got = sess.run([y, z], {x: values})
                np.testing.assert_array_equal(got[0], values + 1)
                np.testing.assert_array_equal(got[1], (values + 1) * 2)


def test_what_a_restarted_master_had_is_dropped(servers: Servers) -> None:
    """A worker drops the sessions of a master's last life with its first new one."""
    method = worker_methods()["CreateWorkerSession"]
    server = servers["ps"][0]
    channel = GrpcChannel(server.target.removeprefix("grpc://"))

    def create(session: str, incarnation: int) -> set[str]:
        channel.call(
            method,
            method.request(
                session_handle=session,
                master_task="/job:worker/replica:0/task:7",
                master_incarnation=incarnation,
            ),
        )
        return {name for name in server._worker._sessions if name.startswith("s_")}

    try:
        assert create("s_1", 5) == {"s_1"}
        assert create("s_2", 5) == {"s_1", "s_2"}
        assert create("s_3", 6) == {"s_3"}
        assert create("s_4", 6) == {"s_3", "s_4"}
    finally:
        channel.close()


def test_a_dequeue_that_timed_out_takes_no_element(
    target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    abort = Worker.abort_step

    def late(worker: Worker, step_id: int, error: tf.errors.OpError) -> None:
        time.sleep(0.3)  # the next step could overtake it
        abort(worker, step_id, error)

    monkeypatch.setattr(Worker, "abort_step", late)
    with tf.Graph().as_default(), tf.device("/job:ps/task:0"):
        queue = tf.FIFOQueue(2, tf.int32, [()], shared_name="timed_out")
        take, add = queue.dequeue(), queue.enqueue(7)
        with tf.Session(target) as sess:
            with pytest.raises(tf.errors.DeadlineExceededError):
                sess.run(take, options=tf.RunOptions(timeout_in_ms=100))
            sess.run(add)
            assert sess.run(take, options=tf.RunOptions(timeout_in_ms=60_000)) == 7


@pytest.mark.parametrize("use_resource", [False, True])
def test_what_follows_from_a_dequeue_comes_back(
    target: str, use_resource: bool
) -> None:
    """From a queue on the ps, over both workers, to a variable and a queue there."""
    limit = tf.RunOptions(timeout_in_ms=60_000)
    with tf.Graph().as_default():
        with tf.device("/job:ps/task:0"):
            queue = tf.FIFOQueue(9, tf.float32, [()], shared_name=f"in{use_resource}")
            done = tf.FIFOQueue(9, tf.float32, [()], shared_name=f"out{use_resource}")
            total = tf.get_variable(
                "total",
                [],
                use_resource=use_resource,
                initializer=tf.zeros_initializer(),
            )
        updates = []
        for task in (0, 1):
            with tf.device(f"/job:worker/task:{task}"):
                doubled = queue.dequeue() * 2.0
            updates += [
                total.assign_add(doubled, use_locking=True).op,
                done.enqueue(doubled),
            ]
        add = queue.enqueue_many([[1.0, 2.0, 3.0, 4.0]])
        with tf.Session(target) as sess:
            sess.run([total.initializer, add])
            for _ in range(2):
                sess.run(updates, options=limit)
            assert sess.run(total) == 20.0
            assert sorted(sess.run(done.dequeue_many(4))) == [2.0, 4.0, 6.0, 8.0]
