"""`tf.xla.experimental`: the graph has TensorFlow's marks, and runs as without them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _attr(operation: Any, name: str) -> Any:
    return operation.node_def.attr[name]


def test_a_computation_is_marked_and_its_operations_run() -> None:
    total = tf.get_variable("total", initializer=2.0, use_resource=True)
    x = tf.placeholder(tf.float32, [3])

    def computation(a: Any, b: Any) -> Any:
        weights = tf.get_variable("weights", [3], initializer=tf.ones_initializer())
        return a * b + weights, total.assign_add(1.0).op

    (product,) = tf.xla.experimental.compile(computation, [x, x])
    assert product.op.type == "Identity"
    assert product.op.inputs[0].op.type == "XlaClusterOutput"
    assert _attr(
        tf.get_default_graph().get_operation_by_name("mul"), "_xla_compile_id"
    ).s
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(product, {x: [1, 2, 3]}), [2, 5, 10])
        assert sess.run(total) == 3.0


def test_structures_and_nothing_come_back() -> None:
    made = tf.xla.experimental.compile(lambda x: {"twice": x * 2.0}, [1.5])
    nothing = tf.xla.experimental.compile(lambda: None)
    with tf.Session() as sess:
        assert sess.run([made, nothing]) == [{"twice": 3.0}, None]


@pytest.mark.parametrize(
    ("computation", "error", "message"),
    [
        (
            lambda: [tf.no_op(), tf.constant(1.0)],
            ValueError,
            "followed by zero or more",
        ),
        (lambda: {"a": tf.no_op()}, ValueError, "non-flat output structure"),
        (object, ValueError, "convertible to Tensors"),
        (
            lambda: tf.xla.experimental.compile(tf.identity, [1.0]),
            ValueError,
            "cannot be nested",
        ),
    ],
)
def test_wrong_computations_are_refused(
    computation: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        tf.xla.experimental.compile(computation)


def test_a_reference_variable_is_refused() -> None:
    variable = tf.Variable(1.0, use_resource=False)
    with pytest.raises(NotImplementedError, match="Non-resource Variables"):
        tf.xla.experimental.compile(lambda: variable.assign_add(1.0))


def test_scopes_mark_operations() -> None:
    x = tf.placeholder(tf.float32, [3])
    with tf.xla.experimental.jit_scope():
        outer = tf.identity(x)
        with tf.xla.experimental.jit_scope(lambda node: node.op == "Add"):
            inner = tf.add(x, x), tf.negative(x)
    with tf.contrib.compiler.jit.experimental_jit_scope(
        separate_compiled_gradients=True
    ):
        other = tf.square(x)
    scopes = [_attr(y.op, "_XlaScope").s for y in (outer, *inner, other)]
    assert scopes == [b"jit_scope_0"] * 3 + [b"jit_scope_1"]
    marks = [_attr(y.op, "_XlaCompile").b for y in (outer, *inner, other)]
    assert marks == [True, True, False, True]
    assert _attr(other.op, "_XlaSeparateCompiledGradients").b


@pytest.mark.parametrize(
    ("separately", "scope"),
    [(False, b"jit_scope_0"), (True, b"jit_scope_0_grad_outer_gradients")],
)
def test_gradients_are_marked_like_their_operations(
    separately: bool, scope: bytes
) -> None:
    x = tf.placeholder(tf.float32, [2])
    with tf.xla.experimental.jit_scope(separate_compiled_gradients=separately):
        y = tf.tanh(x)
    z = tf.sin(y)
    with tf.name_scope("outer"):
        tf.gradients(z, x)
    get = tf.get_default_graph().get_operation_by_name
    marked = get("outer/gradients/Tanh_grad/TanhGrad")
    assert _attr(marked, "_XlaScope").s == scope
    assert _attr(marked, "_XlaCompile").b
    assert "_XlaScope" not in get("outer/gradients/Sin_grad/mul").node_def.attr


def test_an_estimator_builds_its_steps_as_computations() -> None:
    tf.enable_resource_variables()

    @tf.contrib.compiler.xla.estimator_model_fn()
    def model_fn(features: Any, labels: Any, mode: str) -> Any:
        y = tf.layers.dense(features, 1)
        loss = tf.losses.mean_squared_error(labels, y)
        step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
        return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    def input_fn() -> Any:
        return tf.ones([4, 2]), tf.ones([4, 1])

    try:
        estimator = tf.estimator.Estimator(model_fn)
        estimator.train(input_fn, steps=3)
        assert estimator.evaluate(input_fn, steps=1)["global_step"] == 3
    finally:
        tf.disable_resource_variables()


def test_arguments_are_counted() -> None:
    check = tf.contrib.compiler.xla.check_function_argument_count
    assert check(lambda a, b: a, 2, None) is None
    assert check(lambda a, b: a, 1, None) == "exactly 2 arguments"
    assert check(lambda a, b=1: a, 3, None) == "at most 2 arguments"
