"""Schedules, averages, the global step, coordinators and queue runners."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

# At global step 7; recorded from TensorFlow 1.15.
SCHEDULES: dict[str, tuple[Callable[[Any], Any], float]] = {
    "exponential": (lambda g: tf.train.exponential_decay(0.1, g, 10, 0.9), 0.092891),
    "stairs": (
        lambda g: tf.train.exponential_decay(0.1, g, 10, 0.9, staircase=True),
        0.1,
    ),
    "natural": (lambda g: tf.train.natural_exp_decay(0.1, g, 10, 0.5), 0.070469),
    "inverse": (
        lambda g: tf.train.inverse_time_decay(0.1, g, 3, 0.5, staircase=True),
        0.05,
    ),
    "polynomial": (
        lambda g: tf.train.polynomial_decay(0.1, g, 10, power=2.0),
        0.009091,
    ),
    "cycle": (lambda g: tf.train.polynomial_decay(0.1, g, 5, cycle=True), 0.03007),
    "cosine": (lambda g: tf.train.cosine_decay(0.1, g, 10, alpha=0.1), 0.02855),
    "linear cosine": (lambda g: tf.train.linear_cosine_decay(0.1, g, 10), 0.006283),
    "restarts": (lambda g: tf.train.cosine_decay_restarts(0.1, g, 3), 0.025),
    "even restarts": (
        lambda g: tf.train.cosine_decay_restarts(0.1, g, 3, t_mul=1.0, m_mul=0.5),
        0.01875,
    ),
    "pieces": (
        lambda g: tf.train.piecewise_constant(g, [3, 6, 9], [1.0, 2.0, 3.0, 4.0]),
        3.0,
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedule(name: str) -> None:
    build, expected = SCHEDULES[name]
    with tf.Graph().as_default(), tf.Session() as session:
        step = tf.Variable(7, trainable=False)
        rate = build(step)
        session.run(step.initializer)
        assert session.run(rate) == pytest.approx(expected, abs=1e-6)


def test_moving_averages_follow_the_updated_values() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        v = tf.Variable([1.0, 2.0], name="v")
        average = tf.train.ExponentialMovingAverage(0.9)
        with tf.control_dependencies([tf.assign_add(v, [1.0, 1.0])]):
            update = average.apply([v])
        assert average.average_name(v) == "v/ExponentialMovingAverage"
        assert sorted(average.variables_to_restore()) == ["v/ExponentialMovingAverage"]
        session.run(tf.global_variables_initializer())
        for _ in range(3):
            session.run(update)
        result = session.run(average.average(v))
    np.testing.assert_allclose(result, [1.561, 2.561], rtol=1e-6)


def test_debiased_average_of_a_tensor() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([2.0, 4.0]) * 1.0
        average = tf.train.ExponentialMovingAverage(0.9, zero_debias=True)
        update = average.apply([x])
        session.run(tf.global_variables_initializer())
        session.run(update)
        np.testing.assert_allclose(session.run(average.average(x)), [2.0, 4.0], 1e-6)


def test_global_step() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        assert tf.train.get_global_step() is None
        step = tf.train.get_or_create_global_step()
        assert tf.train.get_global_step() is step
        with pytest.raises(ValueError, match="already exists"):
            tf.train.create_global_step()
        session.run(step.initializer)
        assert tf.train.global_step(session, step) == 0


def test_queue_runner_fills_until_the_end() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        queue = tf.FIFOQueue(5, [tf.int64], shapes=[[]])
        count = tf.Variable(0, dtype=tf.int64).count_up_to(7)
        runner = tf.train.QueueRunner(queue, [queue.enqueue(count)] * 2)
        tf.train.add_queue_runner(runner)
        element = queue.dequeue()
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        assert len(threads) == 3
        seen = [int(session.run(element)) for _ in range(7)]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(element)
        coordinator.request_stop()
        coordinator.join(threads)
    assert sorted(seen) == list(range(7))
    assert runner.exceptions_raised == []


def test_queue_runner_proto() -> None:
    with tf.Graph().as_default():
        queue = tf.FIFOQueue(5, [tf.int64], shapes=[[]])
        runner = tf.train.QueueRunner(queue, [queue.enqueue(1)])
        copy = tf.train.QueueRunner.from_proto(runner.to_proto())
        assert copy.name == runner.name
        assert [op.name for op in copy.enqueue_ops] == [
            op.name for op in runner.enqueue_ops
        ]
        assert copy.queue_closed_exception_types == (tf.errors.OutOfRangeError,)


def test_coordinator_raises_what_a_thread_raised() -> None:
    coordinator = tf.train.Coordinator()

    def fail() -> None:
        with coordinator.stop_on_exception():
            raise KeyError("lost")

    thread = threading.Thread(target=fail)
    thread.start()
    with pytest.raises(KeyError, match="lost"):
        coordinator.join([thread])
    assert coordinator.should_stop()
    assert coordinator.joined


def test_looper_runs_until_the_stop() -> None:
    coordinator = tf.train.Coordinator()
    turns = []

    def turn() -> None:
        turns.append(1)
        if len(turns) == 3:
            coordinator.request_stop()

    tf.train.LooperThread.loop(coordinator, None, turn)
    coordinator.join()
    assert len(turns) == 3


@pytest.mark.parametrize("use_resource", [False, True])
def test_variable_protos(use_resource: bool) -> None:
    with tf.Graph().as_default():
        v = tf.get_variable("v", [2], use_resource=use_resource)
        proto = v.to_proto()
        assert proto.is_resource is use_resource
        copy = type(v).from_proto(proto)
        assert (copy.name, copy.shape, copy.trainable) == (v.name, v.shape, True)
        assert copy.initializer is v.initializer
        assert copy.to_proto() == proto


def test_optimizers_are_direct_subclasses() -> None:
    # Programs find TensorFlow's own by it.
    names = [name for name in dir(tf.train) if name.endswith("Optimizer")]
    found = {getattr(tf.train, name).__base__ for name in names if name != "Optimizer"}
    assert len(names) == 12
    assert found == {tf.train.Optimizer}
