"""Branches and loops whose ops wait for each other: no order suits all of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

# A step that waits for itself ends with it, as a failure.
LIMIT = tf.RunOptions(timeout_in_ms=60_000)


def queue(capacity: int = 10) -> Any:
    return tf.FIFOQueue(capacity, [tf.float32], shapes=[[]])


def computed(value: bool) -> Any:
    return tf.random_uniform([]) < (2.0 if value else -2.0)


def taken_before_put() -> tuple[Any, Any]:
    waiting = queue()

    def both() -> Any:
        taken = waiting.dequeue()
        with tf.control_dependencies([waiting.enqueue([4.0])]):
            return taken + 1.0

    return tf.cond(computed(True), both, lambda: tf.constant(0.0)), 5.0


def not_run() -> tuple[Any, Any]:
    waiting = queue()

    def both() -> Any:
        taken = waiting.dequeue()
        with tf.control_dependencies([waiting.enqueue([4.0])]):
            return taken + 1.0, tf.constant("taken")

    otherwise = tf.constant(0.0), tf.constant("not")
    return tf.cond(computed(False), both, lambda: otherwise), (0.0, b"not")


def in_each_iteration() -> tuple[Any, Any]:
    waiting = queue()

    def body(i: Any, total: Any) -> Any:
        taken = waiting.dequeue()
        with tf.control_dependencies([waiting.enqueue([i])]):
            return i + 1.0, total + taken

    return tf.while_loop(lambda i, _: i < 5.0, body, [0.0, 0.0]), (5.0, 10.0)


def more_than_the_queue_holds() -> tuple[Any, Any]:
    waiting = queue(1)

    def body(i: Any) -> Any:
        put = waiting.enqueue_many([tf.stack([i, i + 1.0])])
        first = waiting.dequeue()
        with tf.control_dependencies([first]):
            second = waiting.dequeue()
        with tf.control_dependencies([put]):
            return first + second

    return tf.while_loop(lambda i: i < 10.0, body, [1.0]), 15.0


def a_branch_lets_go_its_input() -> tuple[Any, Any]:
    waiting = queue()
    taken = waiting.dequeue()

    def put() -> Any:
        with tf.control_dependencies([waiting.enqueue([4.0])]):
            return taken + 1.0

    return tf.cond(computed(True), put, lambda: taken), 5.0


def a_branch_in_a_branch() -> tuple[Any, Any]:
    waiting = queue()

    def outer() -> Any:
        taken = waiting.dequeue()

        def put() -> Any:
            with tf.control_dependencies([waiting.enqueue([4.0])]):
                return taken + 1.0

        return tf.cond(computed(True), put, lambda: taken)

    return tf.cond(computed(True), outer, lambda: tf.constant(0.0)), 5.0


def a_loop_lets_go_its_input() -> tuple[Any, Any]:
    waiting = queue()
    taken = waiting.dequeue()

    def body(i: Any, total: Any) -> Any:
        with tf.control_dependencies([waiting.enqueue([i])]):
            return i + 1.0, total + taken

    return tf.while_loop(lambda i, _: i < 3.0, body, [2.0, 0.0]), (3.0, 2.0)


def what_was_taken_is_put_on() -> tuple[Any, Any]:
    """Nothing here waits for itself."""
    first, second = queue(), queue()
    with tf.control_dependencies([first.enqueue([1.0])]):
        taken = first.dequeue()
    put = tf.cond(taken > 0.0, lambda: second.enqueue([taken]), tf.no_op)
    with tf.control_dependencies([put]):
        return second.dequeue(), 1.0


def a_classic_branch_lets_go_its_input() -> tuple[Any, Any]:
    waiting, pred = queue(), computed(True)
    not_run, taken = tf.raw_ops.Switch(data=waiting.dequeue(), pred=pred)
    _, element = tf.raw_ops.Switch(data=tf.constant(4.0), pred=pred)
    with tf.control_dependencies([waiting.enqueue([element])]):
        result = taken + 1.0
    return tf.raw_ops.Merge(inputs=[not_run, result]).output, 5.0


PROGRAMS = [
    taken_before_put,
    not_run,
    in_each_iteration,
    more_than_the_queue_holds,
    a_branch_lets_go_its_input,
    a_branch_in_a_branch,
    a_loop_lets_go_its_input,
    what_was_taken_is_put_on,
    a_classic_branch_lets_go_its_input,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_no_order_is_needed(program: Callable[[], tuple[Any, Any]]) -> None:
    with tf.Graph().as_default():
        fetch, expected = program()
        with tf.Session() as sess:
            np.testing.assert_equal(sess.run(fetch, options=LIMIT), expected)
