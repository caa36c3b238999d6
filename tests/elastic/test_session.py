"""Steps that meet a change of plan: those that wait, go on, and are lost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
import tensorloom.elastic as elastic
from tensorloom.elastic.shard_steps import ShardSteps
from tests.elastic.jobs import SHARDS, Job, eventually, job, open_session, servers_of


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Job]:
    """A job with one server."""
    with job(tmp_path) as one:
        one.add_server(0)
        yield one


def _variables() -> list[tf.Variable]:
    with tf.device(tf.train.replica_device_setter(SHARDS)):
        zeros = tf.zeros_initializer()
        return [
            tf.get_variable(f"v{n}", [50], use_resource=bool(n % 2), initializer=zeros)
            for n in range(SHARDS)
        ]


def _first(variables: list[tf.Variable]) -> list[tf.Tensor]:
    return [v.read_value()[0] for v in variables]


def _increment(variables: list[tf.Variable], after: Any) -> Any:
    with tf.control_dependencies([after]):
        return tf.group(*[v.assign_add(tf.ones([50])) for v in variables])


class _Thread(threading.Thread):
    """Makes a step beside the test."""

    def __init__(self, session: Any, step: Any) -> None:
        super().__init__()
        self._session, self._step = session, step
        self.error: Exception | None = None
        self.start()

    def run(self) -> None:
        try:
            self._session.run(self._step)
        except Exception as error:
            self.error = error

    def end(self) -> None:
        """Waits; the step must have been made."""
        self.join(300)
        assert not self.is_alive()
        if self.error is not None:
            raise self.error


def test_what_a_step_waits_for_comes_while_shards_are_to_move(made: Job) -> None:
    """The change waits for the step, and the step for another thread of the worker."""
    variables = _variables()
    with tf.device("/job:worker/task:0"):
        queue = tf.FIFOQueue(2, [tf.float32], [[]])
        fed = tf.placeholder(tf.float32, [])
        enqueue = queue.enqueue([fed])
        step = _increment(variables, queue.dequeue())
    first = _first(variables)
    with open_session(made, made.worker()) as session:
        inner = session._tf_sess()
        thread = _Thread(session, step)
        assert eventually(lambda: inner._gate._counted == 1)
        made.add_server(1)
        assert eventually(lambda: not inner._gate.is_open)
        assert servers_of(session) == {0}
        inner.make_callable(enqueue, [fed])(1.0)
        thread.end()
        assert eventually(lambda: servers_of(session) == {0, 1})
        assert session.run(first) == [1.0] * SHARDS


@pytest.mark.slow
def test_runners_of_queues_outlive_servers(made: Job) -> None:
    """One that waits for room is cancelled with the steps of a dead server."""
    variables = _variables()
    made.add_server(1)
    with tf.device("/job:worker/task:0"):
        queue = tf.FIFOQueue(2, [tf.float32], [[]])
        runner = tf.train.QueueRunner(queue, [queue.enqueue([1.0])])
        step = _increment(variables, queue.dequeue_many(5))
        size = queue.size()
    tf.train.add_queue_runner(runner)
    first = _first(variables)
    with open_session(made, made.worker()) as session:
        session.run(step)
        assert eventually(lambda: servers_of(session) == {0, 1})
        assert eventually(lambda: session.run(size) == 2)
        made.kill(1)
        assert eventually(lambda: servers_of(session) == {0})
        for _ in range(3):
            session.run(step)
        assert min(session.run(first)) >= 3.0
        assert not session.should_stop()


def _gone(
    session: Any, patch: pytest.MonkeyPatch, meanwhile: Callable[[], None]
) -> Callable[[], None]:
    """What a step does in whose middle its worker is gone for a while."""
    inner = session._tf_sess()

    def go() -> None:
        with patch.context() as patched:
            patched.setattr(inner._presence, "take", lambda: False)
            inner._presence.give_back()
            meanwhile()

    return go


def test_a_worker_that_was_gone_in_a_step(
    made: Job, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others do not wait for it: its step is lost if shards have moved, and only so."""
    variables = _variables()
    within: list[Callable[[], None]] = [lambda: None]
    with tf.device("/job:worker/task:0"):
        step = _increment(variables, tf.py_func(lambda: within[0](), [], []))
    first = _first(variables)
    with open_session(made, made.worker()) as session:
        inner = session._tf_sess()
        version = inner.plan.version

        def moved() -> None:
            made.add_server(1)
            assert eventually(lambda: inner._job.plan().version > version)
            assert eventually(lambda: inner._job.plan().is_ready)

        within[0] = _gone(session, monkeypatch, lambda: None)
        session.run(step)
        assert session.run(first) == [1.0] * SHARDS
        within[0] = _gone(session, monkeypatch, moved)
        with pytest.raises(elastic.StepLostError):
            inner.run(step)
        values = session.run(first)
        assert set(values) <= {1.0, 2.0}
        within[0] = lambda: None
        session.run(step)
        assert session.run(first) == [value + 1.0 for value in values]


def test_which_steps_use_shards() -> None:
    """A step does that reaches one through inputs or control inputs, not past feeds."""
    variable = _variables()[0]
    with tf.device("/job:worker/task:0"):
        own = tf.constant(1.0)
        read = variable + 1.0
        with tf.control_dependencies([variable.initializer]):
            after = tf.constant(2.0)
    steps = ShardSteps(tf.get_default_graph())
    for fetches, feeds, expected in [
        (own, None, False),
        ([own, {"read": read}], None, True),
        (after, {}, True),
        (read, {variable.value(): [0.0] * 50}, False),
        (read.name, None, True),
        (variable.initializer, None, True),
    ]:
        for _ in range(2):  # the second time it is known
            assert steps.use_shards(fetches, feeds) is expected


def test_functions_of_steps(made: Job) -> None:
    """`make_callable` takes values in order, and options if it said so."""
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    difference = x - y
    with tf.device("/job:ps/task:0"):
        tf.get_variable("v", [])
    with open_session(made, made.worker()) as session:
        inner = session._tf_sess()
        metadata = tf.RunMetadata()
        call = inner.make_callable(difference, (x, y), accept_options=True)
        assert call(5.0, 3.0, run_metadata=metadata) == 2.0
        with pytest.raises(TypeError, match="run_metadata"):
            inner.make_callable(difference, [x, y])(5.0, 3.0, run_metadata=metadata)
        with pytest.raises(TypeError, match="list or tuple"):
            inner.make_callable(x, x)
