"""Changes of plan in whose middle a leader or a server is lost."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.elastic.leader import Leader
from tests.elastic.jobs import (
    SHARDS,
    Job,
    Program,
    eventually,
    job,
    open_session,
    servers_of,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Job]:
    """A job with a server."""
    with job(tmp_path) as one:
        one.add_server(0)
        yield one


def test_a_leader_that_is_replaced_in_a_change(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was stopped after it had copied: when it wakes up its plan is refused."""
    sessions, programs = [], []
    for index in range(2):
        with tf.Graph().as_default():
            programs.append(Program(index))
            sessions.append(open_session(made, made.worker(index), is_chief=not index))
    first, second = sessions
    first.run(programs[0].train)
    leader = first._tf_sess()._leader
    has_copied, wakes_up = threading.Event(), threading.Event()
    move = Leader._move

    def move_and_sleep(self: Leader, change: Any, ready: Any) -> int:
        moved = move(self, change, ready)
        if self is leader:
            has_copied.set()
            wakes_up.wait(300)
        return moved

    monkeypatch.setattr(Leader, "_move", move_and_sleep)
    published = []
    publish = leader._job.publish

    def publish_and_tell(plan: Any) -> None:
        try:
            publish(plan)
        except tf.errors.AbortedError:
            published.append(plan.version)
            raise

    monkeypatch.setattr(leader._job, "publish", publish_and_tell)
    made.add_server(1)
    assert has_copied.wait(300)
    held = leader._job.lock._held
    leader._job.coordinator.give_back(held)  # its lease has ended
    assert eventually(lambda: servers_of(second) == {0, 1})
    version = second._tf_sess().plan.version
    second.run(programs[1].train)
    wakes_up.set()
    assert eventually(lambda: published != [])
    assert published == [version - 1]
    first.run(programs[0].train)
    for session, program in zip(sessions, programs, strict=True):
        assert session._tf_sess().plan.version == version
        assert session.run(program.first_elements) == [3.0] * SHARDS
    for session in sessions:
        session.close()


def test_a_server_that_dies_in_a_change(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another change is made, without it; its shards begin anew."""
    made.add_server(1)
    program = Program()
    with open_session(made, made.worker(), servers=2) as session:
        session.run(program.train)
        before = session._tf_sess().plan
        move = Leader._move
        killed: list[int] = []

        def kill_and_move(self: Leader, change: Any, ready: Any) -> int:
            if not killed:
                killed.append(1)
                made.kill(1)
            return move(self, change, ready)

        monkeypatch.setattr(Leader, "_move", kill_and_move)
        made.add_server(2)
        assert eventually(lambda: servers_of(session) == {0, 2})
        values = session.run(program.first_elements)
        for shard, value in zip(program.shards, values, strict=True):
            assert value == (0.0 if before.homes[shard].server == 1 else 1.0)
