"""`tf.contrib.recurrent`, beside loops over NumPy and `tf.nn.dynamic_rnn`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

recurrent = tf.contrib.recurrent
STEPS = np.array([1.0, 2.0, 3.0], np.float32)


def _polynomial(theta: Any, state: Any, inputs: Any) -> Any:
    value = state["value"] + inputs * state["power"]
    return {"value": value, "power": state["power"] * theta}, []


def _state() -> dict[str, Any]:
    return {"value": tf.constant(0.0), "power": tf.constant(1.0)}


@pytest.mark.parametrize("use_tpu", [False, True])
def test_states_and_gradients(use_tpu: bool) -> None:
    x, coefficients = tf.constant(2.0), tf.constant(STEPS)
    states, last = recurrent.Recurrent(
        x, _state(), coefficients, _polynomial, use_tpu=use_tpu
    )
    grads = tf.gradients(last["value"], [x, coefficients])
    with tf.Session() as sess:
        states, last, grads = sess.run([states, last, grads])
    assert states["value"].tolist() == [1.0, 5.0, 17.0]
    assert last["power"] == 8.0
    assert grads[0] == 14.0
    assert grads[1].tolist() == [1.0, 2.0, 4.0]


def test_a_cell_has_its_own_gradient() -> None:
    def gradient(theta: Any, state: Any, inputs: Any, extras: Any, d: Any) -> Any:
        return tf.constant(7.0), {"value": d["value"], "power": None}, None

    x = tf.constant(2.0)
    _, last = recurrent.Recurrent(
        x, _state(), tf.constant(STEPS), _polynomial, gradient
    )
    with tf.Session() as sess:
        assert sess.run(tf.gradients(last["value"], x))[0] == 21.0


def test_only_some_steps_count() -> None:
    first, _ = recurrent.Recurrent(
        tf.constant(2.0),
        _state(),
        tf.constant(STEPS),
        _polynomial,
        max_input_length=tf.constant(2),
    )
    last, _ = recurrent.Recurrent(
        tf.constant(2.0),
        _state(),
        tf.constant(STEPS),
        _polynomial,
        max_input_length=tf.constant(2),
        aligned_end=True,
    )
    with tf.Session() as sess:
        assert sess.run(first["value"]).tolist() == [1.0, 5.0, 0.0]
        assert sess.run(last["value"]).tolist() == [0.0, 2.0, 8.0]


def test_a_step_that_uses_other_tensors_is_refused() -> None:
    other = tf.constant(1.0)
    with pytest.raises(AssertionError, match="cell_fn is not pure"):
        recurrent.Recurrent(
            tf.constant(2.0),
            tf.constant(0.0),
            tf.constant(STEPS),
            lambda theta, state, inputs: (state + other, []),
        )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["LSTMCell", "GRUCell"])
def test_cells_are_as_in_dynamic_rnn(kind: str) -> None:
    cell = getattr(tf.nn.rnn_cell, kind)(3)
    inputs = tf.constant(np.random.RandomState(0).randn(2, 4, 3).astype(np.float32))
    lengths = tf.constant([4, 2])
    expected = tf.nn.dynamic_rnn(cell, inputs, lengths, dtype=tf.float32, scope="s")
    with tf.variable_scope(tf.get_variable_scope(), reuse=True):
        found = recurrent.functional_rnn(
            cell, inputs, lengths, dtype=tf.float32, scope="s"
        )
    weights = tf.trainable_variables()
    grads = [tf.gradients(tf.reduce_sum(out), weights) for out, _ in (expected, found)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        first, second = sess.run([[expected, grads[0]], [found, grads[1]]])
    for one, other in zip(tf.nest.flatten(first), tf.nest.flatten(second), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-5)
