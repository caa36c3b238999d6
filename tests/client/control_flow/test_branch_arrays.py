"""TensorArrays that branches make and return: values and gradients.

As TensorFlow 1.15 and 2.21 have it with `enable_control_flow_v2`; the Merge of 1.15
without it passes on the handle of the first branch, and fails for the others.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def made(value: tf.Tensor, size: int = 2) -> Callable[[], tf.TensorArray]:
    """A branch that makes an array of the multiples of a value."""

    def branch() -> tf.TensorArray:
        array = tf.TensorArray(tf.float32, size, element_shape=[])
        for index in range(size):
            array = array.write(index, value * (index + 1))
        return array

    return branch


def nested(x: Any, p: Any, q: Any) -> Any:
    return tf.cond(p, lambda: tf.cond(q, made(x * x), made(x)), made(-x * x * x))


def made_in_a_loop(x: Any, p: Any, q: Any) -> Any:
    def loop() -> Any:
        array = tf.TensorArray(tf.float32, 3, element_shape=[])
        return tf.while_loop(
            lambda i, _: i < 3,
            lambda i, a: (i + 1, a.write(i, x * tf.cast(i, tf.float32))),
            [tf.constant(0), array],
        )[1]

    array = tf.cond(p, loop, made(x * x, 3))
    return tf.cond(q, lambda: array, made(x, 3))


def from_outside(x: Any, p: Any, q: Any) -> Any:
    array = tf.cond(p, made(x), made(x * x))
    other = tf.TensorArray(tf.float32, 1, element_shape=[]).write(0, x)
    return tf.cond(q, lambda: array, lambda: other)


def written_later(x: Any, p: Any, q: Any) -> Any:
    def start() -> Any:
        return tf.TensorArray(tf.float32, 3, element_shape=[]).write(0, x)

    array = tf.cond(p, start, lambda: start())
    return array.write(1, x * x).write(2, x * x * x)


def in_a_case(x: Any, p: Any, q: Any) -> Any:
    return tf.case([(p, made(x)), (q, made(x * x))], default=made(x * x * x))


def in_a_switch(x: Any, p: Any, q: Any) -> Any:
    index = tf.cast(p, tf.int32) + tf.cast(q, tf.int32)
    return tf.switch_case(index, [made(x * x * x), made(x * x), made(x)])


# For x = 3: the squares' sum and its gradient for (p, q) of TT, TF and FT.
ROWS: list[tuple[Callable[[Any, Any, Any], Any], list[tuple[float, float]]]] = [
    (nested, [(405, 540), (45, 30), (3645, 7290)]),
    (made_in_a_loop, [(45, 30), (126, 84), (1134, 1512)]),
    (from_outside, [(45, 30), (9, 6), (405, 540)]),
    (written_later, [(819, 1572), (819, 1572), (819, 1572)]),
    (in_a_case, [(45, 30), (45, 30), (405, 540)]),
    (in_a_switch, [(45, 30), (405, 540), (405, 540)]),
]


@pytest.mark.parametrize(("make", "wanted"), ROWS)
def test_an_array_of_a_branch(
    make: Callable[[Any, Any, Any], Any], wanted: list[tuple[float, float]]
) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        p, q = tf.placeholder(tf.bool, []), tf.placeholder(tf.bool, [])
        array = make(x, p, q)
        assert isinstance(array, tf.TensorArray)
        y = tf.reduce_sum(array.stack() ** 2)
        fetches = [y, tf.gradients(y, x)[0]]
        for (first, second), values in zip(
            [(True, True), (True, False), (False, True)], wanted, strict=True
        ):
            assert tuple(sess.run(fetches, {x: 3.0, p: first, q: second})) == values


def test_in_a_loop_each_iteration_has_its_own() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])

        def body(i: Any, total: Any) -> Any:
            array = tf.cond(tf.logical_and(p, i > 0), made(x * total), made(total + x))
            return i + 1, tf.reduce_sum(array.stack())

        y = tf.while_loop(lambda i, _: i < 3, body, [tf.constant(0), x])[1]
        fetches = [y, tf.gradients(y, x)[0]]
        assert sess.run(fetches, {x: 3.0, p: True}) == [1458, 1458]
        assert sess.run(fetches, {x: 3.0, p: False}) == [198, 66]


def test_arrays_in_structures_of_other_things() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
        first, (array, last) = tf.cond(
            p,
            lambda: (x, [made(x)(), x * 2]),
            lambda: (x * 3, [made(x * x)(), x * 4]),
        )
        fetches = [first, array.stack(), array.size(), last]
        for taken, wanted in ((True, [3, [3, 6], 2, 6]), (False, [9, [9, 18], 2, 12])):
            for value, expected in zip(
                sess.run(fetches, {x: 3.0, p: taken}), wanted, strict=True
            ):
                np.testing.assert_array_equal(value, expected)
        assert sess.run(last, {x: 3.0, p: False}) == 12


def test_what_is_known_of_the_elements_is_what_both_say() -> None:
    def branch(size: int, shape: list[int]) -> Callable[[], Any]:
        return lambda: tf.TensorArray(tf.float32, size).write(0, tf.ones(shape))

    with tf.Graph().as_default(), tf.Session() as sess:
        p = tf.placeholder(tf.bool, [])
        array = tf.cond(p, branch(1, [2, 3]), branch(1, [4, 3]))
        value = array.stack()
        assert value.shape.as_list() == [None, None, 3]
        assert sess.run(value, {p: True}).shape == (1, 2, 3)
        assert sess.run(value, {p: False}).shape == (1, 4, 3)
