"""An input service of real processes, which are killed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tests.cluster.clusters import free_ports
from tests.data.service.services import Program, reading

pytestmark = pytest.mark.multiprocess
ROOT = Path(__file__).parents[3]
COUNT = 2000


class Tasks:
    """Processes of `tensorloom data`."""

    def __init__(self, directory: Path) -> None:
        (self._port,) = free_ports(1)
        self._directory = directory
        self._running: list[subprocess.Popen[str]] = []
        self.address = f"localhost:{self._port}"

    def start_dispatcher(self, *more: str) -> subprocess.Popen[str]:
        """Starts the dispatcher, at the same port each time."""
        where = ["--port", f"{self._port}", "--work-dir", str(self._directory)]
        return self._start("dispatcher", *where, *more)

    def start_worker(self, port: int = 0) -> subprocess.Popen[str]:
        """Starts a worker."""
        return self._start("worker", self.address, "--port", str(port))

    def _start(self, *arguments: str) -> subprocess.Popen[str]:
        task = subprocess.Popen(
            [sys.executable, "-m", "tensorloom", "data", *arguments],
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        self._running.append(task)
        assert task.stderr is not None
        line = task.stderr.readline()
        while line and " is at " not in line:
            line = task.stderr.readline()
        assert line, f"{arguments} ended with {task.wait()}"
        return task

    def kill(self, task: subprocess.Popen[str], number: int = signal.SIGKILL) -> int:
        """Sends a signal, and waits for the end."""
        self._running.remove(task)
        task.send_signal(number)
        status = task.wait(300)
        assert task.stderr is not None
        task.stderr.close()
        return status

    def close(self) -> None:
        """Kills what is left."""
        for task in list(self._running):
            self.kill(task)


@pytest.fixture
def tasks(tmp_path: Path) -> Iterator[Tasks]:
    """The processes of a test."""
    found = Tasks(tmp_path)
    try:
        yield found
    finally:
        found.close()


def test_tasks_that_are_killed(tasks: Tasks) -> None:
    dispatcher = tasks.start_dispatcher()
    workers = [tasks.start_worker() for _ in range(2)]

    def job(delivery: str) -> Callable[[], Any]:
        distribute = tf.data.experimental.service.distribute(
            "distributed_epoch",
            f"grpc://{tasks.address}",
            delivery=delivery,
            split_size=20,
            max_outstanding_requests=50,
        )
        numbers = tf.data.Dataset.range
        return lambda: numbers(COUNT).map(lambda x: x + 1).apply(distribute)

    with reading(job("exactly_once")) as once, reading(job("at_least_once")) as often:
        had: dict[Program, list[int]] = {once: [], often: []}

        def read(count: int) -> None:
            for program, found in had.items():
                found += [program.next() for _ in range(count)]

        read(100)
        tasks.kill(workers[0])
        read(200)
        tasks.kill(dispatcher)
        dispatcher = tasks.start_dispatcher()
        read(200)
        tasks.kill(workers[1])
        tasks.start_worker()
        for program, found in had.items():
            found += program.rest()
    everything = list(range(1, COUNT + 1))
    assert sorted(had[once]) == everything
    assert sorted(set(had[often])) == everything
    assert tasks.kill(dispatcher, signal.SIGTERM) == 0


def test_a_worker_of_a_fixed_list_is_killed(tasks: Tasks) -> None:
    """Started again it makes its share, of which some may come again; others go on."""
    service = tf.data.experimental.service
    ports = free_ports(2)
    addresses = [f"localhost:{port}" for port in ports]
    tasks.start_dispatcher("--workers", ",".join(addresses))
    workers = [tasks.start_worker(port) for port in ports]
    how = service.distribute(
        service.ShardingPolicy.DATA,
        f"grpc://{tasks.address}",
        max_outstanding_requests=8,
    )
    with reading(lambda: tf.data.Dataset.range(COUNT).apply(how)) as program:
        begun = [program.next() for _ in range(20)]
        tasks.kill(workers[0])
        tasks.start_worker(ports[0])
        rest = program.rest()
    assert set(begun) | set(rest) == set(range(COUNT))
    of_the_other = [x for x in [*begun, *rest] if x % 2]
    assert of_the_other == [*range(1, COUNT, 2)]
