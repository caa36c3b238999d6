"""Training that goes on after its tasks were killed, from its checkpoints."""

from __future__ import annotations

import random
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.transport.peers import liveness
from tests.cluster.processes import LIMIT_S, Processes, processes

pytestmark = [pytest.mark.multiprocess, pytest.mark.slow, pytest.mark.timeout(1200)]

LOST = (tf.errors.UnavailableError, tf.errors.AbortedError, tf.errors.CancelledError)


@pytest.fixture(autouse=True)
def _limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(liveness, "task_timeout_s", lambda: LIMIT_S)


class Training:
    """A program with a retry loop, as users of sessions write it."""

    def __init__(self, tasks: Processes, directory: Path) -> None:
        self._target = tasks.target("worker")
        self._prefix = str(directory / "model")
        self._directory = str(directory)
        self.graph = tf.Graph()
        with self.graph.as_default():
            with tf.device("/job:ps/task:0"):
                self.step = tf.get_variable(
                    "step", [], tf.int64, initializer=tf.zeros_initializer()
                )
                self.sum = tf.get_variable(
                    "sum", [50], initializer=tf.zeros_initializer()
                )
            with tf.device("/job:worker/task:0"):
                ones = tf.ones([50]) * 1.0
            # The sum belongs to the step: a checkpoint that has both is whole.
            with tf.control_dependencies([tf.assign_add(self.sum, ones)]):
                self.train = tf.assign_add(self.step, 1)
            self.init = tf.global_variables_initializer()
            self.saver = tf.train.Saver(max_to_keep=2)
        self.committed = 0
        self.restored: list[int] = []
        self.failures = 0

    def run(self, steps: int, every: int = 5) -> None:
        """Trains up to a step, however often tasks are lost."""
        done = False
        while not done:
            session = tf.Session(self._target, graph=self.graph)
            try:
                self._restore(session)
                done = self._train(session, steps, every)
            except LOST:
                self.failures += 1
                time.sleep(0.05)
            finally:
                with suppress(tf.errors.OpError):
                    session.close()

    def _restore(self, session: Any) -> None:
        path = tf.train.latest_checkpoint(self._directory)
        if path is None:
            assert self.committed == 0
            session.run(self.init)
            return
        self.saver.restore(session, path)
        step, total = session.run([self.step, self.sum])
        assert step >= self.committed, "a committed checkpoint was lost"
        np.testing.assert_array_equal(total, np.full(50, float(step), np.float32))
        self.restored.append(int(step))

    def _train(self, session: Any, steps: int, every: int) -> bool:
        while True:
            step = session.run(self.train)
            if step % every == 0 or step >= steps:
                self.saver.save(session, self._prefix, global_step=int(step))
                self.committed = max(self.committed, int(step))
            if step >= steps:
                return True


@pytest.mark.parametrize("job", ["ps", "worker"])
def test_training_goes_on_after_a_kill(tmp_path: Path, job: str) -> None:
    with processes({}, ps=1, worker=1) as tasks:
        training = Training(tasks, tmp_path)
        thread = threading.Thread(target=training.run, args=(400,))
        thread.start()
        while training.committed < 20:
            time.sleep(0.01)
        tasks.kill(job)
        time.sleep(0.3)
        tasks.start(job)
        thread.join(60)
        assert training.committed == 400
        assert training.failures
        assert training.restored
        assert training.restored[0] >= 20


def test_random_kills_lose_no_committed_checkpoint(tmp_path: Path) -> None:
    chance = random.Random(5)
    with processes({}, ps=1, worker=1) as tasks:
        training = Training(tasks, tmp_path)
        thread = threading.Thread(target=training.run, args=(10**9, 2), daemon=True)
        thread.start()
        for _ in range(100):
            time.sleep(chance.random() * 0.5)
            job = chance.choice(["ps", "worker"])
            if chance.random() < 0.1:
                tasks.send(signal.SIGSTOP, job)
                time.sleep(chance.random())
            tasks.kill(job)
            before = training.committed
            tasks.start(job)
            deadline = time.monotonic() + 60
            while training.committed <= before and thread.is_alive():
                assert time.monotonic() < deadline, "the training does not go on"
                time.sleep(0.02)
            assert thread.is_alive(), "the training ended"
        assert len(training.restored) >= 95
