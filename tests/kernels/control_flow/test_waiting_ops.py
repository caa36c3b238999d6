"""Ops that wait for other steps end with their step, and leave no thread behind."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

_STAGE: dict[str, Any] = {"dtypes": [tf.float32], "shared_name": "s"}
_MAP: dict[str, Any] = {"dtypes": [tf.float32], "shared_name": "m"}


def _full_stage() -> Any:
    put = tf.raw_ops.Stage(values=[1.0], capacity=1, shared_name="full")
    with tf.control_dependencies([put]):
        return tf.raw_ops.Stage(values=[1.0], capacity=1, shared_name="full")


def _locked_mutex() -> Any:
    mutex = tf.raw_ops.MutexV2(shared_name="x")
    first = tf.raw_ops.MutexLock(mutex=mutex)
    with tf.control_dependencies([first]):
        second = tf.raw_ops.MutexLock(mutex=mutex)
    with tf.control_dependencies([second]):
        return tf.raw_ops.ConsumeMutexLock(mutex_lock=first)


WAITING: dict[str, Callable[[], Any]] = {
    "accumulator": lambda: tf.ConditionalAccumulator(tf.float32).take_grad(1),
    "sparse accumulator": lambda: tf.SparseConditionalAccumulator(tf.float32).take_grad(
        1
    ),
    "unstage": lambda: tf.raw_ops.Unstage(**_STAGE),
    "peek": lambda: tf.raw_ops.StagePeek(index=2, **_STAGE),
    "full stage": _full_stage,
    "map unstage": lambda: tf.raw_ops.MapUnstage(key=1, indices=[0], **_MAP),
    "ordered map": lambda: tf.raw_ops.OrderedMapUnstageNoKey(indices=[0], **_MAP),
    "barrier": lambda: tf.raw_ops.BarrierTakeMany(
        handle=tf.raw_ops.Barrier(component_types=[tf.float32], shapes=[[]]),
        num_elements=1,
        component_types=[tf.float32],
    ),
    "reader": lambda: tf.TextLineReader().read(tf.FIFOQueue(1, tf.string)),
    "old queue": lambda: tf.raw_ops.QueueDequeue(
        handle=tf.raw_ops.FIFOQueue(component_types=[tf.float32]),
        component_types=[tf.float32],
    ),
    "mutex": _locked_mutex,
}


@pytest.mark.parametrize("name", WAITING)
def test_deadline_ends_the_wait(name: str) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        waiting = WAITING[name]()
        other = tf.constant(1) + 1
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(waiting, options=tf.RunOptions(timeout_in_ms=20))
        assert session.run(other) == 2


@pytest.mark.parametrize("name", WAITING)
def test_closing_the_session_ends_the_wait(name: str) -> None:
    caught: list[BaseException] = []
    with tf.Graph().as_default():
        session = tf.Session()
        waiting = WAITING[name]()

        def run() -> None:
            try:
                session.run(waiting)
            except BaseException as error:
                caught.append(error)

        before = threading.active_count()
        thread = threading.Thread(target=run)
        thread.start()
        deadline = time.monotonic() + 0.02
        while time.monotonic() < deadline:
            thread.join(0.005)
        session.close()
        thread.join(60)
    assert not thread.is_alive()
    assert isinstance(caught[0], tf.errors.CancelledError | RuntimeError)
    assert threading.active_count() <= before + 2  # threads of a pool may stay
