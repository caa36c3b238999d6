"""`tf.train.MonitoredSession` and `MonitoredTrainingSession` in one process."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf


class Recorder(tf.train.SessionRunHook):
    """Writes down what is called."""

    def __init__(self, calls: list[Any], fetches: Any = None) -> None:
        self.calls = calls
        self.fetches = fetches

    def begin(self) -> None:
        self.calls.append("begin")

    def after_create_session(self, session: Any, coord: Any) -> None:
        self.calls.append("created")

    def before_run(self, run_context: Any) -> Any:
        self.calls.append("before")
        if self.fetches is None:
            return None
        return tf.train.SessionRunArgs(self.fetches)

    def after_run(self, run_context: Any, run_values: Any) -> None:
        self.calls.append(("after", run_values.results))

    def end(self, session: Any) -> None:
        self.calls.append("end")


def counting() -> Any:
    """An operation that counts the global step."""
    return tf.assign_add(tf.train.get_or_create_global_step(), 1)


def run_all(session: Any, fetches: Any) -> None:
    while not session.should_stop():
        session.run(fetches)


def run_and_interrupt(session: Any, fetches: Any) -> None:
    for _ in range(7):
        session.run(fetches)
    raise KeyboardInterrupt


def live_threads() -> set[threading.Thread]:
    return {t for t in threading.enumerate() if t.is_alive()}


def test_order_of_calls() -> None:
    calls: list[Any] = []
    a = tf.constant(1.0)
    with tf.train.MonitoredSession(hooks=[Recorder(calls, {"x": [a]})]) as session:
        assert session.run(a) == 1.0
        assert session.graph.finalized
    assert calls == ["begin", "created", "before", ("after", {"x": [1.0]}), "end"]
    assert not tf.get_default_graph().finalized
    assert session.should_stop()
    with pytest.raises(RuntimeError, match="closed"):
        session.close()


def test_structures_of_caller_and_hooks() -> None:
    calls: list[Any] = []
    a, b = tf.constant(1.0), tf.constant(2.0)
    hooks = [Recorder(calls), Recorder(calls, b), Recorder(calls, (a, [b]))]
    with tf.train.MonitoredSession(hooks=hooks) as session:
        for _ in range(2):
            assert session.run({"a": a, "more": [b, (a,)]}) == {
                "a": 1.0,
                "more": [2.0, (1.0,)],
            }
        assert session.run([]) == []
        assert session.run("Const:0") == 1.0
    after = [call[1] for call in calls if isinstance(call, tuple)]
    assert after == [None, 2.0, (1.0, [2.0])] * 4


def test_bad_fetch_is_told() -> None:
    a = tf.constant(1.0)
    with tf.train.MonitoredSession(hooks=[Recorder([], a)]) as session:
        with pytest.raises(TypeError, match="None"):
            session.run(None)
        with pytest.raises(ValueError, match="missing"):
            session.run("missing:0")
        assert session.run(a) == 1.0


def test_feeds_of_two_askers_conflict() -> None:
    x = tf.placeholder(tf.float32, [])
    y = x * 2.0
    hook = tf.train.FeedFnHook(lambda: {x: 3.0})
    with tf.train.MonitoredSession(hooks=[hook]) as session:
        assert session.run(y) == 6.0
        with pytest.raises(RuntimeError, match="SessionRunHook and user"):
            session.run(y, {x: 1.0})
    with (
        tf.train.MonitoredSession(hooks=[hook, hook]) as session,
        pytest.raises(RuntimeError, match="two hooks"),
    ):
        session.run(y)


@pytest.mark.parametrize("moment", ["before_run", "after_run", "end"])
def test_exception_of_a_hook_reaches_the_caller(moment: str) -> None:
    calls: list[Any] = []
    hook = tf.train.SessionRunHook()

    def fail(*args: Any) -> None:
        raise KeyError("mine")

    setattr(hook, moment, fail)
    a = tf.constant(1.0)
    before = live_threads()
    with (
        pytest.raises(KeyError, match="mine") as caught,
        tf.train.MonitoredSession(hooks=[hook, Recorder(calls)]) as session,
    ):
        session.run(a)
    assert caught.traceback[-1].name == "fail"
    assert calls[-1] != "end"
    assert session.should_stop()
    assert live_threads() <= before


@pytest.mark.parametrize("moment", ["begin", "after_create_session"])
def test_exception_while_a_session_is_made(moment: str) -> None:
    _ = tf.train.input_producer([1, 2]).dequeue()
    hook = tf.train.SessionRunHook()

    def fail(*args: Any) -> None:
        raise KeyError("mine")

    setattr(hook, moment, fail)
    before = live_threads()
    with pytest.raises(KeyError, match="mine"):
        tf.train.MonitoredSession(hooks=[hook])
    assert live_threads() <= before


def test_end_of_data_ends_quietly_and_no_thread_stays() -> None:
    number = tf.train.input_producer([1, 2, 3], num_epochs=1, shuffle=False).dequeue()
    before = live_threads()
    seen = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            seen.append(session.run(number))
    assert seen == [1, 2, 3]
    assert live_threads() <= before


def test_error_of_an_input_thread_is_the_callers() -> None:
    def fail() -> Any:
        raise KeyError("input")

    value = tf.py_func(fail, [], tf.float32)
    queue = tf.FIFOQueue(2, [tf.float32], shapes=[[]])
    tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(value)]))
    got = queue.dequeue()
    with (
        pytest.raises(tf.errors.OpError, match="input"),
        tf.train.MonitoredSession() as session,
    ):
        run_all(session, got)


def test_training_saves_and_goes_on(tmp_path: Path) -> None:
    directory = str(tmp_path)
    train = counting()
    for last in (5, 8):
        hooks = [tf.train.StopAtStepHook(last_step=last)]
        with tf.train.MonitoredTrainingSession(
            checkpoint_dir=directory, hooks=hooks, save_checkpoint_steps=3
        ) as session:
            while not session.should_stop():
                session.run(train)
        found = tf.train.latest_checkpoint(directory)
        assert str(found).endswith(f"-{last}")
    kept = tf.train.get_checkpoint_state(directory).all_model_checkpoint_paths
    assert [int(path.rpartition("-")[2]) for path in kept][-2:] == [5, 8]
    assert (tmp_path / "graph.pbtxt").exists()


def test_interrupt_saves_what_was_trained(tmp_path: Path) -> None:
    directory = str(tmp_path)
    train = counting()
    with (
        pytest.raises(KeyboardInterrupt),
        tf.train.MonitoredTrainingSession(checkpoint_dir=directory) as session,
    ):
        run_and_interrupt(session, train)
    assert str(tf.train.latest_checkpoint(directory)).endswith("-7")


def test_half_written_directory_is_told(tmp_path: Path) -> None:
    directory = str(tmp_path)
    counting()
    (tmp_path / "checkpoint").write_text('model_checkpoint_path: "model.ckpt-5"\n')
    with pytest.raises(ValueError, match=r"not a valid checkpoint.*model\.ckpt-5"):
        tf.train.MonitoredTrainingSession(checkpoint_dir=directory)


def test_directory_of_another_model_is_told(tmp_path: Path) -> None:
    directory = str(tmp_path)
    with tf.Graph().as_default():
        counting()
        tf.train.MonitoredTrainingSession(checkpoint_dir=directory).close()
    counting()
    tf.get_variable("weights", [3])
    with pytest.raises(tf.errors.NotFoundError, match="altered the graph"):
        tf.train.MonitoredTrainingSession(checkpoint_dir=directory)


def test_step_function() -> None:
    a = tf.constant(2.0)
    calls: list[Any] = []

    def step(step_context: Any) -> Any:
        without = step_context.session.run(a)
        return without + step_context.run_with_hooks(a)

    with tf.train.MonitoredSession(hooks=[Recorder(calls)]) as session:
        assert session.run_step_fn(step) == 4.0
        with pytest.raises(ValueError, match="step_context"):
            session.run_step_fn(lambda other: None)
    assert calls.count("before") == 1
    with tf.train.MonitoredSession() as session:
        session.run_step_fn(lambda step_context: step_context.request_stop())
    assert session.should_stop()


def test_lost_task_begins_again_from_the_checkpoint(tmp_path: Path) -> None:
    train = counting()
    step = tf.train.get_global_step()
    failures = [3]

    class Lose(tf.train.SessionRunHook):
        def before_run(self, run_context: Any) -> None:
            if failures and run_context.session.run(step) == failures[0]:
                failures.pop()
                raise tf.errors.AbortedError(None, None, "lost")

    calls: list[Any] = []
    with tf.train.MonitoredTrainingSession(
        checkpoint_dir=str(tmp_path),
        save_checkpoint_steps=2,
        hooks=[Lose(), Recorder(calls), tf.train.StopAtStepHook(last_step=5)],
    ) as session:
        while not session.should_stop():
            session.run(train)
    assert calls.count("created") == 2
    assert not failures
    assert str(tf.train.latest_checkpoint(str(tmp_path))).endswith("-5")


def test_worker_waits_until_its_time_is_over() -> None:
    counting()
    creator = tf.train.WorkerSessionCreator(max_wait_secs=0.2)
    began = time.monotonic()
    with pytest.raises(tf.errors.DeadlineExceededError, match="not ready"):
        creator.create_session()
    assert time.monotonic() - began < 20


def test_singular_session_gives_its_session() -> None:
    a = tf.constant(3.0)
    saved = []
    with tf.train.SingularMonitoredSession() as session:
        assert session.run(a) == 3.0
        saved.append(session.raw_session())
        assert saved[0].run(a) == 3.0
    assert session.raw_session() is None
