"""`tensorloom status`: what the tasks of a cluster are doing."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field

from tensorloom.cli.command import Command


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--cluster",
        help="the tasks, as `tensorloom server` takes them (default: those of the jobs "
        "that this user has launched here, else of TENSORLOOM_COORDINATION)",
    )
    parser.add_argument(
        "--interval",
        type=float,
        default=1.0,
        metavar="SECONDS",
        help="between the two looks that rates are made of (default: 1)",
    )
    parser.add_argument(
        "--timeout",
        type=float,
        default=5.0,
        metavar="SECONDS",
        help="how long a task may take to answer (default: 5)",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a line")


@dataclass
class _Cluster:
    """Tasks to be asked."""

    title: str
    addresses: Mapping[str, str]  # by `job index`
    restarts: Mapping[str, int] = field(default_factory=dict)
    token: str | None = None  # None: what the environment says


def _execute(options: argparse.Namespace) -> int:
    from tensorloom.cluster.launch.progress import lines_of, look
    from tensorloom.framework import errors
    from tensorloom.transport.peers import security

    try:
        clusters = _clusters(options.cluster)
    except (ValueError, TypeError, ImportError, errors.OpError) as error:
        print(f"tensorloom status: {error}", file=sys.stderr)
        return 2
    if not clusters:
        print(
            "tensorloom status: no job was launched here that runs; name the tasks: "
            "--cluster, or TENSORLOOM_COORDINATION",
            file=sys.stderr,
        )
        return 1
    for cluster in clusters:
        if cluster.token is not None:
            security.configure(security.tls(), cluster.token)
        rows = look(
            cluster.addresses, cluster.restarts, options.interval, options.timeout
        )
        if options.json:
            for row in rows:
                print(json.dumps(row))
        else:
            print(cluster.title)
            for row in rows:
                print("\n".join(f"  {line}" for line in lines_of(row)))
    return 0


COMMAND = Command(
    name="status",
    summary="the tasks of clusters: steps a second, bytes, checkpoints, incarnations",
    add_arguments=_add_arguments,
    execute=_execute,
)


def _clusters(given: str | None) -> list[_Cluster]:
    from tensorloom.cluster.launch.running import running_jobs
    from tensorloom.coordination.coordinator import VARIABLE
    from tensorloom.coordination.writers import job_coordinator

    if given:
        from tensorloom.cli.server import parse_cluster
        from tensorloom.train.cluster_spec import ClusterSpec

        spec = ClusterSpec(parse_cluster(given))
        return [
            _Cluster(
                given,
                {
                    f"{job} {index}": spec.task_address(job, index)
                    for job in spec.jobs
                    for index in spec.task_indices(job)
                },
            )
        ]
    jobs = [
        _Cluster(f"{j.program} (launcher {j.pid})", j.addresses, j.restarts, j.token)
        for j in running_jobs()
    ]
    coordinator = None if jobs else job_coordinator()
    if coordinator is not None:
        from tensorloom.cluster.membership import GROUP, tasks_of

        found = tasks_of(coordinator.group(GROUP).members())
        tasks = {f"{job} {index}": address for (job, index), address in found.items()}
        jobs = [_Cluster(f"members at {VARIABLE}", tasks)]
    return jobs
