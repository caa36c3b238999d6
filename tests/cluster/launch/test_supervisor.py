"""Jobs of processes of this machine, which are killed and started again."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

from tensorloom.cluster.launch import launch
from tensorloom.cluster.launch.job import Job, Restarts, Task
from tensorloom.cluster.launch.local import LocalPlaces
from tensorloom.cluster.launch.log import TaskLog
from tensorloom.cluster.launch.places import End, OnLine, Places
from tensorloom.cluster.launch.supervisor import Supervisor
from tests.cluster.processes import eventually

PS, CHIEF, OTHER = Task("ps", 0), Task("worker", 0), Task("worker", 1)
WAIT_S = 120.0


class Script(Places):
    """Places in which tasks end as the test says; nothing runs.

    Args:
      ends: the ends to come, each a task and its status. One comes when the task runs.
      moves: whether a task has another address in each life.
    """

    def __init__(
        self, ends: Sequence[tuple[Task, int | None]], moves: bool = False
    ) -> None:
        self._ends = list(ends)
        self._moves = moves
        self._lives: dict[Task, int] = {}
        self.running: set[Task] = set()
        self.done: list[str] = []

    def open(self, on_line: OnLine) -> None:
        """See `Places`."""

    def place(self, task: Task) -> str:
        """See `Places`."""
        life = self._lives[task] = self._lives.get(task, 0) + 1
        return f"{task.job}{task.index}:{life if self._moves else 1}"

    def start(
        self, task: Task, command: Sequence[str], environment: Mapping[str, str]
    ) -> None:
        """See `Places`."""
        assert task not in self.running
        self.running.add(task)
        self.done.append(f"start {task.name} {environment['TF_CONFIG']}")

    def wait(self, timeout_s: float) -> list[End]:
        """See `Places`."""
        for at, (task, status) in enumerate(self._ends):
            if task in self.running:
                del self._ends[at]
                self.running.discard(task)
                return [End(task, status, f"ended with {status}")]
        return []

    def terminate(self, task: Task) -> None:
        """See `Places`."""
        self.done.append(f"terminate {task.name}")
        self._ends.insert(0, (task, -signal.SIGTERM))

    def kill(self, task: Task) -> None:
        """See `Places`."""
        raise AssertionError(f"{task.name} was asked to end, and had done so")

    def close(self) -> None:
        """See `Places`."""
        assert not self.running


def run(places: Places, tmp_path: Path, limit: int, **jobs: int) -> int:
    """The status of a job."""
    program = tmp_path / "program.py"
    program.touch()
    job = Job(str(program), jobs=jobs, restarts=Restarts(limit, 0.0), grace_s=WAIT_S)
    return Supervisor(job, places, TaskLog(job.tasks)).run()


# Ends that come, restarts that are allowed; the status, what is said, and how often the
# second worker is started.
LIVES = {
    "all end well": ([(CHIEF, 0), (OTHER, 0)], 0, 0, "", 1),
    "one fails": ([(OTHER, 3)], 0, 3, "worker 1 failed: ended with 3; stopping", 1),
    "one is killed": ([(OTHER, -9)], 0, 137, "worker 1 failed: ended with -9", 1),
    "a machine is lost": ([(OTHER, None)], 0, 1, "worker 1 failed", 1),
    "one is started again": (
        [(OTHER, -9), (OTHER, None), (CHIEF, 0), (OTHER, 0)],
        2,
        0,
        "worker 1: ended with None; restart 2 of at most 2 in 0 s",
        3,
    ),
    "one dies too often": (
        [(OTHER, -9), (OTHER, 4)],
        1,
        4,
        "worker 1 failed after 1 restarts: ended with 4",
        2,
    ),
    "none is started again when the chief is done": (
        [(CHIEF, 0), (OTHER, 5)],
        9,
        5,
        "worker 1 failed when the chief was done: ended with 5",
        1,
    ),
}


@pytest.mark.parametrize("case", LIVES)
def test_lives_of_tasks(
    case: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ends, limit, status, message, starts = LIVES[case]
    places = Script(ends)
    assert run(places, tmp_path, limit, worker=2) == status
    assert message in capsys.readouterr().err
    assert sum(line.startswith("start worker 1") for line in places.done) == starts


def test_a_server_that_dies_when_the_chief_is_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not started again: what it held is of no use to anybody."""
    places = Script([(CHIEF, 0), (PS, -9), (OTHER, 0)])
    assert run(places, tmp_path, 5, ps=1, worker=2) == 0
    assert "the chief is done, so it is not started again" in capsys.readouterr().err


def test_a_task_that_is_started_elsewhere_knows_where_the_others_are(
    tmp_path: Path,
) -> None:
    places = Script([(OTHER, None), (CHIEF, 0), (OTHER, 0)], moves=True)
    assert run(places, tmp_path, 1, worker=2) == 0
    assert places.done[-1] == (
        'start worker 1 {"cluster": {"worker": ["worker0:1", "worker1:2"]}, '
        '"task": {"type": "worker", "index": 1}}'
    )


def test_workers_that_join_a_job(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.touch()
    others = {PS: "p:1", CHIEF: "a:1", Task("worker", 3): "d:1"}
    job = Job(str(program), jobs={"ps": 0, "worker": 1}, others=others)
    joined = Task("worker", 4)
    assert job.tasks == [joined]
    assert job.chief == joined  # whose end is the end of this launch
    places = Script([(joined, 0)])
    assert Supervisor(job, places, TaskLog(job.tasks)).run() == 0
    assert places.done == [
        'start worker 4 {"cluster": {"ps": ["p:1"], "worker": '
        '{"0": "a:1", "3": "d:1", "4": "worker4:1"}}, '
        '"task": {"type": "worker", "index": 4}}'
    ]


def test_ray_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "program.py"
    program.touch()
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ImportError, match=r"pip install 'tensorloom\[ray\]'"):
        launch(Job(str(program)), "ray")
    with pytest.raises(ValueError, match="No launcher 'moon'; there are local, ray"):
        launch(Job(str(program)), "moon")


# The chief waits for a file, so that the test can kill the worker before it ends.
PROGRAM = """
import json, os, sys, time
task = json.loads(os.environ["TF_CONFIG"])["task"]
mine = f"{task['type']}{task['index']}"
print("pid", os.getpid())
while not os.path.exists(os.path.join(sys.argv[1], "go")):
    time.sleep(0.02)
print("done")
"""


class Lines(TaskLog):
    """Keeps the lines of tasks."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        super().__init__(tasks)
        self.lines: list[tuple[Task, str]] = []

    def write(self, task: Task, line: str) -> None:
        """See `TaskLog`."""
        self.lines.append((task, line.strip()))

    def pids(self, task: Task) -> list[int]:
        """The processes that a task has had."""
        found = [x for t, x in self.lines if t == task and x.startswith("pid ")]
        return [int(line.split()[1]) for line in found]


@contextmanager
def running(job: Job, log: TaskLog) -> Iterator[list[int]]:
    """A job in a thread; the list has its status when the block has ended."""
    status: list[int] = []
    supervisor = Supervisor(job, LocalPlaces(), log)
    thread = threading.Thread(target=lambda: status.append(supervisor.run()))
    thread.start()
    try:
        yield status
    finally:
        thread.join(WAIT_S)
        assert not thread.is_alive()


def test_a_worker_that_is_killed_is_started_again(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    job = Job(
        str(program),
        [str(tmp_path)],
        {"worker": 2},
        restarts=Restarts(3, 0.01),
        grace_s=WAIT_S,
    )
    log = Lines(job.tasks)
    with running(job, log) as status:
        try:
            assert eventually(lambda: bool(log.pids(OTHER)), WAIT_S)
            os.kill(log.pids(OTHER)[0], signal.SIGKILL)
            assert eventually(lambda: len(log.pids(OTHER)) == 2, WAIT_S)
        finally:
            (tmp_path / "go").touch()
    assert status == [0]
    assert len(log.pids(CHIEF)) == 1
    assert (OTHER, "done") in log.lines
