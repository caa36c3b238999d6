"""Tasks of an elastic job that are killed, stopped and woken."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tensorloom.coordination.coordinator import LEASE_VARIABLE, VARIABLE
from tests.cluster.clusters import free_ports

pytestmark = pytest.mark.engines

# A busy machine must not take a lease away from who is there.
_LEASE_S = 6.0


class Task:
    """A process; see `task.py`. Its two streams are one."""

    def __init__(self, directory: Path, job: str, index: int, *more: str) -> None:
        address = f"localhost:{free_ports(1)[0]}"
        command = [sys.executable, "-m", "tests.elastic.task", job, str(index), address]
        self._process = subprocess.Popen(
            [*command, str(directory / "model"), *more],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=Path(__file__).parents[2],
            env={
                **os.environ,
                VARIABLE: f"file://{directory}/locks",
                LEASE_VARIABLE: str(_LEASE_S),
            },
        )

    def read(self, *wanted: str) -> str:
        """The next line that begins with one of these."""
        assert self._process.stdout is not None
        seen = []
        for line in self._process.stdout:
            seen.append(line)
            if line.startswith(wanted):
                return line.strip()
        pytest.fail(f"no {wanted!r} in {''.join(seen)}")

    def say(self, line: str) -> None:
        """Writes a line to its input."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{line}\n")
        self._process.stdin.flush()

    def step(self) -> bool:
        """Has it make a step; False if the step was lost."""
        self.say("step")
        return self.read("made", "lost") != "lost"

    def held_step(self) -> int:
        """The least step of the copies of shards that it holds."""
        self.say("held")
        return int(self.read("held").removeprefix("held"))

    def rows(self) -> list[tuple[float, int]]:
        """An element of a row of each shard, and the server that has it."""
        self.say("rows")
        told: list[Any] = json.loads(self.read("values").removeprefix("values"))
        return [(value, server) for value, server in told]

    def values(self) -> tuple[list[float], list[int]]:
        """An element of each variable, and the server of each shard."""
        while True:
            self.say("values")
            line = self.read("values", "lost")
            if line != "lost":
                values, servers = json.loads(line.removeprefix("values"))
                return values, servers

    def step_until(self, servers: set[int]) -> tuple[int, int]:
        """Makes steps until these have all shards; how many were made, and lost."""
        made = lost = 0
        while set(self.values()[1]) != servers:
            if self.step():
                made += 1
            else:
                lost += 1
        return made, lost

    def send(self, number: int) -> None:
        """Sends it a signal."""
        self._process.send_signal(number)

    def end(self) -> int:
        """Lets it end, and waits; its status."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.stdout.read()
        return self._process.wait(120)

    def close(self) -> None:
        """Kills it."""
        self._process.send_signal(signal.SIGCONT)
        self._process.kill()
        self._process.wait(120)
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()


class Tasks:
    """The tasks of a job."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._started: list[Task] = []

    def start(self, job: str, index: int = 0, *more: str) -> Task:
        """Starts a task, and waits until it is ready."""
        task = self.begin(job, index, *more)
        task.read("ready")
        return task

    def begin(self, job: str, index: int = 0, *more: str) -> Task:
        """Starts a task."""
        self._started.append(Task(self._directory, job, index, *more))
        return self._started[-1]

    def close(self) -> None:
        """Kills all."""
        for task in self._started:
            task.close()


@pytest.fixture
def tasks(tmp_path: Path) -> Iterator[Tasks]:
    """A job."""
    made = Tasks(tmp_path)
    yield made
    made.close()


def _begun(tasks: Tasks, servers: int, *more: str) -> tuple[list[Task], Task]:
    made = [tasks.begin("ps", index) for index in range(servers)]
    for one in made:
        one.read("ready")
    return made, tasks.start("worker", 0, *more)


def test_a_server_is_killed_and_comes_back(tasks: Tasks) -> None:
    """Its shards alone go back to the checkpoint, which is that of step 0."""
    servers, worker = _begun(tasks, 2)
    for _ in range(5):
        assert worker.step()
    homes = worker.values()[1]
    servers[1].send(signal.SIGKILL)
    made, lost = worker.step_until({0})
    values, _ = worker.values()
    assert lost <= 1
    for value, home in zip(values, homes, strict=True):
        # A step that was lost may have been made where no server died.
        least = 5 + made if home == 0 else 0
        assert least <= value <= 5 + made + lost
        assert home == 0 or value <= made
    tasks.start("ps", 1)
    more, lost_later = worker.step_until({0, 1})
    assert lost_later == 0
    after, _ = worker.values()
    assert after == [value + more for value in values]
    assert worker.end() == 0


def test_a_server_is_killed_whose_rows_a_worker_holds(tasks: Tasks) -> None:
    """They are those of the copy, and not of the checkpoint of step 0."""
    servers, worker = _begun(tasks, 2, "held")
    for _ in range(5):
        assert worker.step()
    while (held := worker.held_step()) < 5:
        time.sleep(0.1)
    homes = [server for _, server in worker.rows()]
    assert set(homes) == {0, 1}
    assert worker.step()
    servers[1].send(signal.SIGKILL)
    made, lost = worker.step_until({0})
    for (value, server), home in zip(worker.rows(), homes, strict=True):
        assert server == 0
        least = 6 if home == 0 else held
        assert least + made <= value <= 6 + made + lost
    assert worker.end() == 0


def test_a_server_is_stopped_and_wakes_up(tasks: Tasks) -> None:
    """Others have its shards by then; what it has kept counts no more."""
    servers, worker = _begun(tasks, 2)
    for _ in range(5):
        assert worker.step()
    homes = worker.values()[1]
    servers[1].send(signal.SIGSTOP)
    made, lost = worker.step_until({0})
    values, _ = worker.values()
    servers[1].send(signal.SIGCONT)
    # It gets shards again, from where they are now.
    more, _ = worker.step_until({0, 1})
    after, _ = worker.values()
    assert after == [value + more for value in values]
    for value, home in zip(values, homes, strict=True):
        assert value <= (made if home == 1 else 5 + made + lost)
    assert worker.end() == 0


def test_a_server_is_told_to_end(tasks: Tasks) -> None:
    """With SIGTERM it gives its shards away first: nothing is lost."""
    servers, worker = _begun(tasks, 2)
    assert worker.step()
    servers[1].send(signal.SIGTERM)
    made, lost = worker.step_until({0})
    assert lost == 0
    assert worker.values()[0] == [1.0 + made] * 4
    assert servers[1].end() == 0
    assert worker.step()
    assert worker.end() == 0


def test_the_worker_that_leads_is_killed(tasks: Tasks) -> None:
    """Another leads: servers that come get shards, and those that die lose them."""
    servers, first = _begun(tasks, 2)
    second = tasks.start("worker", 1)
    assert first.step()
    assert second.step()
    first.send(signal.SIGKILL)
    tasks.start("ps", 2)
    made, lost = second.step_until({0, 1, 2})
    assert lost == 0
    assert second.values()[0] == [2.0 + made] * 4
    servers[0].send(signal.SIGKILL)
    second.step_until({1, 2})
    assert second.step()
    assert second.end() == 0


def test_a_worker_is_stopped_while_shards_move(tasks: Tasks) -> None:
    """Nobody waits longer than its lease; when it wakes up it follows the plan."""
    servers, first = _begun(tasks, 2)
    second = tasks.start("worker", 1)
    assert second.step()
    second.send(signal.SIGSTOP)
    second.say("step")
    servers[1].send(signal.SIGTERM)
    made, lost = first.step_until({0})
    assert lost == 0
    second.send(signal.SIGCONT)
    assert second.read("made", "lost") == "made 2"
    assert first.values()[0] == [2.0 + made] * 4
    assert second.values()[1] == [0] * 4
    assert second.end() == 0
    assert first.end() == 0
