"""Members of collectives that are killed, restarted or silent, with real processes."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.transport.negotiated import TRANSPORT_VARIABLE
from tensorloom.transport.peers import liveness
from tests.cluster.processes import LIMIT_S, Processes, processes

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow, pytest.mark.timeout(200)]

SIZE = 3
LEADER, MEMBER = 0, 2
LOST = (tf.errors.UnavailableError, tf.errors.AbortedError)
# Nobody should wait so long; who does has lost its way.
LIMIT = tf.RunOptions(timeout_in_ms=20_000)


@pytest.fixture(params=["sockets", "grpc"])
def tasks(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[Processes]:
    if request.param == "grpc":
        monkeypatch.setenv(TRANSPORT_VARIABLE, "grpc")
    monkeypatch.setattr(liveness, "task_timeout_s", lambda: LIMIT_S)
    with processes({}, worker=SIZE) as cluster:
        yield cluster


class _Member:
    """One task's session, whose step sums a value of each task."""

    def __init__(self, tasks: Processes, index: int) -> None:
        task = f"/job:worker/task:{index}"
        config = tf.ConfigProto(device_filters=[task])
        config.experimental.collective_group_leader = "/job:worker/replica:0/task:0"
        with tf.Graph().as_default(), tf.device(task):
            self._sum = tf.raw_ops.CollectiveReduce(
                input=tf.random_uniform([2]) * 0.0 + (index + 1.0),
                group_size=SIZE,
                group_key=1,
                instance_key=1,
                merge_op="Add",
                final_op="Id",
                subdiv_offsets=[],
            )
            self._session = tf.Session(tasks.target("worker", index), config=config)
        self.outcome: Any = None

    def start(self, attempts: int = 1) -> _Member:
        """Begins a step; one that fails is done again."""
        self._thread = threading.Thread(target=self._run, args=(attempts,))
        self._thread.start()
        return self

    def _run(self, attempts: int) -> None:
        for _ in range(attempts):
            try:
                self.outcome = self._session.run(self._sum, options=LIMIT)
                return
            except tf.errors.OpError as error:
                self.outcome = error

    def result(self) -> Any:
        """What the step gives, or its error."""
        self._thread.join(150)
        assert not self._thread.is_alive()
        return self.outcome

    def close(self) -> None:
        """Ends the session, which may be lost."""
        with suppress(tf.errors.OpError):
            self._session.close()


def assert_all_sum(members: list[_Member], attempts: int = 1) -> None:
    for member in [member.start(attempts) for member in members]:
        np.testing.assert_array_equal(member.result(), [6.0, 6.0])


@pytest.mark.parametrize("victim", [LEADER, MEMBER], ids=["leader", "member"])
@pytest.mark.parametrize("what", ["killed", "restarted", "silent"])
def test_a_lost_member_ends_the_waits_of_all(
    tasks: Processes, victim: int, what: str
) -> None:
    """Nobody waits on; with the task back, new sessions that try again go on."""
    members = [_Member(tasks, index) for index in range(SIZE)]
    assert_all_sum(members)
    others = [member for index, member in enumerate(members) if index != victim]
    if what == "restarted":  # between two steps
        tasks.kill("worker", victim)
        tasks.start("worker", victim)
    for member in others:
        member.start()
    if what == "killed":
        tasks.kill("worker", victim)
    elif what == "silent":
        tasks.send(signal.SIGSTOP, "worker", victim)
    for member in others:
        assert isinstance(member.result(), LOST), member.outcome
    if what == "killed":
        tasks.start("worker", victim)
    elif what == "silent":
        tasks.send(signal.SIGCONT, "worker", victim)
    for member in members:
        member.close()
    again = [_Member(tasks, index) for index in range(SIZE)]
    # Who has not taken part in the failure hears of it with the first attempt.
    assert_all_sum(again, attempts=5)
    for member in again:
        member.close()
