"""Second derivatives through nested control flow against differences of the first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

Step = Callable[[Any, Any], Any]
POINT = np.array([0.3, -0.2, 0.5])


def _loop(inner: Step) -> Step:
    return lambda v, x: tf.while_loop(
        lambda i, a: i < 2, lambda i, a: (i + 1, inner(a, x)), [0, v]
    )[1]


def _cond(inner: Step) -> Step:
    return lambda v, x: tf.cond(
        tf.reduce_sum(v) > -100.0, lambda: inner(v, x), lambda: v * x
    )


def _fold(inner: Step) -> Step:
    return lambda v, x: tf.foldl(lambda a, e: inner(a + e, x), x, initializer=v)


def _map(inner: Step) -> Step:
    return lambda v, x: tf.reduce_sum(tf.map_fn(lambda e: inner(v * e, x), x), 0)


def _array(inner: Step) -> Step:
    def run(v: Any, x: Any) -> Any:
        array = tf.TensorArray(tf.float64, 3, clear_after_read=False).write(0, v)
        _, array = tf.while_loop(
            lambda i, a: i < 3,
            lambda i, a: (i + 1, a.write(i, inner(a.read(i - 1), x))),
            [1, array],
        )
        return tf.reduce_prod(array.stack() + 1.5, 0)

    return run


KINDS = {"loop": _loop, "cond": _cond, "fold": _fold, "map": _map, "array": _array}


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("fold", "loop"),
        ("fold", "cond"),
        ("array", "cond"),
        ("map", "fold"),
        ("array", "map"),
        ("loop", "array"),
        ("cond", "loop"),
    ],
)
def test_second_derivatives(outer: str, inner: str) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float64, [3])
        step = KINDS[outer](KINDS[inner](lambda v, x: v * x + tf.sin(v)))
        first = tf.gradients(step(x * 0.5, x), x)[0]
        second = sess.run(tf.gradients(first, x)[0], {x: POINT})
        for i, offset in enumerate(np.eye(3) * 1e-5):
            above, below = (
                sess.run(first, {x: p}).sum() for p in (POINT + offset, POINT - offset)
            )
            np.testing.assert_allclose(second[i], (above - below) / 2e-5, rtol=1e-5)
