"""`tf.custom_gradient` and its relatives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.client.session.sessions import run_initialized


def test_the_gradient_is_what_the_function_says() -> None:
    @tf.custom_gradient
    def log1pexp(x: tf.Tensor) -> Any:
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.placeholder(tf.float32, [])
    y = log1pexp(x)
    assert y.name == "IdentityN:0"
    (gradient,) = tf.gradients(y, x)
    assert run_initialized(gradient, {x: 0.0}) == 0.5


def test_several_arguments_and_results() -> None:
    @tf.custom_gradient
    def swap(a: tf.Tensor, b: tf.Tensor) -> Any:
        return [b, a], lambda db, da: (da * 10.0, db * 100.0)

    a, b = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    first, second = swap(a, b)
    gradients = tf.gradients([first * 2.0, second * 3.0], [a, b])
    assert run_initialized([first, *gradients], {a: 1.0, b: 5.0}) == [5.0, 30.0, 200.0]


def test_variables_get_gradients_of_their_own() -> None:
    @tf.custom_gradient
    def scaled(x: tf.Tensor) -> Any:
        weight = tf.get_variable("weight", initializer=3.0)

        def grad(dy: tf.Tensor, variables: Any = None) -> Any:
            assert [v.name for v in variables] == ["weight:0"]
            return dy * 7.0, [tf.constant(11.0)]

        return x * weight, grad

    x = tf.placeholder(tf.float32, [])
    with tf.variable_scope(tf.get_variable_scope(), use_resource=True):
        y = scaled(x)
    gradients = tf.gradients(y, [x, *tf.trainable_variables()])
    assert run_initialized([y, *gradients], {x: 2.0}) == [6.0, 7.0, 11.0]


def _uses_variable(use_resource: bool, takes_variables: bool) -> None:
    @tf.custom_gradient
    def scaled(x: tf.Tensor) -> Any:
        y = x * tf.get_variable("weight", initializer=3.0)
        if takes_variables:
            return y, lambda dy, variables=None: (dy, [dy])
        return y, lambda dy: dy

    with tf.variable_scope(None, "scope", use_resource=use_resource):
        scaled(tf.placeholder(tf.float32, []))


def test_errors() -> None:
    with pytest.raises(TypeError, match="must be `ResourceVariable`s"):
        _uses_variable(use_resource=False, takes_variables=True)
    with pytest.raises(TypeError, match="accept a keyword argument 'variables'"):
        _uses_variable(use_resource=True, takes_variables=False)
    doubled = tf.custom_gradient(lambda x: (x * 2.0, lambda dy: dy))
    with pytest.raises(ValueError, match="keywords arguments only"):
        doubled(x=tf.constant(1.0))


def test_recompute_grad() -> None:
    @tf.recompute_grad
    def block(x: tf.Tensor) -> tf.Tensor:
        return tf.sin(x) * tf.exp(x)

    x = tf.placeholder(tf.float32, [3])
    value = np.array([0.1, 0.5, 1.0], np.float32)
    with tf.variable_scope("resources", use_resource=True):
        (gradient,) = tf.gradients(block(x), x)
    wanted = np.exp(value) * (np.sin(value) + np.cos(value))
    np.testing.assert_allclose(run_initialized(gradient, {x: value}), wanted, rtol=1e-5)
    sines = [op for op in tf.get_default_graph().get_operations() if op.type == "Sin"]
    assert len(sines) == 2


def test_grad_pass_through() -> None:
    x = tf.placeholder(tf.float32, [])
    with tf.variable_scope("resources", use_resource=True):
        y = tf.grad_pass_through(tf.floor)(x)
    (gradient,) = tf.gradients(y * 3.0, x)
    assert run_initialized([y, gradient], {x: 2.7}) == [2.0, 3.0]


@pytest.mark.parametrize("in_loop", [True, False])
def test_variables_in_bodies(in_loop: bool) -> None:
    """The gradients of the variable are those that the function says."""
    v = tf.get_variable("v", initializer=tf.constant(2.0), use_resource=True)

    @tf.custom_gradient
    def scaled(x: tf.Tensor) -> Any:
        def grad(dy: tf.Tensor, variables: Any = None) -> Any:
            return dy * 7.0, [tf.reduce_sum(dy) * 11.0 for _ in variables]

        return x * v, grad

    x = tf.constant([1.0, 2.0])
    if in_loop:
        y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, scaled(a)), [0, x])[
            1
        ]
        wanted = [[4.0, 8.0], [49.0, 49.0], 22.0 + 7 * 22.0]
    else:
        y = tf.cond(x[0] > 0.0, lambda: scaled(x), lambda: x)
        wanted = [[2.0, 4.0], [7.0, 7.0], 22.0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = sess.run([y, *tf.gradients(y, [x, v])])
    for value, expected in zip(values, wanted, strict=True):
        np.testing.assert_allclose(value, expected)
