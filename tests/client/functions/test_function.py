"""Functions of the graph's library: Defun, calls, and their gradients."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.ops.control_flow import functional as functional_ops
from tests.client.session.sessions import run_initialized


@Defun(tf.float32, tf.float32, func_name="sum_and_difference")
def sum_and_difference(x: tf.Tensor, y: tf.Tensor) -> Any:
    return x + y, x - y


def test_a_call_is_one_node() -> None:
    total, difference = sum_and_difference(3.0, 2.0, name="call")
    assert total.op.type == "sum_and_difference"
    assert total.op.name == "call"
    assert run_initialized([total, difference]) == [5.0, 1.0]
    library = tf.get_default_graph().as_graph_def().library
    assert [f.signature.name for f in library.function] == ["sum_and_difference"]


def test_calls_are_differentiated() -> None:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])

    @Defun(tf.float32, tf.float32)
    def product(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
        return tf.sin(a) * b

    z = product(x, y) * 2.0
    gradients = tf.gradients(z, [x, y])
    second = tf.gradients(gradients[0], y)
    values = run_initialized([*gradients, *second], {x: 0.0, y: 3.0})
    assert values == [6.0, 0.0, 2.0]


def test_captures_and_variables() -> None:
    x = tf.placeholder(tf.float32, [])
    v = tf.get_variable("v", initializer=4.0, use_resource=True)

    @Defun(tf.float32)
    def scaled(a: tf.Tensor) -> tf.Tensor:
        return a * x * v

    y = scaled(tf.constant(2.0))
    assert [t.name for t in scaled.captured_inputs] == [x.name, v.handle.name]
    assert run_initialized([y, *tf.gradients(y, [x, v])], {x: 3.0}) == [24.0, 8.0, 6.0]


def test_dtypes_of_the_call_choose_the_function() -> None:
    @Defun(func_name="twice")
    def twice(a: tf.Tensor) -> tf.Tensor:
        return a + a

    assert run_initialized([twice(2), twice(2.5)]) == [4, 5.0]


def test_gradient_functions_that_the_user_writes() -> None:
    @Defun(tf.float32, tf.float32, func_name="the_gradient")
    def gradient(x: tf.Tensor, dy: tf.Tensor) -> tf.Tensor:
        return dy * 100.0

    def python_gradient(op: tf.Operation, grad: tf.Tensor) -> tf.Tensor:
        return grad * 1000.0

    for options, wanted in (
        ({"grad_func": gradient}, 100.0),
        ({"python_grad_func": python_gradient}, 1000.0),
    ):
        name = next(iter(options))

        @Defun(tf.float32, func_name=f"with_{name}", **options)
        def function(x: tf.Tensor) -> tf.Tensor:
            return tf.sin(x)

        x = tf.placeholder(tf.float32, [])
        (slope,) = tf.gradients(function(x), x)
        assert run_initialized(slope, {x: 1.0}) == wanted


def test_a_function_runs_its_side_effects() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @Defun(tf.float32)
    def bump(x: tf.Tensor) -> tf.Tensor:
        v.assign_add(x)
        return x

    y = bump(tf.constant(5.0))
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(y)
        assert sess.run(v) == 6.0


def test_errors() -> None:
    with pytest.raises(ValueError, match="must be callable"):
        Defun(tf.float32)(3)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="defaults or keywords"):
        Defun(tf.float32)(lambda x, y=3: x)
    with pytest.raises(ValueError, match="fewer arguments than"):
        Defun(tf.float32, tf.float32)(lambda x: x)
    with pytest.raises(ValueError, match="Expected number of arguments: 2, received"):
        sum_and_difference(1.0)


def test_partitioned_calls_are_differentiated() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    sum_and_difference.add_to_graph(tf.get_default_graph())
    op = functional_ops.call_op(
        "PartitionedCall",
        [x, x * x],
        "call",
        f=functional_ops.named("sum_and_difference"),
        Tout=[tf.float32, tf.float32],
    )
    assert op.outputs[0].shape.as_list() == []  # inferred through the body
    gradients = tf.gradients(op.outputs, x)
    assert run_initialized([*op.outputs, *gradients], {x: 3.0}) == [12.0, -6.0, 2.0]


def test_a_function_that_calls_another_in_several_graphs() -> None:
    @Defun(tf.float32)
    def leaf(x: Any) -> Any:
        return x * 2.0

    @Defun(tf.float32)
    def middle(x: Any) -> Any:
        return tf.identity(leaf(x))

    for _ in range(2):
        with tf.Graph().as_default() as graph:
            y = middle(1.5)
            names = [f.signature.name for f in graph.as_graph_def().library.function]
            assert sorted(names) == sorted([leaf.name, middle.name])
            assert middle.definition.signature.name == middle.name
            with tf.Session() as sess:
                assert sess.run(y) == 3.0


@pytest.mark.parametrize("factors", [(5.0, None, 7.0), (None, 2.0, 3.0)])
def test_a_gradient_in_python_is_that_of_its_own_calls(factors: Any) -> None:
    """Functions of equal bodies have one name, in one graph and in several."""

    def made(factor: float | None) -> Any:
        gradient = None if factor is None else (lambda op, grad: grad * factor)

        @Defun(tf.float32, python_grad_func=gradient)
        def square(x: Any) -> Any:
            return x * x

        return square

    wanted = [6.0 if factor is None else factor for factor in factors]
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(3.0)
        results = [made(factor)(x) for factor in factors]
        assert len({y.op.type for y in results}) == 1
        assert session.run([tf.gradients(y, x)[0] for y in results]) == wanted
    for factor, value in zip(factors, wanted, strict=True):
        with tf.Graph().as_default(), tf.Session() as session:
            x, square = tf.constant(3.0), made(factor)
            branch = tf.cond(x > 0.0, lambda: square(x), lambda: x)  # noqa: B023
            found = [tf.gradients(y, x)[0] for y in (square(x), branch)]
            assert session.run(found) == [value] * 2
