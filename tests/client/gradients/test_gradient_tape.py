"""`tf.GradientTape` in a graph. The expected numbers are TensorFlow 1.15's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.client.session.sessions import run_initialized

X = [0.5, 2.0]


@pytest.fixture
def x() -> Any:
    with tf.Graph().as_default():
        yield tf.placeholder(tf.float32, [2], name="x")


def test_watched_tensors_and_trainable_variables(x: Any) -> None:
    v = tf.get_variable("v", initializer=[1.0, 2.0], use_resource=True)
    u = tf.get_variable("u", initializer=[3.0, 4.0], use_resource=True, trainable=False)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x * v + u
    by_x, by_v, by_u = tape.gradient(y, [x, v, u])
    assert by_u is None
    assert tape.watched_variables() == (v,)
    result = run_initialized([by_x, by_v], {x: X})
    np.testing.assert_allclose(result, [[1.0, 8.0], [0.25, 4.0]])


def test_a_tape_gives_one_gradient_unless_it_is_persistent(x: Any) -> None:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * 2.0
    tape.gradient(y, x)
    with pytest.raises(RuntimeError, match="can only be called once"):
        tape.gradient(y, x)


def test_operations_beside_the_tape_are_constants(x: Any) -> None:
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        with tape.stop_recording():
            w = x * 7.0
        z = w * x
    assert tape.gradient(w, x) is None
    zeros = tape.gradient(w, x, unconnected_gradients="zero")
    gradient, nothing = run_initialized([tape.gradient(z, x), zeros], {x: X})
    np.testing.assert_allclose(gradient, [3.5, 14.0])
    np.testing.assert_allclose(nothing, [0.0, 0.0])


def test_tapes_in_tapes(x: Any) -> None:
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.reduce_sum(x**3)
        gradient = inner.gradient(y, x)
    second = outer.gradient(gradient, x)
    np.testing.assert_allclose(run_initialized(second, {x: X}), [3.0, 12.0])


def test_jacobians(x: Any) -> None:
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.stack([x, x * 2.0])
        tape.watch(rows)
        y = tf.matmul(rows, [[1.0, 2.0], [4.0, 5.0]]) ** 2
    whole, batch = run_initialized(
        [tape.jacobian(y, rows), tape.batch_jacobian(y, rows)], {x: X}
    )
    assert whole.shape == (2, 2, 2, 2)
    for i in range(2):
        np.testing.assert_allclose(whole[i, :, i], batch[i])
        np.testing.assert_allclose(whole[i, :, 1 - i], 0.0)
    np.testing.assert_allclose(batch[0], [[17.0, 68.0], [44.0, 110.0]])


def test_what_cannot_be_watched() -> None:
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="not tf"):
        tape.watch("a")
    with pytest.raises(ValueError, match="already recording"), tape, tape:
        pass
