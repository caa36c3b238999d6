"""A variable that gets another size: who read it before keeps what it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _growing(size: int) -> Any:
    # Sizes on both sides of what stays in host memory.
    start = np.arange(size, dtype=np.float32)
    return tf.get_variable("v", initializer=tf.constant(start), validate_shape=False)


@pytest.mark.parametrize("size", [3, 5000])
@pytest.mark.parametrize(
    ("use", "expected"),
    [
        (lambda v, old, n: v[:n].assign(old), lambda a: np.append(a, [0, 0])),
        (lambda v, old, n: v[1:n].assign(old[1:]), lambda a: np.append(a, [0, 0])),
        (
            lambda v, old, n: tf.assign(v, old * 2.0, validate_shape=False),
            lambda a: a * 2,
        ),
    ],
)
def test_the_old_value_survives(
    size: int,
    use: Callable[[Any, Any, int], Any],
    expected: Callable[[np.ndarray], np.ndarray],
) -> None:
    v = _growing(size)
    grow = tf.placeholder(tf.bool, [])

    def bigger() -> Any:
        old = v.value()
        zeros = tf.assign(v, tf.zeros([size + 2]), validate_shape=False)
        with tf.control_dependencies([zeros]):
            copied = use(v, old, size)
        with tf.control_dependencies([copied]):
            return tf.no_op()

    op = tf.cond(grow, bigger, tf.no_op)
    with tf.Session() as sess:
        sess.run(v.initializer)
        sess.run(op, {grow: False})
        np.testing.assert_array_equal(sess.run(v), np.arange(size, dtype=np.float32))
        sess.run(op, {grow: True})
        wanted = expected(np.arange(size, dtype=np.float32))
        np.testing.assert_array_equal(sess.run(v), wanted)


def test_as_many_elements_are_written_into_what_was_read() -> None:
    v = _growing(4)
    old = v.value()
    assign = tf.assign(v, tf.ones([2, 2]), validate_shape=False)
    with tf.control_dependencies([assign]):
        seen = old + 0.0
    with tf.Session() as sess:
        sess.run(v.initializer)
        # The same memory, seen under the shape that it had.
        np.testing.assert_array_equal(sess.run(seen), np.ones(4, np.float32))
        assert sess.run(v).shape == (2, 2)


def test_a_growing_list() -> None:
    items = tf.get_variable("items", initializer=tf.zeros([0]), validate_shape=False)
    count = tf.get_variable("count", initializer=0)
    new = tf.placeholder(tf.float32, [None])
    end = count + tf.size(new)
    room = tf.raw_ops.Shape(input=items)[0]

    def bigger() -> Any:
        old = items.value()
        zeros = tf.assign(items, tf.zeros([end * 2]), validate_shape=False)
        with tf.control_dependencies([zeros]):
            copied = items[:count].assign(old[:count])
        with tf.control_dependencies([copied]):
            return tf.no_op()

    with tf.control_dependencies([tf.cond(end > room, bigger, tf.no_op)]):
        write = items[count:end].assign(new)
    with tf.control_dependencies([write]):
        append = count.assign(end)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(6):
            sess.run(append, {new: [i, i + 0.5, -i]})
        wanted = [x for i in range(6) for x in (i, i + 0.5, -i)]
        assert sess.run(items)[:18].tolist() == wanted
