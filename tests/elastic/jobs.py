"""An elastic job in the test's own process: servers that come, leave and die."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
import tensorloom.elastic as elastic
from tensorloom.coordination import open_coordinator
from tensorloom.coordination.coordinator import Coordinator
from tests.cluster import processes
from tests.cluster.clusters import free_ports

# Nobody is to be taken for dead because the machine is busy.
_LEASE_S = 600.0
#: Of the programs here.
SHARDS = 4
#: Workers look after each other so often here.
POLL_S = 0.005


class Job:
    """Tasks with a server each, and a directory for a lock service."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._opened: list[Coordinator] = []
        self._servers: dict[int, tuple[tf.train.Server, elastic.ElasticServer]] = {}
        self._workers: list[tf.train.Server] = []

    def coordinator(self) -> Coordinator:
        """A connection like that of another process."""
        url = f"file://{self.directory}/locks"
        self._opened.append(open_coordinator(url, _LEASE_S))
        return self._opened[-1]

    def add_server(self, index: int) -> tf.train.Server:
        """Starts a parameter server, which joins."""
        server = _server("ps", index)
        member = elastic.ElasticServer(server, self.coordinator())
        self._servers[index] = server, member
        return server

    def kill(self, index: int) -> None:
        """Ends a server with all that it holds; its lease has ended, too."""
        server, member = self._servers.pop(index)
        server.stop()
        member.stop()

    def leave(self, index: int) -> tf.train.Server:
        """Has a server ask to leave; `has_left` says when it has."""
        server, member = self._servers[index]
        member.leave()
        return server

    def has_left(self, index: int) -> bool:
        """Whether a server that asked to leave has no shards any more."""
        return self._servers[index][1].wait(0.0)

    def member(self, index: int) -> elastic.ElasticServer:
        """A server's membership."""
        return self._servers[index][1]

    def worker(self, index: int = 0) -> tf.train.Server:
        """Starts a worker's task."""
        self._workers.append(_server("worker", index))
        return self._workers[-1]

    def close(self) -> None:
        """Ends all."""
        for index in list(self._servers):
            self.kill(index)
        for worker in self._workers:
            worker.stop()
        for coordinator in self._opened:
            coordinator.close()


def _server(job: str, index: int) -> tf.train.Server:
    address = f"localhost:{free_ports(1)[0]}"
    return tf.train.Server({job: {index: address}}, job, index)


@contextmanager
def job(directory: Path) -> Iterator[Job]:
    """A job without tasks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Coordinator, "poll_s", lambda self: POLL_S)
        made = Job(directory)
        try:
            yield made
        finally:
            made.close()


class Program:
    """Adds one to variables of both kinds, which have a slot each, in each step."""

    def __init__(self, worker: int = 0) -> None:
        device = f"/job:worker/task:{worker}"
        with tf.device(tf.train.replica_device_setter(SHARDS, worker_device=device)):
            self.step = tf.train.get_or_create_global_step()
            zeros = tf.zeros_initializer()
            self.variables = [
                tf.get_variable(
                    f"v{n}", [50], use_resource=n % 2 == 1, initializer=zeros
                )
                for n in range(SHARDS)
            ]
            self.fed = tf.placeholder_with_default(1.0, [])
            loss = -self.fed * tf.add_n([tf.reduce_sum(v) for v in self.variables])
            optimizer = tf.train.MomentumOptimizer(1.0, 0.0)
            self.train = optimizer.minimize(loss, global_step=self.step)
            self.slots = [
                optimizer.get_slot(v, "momentum").read_value()[7]
                for v in self.variables
            ]
            self.first_elements = [v.read_value()[0] for v in self.variables]
            self.shards = [
                tf.DeviceSpec.from_string(v.device).task for v in self.variables
            ]
            elements = tf.data.Dataset.range(10_000).make_initializable_iterator()
            tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, elements.initializer)
            self.element = elements.get_next()


def open_session(made: Job, server: tf.train.Server, **options: Any) -> Any:
    """A training of a job without summaries and, if not asked for, checkpoints."""
    return elastic.MonitoredTrainingSession(
        server,
        save_summaries_steps=None,
        log_step_count_steps=None,
        coordinator=made.coordinator(),
        **{"save_checkpoint_secs": None, **options},
    )


def eventually(condition: Callable[[], bool]) -> bool:
    """Whether a condition comes true, on a busy machine too."""
    return processes.eventually(condition, 300.0)


def step_until(session: Any, step: Any, condition: Callable[[], bool]) -> Any:
    """Makes steps until a condition comes true; returns what the last one gave."""
    while not condition():
        found = session.run(step)
    return found


def servers_of(session: Any) -> set[int]:
    """The servers that have shards."""
    plan = session._tf_sess().plan
    return set() if plan is None else {home.server for home in plan.homes.values()}
