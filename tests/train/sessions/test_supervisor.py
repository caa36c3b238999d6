"""`tf.train.Supervisor` and evaluations; tests/peer compares graphs and lives."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.train.sessions.evaluation import _evaluate_once, _StopAfterNEvalsHook


def wait_for(condition: Any) -> None:
    limit = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < limit
        time.sleep(0.01)


def test_services_save_and_report(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    tf.summary.scalar("s", step)
    before = set(threading.enumerate())
    sv = tf.train.Supervisor(
        logdir=str(tmp_path), save_summaries_secs=0.02, save_model_secs=0.02
    )
    with sv.managed_session() as sess:
        assert sess.run(train) == 1
        wait_for(lambda: tf.train.latest_checkpoint(str(tmp_path)))
        calls: list[int] = []
        sv.loop(0.01, lambda: calls.append(1))
        wait_for(lambda: len(calls) > 2)
        assert not sv.should_stop()
    assert set(threading.enumerate()) <= before
    events = [
        event
        for path in tmp_path.glob("events*")
        for event in tf.train.summary_iterator(str(path))
    ]
    tags = {value.tag for event in events for value in event.summary.value}
    assert {"s", "global_step/sec"} <= tags
    statuses = [event.session_log.status for event in events]
    assert statuses.count(tf.SessionLog.STOP) == 1
    assert (tmp_path / "graph.pbtxt").exists()


def test_error_of_a_service_ends_the_session() -> None:
    v = tf.get_variable("v", initializer=1.0)
    sv = tf.train.Supervisor(logdir=None)

    def fail() -> None:
        raise KeyError("mine")

    def train(sess: Any) -> None:
        sv.loop(0.01, fail)
        while not sv.should_stop():
            sess.run(v)

    with pytest.raises(KeyError, match="mine"), sv.managed_session() as sess:
        train(sess)


def test_loop_goes_on_after_a_lost_task(tmp_path: Path) -> None:
    step = tf.train.get_or_create_global_step()
    train = tf.assign_add(step, 1)
    sv = tf.train.Supervisor(
        logdir=str(tmp_path), save_model_secs=0, save_summaries_secs=0
    )
    seen: list[int] = []

    def one_step(sess: Any) -> None:
        seen.append(int(sess.run(train)))
        if len(seen) == 2:
            sv.saver.save(sess, sv.save_path, global_step=step)
            raise tf.errors.AbortedError(None, None, "lost")
        if seen[-1] == 4:
            sv.request_stop()

    tf.train.basic_train_loop(sv, one_step)
    assert seen == [1, 2, 3, 4]


def test_workers_have_no_services() -> None:
    with tf.device("/job:ps/task:0"):
        tf.get_variable("v", initializer=1.0)
    sv = tf.train.Supervisor(is_chief=False, logdir="nowhere")
    assert sv.summary_writer is None
    with pytest.raises(RuntimeError, match="Only chief"):
        sv.start_standard_services(None)


def test_evaluation_of_a_checkpoint(tmp_path: Path) -> None:
    v = tf.get_variable("v", initializer=3.0)
    path = str(tmp_path / "c")
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.train.Saver().save(sess, path)
    total = tf.get_local_variable("total", initializer=0.0)
    hook = _StopAfterNEvalsHook(4)
    found = _evaluate_once(
        path, eval_ops=tf.assign_add(total, v), final_ops={"t": total}, hooks=[hook]
    )
    assert found == {"t": 12.0}
