"""Differential equations whose solutions are known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

T = np.linspace(0.0, 2.0, 5)


@pytest.mark.slow
def test_steps_that_fit_the_error() -> None:
    y, info = tf.contrib.integrate.odeint(
        lambda y, t: -y * t, tf.constant([1.0, 2.0], tf.float64), T, full_output=True
    )
    assert y.shape.as_list() == [5, 2]
    with tf.Session() as sess:
        values, info = sess.run([y, info])
    expected = np.exp(-(T**2) / 2)[:, None] * [1.0, 2.0]
    np.testing.assert_allclose(values, expected, rtol=1e-5)
    assert info["num_func_evals"] == 6 * len(info["integrate_points"]) + 1


@pytest.mark.parametrize(("method", "error"), [("rk4", 1e-5), ("midpoint", 1e-3)])
def test_steps_of_one_size(method: str, error: float) -> None:
    y = tf.contrib.integrate.odeint_fixed(
        lambda y, t: 1j * y, tf.constant(1.0 + 0.0j), T, [0.05] * 4, method
    )
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(y), np.exp(1j * T), atol=error)


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (lambda f: f(None, 1.0, T, method="euler"), ValueError, "invalid method"),
        (lambda f: f(None, 1.0, T, options={}), ValueError, "without specifying"),
        (lambda f: f(None, 1, T), TypeError, "`y0` must have"),
        (lambda f: f(None, 1.0, tf.constant([0, 1])), TypeError, "`t` must have"),
    ],
)
def test_refusals(call: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        call(tf.contrib.integrate.odeint)
