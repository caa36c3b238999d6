"""What a loop only reads is read once; what it changes is read anew."""

from __future__ import annotations

import numpy as np

import tensorloom as tf
from tensorloom.worker.compile.piece import Piece


def sources(monkeypatch) -> list[str]:
    made: list[str] = []
    start = Piece.__init__

    def note(self, *args, **kwargs) -> None:
        start(self, *args, **kwargs)
        made.append(self.source)

    monkeypatch.setattr(Piece, "__init__", note)
    return made


def inside_of_loop(source: str) -> str:
    return source.partition("while True:")[2].partition("\n    v")[0]


def test_weights_are_read_before_the_loop(monkeypatch) -> None:
    made = sources(monkeypatch)
    with tf.Graph().as_default():
        weights = tf.get_variable("w", [2, 2], initializer=tf.ones_initializer())
        start = tf.placeholder(tf.float32, [1, 2])
        _, last = tf.while_loop(
            lambda i, h: i < 3,
            lambda i, h: (i + 1, tf.matmul(h, weights)),
            [0, start],
        )
        update = weights.assign_add(weights)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            first = session.run(last, {start: [[1.0, 2.0]]})
            source = made[-1]
            session.run(update)
            second = session.run(last, {start: [[1.0, 2.0]]})
    assert "read_host" in source.partition("while True:")[0]
    assert "read_" not in inside_of_loop(source)
    np.testing.assert_array_equal(first, [[12.0, 12.0]])
    np.testing.assert_array_equal(second, [[96.0, 96.0]])


def test_a_variable_that_the_loop_changes_is_read_anew() -> None:
    with tf.Graph().as_default():
        weights = tf.get_variable("w", [2], initializer=tf.ones_initializer())

        def body(i, total):
            with tf.control_dependencies([tf.assign_add(weights, [1.0, 1.0])]):
                return i + 1, total + tf.identity(weights.read_value())

        _, total = tf.while_loop(lambda i, t: i < 3, body, [0, tf.zeros([2])])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(session.run(total), [9.0, 9.0])


def test_an_update_in_the_same_step_finds_the_variable_free() -> None:
    with tf.Graph().as_default():
        weights = tf.get_variable("w", [3, 3], initializer=tf.ones_initializer())
        _, last = tf.while_loop(
            lambda i, h: i < 2,
            lambda i, h: (i + 1, tf.matmul(h, weights)),
            [0, tf.ones([1, 3])],
        )
        with tf.control_dependencies([last]):
            update = tf.scatter_add(weights, [0], [[1.0, 1.0, 1.0]])
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            values = [session.run([last, update])[0] for _ in range(2)]
    np.testing.assert_array_equal(values[0], [[9.0] * 3])
    np.testing.assert_array_equal(values[1], [[16.0] * 3])
