"""Jobs on the nodes of a real Ray cluster, which are killed in the middle."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest

from tensorloom.coordination.coordinator import LEASE_VARIABLE, VARIABLE
from tensorloom.transport.peers.security import TOKEN_VARIABLE
from tests.coordination.services import Etcd

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("default")]
ROOT = Path(__file__).parents[3]
# Of each node; nothing of ours is stored there.
STORE_BYTES = 80 << 20


def _started(start: Callable[[], Any]) -> Any:
    """Starts a node.

    Ray gives it 30 s, which is not always enough on a busy machine. What was given up
    ends by itself.
    """
    for left in reversed(range(5)):
        try:
            return start()
        except Exception as error:
            if not left or "timed out during startup" not in str(error):
                raise
    return None


class Nodes:
    """A Ray cluster of so many nodes with a CPU each, and a head with none."""

    def __init__(self, count: int) -> None:
        from ray.cluster_utils import Cluster

        head = {"num_cpus": 0, "object_store_memory": STORE_BYTES}
        self._cluster: Any = _started(
            lambda: Cluster(initialize_head=True, head_node_args=head)
        )
        self.address: str = self._cluster.address
        for _ in range(count):
            self.add()
        self._cluster.connect()

    def add(self) -> None:
        """Adds a node."""
        _started(
            lambda: self._cluster.add_node(num_cpus=1, object_store_memory=STORE_BYTES)
        )

    def kill_that_of(self, bundle: int, tasks: int | None = None) -> None:
        """Kills the node that runs a task, and adds another one in its place.

        Args:
          bundle: of the task, in its job's group.
          tasks: how many its job has, where there are several jobs.
        """
        import ray

        (table,) = [
            group
            for group in ray.util.placement_group_table().values()
            if group["state"] == "CREATED"
            and tasks in (None, len(group["bundles_to_node_id"]))
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

    def __init__(
        self, address: str, *arguments: str, environment: dict[str, str] | None = None
    ) -> None:
        command = [sys.executable, "-m", "tensorloom", "cluster", "--ray"]
        self._process = subprocess.Popen(
            [*command, "--address", address, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT), **(environment or {})},
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
    """The example, which is not done before there is a file `done` beside it."""
    text = (ROOT / "examples" / "digits_ps.py").read_text()
    loop = "while done < STEPS:"
    assert loop in text
    done = str(tmp_path / "done")
    path = tmp_path / "digits_ps.py"
    path.write_text(
        text.replace(loop, f"while done < STEPS or not os.path.exists({done!r}):")
    )
    return str(path)


@pytest.mark.timeout(1200)
def test_nodes_are_killed_and_digits_are_learnt(digits: str, tmp_path: Path) -> None:
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
            (tmp_path / "done").touch()
            output = run.finish()
        finally:
            run.close()
    assert len(learnt(output)) == 2, output
    assert min(learnt(output)) >= 97.0


def learnt(output: str) -> list[float]:
    """How much of the digits each worker has found right, in percent."""
    found = re.findall(r"\[worker \d\] test accuracy (\S+) %", output)
    return [float(part) for part in found]


@pytest.mark.timeout(1200)
def test_a_third_worker_joins_while_nodes_are_killed(
    digits: str, tmp_path: Path
) -> None:
    """With the members at etcd; it is another launcher that finds them there."""
    with closing(Etcd(tmp_path)) as etcd, nodes(4) as cluster:
        environment = {
            VARIABLE: etcd.url() + "?namespace=digits",
            LEASE_VARIABLE: "5",
            TOKEN_VARIABLE: "known to all tasks of the job",
        }
        healing = ["--restarts", "10", "--back-off", "0.5"]
        run = Launch(
            cluster.address,
            *["--ps", "1", "--workers", "2", *healing, digits],
            environment=environment,
        )
        third = None
        try:
            run.read_until(r"\[worker 1\] step")
            third = Launch(
                cluster.address,
                *["--join", "--workers", "1", *healing, digits],
                environment=environment,
            )
            third.read_until(r"\[worker 2\] step")
            cluster.kill_that_of(2, tasks=3)
            run.read_until("worker 1 is started again, at")
            cluster.kill_that_of(0, tasks=3)
            run.read_until("ps 0 is started again, at")
            third.read_until(r"\[worker 2\] step")
            (tmp_path / "done").touch()
            output = run.finish()
        finally:
            run.close()
            if third is not None:
                third.close()
    assert len(learnt(output)) == 2, output
    assert min(learnt(output)) >= 97.0
