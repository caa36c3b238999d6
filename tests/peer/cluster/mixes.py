"""Clusters of a ps and a worker, of any mix of systems, and programs on them."""

from __future__ import annotations

import json
import tempfile
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from tests.cluster.clusters import free_ports
from tests.peer.cluster.processes import Processes, python_for


@dataclass(frozen=True)
class Mix:
    """Which system runs the ps, the worker with the master, and the client."""

    ps: str
    worker: str
    client: str
    other: str = ""  # a second worker, if there is one

    def __str__(self) -> str:
        second = f" other={self.other}" if self.other else ""
        return f"ps={self.ps} master={self.worker}{second} client={self.client}"

    @property
    def systems(self) -> list[str]:
        """All of them, the client's first."""
        return [s for s in (self.client, self.worker, self.ps, self.other) if s]

    @property
    def is_here(self) -> bool:
        """Whether all its systems are installed."""
        return all(python_for(s) for s in self.systems)


def run_programs(
    processes: Processes, mix: Mix, modules: str
) -> dict[str, dict[str, Any]]:
    """The outcomes of all programs of some modules on a new cluster, by program."""
    ports = free_ports(3 if mix.other else 2)
    cluster = {
        "ps": [f"localhost:{ports[0]}"],
        "worker": [f"localhost:{port}" for port in ports[1:]],
    }
    tasks = [(mix.ps, "ps", 0), (mix.worker, "worker", 0), (mix.other, "worker", 1)]
    outcomes = {}
    with ExitStack() as stack:
        errors = stack.enter_context(tempfile.TemporaryFile())
        servers = [
            stack.enter_context(
                processes.running(
                    errors, system, "serve", system, json.dumps(cluster), job, str(task)
                )
            )
            for system, job, task in tasks
            if system
        ]
        for server in servers:
            assert server.readline() == b"ready\n", told(errors)
        target = f"grpc://localhost:{ports[1]}"
        client = processes.running(
            errors, mix.client, "running", mix.client, target, *modules.split()
        )
        for line in stack.enter_context(client):
            found = json.loads(line)
            outcomes[found.pop("name")] = found
        assert outcomes, told(errors)
    return outcomes


def told(errors: Any) -> str:
    """The end of what processes wrote to their standard error."""
    errors.seek(0)
    return str(errors.read().decode()[-2000:])
