"""Staging areas and barriers: what is kept from step to step."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.queues.barrier import Barrier
from tensorloom.client.queues.staging import MapStagingArea, StagingArea


def test_a_step_gets_what_the_step_before_has_put() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [2])
        area = StagingArea([tf.float32, tf.int32], [[2], []])
        put = area.put([x, tf.constant(3)])
        first, second = area.get()
        assert (first.shape.as_list(), second.dtype) == ([2], tf.int32)
        session.run(put, {x: [0, 1]})
        for step in range(1, 4):
            found, _, number = session.run([first, put, second], {x: [step, 1]})
            assert (found.tolist(), number) == ([step - 1, 1], 3)
        assert session.run(area.size()) == 1
        session.run(area.clear())
        assert session.run(area.size()) == 0


def test_elements_with_names_are_dicts() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        area = MapStagingArea([tf.float32, tf.float32], names=["x", "f"], ordered=True)
        put = [area.put(k, {"x": tf.constant(1.0 * k), "f": 2.0}) for k in (5, 3)]
        key, element = area.get()
        other, part = area.get(5, indices=["f"])
        session.run(put)
        assert session.run([area.size(), area.incomplete_size()]) == [2, 0]
        assert session.run([key, element]) == [3, {"x": 3.0, "f": 2.0}]
        assert (other, session.run(part)) == (5, {"f": 2.0})


MISUSE: list[tuple[Any, type[Exception], str]] = [
    (lambda a: a.put([1.0]), ValueError, "must enqueue a dictionary"),
    (lambda a: a.put({"z": 1.0}), ValueError, "do not match names"),
    (lambda a: a.put({"x": tf.constant(1)}), ValueError, "Datatypes do not match"),
]


@pytest.mark.parametrize(("call", "error", "said"), MISUSE)
def test_misuse_is_told(call: Any, error: type[Exception], said: str) -> None:
    with tf.Graph().as_default():
        area = StagingArea([tf.float32], names=["x"])
        with pytest.raises(error, match=said):
            call(area)


def test_a_barrier_hands_on_what_is_complete() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        barrier = Barrier((tf.string, tf.int32), shapes=((), ()), name="b")
        session.run(barrier.insert_many(0, ["k1", "k2"], ["a", "b"]))
        session.run(barrier.insert_many(1, ["k2"], [2]))
        sizes = [barrier.ready_size(), barrier.incomplete_size()]
        assert session.run(sizes) == [1, 1]
        indices, keys, values = barrier.take_many(1)
        assert values[1].shape.as_list() == [1]
        found = session.run([indices, keys, *values])
        assert found[2:][0].tolist() == [b"b"]
        assert (found[1].tolist(), found[3].tolist()) == ([b"k2"], [2])
        session.run(barrier.close(cancel_pending_enqueues=True))
        with pytest.raises(tf.errors.CancelledError, match="is closed"):
            session.run(barrier.insert_many(0, ["k3"], ["c"]))


def test_a_barrier_of_empty_values_is_refused() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="at index 1"):
        Barrier((tf.float32, tf.float32), shapes=((1,), (0,)))
