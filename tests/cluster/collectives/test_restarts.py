"""A member that is restarted while the others are in a step with its last life."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.transport.negotiated import TRANSPORT_VARIABLE
from tensorloom.worker.collective.task_collectives import TaskCollectives
from tensorloom.worker.run.step_table import StepRendezvous
from tests.cluster.clusters import free_ports

pytestmark = pytest.mark.timeout(300)

SIZE = 3
LEADER = "/job:worker/replica:0/task:0"
MEMBER = "/job:worker/replica:0/task:2"
LIMIT = tf.RunOptions(timeout_in_ms=60_000)
SOON = tf.RunOptions(timeout_in_ms=200)


class _Tasks:
    """Servers of this process, which can be stopped and started again."""

    def __init__(self) -> None:
        self._spec = {"worker": [f"localhost:{port}" for port in free_ports(SIZE)]}
        self.servers = {index: self._server(index) for index in range(SIZE)}

    def _server(self, index: int) -> Any:
        return tf.train.Server(self._spec, job_name="worker", task_index=index)

    def restart(self, index: int) -> None:
        self.servers[index].stop()
        self.servers[index] = self._server(index)

    def stop(self) -> None:
        for server in self.servers.values():
            server.stop()


@pytest.fixture(params=["sockets", "grpc"])
def tasks(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[_Tasks]:
    if request.param == "grpc":
        monkeypatch.setenv(TRANSPORT_VARIABLE, "grpc")
    with ExitStack() as stack:
        made = _Tasks()
        stack.callback(made.stop)
        yield made


class _Member:
    """A session of one task, and what it is fed; its steps run in threads."""

    def __init__(self, tasks: _Tasks, index: int) -> None:
        config = tf.ConfigProto(device_filters=[f"/job:worker/task:{index}"])
        config.experimental.collective_group_leader = LEADER
        with tf.Graph().as_default(), tf.device(f"/job:worker/task:{index}"):
            self._given = tf.placeholder(tf.float32, [2])
            self._fetch = self._sum(1)
            self._lonely = self._sum(2)
            target = tasks.servers[index].target
            self._session = tf.Session(target, config=config)
        self.outcomes: list[Any] = []

    def _sum(self, key: int) -> Any:
        return tf.raw_ops.CollectiveReduce(
            input=self._given,
            group_size=SIZE,
            group_key=1,
            instance_key=key,
            merge_op="Add",
            final_op="Id",
            subdiv_offsets=[],
        )

    def lose_trust(self) -> None:
        """Fails in a step of another graph, which makes it ask who the others are."""
        with pytest.raises(tf.errors.DeadlineExceededError):
            self._session.run(self._lonely, {self._given: [0, 0]}, options=SOON)

    def start(self, value: float, attempts: int = 1) -> None:
        """Begins a step; one that fails is done again."""
        self._thread = threading.Thread(target=self._run, args=(value, attempts))
        self._thread.start()

    def _run(self, value: float, attempts: int) -> None:
        for _ in range(attempts):
            feeds = {self._given: np.full(2, value, np.float32)}
            try:
                got = self._session.run(self._fetch, feeds, options=LIMIT)
            except tf.errors.OpError as error:
                self.outcomes.append(error)
            else:
                self.outcomes.append(float(got[0]))
                return

    def join(self) -> list[Any]:
        """The outcomes of its attempts since the last call."""
        self._thread.join(250)
        assert not self._thread.is_alive()
        outcomes, self.outcomes = self.outcomes, []
        return outcomes

    def close(self) -> None:
        with suppress(tf.errors.OpError):  # its task may be another by now
            self._session.close()


def test_nobody_mixes_two_lives_of_a_member(
    tasks: _Tasks, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The leader has a value of the last life; another member meets the new one."""
    took, asked = threading.Event(), threading.Event()
    deliver, begin_step = StepRendezvous.deliver, TaskCollectives.begin_step

    def noted_delivery(self: Any, key: str, value: Any, is_dead: bool) -> None:
        deliver(self, key, value, is_dead)
        if key.startswith(MEMBER) and self._task == LEADER:
            took.set()

    def noted_begin(self: Any, *args: Any) -> int:
        step_id = begin_step(self, *args)
        if self.task == MEMBER:
            asked.set()
        return step_id

    monkeypatch.setattr(StepRendezvous, "deliver", noted_delivery)
    monkeypatch.setattr(TaskCollectives, "begin_step", noted_begin)
    members = [_Member(tasks, index) for index in range(SIZE)]
    try:
        for member, value in zip(members, (1, 2, 4), strict=True):
            member.start(value)
        assert [member.join() for member in members] == [[7]] * SIZE
        members[1].lose_trust()
        took.clear()
        members[0].start(1, attempts=5)
        members[2].start(4)
        assert took.wait(120)
        tasks.restart(2)
        assert isinstance(members[2].join()[0], tf.errors.OpError)
        members[2].close()
        asked.clear()
        members[2] = _Member(tasks, 2)
        members[2].start(1000, attempts=5)
        assert asked.wait(120)
        members[1].start(2, attempts=5)
        heard = members[0].join()
        assert len(heard) > 1, "the leader has not heard that its step failed"
        for outcomes in (heard, members[1].join(), members[2].join()):
            *failed, found = outcomes
            assert found == 1003, outcomes
            assert all(isinstance(error, tf.errors.OpError) for error in failed)
    finally:
        for member in members:
            member.close()
