"""A training whose servers come, leave and die, in one process."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
import tensorloom.dynamic_embedding as de
import tensorloom.elastic as elastic
from tensorloom.elastic import row_sizes
from tensorloom.elastic.leader import Leader
from tests.elastic.jobs import (
    SHARDS,
    Job,
    Program,
    eventually,
    job,
    open_session,
    servers_of,
    step_until,
)


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Job]:
    """A job."""
    with job(tmp_path) as one:
        yield one


def test_servers_join_and_leave(made: Job) -> None:
    """No update is lost or made twice, and the worker's dataset goes on."""
    first = made.add_server(0)
    worker = made.worker()
    program = Program()
    step = [program.element, program.train]
    with open_session(made, worker) as session:
        session.run(step)
        made.add_server(1)
        step_until(session, step, lambda: servers_of(session) == {0, 1})
        session.run(step)
        made.leave(0)
        step_until(session, step, lambda: made.has_left(0))
        element, _ = session.run(step)
        assert session.run(program.first_elements) == [element + 1] * SHARDS
        assert session.run(program.slots) == [-1.0] * SHARDS
        # What has moved is not kept where it was.
        assert servers_of(session) == {1}
        assert not [c for c in first.containers() if c.startswith("elastic.")]


@pytest.mark.slow
def test_rows_of_embeddings_move(made: Job) -> None:
    """With their slots, counts, and keys that are not admitted yet."""
    made.add_server(0)
    with tf.device(tf.train.replica_device_setter(SHARDS)):
        step = tf.train.get_or_create_global_step()
        table = de.get_variable(
            "table",
            dim=2,
            partitioner=tf.fixed_size_partitioner(2),
            initializer=tf.zeros_initializer(),
            filter_option=de.CounterFilter(2),
        )
        keys = tf.placeholder(tf.int64, [None])
        loss = -tf.reduce_sum(table.lookup(keys))
        train = tf.train.AdagradOptimizer(1.0, 1.0).minimize(loss, step)
        size, rows = table.size(), table.lookup([1, 2])
    with open_session(made, made.worker()) as session:
        for _ in range(2):
            session.run(train, {keys: [1, 2]})
        session.run(train, {keys: [7]})
        before = session.run(rows)
        made.add_server(1)
        step_until(session, step, lambda: servers_of(session) == {0, 1})
        made.leave(0)
        step_until(session, step, lambda: made.has_left(0))
        assert session.run(size) == 2
        assert session.run(rows).tolist() == before.tolist()
        session.run(train, {keys: [1, 7]})
        after = session.run(rows)
        # Its second update, and 7's second time.
        assert after[0] == pytest.approx(before[0] + 1 / 3**0.5)
        assert session.run(size) == 3


class _Keyed(Program):
    """With rows of an embedding variable, on a shard and the next one."""

    def __init__(self, first_shard: int) -> None:
        super().__init__()
        shards = itertools.count(first_shard)
        where = tf.train.replica_device_setter(
            SHARDS,
            worker_device="/job:worker/task:0",
            ps_strategy=lambda op: next(shards),
        )
        with tf.device(where):
            table = de.get_variable(
                "table",
                dim=2,
                partitioner=tf.fixed_size_partitioner(2),
                initializer=tf.zeros_initializer(),
            )
            self.keys = tf.placeholder_with_default([1, 2, 3, 4], [None])
            keys = tf.cast(self.keys, tf.int64)
            loss = -tf.reduce_sum(table.lookup(keys))
            train = tf.train.MomentumOptimizer(1.0, 0.0).minimize(loss)
            self.rows = table.lookup(keys)
            self.shards_of_rows = [
                tf.DeviceSpec.from_string(part.device).task for part in table.shards
            ]
        self.train = tf.group(self.train, train)


@pytest.mark.slow
@pytest.mark.parametrize("is_before", [True, False])
def test_rows_count_among_the_bytes(
    made: Job, monkeypatch: pytest.MonkeyPatch, is_before: bool
) -> None:
    """Rows that were there before a server came, and those that come while it is."""
    monkeypatch.setattr(row_sizes, "_EVERY_S", 0.1)
    made.add_server(0)
    if not is_before:
        made.add_server(1)
    # By the variables' bytes alone both of its shards would be at one server.
    program = _Keyed(2 if is_before else 1)
    many = {program.keys: range(4000)}
    with open_session(made, made.worker(), servers=2 - is_before) as session:

        def homes() -> list[int]:
            found = session._tf_sess().plan.homes
            return [found[shard].server for shard in program.shards_of_rows]

        assert len(set(homes())) == 1
        session.run(program.train, many)
        if is_before:
            made.add_server(1)
        # All variables together have less than one part of the rows.
        step_until(session, program.step, lambda: set(homes()) == {0, 1})
        rows = session.run(program.rows, many)
        assert rows.min() == rows.max() == 1.0


def test_the_last_server_stays_as_long_as_there_are_workers(made: Job) -> None:
    """It has what they need, and nobody to give it to."""
    made.add_server(0)
    program = Program()
    with open_session(made, made.worker()) as session:
        made.leave(0)
        assert eventually(lambda: made.member(0)._leaving.lasts)
        session.run(program.train)
        assert not made.has_left(0)
    assert eventually(lambda: made.has_left(0))


def _kill_in_a_step(
    made: Job, patch: pytest.MonkeyPatch, session: Any, program: Program
) -> Any:
    """Kills server 1; nobody takes its shards until a step has failed.

    Returns:
      The plan before.
    """
    inner = session._tf_sess()
    before = inner.plan
    look = Leader._look

    def look_late(self: Leader) -> None:
        if inner._gate.steps.has_failed:
            look(self)

    with patch.context() as patched:
        patched.setattr(Leader, "_look", look_late)
        made.kill(1)
        with pytest.raises(elastic.StepLostError, match="the session goes on"):
            session.run(program.train, {program.fed: 1.0})
    assert servers_of(session) == {0}
    return before


@pytest.mark.slow
def test_a_server_dies(
    made: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its shards are restored from the checkpoint, all others are as they were."""
    made.add_server(0)
    made.add_server(1)
    worker = made.worker()
    program = Program()
    # The first checkpoint is that of step 0.
    options = {"checkpoint_dir": str(tmp_path / "model"), "servers": 2}
    with open_session(made, worker, save_checkpoint_steps=10_000, **options) as session:
        for _ in range(5):
            session.run(program.train)
        before = _kill_in_a_step(made, monkeypatch, session, program)
        values = session.run(program.first_elements)
        lost = {shard for shard, home in before.homes.items() if home.server == 1}
        assert 0 < len(lost) < SHARDS
        for shard, value in zip(program.shards, values, strict=True):
            # The step that was lost may have been made where no server died.
            assert value in ({0.0} if shard in lost else {5.0, 6.0})
        # A step that is fed nothing is followed by another one.
        made.add_server(1)
        step_until(session, program.train, lambda: servers_of(session) == {0, 1})
        assert session.run(program.step) > 5 - 5 * (0 in lost)


@pytest.mark.slow
def test_workers_hold_what_a_dead_server_had(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a checkpoint all of it comes back."""
    made.add_server(0)
    made.add_server(1)
    worker = made.worker()
    program = Program()
    with open_session(made, worker, servers=2, held_copies_secs=3600.0) as session:
        for _ in range(5):
            session.run(program.train)
        held = session._tf_sess()._held
        held.copy()
        session.run(program.train)
        held.copy()
        assert _steps_held(worker) == [6] * SHARDS
        _kill_in_a_step(made, monkeypatch, session, program)
        assert set(session.run(program.first_elements)) <= {6.0, 7.0}
    assert worker.containers() <= {"localhost"}


@pytest.mark.slow
def test_workers_hold_rows_that_a_dead_server_had(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With their slots, beside the variables of the shard."""
    made.add_server(0)
    made.add_server(1)
    worker = made.worker()
    program = _Keyed(1)
    with open_session(made, worker, servers=2, held_copies_secs=3600.0) as session:
        for _ in range(3):
            session.run(program.train)
        session._tf_sess()._held.copy()
        before = _kill_in_a_step(made, monkeypatch, session, program)
        assert {before.homes[s].server for s in program.shards_of_rows} & {1}
        # The step that was lost may have been made.
        assert set(session.run(program.rows).ravel()) <= {3.0, 4.0}
        session.run(program.train)
        assert set(session.run(program.rows).ravel()) <= {4.0, 5.0}
    assert worker.containers() <= {"localhost"}


def _steps_held(worker: tf.train.Server) -> list[int]:
    """The steps of the copies that a worker has."""
    return [
        int(one.value)
        for one in worker._worker.resources()
        if one.container.startswith("elastic.held.") and one.name == "mark"
    ]


@pytest.mark.slow
def test_a_worker_that_comes_later(made: Job) -> None:
    """It trains with the others, wherever shards are by now; the first may leave."""
    made.add_server(0)
    server, other = made.worker(0), made.worker(1)
    with tf.Graph().as_default():
        program = Program()
        first = open_session(made, server)
    first.run(program.train)
    made.add_server(1)
    step_until(first, program.train, lambda: servers_of(first) == {0, 1})
    with tf.Graph().as_default():
        second_program = Program(1)
        second = open_session(made, other, is_chief=False)
    count = first.run(program.step)
    assert second.run([second_program.train, second_program.step])[1] >= count
    first.close()
    # The second one leads now.
    made.leave(0)
    step_until(second, second_program.train, lambda: made.has_left(0))
    made.add_server(2)
    step_until(second, second_program.train, lambda: servers_of(second) == {1, 2})
    count, *values = second.run([second_program.step, *second_program.first_elements])
    assert values == [count] * SHARDS
    second.close()


@pytest.mark.slow
def test_no_worker_runs_ahead(made: Job) -> None:
    """With a bound each waits for the slowest one that is there."""
    made.add_server(0)
    sessions, programs = [], []
    for index in range(2):
        with tf.Graph().as_default():
            programs.append(Program(index))
            sessions.append(
                open_session(
                    made, made.worker(index), is_chief=not index, max_staleness=2
                )
            )
    fast, slow = sessions
    ended: list[int] = []

    def run_ahead() -> None:
        for number in range(6):
            fast.run(programs[0].train)
            ended.append(number)

    thread = threading.Thread(target=run_ahead)
    thread.start()
    # Three steps: with the third it would be more than two ahead for a fourth.
    assert eventually(lambda: len(ended) == 3)
    for made_steps in range(1, 3):
        slow.run(programs[1].train)
        assert eventually(lambda made_steps=made_steps: len(ended) == 3 + made_steps)
    slow.close()  # nobody waits for it any more
    thread.join()
    assert len(ended) == 6
    fast.close()


@pytest.mark.slow
def test_a_bound_that_one_worker_has_alone(made: Job) -> None:
    """The worker that leads does not know of clocks."""
    made.add_server(0)
    with tf.Graph().as_default():
        Program()
        first = open_session(made, made.worker(0))
    with tf.Graph().as_default():
        Program(1)
        second = made.worker(1)
        with pytest.raises(tf.errors.FailedPreconditionError, match="or none of them"):
            open_session(made, second, is_chief=False, max_staleness=1)
    first.close()


def test_a_server_whose_lease_has_ended_runs_no_steps(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may have been stopped for so long that others have its shards."""
    server = made.add_server(0)
    worker = made.worker()
    worker.update_cluster({"ps": {0: server.address}})
    with tf.device("/job:ps/task:0"):
        value = tf.random_uniform([])
    member = made.member(0)
    assert eventually(lambda: member._presence.lasts)
    with tf.Session(worker.target) as session:
        session.run(value)
        # The service does not give it another one yet.
        monkeypatch.setattr(member._presence, "take", lambda: False)
        member._presence._held.ends = 0.0
        with pytest.raises(tf.errors.AbortedError, match="its lease has ended"):
            session.run(value)


def test_accumulators_are_refused(made: Job) -> None:
    """Their workers wait for each other within a step."""
    tf.train.get_or_create_global_step()
    with tf.device("/job:ps/task:0"):
        tf.ConditionalAccumulator(tf.float32, [], name="gradients")
    with pytest.raises(ValueError, match=r"'gradients'.*max_staleness=0"):
        open_session(made, made.worker())
