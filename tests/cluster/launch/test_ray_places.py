"""Jobs on the nodes of a real Ray cluster, which are killed in the middle."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("default")]
ROOT = Path(__file__).parents[3]
# Of each node; nothing of ours is stored there.
STORE_BYTES = 80 << 20


class Nodes:
    """A Ray cluster of so many nodes with a CPU each, and a head with none."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        self._cluster: Any = Cluster(
            initialize_head=True,
            head_node_args={"num_cpus": 0, "object_store_memory": STORE_BYTES},
        )
        self.address: str = self._cluster.address
        for _ in range(count):
            self.add()
        self._cluster.connect()

    def add(self) -> None:
        """Adds a node."""
        self._cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)

    def kill_that_of(self, bundle: int) -> None:
        """Kills the node that runs a task, and adds another one in its place."""
        import ray

        (table,) = [
            group
            for group in ray.util.placement_group_table().values()
            if group["state"] == "CREATED"
        ]
        lost = table["bundles_to_node_id"][bundle]
        (node,) = [n for n in self._cluster.list_all_nodes() if n.node_id == lost]
        self._cluster.remove_node(node, allow_graceful=False)
        self.add()

    def close(self) -> None:
        """Ends all nodes."""
        import ray

        ray.shutdown()
        self._cluster.shutdown()


@contextmanager
def nodes(count: int) -> Iterator[Nodes]:
    """A cluster that is ended."""
    cluster = Nodes(count)
    try:
        yield cluster
    finally:
        cluster.close()


class Launch:
    """`tensorloom cluster --ray`, whose lines are read."""

    def __init__(self, address: str, *arguments: str) -> None:
        command = [sys.executable, "-m", "tensorloom", "cluster", "--ray"]
        self._process = subprocess.Popen(
            [*command, "--address", address, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        self.lines: list[str] = []

    def read_until(self, pattern: str) -> None:
        """Reads up to a line with a pattern."""
        assert self._process.stdout is not None
        for line in self._process.stdout:
            self.lines.append(line)
            if re.search(pattern, line):
                return
        pytest.fail(f"no {pattern!r} in:\n{''.join(self.lines)}")

    def finish(self) -> str:
        """What it has printed, all in all, when it has ended well."""
        assert self._process.stdout is not None
        self.lines += self._process.stdout
        output = "".join(self.lines)
        assert self._process.wait(120) == 0, output
        return output

    def close(self) -> None:
        """Ends it."""
        self._process.kill()
        self._process.wait(120)
        assert self._process.stdout is not None
        self._process.stdout.close()


@pytest.fixture
def digits(tmp_path: Path) -> str:
    """The example, with so many steps that it is not done before the nodes are dead."""
    text = (ROOT / "examples" / "digits_ps.py").read_text()
    longer = text.replace("STEPS = 3000 ", "STEPS = 8000 ")
    assert longer != text
    path = tmp_path / "digits_ps.py"
    path.write_text(longer)
    return str(path)


@pytest.mark.timeout(1200)
def test_nodes_are_killed_and_digits_are_learnt(digits: str) -> None:
    """A worker's node, then the parameter server's, while the example trains."""
    with nodes(3) as cluster:
        run = Launch(
            cluster.address,
            *["--ps", "1", "--workers", "2", "--restarts", "10", "--back-off", "0.5"],
            digits,
        )
        try:
            run.read_until(r"\[worker 1\] step")
            cluster.kill_that_of(2)  # ps 0, worker 0, worker 1
            run.read_until("worker 1 is started again, at")
            run.read_until(r"\[worker 1\] step")
            cluster.kill_that_of(0)
            run.read_until("ps 0 is started again, at")
            output = run.finish()
        finally:
            run.close()
    found = re.findall(r"\[worker \d\] test accuracy (\S+) %", output)
    assert len(found) == 2, output
    assert min(map(float, found)) >= 97.0
