"""What is launched: a program, and the tasks that run it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

#: Addresses by job, in the order of the tasks, or by index where some are missing.
Cluster = Mapping[str, Any]


@dataclass(frozen=True, order=True)
class Task:
    """One task of a job."""

    job: str
    index: int

    @property
    def name(self) -> str:
        """What stands before its lines."""
        return f"{self.job} {self.index}"

    @property
    def is_server(self) -> bool:
        """Whether it ends only when it is told to."""
        return self.job == "ps"


@dataclass(frozen=True)
class Restarts:
    """How often, and after how long, a task that died is started again."""

    # Of each task, in its whole life.
    limit: int = 0
    # Before the first one; twice as long before each further one.
    first_pause_s: float = 1.0
    longest_pause_s: float = 60.0

    def pause_s(self, number: int) -> float:
        """The pause before restart `number`, from 1."""
        return min(self.first_pause_s * 2.0 ** (number - 1), self.longest_pause_s)


@dataclass(frozen=True)
class Job:
    """A program that every task of a cluster runs, as TensorFlow's programs want it.

    TF_CONFIG says which task a process is. Tasks of the job ps call `server.join()`,
    the others end by themselves; the job ends when they have.

    Args:
      program: a Python program.
      arguments: its own.
      jobs: how many tasks each job has; those without tasks are left out.
      flags: whether --ps_hosts, --worker_hosts, --job_name and --task_index are
        appended, for programs from before TF_CONFIG.
      environment: beside what is inherited.
      restarts: what becomes of a task that died.
      grace_s: how long a task may take to end before it is killed.
      progress_s: how often it is said how fast the tasks are; 0: never.
      cpus_per_task: what a scheduler keeps for each task.
      gpus_per_worker: the same of GPUs, for chief and workers.
      others: the addresses of tasks that run already, and that these join: theirs are
        the numbers that follow.

    Raises:
      ValueError: nobody trains, or the program is no file.
    """

    program: str
    arguments: Sequence[str] = ()
    jobs: Mapping[str, int] = field(default_factory=lambda: {"ps": 1, "worker": 1})
    flags: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)
    restarts: Restarts = Restarts()
    grace_s: float = 5.0
    progress_s: float = 0.0
    cpus_per_task: float = 1.0
    gpus_per_worker: float = 0.0
    others: Mapping[Task, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if min(self.jobs.values(), default=0) < 0:
            raise ValueError("there cannot be less than no tasks")
        if all(task.is_server for task in self.tasks):
            raise ValueError("there must be a worker")
        if not os.path.isfile(self.program):
            raise ValueError(f"no file {self.program!r}")

    @property
    def tasks(self) -> list[Task]:
        """All tasks: chief, ps, workers, then those of further jobs."""
        names = ["chief", "ps", "worker", *sorted(self.jobs)]
        return [
            Task(job, first + number)
            for job in dict.fromkeys(names)
            for first in [1 + max((t.index for t in self._others_in(job)), default=-1)]
            for number in range(self.jobs.get(job, 0))
        ]

    def _others_in(self, job: str) -> list[Task]:
        return [task for task in self.others if task.job == job]

    @property
    def chief(self) -> Task:
        """Who saves: the chief, or else the first worker; of these tasks."""
        return next(task for task in self.tasks if not task.is_server)

    def gpus_of(self, task: Task) -> float:
        """The GPUs that a scheduler keeps for a task."""
        return 0.0 if task.is_server else self.gpus_per_worker

    def command(self, task: Task, cluster: Cluster, python: str = "") -> list[str]:
        """What a task runs.

        Args:
          task: which.
          cluster: where all are.
          python: the Python; this one by default.
        """
        more = flags(cluster, task.job, task.index) if self.flags else []
        return [
            *[python or sys.executable, "-m", "tensorloom", "run", self.program],
            *self.arguments,
            *more,
        ]

    def environment_of(self, task: Task, cluster: Cluster) -> dict[str, str]:
        """The variables of a task, beside those that it inherits."""
        from tensorloom.cluster.directory import WAIT_VARIABLE

        # The tasks begin together: one that is not there after a minute has ended.
        wait = os.environ.get(WAIT_VARIABLE, "60")
        return {
            "TF_CONFIG": json.dumps(tf_config(task, cluster)),
            "PYTHONUNBUFFERED": "1",
            WAIT_VARIABLE: wait,
            **self.environment,
        }


def tf_config(task: Task, cluster: Cluster) -> dict[str, Any]:
    """What TF_CONFIG tells a task."""
    return {"cluster": dict(cluster), "task": {"type": task.job, "index": task.index}}


def flags(cluster: Cluster, job: str, index: int) -> list[str]:
    """What programs from before TF_CONFIG take."""
    lists = {
        name: tasks.values() if isinstance(tasks, Mapping) else tasks
        for name, tasks in cluster.items()
    }
    hosts = [f"--{name}_hosts={','.join(tasks)}" for name, tasks in lists.items()]
    return [*hosts, f"--job_name={job}", f"--task_index={index}"]


def as_cluster(addresses: Mapping[Task, str]) -> dict[str, Any]:
    """The addresses by job, as TF_CONFIG has them."""
    numbered: dict[str, dict[int, str]] = {}
    for task in addresses:
        numbered.setdefault(task.job, {})[task.index] = addresses[task]
    return {
        job: [tasks[index] for index in sorted(tasks)]
        if len(tasks) == max(tasks) + 1
        # Numbers that are free are nobody's.
        else {str(index): tasks[index] for index in sorted(tasks)}
        for job, tasks in numbered.items()
    }
