"""`functional_ops`: Defun functions as loops, branches and calls."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.functions import functional_ops
from tensorloom.client.functions.function import Defun


def test_loops_carry_what_their_bodies_capture() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        two = tf.constant(2.0)

        @Defun(tf.float32, tf.float32)
        def condition(n: Any, x: Any) -> Any:
            return n < 4.0

        @Defun(tf.float32, tf.float32)
        def body(n: Any, x: Any) -> Any:
            return n + 1.0, x + two

        @Defun(tf.int32, tf.float32)
        def add(i: Any, x: Any) -> Any:
            return x + two * tf.cast(i, tf.float32)

        loops = [
            functional_ops.While([1.0, 0.0], condition, body),
            functional_ops.For(1, 4, 1, [0.0], add),
            functional_ops.For(3, 0, -1, [0.0], add),
            functional_ops.For(3, 0, -1, [0.0], add, rewrite_with_while=True),
        ]
        assert session.run(loops) == [[4.0, 6.0], [12.0], [12.0], [12.0]]


def test_a_condition_that_captures_is_refused() -> None:
    with tf.Graph().as_default():
        two = tf.constant(2.0)

        @Defun(tf.float32)
        def condition(n: Any) -> Any:
            return n < two

        @Defun(tf.float32)
        def body(n: Any) -> Any:
            return n + 1.0

        with pytest.raises(ValueError, match="without implicitly captured"):
            functional_ops.While([1.0], condition, body)


def test_calls_and_branches_give_the_results_of_functions() -> None:
    with tf.Graph().as_default(), tf.Session() as session:

        @Defun(tf.float32)
        def square(x: Any) -> Any:
            return x * x

        @Defun(tf.float32)
        def negated(x: Any) -> Any:
            return -x

        results = [
            functional_ops.If(True, [3.0], square, negated),
            functional_ops.If(0, [3.0], square, negated),
            functional_ops.partitioned_call([3.0], square),
            functional_ops.Gradient([3.0, 1.0], square),
        ]
        assert session.run(results) == [[9.0], [-3.0], [9.0], [6.0]]
