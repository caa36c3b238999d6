"""`tf.function` in graphs: calls, traces, effects and gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.client.session.sessions import run_initialized


class Spec:
    """What `tf.TensorSpec` is to `tf.function`."""

    def __init__(self, shape: Any, dtype: Any, name: str | None = None) -> None:
        self.shape, self.dtype, self.name = tf.TensorShape(shape), dtype, name


def test_a_call_is_one_node_named_as_in_tensorflow() -> None:
    @tf.function
    def f(x: Any, y: Any) -> Any:
        return x * y, {"sum": tf.reduce_sum(y)}

    x = tf.placeholder(tf.float32, [3])
    product, rest = f(x, x + 1.0)
    again = f(x, y=2.0)
    assert product.name == "PartitionedCall:0"
    assert rest["sum"].name == "PartitionedCall:1"
    assert again[0].name == "PartitionedCall_1:0"
    assert product.shape.as_list() == [3]
    gradient = tf.gradients(product, x)[0]
    graph = tf.get_default_graph()
    assert graph.get_operation_by_name("gradients/PartitionedCall_grad/PartitionedCall")
    values = run_initialized(
        [product, rest["sum"], again[0], gradient], {x: [1.0, 2.0, 3.0]}
    )
    np.testing.assert_array_equal(values[0], [2, 6, 12])
    assert values[1] == 9
    np.testing.assert_array_equal(values[2], [2, 4, 6])
    np.testing.assert_array_equal(values[3], [3, 5, 7])


def test_traces_are_made_for_dtypes_shapes_and_python_values() -> None:
    traced = []

    @tf.function
    def power(x: Any, n: int = 2) -> Any:
        traced.append(n)
        return x**n

    a = tf.constant([1.0, 2.0])
    results = [power(a), power(a), power(a, 3), power(a, n=3), power(tf.ones([3]))]
    assert traced == [2, 3, 2]
    np.testing.assert_array_equal(run_initialized(results[2]), [1, 8])
    with tf.Graph().as_default():
        power(tf.constant([1.0, 2.0]))
    assert traced == [2, 3, 2, 2]


def test_input_signature() -> None:
    @tf.function(input_signature=[Spec([None], tf.float32, "z")])
    def double(z: Any) -> Any:
        assert z.shape.as_list() == [None]
        return z * 2.0

    assert run_initialized(double([1.0, 2.0])).tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        double(tf.constant([1]))
    with pytest.raises(ValueError, match="incompatible with input_signature"):
        double(tf.ones([2, 2]))
    with pytest.raises(TypeError, match="Received 2 argument"):
        double(1.0, 2.0)
    with pytest.raises(TypeError, match="must be either a tuple or a list"):
        tf.function(lambda x: x, input_signature=Spec([], tf.float32))
    concrete = double.get_concrete_function()
    assert concrete.name.startswith(b"__inference_double_")
    assert [t.name for t in concrete.inputs] == ["z:0"]
    assert run_initialized(concrete(tf.constant([4.0]))).tolist() == [8.0]
    assert run_initialized(concrete(z=tf.constant([4.0]))).tolist() == [8.0]
    with pytest.raises(TypeError):
        concrete()


def test_effects_happen_in_order_and_once_a_call() -> None:
    v = tf.get_variable("v", initializer=2.0, use_resource=True)

    @tf.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        before = v.read_value()
        v.assign(before * 10.0)
        return before

    first = step(1.0)
    with tf.control_dependencies([first]):
        after = v.read_value()
    assert first.op.type == "StatefulPartitionedCall"
    assert run_initialized([first, after]) == [3.0, 30.0]


def test_the_gradient_reads_the_random_numbers_of_the_call() -> None:
    x = tf.placeholder(tf.float32, [100])

    @tf.function
    def noisy(x: Any) -> Any:
        return x * tf.random_uniform([100])

    y = noisy(x)
    value, gradient = run_initialized([y, tf.gradients(y, x)[0]], {x: np.ones(100)})
    np.testing.assert_array_equal(value, gradient)


def test_captures_nesting_and_second_order() -> None:
    w = tf.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
    x = tf.placeholder(tf.float32, [2])

    @tf.function
    def inner(a: Any) -> Any:
        return tf.sin(a) * w

    @tf.function
    def outer(a: Any) -> Any:
        return tf.while_loop(
            lambda i, b: i < 2, lambda i, b: (i + 1, inner(b) + x), [0, a]
        )[1]

    y = outer(x * 1.0)
    plain = x * 1.0
    for _ in range(2):
        plain = tf.sin(plain) * w + x
    first, wanted = tf.gradients(y, [x, w]), tf.gradients(plain, [x, w])
    seconds = [tf.gradients(g, x)[0] for g in (first[0], wanted[0])]
    values = run_initialized([y, plain, *first, *wanted, *seconds], {x: [0.3, -0.7]})
    np.testing.assert_allclose(values[0], values[1], 1e-6)
    np.testing.assert_allclose(values[2:4], values[4:6], 1e-5)
    np.testing.assert_allclose(values[6], values[7], 1e-5)


def test_methods_have_traces_of_their_own() -> None:
    class Scale:
        def __init__(self, factor: float) -> None:
            self.factor = factor

        @tf.function
        def __call__(self, x: Any) -> Any:
            return x * self.factor

    two, three = Scale(2.0), Scale(3.0)
    assert run_initialized([two(tf.constant(1.0)), three(tf.constant(1.0))]) == [
        2.0,
        3.0,
    ]


def test_variables_may_be_made_by_the_first_trace_alone() -> None:
    made = []

    @tf.function
    def once(x: Any) -> Any:
        if not made:
            made.append(tf.Variable(3.0, use_resource=True))
        return x * made[0]

    assert run_initialized(once(tf.constant(2.0))) == 6.0

    @tf.function
    def always(x: Any) -> Any:
        return x * tf.Variable(3.0, use_resource=True)

    with pytest.raises(ValueError, match="create variables on non-first call"):
        always(tf.constant(2.0))


def test_python_control_flow_is_converted() -> None:
    def positive(x: Any) -> Any:
        return x if x > 0 else -x

    with tf.Session() as sess:
        assert sess.run(tf.function(positive)(tf.constant(-1.0))) == 1.0
    with pytest.raises(TypeError, match="AutoGraph is disabled in this function"):
        tf.function(positive, autograph=False)(tf.constant(1.0))


def test_methods_are_converted_too() -> None:
    class Model:
        limit = 2.0

        @tf.function
        def clipped(self, x: Any) -> Any:
            if x > self.limit:
                x = self.limit
            return x

    with tf.Session() as sess:
        assert sess.run(Model().clipped(tf.constant(5.0))) == 2.0


def test_without_results_the_call_is_an_operation() -> None:
    v = tf.get_variable("v", initializer=1.0, use_resource=True)

    @tf.function
    def bump() -> None:
        v.assign_add(1.0)

    call = bump()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(call)
        assert sess.run(v) == 2.0


def test_a_gradient_that_reads_of_a_body_with_effects_runs_them() -> None:
    """Also in a step that needs no result of the call, as in TensorFlow 1.15."""
    v = tf.get_variable("v", initializer=0.0, use_resource=True)
    x = tf.placeholder(tf.float32, [2])

    @tf.function(autograph=False)
    def turned(a: Any) -> Any:
        v.assign_add(1.0)
        return tf.reverse(a, [0])

    @tf.function(autograph=False)
    def plus_one(a: Any) -> Any:
        v.assign_add(10.0)
        return a + 1.0

    @tf.function(autograph=False)
    def square(a: Any) -> Any:
        v.assign_add(100.0)
        return a * a

    first = [tf.gradients(f(x), x)[0] for f in (turned, plus_one, square)]
    second = tf.gradients(tf.gradients(square(x), x)[0], x)[0]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        after = []
        for gradient in (*first, second):
            session.run(gradient, {x: [1.0, 2.0]})
            after.append(session.run(v))
    assert after == [1.0, 1.0, 101.0, 201.0]
