"""One task that a scheduler starts: python -m tensorloom.cluster.launch.batch_task.

It finds out which task it is, runs the program with TF_CONFIG, and, when it is the
chief and the program has ended well, tells the parameter servers to end.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from contextlib import suppress

from tensorloom.cluster.launch.child import children_die_with_us
from tensorloom.cluster.launch.job import Job, Task, as_cluster
from tensorloom.framework import errors


def main(arguments: list[str] | None = None) -> int:
    """Runs the task; returns the program's exit status."""
    options = _parser().parse_args(arguments)
    counts = (part.split("=") for part in options.jobs.split(","))
    job = Job(
        options.command[0],
        options.command[1:],
        {name: int(count) for name, count in counts},
        options.flags,
        grace_s=options.grace,
    )
    if options.service:
        own = Task(options.job, int(os.environ["JOB_COMPLETION_INDEX"]))
        addresses = pods(job, options.service, options.port)
    else:
        own = job.tasks[int(os.environ["SLURM_PROCID"])]
        addresses = nodes(job, options.port)
    cluster = as_cluster(addresses)
    status = subprocess.run(
        job.command(own, cluster),
        env={**os.environ, **job.environment_of(own, cluster)},
        preexec_fn=children_die_with_us(),
    ).returncode
    if own == job.chief and status == 0:
        _stop_servers(job, addresses)
    return status if status >= 0 else 128 - status


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="batch_task")
    parser.add_argument("--jobs", required=True, help="such as ps=1,worker=2")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--grace", type=float, required=True)
    parser.add_argument("--flags", action="store_true")
    parser.add_argument("--service", help="of the pods, on Kubernetes")
    parser.add_argument("--job", help="of this task, on Kubernetes")
    parser.add_argument("command", nargs="+")
    return parser


def _stop_servers(job: Job, addresses: dict[Task, str]) -> None:
    from tensorloom.cluster.control import stop_server

    for task, address in addresses.items():
        if task.is_server:
            # One that is gone has ended.
            with suppress(errors.OpError):
                stop_server(address, "the chief is done", job.grace_s)


def pods(job: Job, service: str, port: int) -> dict[Task, str]:
    """The tasks of indexed Jobs, whose pods a headless service names."""
    return {
        task: f"{service}-{task.job}-{task.index}.{service}:{port}"
        for task in job.tasks
    }


def nodes(job: Job, port: int) -> dict[Task, str]:
    """The tasks of a Slurm step, in the order of their numbers.

    Slurm numbers them block by block, as SLURM_STEP_TASKS_PER_NODE says: `2(x3),1`.

    Raises:
      ValueError: the step has another number of tasks.
    """
    from tensorloom.cluster.slurm import hosts_of

    counts: list[int] = []
    for part in os.environ["SLURM_STEP_TASKS_PER_NODE"].split(","):
        count, _, times = part.partition("(x")
        counts += [int(count)] * int(times.rstrip(")") or 1)
    hosts = hosts_of(os.environ["SLURM_STEP_NODELIST"])
    slots = [h for h, n in zip(hosts, counts, strict=True) for _ in range(n)]
    if len(slots) != len(job.tasks):
        raise ValueError(f"Slurm runs {len(slots)} tasks, the job has {len(job.tasks)}")
    # Each has a port of its own: some share a node.
    return {
        task: f"{host}:{port + rank}"
        for rank, (task, host) in enumerate(zip(job.tasks, slots, strict=True))
    }


if __name__ == "__main__":
    sys.exit(main())
