"""`tensorloom cluster PROGRAM`: every task of a cluster runs a program.

As TensorFlow's programs want it: TF_CONFIG says which task a process is, and tasks of
the job ps call `server.join()`. The tasks are processes of this machine, or on Ray,
Slurm or Kubernetes.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tensorloom.cli.command import Command

if TYPE_CHECKING:
    from tensorloom.cluster.launch.job import Job, Task

# How often a task that died is started again, where no other number is given. A
# program that is wrong should say so at once on the machine where it is written.
_RESTARTS = {"local": 0, "ray": 5}


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--ps", type=int, help="parameter servers (default: 1)")
    parser.add_argument("--workers", type=int, default=1, help="workers")
    parser.add_argument(
        "--chief", action="store_true", help="a task of the job chief beside them"
    )
    parser.add_argument(
        "--join",
        action="store_true",
        help="join the job whose members are at TENSORLOOM_COORDINATION, with further "
        "workers (--ps is 0 then, if it is not given)",
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
    parser.add_argument(
        "--restarts",
        type=int,
        metavar="N",
        help="how often each task that died is started again (default: "
        f"{_RESTARTS['ray']}, and {_RESTARTS['local']} on this machine)",
    )
    parser.add_argument(
        "--back-off",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="the pause before the first restart; the next one is twice as long",
    )
    parser.add_argument(
        "--progress",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="how often to say how fast the tasks are (default: 60; 0: never)",
    )
    parser.add_argument(
        "--cpus-per-task", type=float, default=1.0, metavar="N", help="kept for each"
    )
    parser.add_argument(
        "--gpus-per-worker", type=float, default=0.0, metavar="N", help="kept for each"
    )
    _add_places(parser)
    parser.add_argument("script", help="a Python program that imports tensorflow")
    parser.add_argument(
        "arguments", nargs=argparse.REMAINDER, help="the program's own arguments"
    )


def _add_places(parser: argparse.ArgumentParser) -> None:
    places = parser.add_mutually_exclusive_group()
    for name, where in (
        ("ray", "on the nodes of a Ray cluster"),
        ("slurm", "as a Slurm job: prints its script, or submits it"),
        ("kubernetes", "on Kubernetes: prints its manifests, or applies them"),
    ):
        places.add_argument(
            f"--{name}", dest="where", action="store_const", const=name, help=where
        )
    ray = parser.add_argument_group("Ray")
    ray.add_argument(
        "--address", help="of the cluster (default: RAY_ADDRESS, or a new one here)"
    )
    ray.add_argument(
        "--strategy",
        default="SPREAD",
        choices=["SPREAD", "PACK", "STRICT_SPREAD", "STRICT_PACK"],
        help="of the placement group (default: SPREAD)",
    )
    ray.add_argument(
        "--runtime-env",
        metavar="JSON",
        help="what Ray makes ready on each node: JSON, or a file of it",
    )
    batch = parser.add_argument_group("Slurm and Kubernetes")
    batch.add_argument(
        "--submit", action="store_true", help="submit it, with sbatch or kubectl"
    )
    batch.add_argument("--name", default="tensorloom", help="of the job")
    batch.add_argument("--port", type=int, default=2222, help="of each task")
    batch.add_argument("--image", help="of the containers (Kubernetes)")
    batch.add_argument(
        "--namespace", default="default", help="of the pods (Kubernetes)"
    )
    batch.add_argument(
        "--sbatch",
        action="append",
        default=[],
        metavar="OPTION",
        help="a further line for sbatch, such as --sbatch=--time=2:00:00 (Slurm)",
    )


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.cluster.launch import launch
    from tensorloom.framework import errors

    where = options.where or "local"
    try:
        return launch(_job(options, where), where, **_options_of(options, where))
    except (ValueError, ImportError, errors.OpError) as error:
        print(f"tensorloom cluster: {error}", file=sys.stderr)
        return 2


def _job(options: argparse.Namespace, where: str) -> Job:
    from tensorloom.cluster.launch import Job, Restarts

    limit = options.restarts
    if limit is None:
        limit = _RESTARTS.get(where, _RESTARTS["ray"])
    return Job(
        options.script,
        options.arguments,
        {
            "chief": int(options.chief),
            "ps": int(not options.join) if options.ps is None else options.ps,
            "worker": options.workers,
        },
        options.flags,
        restarts=Restarts(limit, options.back_off),
        grace_s=options.grace,
        progress_s=options.progress,
        cpus_per_task=options.cpus_per_task,
        gpus_per_worker=options.gpus_per_worker,
        others=_members() if options.join else {},
    )


def _members() -> dict[Task, str]:
    """The tasks of the job that is to be joined."""
    from tensorloom.cluster.launch.job import Task
    from tensorloom.cluster.membership import MembershipClusterResolver

    spec = MembershipClusterResolver().cluster_spec()
    found = {
        Task(job, index): spec.task_address(job, index)
        for job in spec.jobs
        for index in spec.task_indices(job)
    }
    if not found:
        raise ValueError("the job that is to be joined has no members")
    return found


def _options_of(options: argparse.Namespace, where: str) -> dict[str, Any]:
    if where == "ray":
        return {
            "address": options.address,
            "strategy": options.strategy,
            "runtime_env": _runtime_env(options.runtime_env),
        }
    names = {
        "slurm": ["name", "port", "submit", "sbatch"],
        "kubernetes": ["name", "port", "submit", "image", "namespace"],
    }
    return {name: getattr(options, name) for name in names.get(where, [])}


def _runtime_env(given: str | None) -> dict[str, Any]:
    if not given:
        return {}
    text = Path(given).read_text() if Path(given).is_file() else given
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ValueError(f"--runtime-env is no JSON: {error}") from None
    if not isinstance(found, dict):
        raise ValueError("--runtime-env is no JSON object")
    return found


COMMAND = Command(
    name="cluster",
    summary="run a script on a cluster: of this machine, Ray, Slurm or Kubernetes",
    add_arguments=_add_arguments,
    execute=_execute,
)
