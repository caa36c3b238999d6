"""Monitored sessions over parameter servers and workers, also when tasks are lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.train.sessions import session_manager
from tensorloom.transport.peers import liveness
from tests.cluster.clusters import PS, cluster
from tests.cluster.processes import LIMIT_S, processes

ROOT = Path(__file__).parents[2]


class Model:
    """Counts on a parameter server; the sum tells whether a checkpoint is whole."""

    def __init__(self, worker: int = 0) -> None:
        self.graph = tf.Graph()
        with self.graph.as_default():
            with tf.device(PS):
                self.step = tf.train.get_or_create_global_step()
                self.sum = tf.get_variable(
                    "sum", [5], initializer=tf.zeros_initializer()
                )
            with tf.device(f"/job:worker/task:{worker}"):
                ones = tf.ones([5]) * 1.0
            with tf.control_dependencies([tf.assign_add(self.sum, ones)]):
                self.train = tf.assign_add(self.step, 1)


def train(
    model: Model, target: str, last_step: int, hooks: Any = (), **options: Any
) -> int:
    """Runs steps until the hooks stop; how many."""
    count = 0
    with (
        model.graph.as_default(),
        tf.train.MonitoredTrainingSession(
            target,
            hooks=[tf.train.StopAtStepHook(last_step=last_step), *hooks],
            stop_grace_period_secs=10,
            **options,
        ) as session,
    ):
        while not session.should_stop():
            session.run(model.train)
            count += 1
    return count


def in_thread(function: Callable[[], Any], results: list[Any]) -> threading.Thread:
    def run() -> None:
        try:
            results.append(function())
        except BaseException as error:
            results.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_worker_waits_for_its_chief(tmp_path: Path) -> None:
    with cluster(ps=1, worker=2) as servers:
        chief, worker = servers["worker"]
        before = set(threading.enumerate())
        counts: list[Any] = []
        second = in_thread(
            lambda: train(Model(1), worker.target, 60, is_chief=False), counts
        )
        time.sleep(0.3)
        assert not counts
        model = Model(0)
        first = in_thread(
            lambda: train(model, chief.target, 60, checkpoint_dir=str(tmp_path)), counts
        )
        first.join(60)
        second.join(60)
        assert sum(counts) in (60, 61)  # a step may begin before the other's ends
        left = set(threading.enumerate()) - before
        assert not [thread for thread in left if "QueueRunner" in thread.name]
    assert tf.train.load_variable(str(tmp_path), "global_step") >= 60


def test_worker_gives_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session_manager, "_FIRST_WAIT_SECS", 0.05)
    with (
        cluster(ps=1, worker=1) as servers,
        pytest.raises(tf.errors.DeadlineExceededError, match="not ready after"),
    ):
        train(
            Model(), servers["worker"][0].target, 5, is_chief=False, max_wait_secs=0.2
        )


def synchronous(
    server: Any, index: int, directory: str | None, values: list[Any]
) -> Any:
    """Trains one replica; its gradient is its number plus one."""
    graph = tf.Graph()
    with graph.as_default():
        with tf.device(PS):
            step = tf.train.get_or_create_global_step()
            v = tf.get_variable("v", [], initializer=tf.zeros_initializer())
        with tf.device(f"/job:worker/task:{index}"):
            loss = v * tf.constant(index + 1.0)
        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.GradientDescentOptimizer(1.0), 2, 2
        )
        operation = optimizer.minimize(loss, global_step=step)
        is_chief = index == 0
        hooks = [
            optimizer.make_session_run_hook(is_chief, num_tokens=0),
            tf.train.StopAtStepHook(last_step=4),
            tf.train.FinalOpsHook(v),
        ]
        with tf.train.MonitoredTrainingSession(
            server.target,
            is_chief,
            checkpoint_dir=directory,
            hooks=hooks,
            stop_grace_period_secs=5,
        ) as session:
            while not session.should_stop():
                session.run(operation)
        values.append(hooks[-1].final_ops_values)


def test_synchronous_replicas(tmp_path: Path) -> None:
    values: list[Any] = []
    results: list[Any] = []
    with cluster(ps=1, worker=2) as servers:
        threads = [
            in_thread(
                lambda i=i: synchronous(
                    servers["worker"][i], i, str(tmp_path) if i == 0 else None, values
                ),
                results,
            )
            for i in range(2)
        ]
        for thread in threads:
            thread.join(60)
    assert results == [None, None]
    # The mean of the gradients 1 and 2, four times.
    np.testing.assert_allclose(values, [-6.0, -6.0])


@pytest.mark.multiprocess
@pytest.mark.slow
@pytest.mark.parametrize("job", ["ps", "worker"])
def test_training_goes_on_after_a_kill(
    tmp_path: Path, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(liveness, "task_timeout_s", lambda: LIMIT_S)
    model = Model()
    created: list[int] = []

    class Watch(tf.train.SessionRunHook):
        def after_create_session(self, session: Any, coord: Any) -> None:
            step, total = session.run([model.step, model.sum])
            np.testing.assert_array_equal(total, np.full(5, float(step)))
            created.append(int(step))

    with processes({}, ps=1, worker=1) as tasks:
        results: list[Any] = []
        thread = in_thread(
            lambda: train(
                model,
                tasks.target("worker"),
                150,
                [Watch()],
                checkpoint_dir=str(tmp_path),
                save_checkpoint_steps=5,
            ),
            results,
        )
        limit = time.monotonic() + 120
        while not (tf.train.latest_checkpoint(str(tmp_path)) or "-0").endswith("20"):
            assert time.monotonic() < limit
            assert not results, results
            time.sleep(0.005)
        tasks.kill(job)
        time.sleep(0.3)
        tasks.start(job)
        thread.join(120)
    assert isinstance(results[0], int), results
    assert created[0] == 0
    assert len(created) > 1
    assert created[-1] >= 20
    step = tf.train.load_variable(str(tmp_path), "global_step")
    assert step == 150
    np.testing.assert_array_equal(
        tf.train.load_variable(str(tmp_path), "sum"), np.full(5, 150.0)
    )


_PROGRAM = """
import sys, time
import tensorloom as tf
step = tf.train.get_or_create_global_step()
total = tf.get_variable("sum", [5], initializer=tf.zeros_initializer())
with tf.control_dependencies([tf.assign_add(total, tf.ones([5]))]):
    train = tf.assign_add(step, 1)
with tf.train.MonitoredTrainingSession(
    checkpoint_dir=sys.argv[1], save_checkpoint_steps=int(sys.argv[2])
) as session:
    print("begins at", session.run(step), flush=True)
    while not session.should_stop():
        session.run(train)
        time.sleep(0.001)
"""


def begin_program(directory: Path, save_steps: int) -> tuple[Any, int]:
    """A program that trains, and the step at which it begins."""
    process = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(directory), str(save_steps)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline().rpartition(" ")[2])


def wait_for_step(directory: Path, step: int) -> None:
    """Waits for a checkpoint of that step or a later one."""
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        path = tf.train.latest_checkpoint(str(directory))
        if path and int(path.rpartition("-")[2]) >= step:
            return
        time.sleep(0.01)
    raise AssertionError(f"no checkpoint of step {step}")


@pytest.mark.multiprocess
@pytest.mark.slow
def test_killed_chief_goes_on_where_it_was(tmp_path: Path) -> None:
    process, first = begin_program(tmp_path, 10)
    assert first == 0
    wait_for_step(tmp_path, 30)
    process.kill()
    process.communicate(timeout=30)
    process, second = begin_program(tmp_path, 10)
    assert second >= 30
    process.kill()
    process.communicate(timeout=30)
    step = tf.train.load_variable(str(tmp_path), "global_step")
    np.testing.assert_array_equal(
        tf.train.load_variable(str(tmp_path), "sum"), np.full(5, float(step))
    )


@pytest.mark.multiprocess
@pytest.mark.slow
def test_interrupted_chief_saves_first(tmp_path: Path) -> None:
    process, _ = begin_program(tmp_path, 1_000_000)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in told
    assert process.returncode != 0
    step = tf.train.load_variable(str(tmp_path), "global_step")
    assert step > 0
    np.testing.assert_array_equal(
        tf.train.load_variable(str(tmp_path), "sum"), np.full(5, float(step))
    )
