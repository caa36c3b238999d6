"""`tf.train.ClusterSpec`: the tasks of a cluster and their addresses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from tensorloom.framework.export import export


@export("train.ClusterSpec")
class ClusterSpec:
    """The jobs of a cluster; each is a set of tasks at network addresses.

        tf.train.ClusterSpec({"ps": ["ps0:2222"], "worker": ["w0:2222", "w1:2222"]})

    A job may be sparse, `{"worker": {1: "w1:2222"}}`: a task needs the addresses of
    those only that it speaks to.
    """

    def __init__(self, cluster: Any) -> None:
        """Makes a cluster.

        Args:
          cluster: a dict from job names to lists of addresses, or to dicts from task
            indices to addresses; a `ClusterDef`; or another `ClusterSpec`.

        Raises:
          TypeError: it is none of those.
        """
        self._jobs = {name: _tasks(name, tasks) for name, tasks in _jobs_of(cluster)}

    def __bool__(self) -> bool:
        return bool(self._jobs)

    def __eq__(self, other: object) -> bool:
        # A dict of jobs compares, too, as in TensorFlow.
        jobs = other._jobs if isinstance(other, ClusterSpec) else other
        return self._jobs == jobs

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(str(sorted((k, sorted(v.items())) for k, v in self._jobs.items())))

    def __str__(self) -> str:
        jobs = self.as_dict()
        return f"ClusterSpec({ {name: jobs[name] for name in sorted(jobs)} })"

    def as_dict(self) -> dict[str, Any]:
        """The jobs as a dict: to lists of addresses, or to dicts where sparse."""
        return {
            name: list(tasks.values())
            if tasks and list(tasks) == list(range(len(tasks)))
            else dict(tasks)
            for name, tasks in self._jobs.items()
        }

    def as_cluster_def(self) -> Any:
        """The cluster as a `ClusterDef`."""
        from tensorloom.protos.cluster_pb2 import ClusterDef

        proto = ClusterDef()
        for name in sorted(self._jobs):
            job = proto.job.add(name=name)
            for index, address in self._jobs[name].items():
                job.tasks[index] = address
        return proto

    @property
    def jobs(self) -> list[str]:
        """The names of the jobs."""
        return list(self._jobs)

    def num_tasks(self, job_name: str) -> int:
        """How many tasks a job has.

        Raises:
          ValueError: there is no such job.
        """
        return len(self._tasks_of(job_name))

    def task_indices(self, job_name: str) -> list[int]:
        """The indices of a job's tasks, ascending.

        Raises:
          ValueError: there is no such job.
        """
        return list(self._tasks_of(job_name))

    def task_address(self, job_name: str, task_index: int) -> str:
        """The address of a task.

        Raises:
          ValueError: there is no such job or task.
        """
        tasks = self._tasks_of(job_name)
        if task_index not in tasks:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}")
        return tasks[task_index]

    def job_tasks(self, job_name: str) -> list[str | None]:
        """The addresses of a job's tasks by index; None where there is no task.

        Raises:
          ValueError: there is no such job.
        """
        tasks = self._tasks_of(job_name)
        return [tasks.get(index) for index in range(max(tasks, default=-1) + 1)]

    def _tasks_of(self, job_name: str) -> dict[int, str]:
        tasks = self._jobs.get(job_name)
        if tasks is None:
            raise ValueError(f"No such job in cluster: {job_name!r}")
        return tasks

    def addresses(self) -> dict[str, str]:
        """Every task's address by its name, `/job:worker/replica:0/task:1`."""
        return {
            f"/job:{name}/replica:0/task:{index}": address
            for name, tasks in self._jobs.items()
            for index, address in tasks.items()
        }


def _jobs_of(cluster: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(cluster, Mapping):
        return cluster.items()
    if isinstance(cluster, ClusterSpec):
        return cluster._jobs.items()
    if hasattr(cluster, "DESCRIPTOR") and hasattr(cluster, "job"):
        return [(job.name, dict(job.tasks)) for job in cluster.job]
    raise TypeError(
        "`cluster` must be a dictionary mapping one or more job names to lists of "
        "network addresses, or a `ClusterDef` protocol buffer"
    )


def _tasks(job: str, tasks: Any) -> dict[int, str]:
    if isinstance(tasks, list | tuple):
        numbered = dict(enumerate(tasks))
    elif isinstance(tasks, Mapping):
        numbered = dict(tasks)
    else:
        raise TypeError(
            f"The tasks for job {job!r} must be a list or a dictionary from integers "
            "to strings."
        )
    for index in numbered:
        if not isinstance(index, int):
            raise TypeError(
                f"{index!r} has type {type(index).__name__}, but expected one of: int"
            )
    return {index: _address(numbered[index]) for index in sorted(numbered)}


def _address(address: Any) -> str:
    if isinstance(address, bytes):
        return address.decode()
    if isinstance(address, str):
        return address
    raise TypeError(f"Task address {address!r} must be bytes or unicode")
