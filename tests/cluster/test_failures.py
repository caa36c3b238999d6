"""The table of docs/failures.md, row by row, with real processes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.transport.negotiated import TRANSPORT_VARIABLE
from tensorloom.transport.peers import liveness
from tests.cluster.processes import (
    LIMIT_S,
    Processes,
    Proxy,
    eventually,
    files_of,
    processes,
    threads_of,
)

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow, pytest.mark.timeout(120)]

PS = "/job:ps/task:0"
PS_NAME = "/job:ps/replica:0/task:0"
WORKERS = ["/job:worker/task:0", "/job:worker/task:1"]
LOST = (tf.errors.UnavailableError, tf.errors.AbortedError)


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The client finds silent tasks as soon as the tasks do."""
    monkeypatch.setattr(liveness, "task_timeout_s", lambda: LIMIT_S)


@pytest.fixture(params=["sockets", "grpc"])
def transport(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "grpc":
        monkeypatch.setenv(TRANSPORT_VARIABLE, "grpc")
    return str(request.param)


@pytest.fixture
def tasks(transport: str) -> Iterator[Processes]:
    with processes({}, ps=1, worker=2) as cluster:
        yield cluster


class Waiting:
    """A client whose step waits in a queue of `where` for a tensor used at `used`."""

    def __init__(self, target: str, where: str, used: str) -> None:
        with tf.Graph().as_default():
            with tf.device(where):
                queue = tf.FIFOQueue(5, tf.float32, [[]], shared_name="empty")
                x = queue.dequeue()
            with tf.device(used):
                y = x + 1
                self.quick = tf.constant(1.0) + 1
            self.session = tf.Session(target)
        assert self.session.run(self.quick) == 2.0
        self.outcome: list[Any] = []
        self._thread = threading.Thread(target=self._run, args=(y,))
        self._thread.start()
        time.sleep(0.5)
        assert not self.outcome

    def _run(self, y: Any) -> None:
        try:
            self.outcome.append(self.session.run(y))
        except tf.errors.OpError as error:
            self.outcome.append(error)

    def error(self, within_s: float) -> Any:
        """What the step raises."""
        self._thread.join(within_s)
        assert self.outcome, f"the step still runs after {within_s} s"
        return self.outcome[0]


def close(*clients: Waiting) -> None:
    for client in clients:
        with suppress(tf.errors.OpError):
            client.session.close()


@pytest.mark.parametrize("where", [PS, WORKERS[0]])
def test_a_killed_task_fails_every_step_that_needs_it(
    tasks: Processes, where: str
) -> None:
    """The steps of all clients fail at once, and say who is gone."""
    used = WORKERS[0] if where == PS else PS
    clients = [
        Waiting(tasks.target("worker", i), PS, used if i == 0 else WORKERS[1])
        for i in (0, 1)
    ]
    tasks.kill("ps")
    for client in clients:
        error = client.error(5)
        assert isinstance(error, LOST)
        assert "/job:ps/replica:0/task:0" in error.message or (
            tasks.cluster["ps"][0] in error.message
        )
    close(*clients)


def test_a_killed_member_of_a_collective(tasks: Processes) -> None:
    """One step has both members; the one that lives brings its value too late."""
    attrs = {"merge_op": "Add", "final_op": "Id", "subdiv_offsets": [0]}
    group = {"group_size": 2, "group_key": 1, "instance_key": 2}
    with tf.Graph().as_default():
        members = []
        for i, device in enumerate(WORKERS):
            with tf.device(device):
                # Nobody puts in what the first one waits for.
                queue = tf.FIFOQueue(1, tf.float32, [[1]], name=f"queue_{i}")
                value = tf.random_uniform([1]) if i else queue.dequeue()
                reduce = tf.raw_ops.CollectiveReduce
                members.append(reduce(input=value, **group, **attrs))
        session = tf.Session(tasks.target("worker", 0))
    killing = threading.Timer(1.0, tasks.kill, ("worker", 1))
    killing.start()
    with pytest.raises(LOST, match="/job:worker/replica:0/task:1"):
        session.run(members)
    killing.join()
    with suppress(tf.errors.OpError):
        session.close()


def test_a_stopped_task_fails_every_step_that_needs_it(tasks: Processes) -> None:
    clients = [Waiting(tasks.target("worker", i), PS, WORKERS[i]) for i in (0, 1)]
    tasks.send(signal.SIGSTOP, "ps")
    for client in clients:
        error = client.error(LIMIT_S * 3)
        assert isinstance(error, LOST)
        assert "/job:ps/replica:0/task:0" in error.message
    tasks.send(signal.SIGCONT, "ps")
    # The same sessions go on: nothing was lost.
    for client in clients:
        assert eventually(lambda c=client: works(c))  # type: ignore[misc]
    close(*clients)


def works(client: Waiting) -> bool:
    try:
        return bool(client.session.run(client.quick) == 2.0)
    except LOST:
        return False


def test_a_stopped_task_and_a_step_with_a_limit(tasks: Processes) -> None:
    """The limit of the step holds, whatever the tasks do."""
    with tf.Graph().as_default():
        with tf.device(PS):
            x = tf.placeholder(tf.float32, [None])
            y = tf.reduce_sum(x)
        with tf.Session(tasks.target("worker")) as sess:
            assert sess.run(y, {x: [1.0] * 1000}) == 1000.0
            tasks.send(signal.SIGSTOP, "ps")
            started = time.monotonic()
            options = tf.RunOptions(timeout_in_ms=500)
            with pytest.raises((tf.errors.DeadlineExceededError, *LOST)):
                sess.run(y, {x: [1.0] * 3_000_000}, options=options)
            assert time.monotonic() - started < 3
            tasks.send(signal.SIGCONT, "ps")


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_the_master_is_gone(tasks: Processes, number: int) -> None:
    """Its client hears; what ran elsewhere for it ends, and leaves nothing."""
    pid = tasks.pid("ps")
    warm = Waiting(tasks.target("worker", 1), WORKERS[1], PS)
    threads, files = threads_of(pid), len(files_of(pid))
    client = Waiting(tasks.target("worker"), PS, WORKERS[0])
    tasks.send(number, "worker")
    error = client.error(LIMIT_S * 3)
    assert isinstance(error, LOST)
    assert tasks.cluster["worker"][0] in error.message or (
        "/job:worker/replica:0/task:0" in error.message
    )
    if number == signal.SIGKILL:
        assert eventually(lambda: threads_of(pid) <= threads + 1, 30)
        assert eventually(lambda: len(files_of(pid)) <= files + 1)
    tasks.kill("worker", 1)
    warm.error(5)
    close(client, warm)


def test_a_task_comes_back_with_nothing(tasks: Processes) -> None:
    """The old session hears of it; a new one initializes and goes on."""
    with tf.Graph().as_default():
        with tf.device(PS):
            v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        with tf.device(WORKERS[0]):
            add = tf.assign_add(v, tf.constant(1.0) * 2)
        old = tf.Session(tasks.target("worker"))
        old.run(v.initializer)
        assert old.run(add) == 2.0
        for _ in range(2):
            tasks.kill("ps")
            tasks.start("ps")
            with pytest.raises(LOST, match="/job:ps"):
                old.run(add)
            old.close()
            old = tf.Session(tasks.target("worker"))
            with pytest.raises(tf.errors.FailedPreconditionError):
                old.run(add)
            old.run(v.initializer)
            assert old.run([add, add]) is not None
        old.close()


def test_a_killed_client_leaves_nothing(transport: str) -> None:
    """Its running step is cancelled at once; its session is closed."""
    script = (
        "import sys, tensorloom as tf\n"
        "with tf.device('/job:ps/task:0'):\n"
        "  q = tf.FIFOQueue(1, tf.float32, [[]]); x = q.dequeue()\n"
        "with tf.device('/job:worker/task:0'):\n"
        "  y = x + 1; z = tf.constant(1)\n"
        "s = tf.Session(sys.argv[1]); s.run(z); print('runs', flush=True); s.run(y)\n"
    )
    environment = {"TENSORLOOM_SESSION_IDLE_S": "1"}
    with processes(environment, ps=1, worker=1) as tasks:
        pids = [tasks.pid("ps"), tasks.pid("worker")]
        before = [threads_of(pid) for pid in pids]
        client = subprocess.Popen(
            [sys.executable, "-c", script, tasks.target("worker")],
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        assert client.stdout is not None
        assert client.stdout.readline() == b"runs\n"
        time.sleep(0.5)
        files = [len(files_of(pid)) for pid in pids]
        client.kill()
        client.wait()
        client.stdout.close()
        for pid, count in zip(pids, before, strict=True):
            # Pooled threads end after ten idle seconds; gRPC keeps some of its own.
            assert eventually(lambda p=pid, c=count: threads_of(p) <= c + 6, 30)  # type: ignore[misc]
        assert len(files_of(pids[1])) <= files[1]


def test_a_cut_network_and_a_healed_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing says that the ps is out of reach; the step fails, and later ones run."""
    monkeypatch.setenv(TRANSPORT_VARIABLE, "grpc")
    cluster = Processes({}, ps=1, worker=1)
    proxy = Proxy(cluster.cluster["ps"][0])
    seen = {**cluster.cluster, "ps": [proxy.address]}
    try:
        cluster.start("ps")
        cluster.start("worker", 0, seen)
        client = Waiting(cluster.target("worker"), PS, WORKERS[0])
        proxy.cut()
        error = client.error(LIMIT_S * 4)
        assert isinstance(error, LOST)
        assert "/job:ps/replica:0/task:0" in error.message
        proxy.heal()
        assert eventually(lambda: works(client))
        close(client)
    finally:
        cluster.close()
        proxy.close()


def test_a_program_ends_whose_ps_was_killed() -> None:
    """Its steps and its open session do not hold it up."""
    script = (
        "import json, sys, threading, tensorloom as tf\n"
        "cluster = json.loads(sys.argv[1])\n"
        "server = tf.train.Server(cluster, job_name='worker', task_index=0)\n"
        "with tf.device('/job:ps/task:0'):\n"
        "  q = tf.FIFOQueue(1, tf.float32, [[]]); x = q.dequeue(); n = q.size()\n"
        "with tf.device('/job:worker/task:0'):\n"
        "  y = x + 1; z = n + 1\n"
        "s = tf.Session(server.target); s.run(z)\n"
        "def run(fetch):\n"
        "  while True:\n"
        "    try: s.run(fetch)\n"
        "    except tf.errors.OpError: return\n"
        "for f in (y, z, z): threading.Thread(target=run, args=(f,), daemon=True)"
        ".start()\n"
        "print('runs', flush=True); sys.stdin.readline()\n"
    )
    tasks = Processes({}, ps=1, worker=1)
    try:
        tasks.start("ps")
        program = subprocess.Popen(
            [sys.executable, "-c", script, json.dumps(tasks.cluster)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=Path(__file__).parents[2],
        )
        with program:
            assert program.stdout is not None
            assert program.stdout.readline() == b"runs\n"
            tasks.kill("ps")
            program.communicate(b"\n", timeout=60)
        assert program.returncode == 0
    finally:
        tasks.close()


def test_a_session_says_what_it_waits_for() -> None:
    """Of the master and of each task: where, if it can be reached, what is there."""
    tasks = Processes({}, ps=1, worker=3)
    tasks.cluster["worker"][2] = "no-such-host.invalid:1"
    stranger = Processes({}, other=1)
    stranger.cluster = {"other": [tasks.cluster["worker"][1]]}
    config = tf.ConfigProto(operation_timeout_in_ms=2500)

    def connect() -> None:
        with (
            tf.Graph().as_default(),
            tf.Session(tasks.target("worker"), config=config) as sess,
        ):
            sess.run(tf.constant(1))

    try:
        with pytest.raises(tf.errors.UnavailableError, match="the port is not open"):
            connect()
        tasks.start("ps")
        tasks.start("worker")
        stranger.start("other")
        with pytest.raises(tf.errors.UnavailableError) as caught:
            connect()
        for text in (
            "waited 2.5 s for 2 of 3 tasks",
            f"task:1 at {tasks.cluster['worker'][1]}: the port is open",
            "never seen; last answer: ",
            "is not /job:worker/replica:0/task:1 but /job:other/replica:0/task:0",
            "no-such-host.invalid:1: the host name does not resolve",
            f"{PS_NAME} at {tasks.cluster['ps'][0]} is there, incarnation ",
            "device_filters",
        ):
            assert text in caught.value.message
        tasks.kill("ps")
        with pytest.raises(tf.errors.UnavailableError, match="last incarnation"):
            connect()
    finally:
        tasks.close()
        stranger.close()


def test_sigterm_ends_a_task_cleanly(tasks: Processes) -> None:
    tasks.send(signal.SIGTERM, "ps")
    assert tasks.wait("ps") == 0


def test_the_chief_stops_a_task(tasks: Processes) -> None:
    tf.train.stop_server(tasks.target("ps"))
    assert tasks.wait("ps") == 0
    command = [sys.executable, "-m", "tensorloom", "server", "--stop"]
    address = tasks.cluster["worker"][1]
    root = Path(__file__).parents[2]
    assert subprocess.run([*command, address], cwd=root, check=False).returncode == 0
    assert tasks.wait("worker", 1) == 0
    with pytest.raises(tf.errors.UnavailableError):
        tf.train.stop_server(address)


def test_no_memory_is_left_shared(tasks: Processes) -> None:
    """Segments of a dead peer are unmapped and closed."""
    with tf.Graph().as_default():
        with tf.device(WORKERS[1]):
            x = tf.ones([1_000_000])
        with tf.device(PS):
            y = tf.reduce_sum(x * 2)
        with tf.Session(tasks.target("worker")) as sess:
            for _ in range(3):
                assert sess.run(y) == 2_000_000.0
            tasks.kill("worker", 1)
            with pytest.raises(LOST):
                sess.run(y)
    pid = tasks.pid("ps")
    assert eventually(lambda: not any("memfd" in f for f in files_of(pid)))
    with open(f"/proc/{pid}/maps") as maps:
        mapped = [line for line in maps if "memfd:tensorloom" in line]
    assert len(mapped) <= 1, mapped
    assert os.path.exists(f"/proc/{pid}")
