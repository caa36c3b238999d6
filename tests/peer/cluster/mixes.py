"""Clusters of a ps and a worker, of any mix of systems, and programs on them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.cluster.clusters import free_ports
from tests.peer.peers import python_of

FOLDER = Path(__file__).parent
ROOT = FOLDER.parent.parent.parent
OURS = "tensorloom"


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


def python_for(system: str) -> str | None:
    """The interpreter of a system."""
    if system == OURS:
        return sys.executable
    found = python_of(system)
    return str(found) if found else None


def environment(system: str) -> dict[str, str]:
    """What a process of a system sees."""
    variables = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    if system == OURS:
        variables["PYTHONPATH"] = str(ROOT)
    return variables


@contextmanager
def running(
    system: str, cluster: dict[str, list[str]], job: str, task: int = 0
) -> Iterator[None]:
    """A task in a process of its own, ready to answer."""
    python = python_for(system)
    assert python is not None
    process = subprocess.Popen(
        [python, str(FOLDER / "serve.py"), system, json.dumps(cluster), job, str(task)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=environment(system),
    )
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line.strip() == b"ready", f"the {job} of {system} did not start"
        yield
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def run_programs(mix: Mix, modules: str) -> dict[str, dict[str, Any]]:
    """The outcomes of all programs of some modules on a mix, by program."""
    ports = free_ports(3 if mix.other else 2)
    cluster = {
        "ps": [f"localhost:{ports[0]}"],
        "worker": [f"localhost:{port}" for port in ports[1:]],
    }
    python = python_for(mix.client)
    assert python is not None
    with ExitStack() as stack:
        stack.enter_context(running(mix.ps, cluster, "ps"))
        stack.enter_context(running(mix.worker, cluster, "worker"))
        if mix.other:
            stack.enter_context(running(mix.other, cluster, "worker", 1))
        done = subprocess.run(
            [
                python,
                str(FOLDER / "running.py"),
                mix.client,
                f"grpc://localhost:{ports[1]}",
                *modules.split(),
            ],
            capture_output=True,
            env=environment(mix.client),
            timeout=550,
            check=False,
        )
    outcomes = {}
    for line in done.stdout.decode().splitlines():
        found = json.loads(line)
        outcomes[found.pop("name")] = found
    assert outcomes, done.stderr.decode()[-2000:]
    return outcomes
