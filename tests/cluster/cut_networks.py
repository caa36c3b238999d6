"""What happens when a network is cut and healed.

    unshare --map-root-user --net python -m tests.cluster.cut_networks SCENARIO

Runs in a network namespace of its own; see `networks`. Between these machines tasks
speak on the framed socket, over TCP.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TOKEN = "a token of the test"
LIMIT_S = 5.0
os.environ["TENSORLOOM_TOKEN"] = TOKEN
os.environ["TENSORLOOM_TASK_TIMEOUT_S"] = str(LIMIT_S)

import tensorloom as tf  # noqa: E402 - it reads the environment
from tests.cluster.networks import Machines, Network  # noqa: E402
from tests.cluster.processes import eventually, files_of, threads_of  # noqa: E402

PS, WORKER = "/job:ps/task:0", "/job:worker/task:0"
PS_NAME = "/job:ps/replica:0/task:0"
LOST = (tf.errors.UnavailableError, tf.errors.AbortedError)
ENVIRONMENT = {"TENSORLOOM_TOKEN": TOKEN, "TENSORLOOM_TASK_TIMEOUT_S": str(LIMIT_S)}
ROOT = Path(__file__).resolve().parents[2]
# A connection that nobody reads from is found dead after one limit, and a probe.
NOTICED_S = LIMIT_S * 2


class Training:
    """A program whose variable is on the ps, with a step that may wait there."""

    def __init__(self, target: str) -> None:
        with tf.Graph().as_default():
            with tf.device(PS):
                self.v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
                queue = tf.FIFOQueue(5, tf.float32, [[]], shared_name="empty")
                waits, self.put = queue.dequeue(), queue.enqueue(1.0)
                large = tf.get_variable(
                    "large", [2_000_000], initializer=tf.ones_initializer()
                )
            with tf.device(WORKER):
                self.add = tf.assign_add(self.v, tf.identity(tf.constant(2.0)) - 1.0)
                self.waiting = waits + 1.0
                self.large = tf.reduce_sum(large * 2.0)
            init = tf.global_variables_initializer()
            self.session = tf.Session(target)

        def is_ready() -> bool:
            try:
                self.session.run(init)
                self.session.run(self.large)
            except LOST:  # a busy machine takes seconds to load torch
                return False
            return True

        assert eventually(is_ready)
        self.steps = 0
        self.step()
        # Everything is loaded and prepared before something is cut.
        self.session.run(self.put)
        self.session.run([self.waiting, self.large])

    def step(self) -> None:
        """A step of the training; no update is lost, and none is made twice."""
        self.steps += 1
        found = self.session.run(self.add)
        assert found == self.steps, f"{found} after {self.steps} steps"

    def goes_on(self) -> bool:
        """Whether steps run again."""
        try:
            self.session.run(self.large)
        except LOST:
            return False
        self.step()
        return True


class Running:
    """A step in a thread of its own."""

    def __init__(self, step: Callable[[], Any]) -> None:
        self._step = step
        self._outcome: list[Any] = []
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        time.sleep(0.5)
        assert not self._outcome, self._outcome

    def _run(self) -> None:
        try:
            self._outcome.append(self._step())
        except tf.errors.OpError as error:
            self._outcome.append(error)

    def lost(self, *names: str) -> None:
        """The step fails in time, and says who is gone."""
        began = time.monotonic()
        self._thread.join(LIMIT_S * 5)
        assert self._outcome, "the step still runs"
        error = self._outcome[0]
        assert isinstance(error, LOST), repr(error)
        assert any(name in error.message for name in names), error.message
        print(f"after {time.monotonic() - began:.1f} s: {error.message}", flush=True)


class Holdings:
    """What tasks hold, to be compared later."""

    def __init__(self, tasks: Machines, *names: str) -> None:
        self._pids = {name: tasks.pid(name) for name in names}
        self._threads = {n: threads_of(pid) for n, pid in self._pids.items()}
        self._files = {n: len(files_of(pid)) for n, pid in self._pids.items()}

    def are_as_before(self, name: str) -> None:
        """A task holds what it held, but for a thread of a pool or two.

        And two connections: what was cancelled is settled beside the calls under way.
        """
        pid = self._pids[name]
        files, threads = self._files[name] + 2, self._threads[name]
        assert eventually(lambda: len(files_of(pid)) <= files, 20), (
            f"{name}: {files} descriptors, now {sorted(files_of(pid))}"
        )
        assert eventually(lambda: threads_of(pid) <= threads + 2, 30), (
            f"{name}: {threads} threads, now {threads_of(pid)}"
        )


def uses_tcp(tasks: Machines) -> bool:
    """Whether the worker speaks to the ps on more than gRPC's port."""
    worker = tasks.prefix("worker", 0)
    with open(f"/proc/{worker[2]}/net/tcp") as table:
        peers = {line.split()[2] for line in table.readlines()[1:]}
    ports = {peer.partition(":")[2] for peer in peers} - {"0000"}
    return len(ports - {f"{2222:04X}"}) > 0


def ps_cut(tasks: Machines) -> None:
    """A ps is out of reach of all; its variables are still there afterwards."""
    training = Training(tasks.target("worker"))
    assert uses_tcp(tasks)
    first = Running(lambda: training.session.run(training.waiting))
    time.sleep(0.5)
    before = Holdings(tasks, "ps", "worker")
    tasks.cut("ps")
    first.lost(PS_NAME)
    # The ps hears nothing, and drops the step all the same.
    time.sleep(NOTICED_S)
    before.are_as_before("ps")
    before.are_as_before("worker")
    with pytest.raises(LOST, match=PS_NAME):
        training.session.run(training.large)
    tasks.heal("ps")
    assert eventually(training.goes_on, 30)
    for _ in range(20):
        training.step()
    before.are_as_before("ps")
    before.are_as_before("worker")
    training.session.close()


def worker_cut(tasks: Machines) -> None:
    """The master is out of reach of its client and of the ps."""
    training = Training(tasks.target("worker"))
    waiting = Running(lambda: training.session.run(training.waiting))
    before = Holdings(tasks, "ps", "worker")
    tasks.cut("worker")
    waiting.lost("/job:worker/replica:0/task:0", tasks.cluster["worker"][0])
    time.sleep(NOTICED_S)
    before.are_as_before("ps")
    before.are_as_before("worker")
    tasks.heal("worker")
    # The master has closed the session of a client that it took for gone; its
    # variables are on the ps.
    steps = training.steps
    again = tf.Session(tasks.target("worker"), graph=tf.Graph())
    with again.graph.as_default(), tf.device(PS):
        v = tf.get_variable("v", [])
    assert eventually(lambda: bool(again.run(v) == steps), 30)
    again.close()


def client_cut(tasks: Machines) -> None:
    """A client is out of reach: its step ends, and its session is collected."""
    script = (
        "from tests.cluster.cut_networks import *\n"
        "import sys, tensorloom as tf\n"
        "training = Training(sys.argv[1])\n"
        "print('runs', flush=True)\n"
        "training.session.run(training.waiting)\n"
    )
    warm = Training(tasks.target("worker"))
    warm.session.run(warm.large)
    warm.session.close()
    time.sleep(1.0)
    before = Holdings(tasks, "ps", "worker")
    client = subprocess.Popen(
        [
            *tasks.prefix("client", 0),
            *[sys.executable, "-c", script, tasks.target("worker")],
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # it fails, as it should
        cwd=ROOT,
    )
    try:
        assert client.stdout is not None
        assert client.stdout.readline() == b"runs\n"
        time.sleep(0.5)
        tasks.cut("client")
        time.sleep(NOTICED_S)
        before.are_as_before("ps")
        before.are_as_before("worker")
    finally:
        client.kill()
        client.wait()
        if client.stdout is not None:
            client.stdout.close()


def cut_in_transfers(tasks: Machines) -> None:
    """Large tensors are under way when the network is cut, again and again."""
    training = Training(tasks.target("worker"))
    for _ in range(3):
        training.session.run(training.large)
    before = Holdings(tasks, "ps", "worker")

    def transfers() -> None:
        while True:
            training.session.run(training.large)

    for _ in range(4):
        running = Running(transfers)
        tasks.cut("ps")
        running.lost(PS_NAME)
        tasks.heal("ps")
        assert eventually(training.goes_on, 30)
    before.are_as_before("ps")
    before.are_as_before("worker")
    training.session.close()


def peers_cut(tasks: Machines) -> None:
    """Two tasks lose each other; their master reaches both, and hears of it."""
    with tf.Graph().as_default():
        with tf.device(WORKER):
            queue = tf.FIFOQueue(5, tf.float32, [[]], shared_name="between")
            sent, put = queue.dequeue(), queue.enqueue(1.0)
        with tf.device(PS):
            received = sent + 1.0
        session = tf.Session(tasks.target("worker", 1))
    session.run(put)
    assert session.run(received) == 2.0

    def goes_on() -> bool:
        try:
            session.run(put)
            return bool(session.run(received) == 2.0)
        except LOST:
            return False

    for _ in range(2):
        for _ in range(3):
            running = Running(lambda: session.run(received))
            tasks.separate("ps", "worker")
            session.run(put)  # what the worker sends to the ps now is lost on its way
            running.lost(PS_NAME)
        tasks.join("ps", "worker")
        assert eventually(goes_on, 30)
    session.close()


def over_ucx(tasks: Machines) -> None:
    """Large tensors go over UCX, until the ps is killed; a new one is met again."""
    training = Training(tasks.target("worker"))

    def sent() -> int:
        spec = ";".join(f"{job}={at[0]}" for job, at in tasks.cluster.items())
        status = [sys.executable, "-m", "tensorloom", "status", "--json"]
        told = subprocess.run(
            [*status, "--cluster", spec], check=True, stdout=subprocess.PIPE, cwd=ROOT
        ).stdout
        rows = {row["name"]: row for row in map(json.loads, told.splitlines())}
        return int(rows["ps 0"]["sent_bytes"]["UCX"])

    before = sent()
    for _ in range(10):
        assert training.session.run(training.large) == 4_000_000
    assert sent() - before >= 10 * 8_000_000

    def transfers() -> None:
        while True:
            training.session.run(training.large)

    for _ in range(3):
        running = Running(transfers)
        tasks.kill("ps")
        running.lost(PS_NAME)
        training.session.close()
        tasks.start("ps")
        training = Training(tasks.target("worker"))
        before = sent()
        training.session.run(training.large)
        assert sent() - before >= 8_000_000
    training.session.close()


ALL = (ps_cut, worker_cut, client_cut, cut_in_transfers, peers_cut, over_ucx)
SCENARIOS = {scenario.__name__: scenario for scenario in ALL}


def main() -> None:
    """Runs a scenario."""
    network = Network()
    scenario = SCENARIOS[sys.argv[1]]
    workers = 2 if scenario is peers_cut else 1
    tasks = Machines(network, ENVIRONMENT, ps=1, worker=workers)
    tasks.add_machine("client")
    try:
        tasks.start_all()
        scenario(tasks)
    finally:
        tasks.close()
        network.close()


if __name__ == "__main__":
    main()
