"""`tensorloom cluster SCRIPT`: a cluster of processes on this machine runs a script.

Every task runs the script, as TensorFlow's programs want it: TF_CONFIG says which task
it is, and tasks of the job ps call `server.join()`.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
from contextlib import ExitStack

from tensorloom.cli.command import Command


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ps", type=int, default=1, help="parameter servers")
    parser.add_argument("--workers", type=int, default=1, help="workers")
    parser.add_argument(
        "--chief", action="store_true", help="a task of the job chief beside them"
    )
    parser.add_argument(
        "--flags",
        action="store_true",
        help="append --ps_hosts, --worker_hosts, --job_name and --task_index to the "
        "arguments, for a script that takes these and does not read TF_CONFIG",
    )
    parser.add_argument(
        "--grace",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="how long a task may take to end before it is killed (default: 5)",
    )
    parser.add_argument("script", help="a Python program that imports tensorflow")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="the program's own arguments"
    )


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.cli.local_tasks import LocalTasks, Task

    jobs = {"chief": int(options.chief), "ps": options.ps, "worker": options.workers}
    if jobs["chief"] + jobs["worker"] < 1 or options.ps < 0:
        print("tensorloom cluster: there must be a worker", file=sys.stderr)
        return 2
    if not os.path.isfile(options.script):
        print(f"tensorloom cluster: no file {options.script!r}", file=sys.stderr)
        return 2
    cluster = make_cluster(jobs)
    tasks = []
    for job, addresses in cluster.items():
        for index, address in enumerate(addresses):
            arguments = [options.script, *options.arguments]
            if options.flags:
                arguments += flags(cluster, job, index)
            config = {"cluster": cluster, "task": {"type": job, "index": index}}
            tasks.append(
                Task(
                    f"{job} {index}",
                    [sys.executable, "-m", "tensorloom", "run", *arguments],
                    {"TF_CONFIG": json.dumps(config), **_environment()},
                    address,
                    is_server=job == "ps",
                )
            )
    return LocalTasks(tasks, options.grace).run()


def _environment() -> dict[str, str]:
    from tensorloom.cluster.directory import WAIT_VARIABLE

    # The tasks begin together: one that is not there after a minute has ended.
    wait = os.environ.get(WAIT_VARIABLE, "60")
    return {"PYTHONUNBUFFERED": "1", WAIT_VARIABLE: wait}


COMMAND = Command(
    name="cluster",
    summary="run a script on a cluster of processes of this machine",
    add_arguments=_add_arguments,
    execute=_execute,
)


def make_cluster(jobs: dict[str, int]) -> dict[str, list[str]]:
    """Addresses at free ports of this machine, for so many tasks of each job."""
    with ExitStack() as stack:
        cluster: dict[str, list[str]] = {}
        for job, count in jobs.items():
            for _ in range(count):
                listener = stack.enter_context(socket.socket())
                listener.bind(("127.0.0.1", 0))
                port = listener.getsockname()[1]
                cluster.setdefault(job, []).append(f"localhost:{port}")
        return cluster


def flags(cluster: dict[str, list[str]], job: str, index: int) -> list[str]:
    """What scripts from before TF_CONFIG take."""
    hosts = [f"--{name}_hosts={','.join(tasks)}" for name, tasks in cluster.items()]
    return [*hosts, f"--job_name={job}", f"--task_index={index}"]
