"""`tf.gradients`: values, options, errors, and its cost on long graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tests.client.session.sessions import run_initialized

_names = iter(range(10**6))


def _placeholder(*shape: int | None, dtype: Any = tf.float32) -> tf.Tensor:
    return tf.placeholder(dtype, list(shape), name="x")


def _with_gradient(function: Callable[..., Any]) -> Any:
    """The gradient of a sine whose gradient function is `function`."""
    name = f"TestGradient{next(_names)}"
    tf.RegisterGradient(name)(function)
    x = _placeholder(3)
    with tf.get_default_graph().gradient_override_map({"Sin": name}):
        y = tf.sin(x)
    return tf.gradients(y * 1.0, x)[0], x


def test_override() -> None:
    gradient, x = _with_gradient(lambda op, grad: grad * 7.0)
    assert run_initialized(gradient, {x: [1, 2, 3]}).tolist() == [7, 7, 7]


def test_higher_orders() -> None:
    x = _placeholder()
    y = x**4
    for factor, power in ((4, 3), (12, 2), (24, 1)):
        y = tf.gradients(y, x)[0]
        assert run_initialized(y, {x: 2.0}) == factor * 2.0**power


def test_hessians() -> None:
    x = _placeholder(2)
    (hessian,) = tf.hessians(x[0] * x[0] * x[1], x)
    assert run_initialized(hessian, {x: [2.0, 3.0]}).tolist() == [[6, 4], [4, 0]]


def test_grad_ys_weigh_the_ys() -> None:
    x = _placeholder(3)
    (gradient,) = tf.gradients([x, x * x], x, grad_ys=[tf.constant([1.0, 0, 2]), None])
    assert run_initialized(gradient, {x: [1.0, 2, 3]}).tolist() == [3, 4, 8]


def test_stop_gradients_count_as_constants() -> None:
    a = tf.constant(0.0)
    b = 2 * a
    partial = tf.gradients(a + b, [a, b], stop_gradients=[a, b])
    total = tf.gradients(a + b, [a, b])
    assert run_initialized([partial, total], {}) == [[1.0, 1.0], [3.0, 1.0]]


def test_unconnected() -> None:
    x, z = _placeholder(2), _placeholder(3)
    assert tf.gradients(x * 2.0, z) == [None]
    (zeros,) = tf.gradients(x * 2.0, z, unconnected_gradients="zero")
    assert run_initialized(zeros, {z: [1, 2, 3]}).tolist() == [0, 0, 0]


def test_integers_carry_no_gradient() -> None:
    x = _placeholder(2, dtype=tf.int32)
    assert tf.gradients(tf.cast(x, tf.float32) * 2.0, x) == [None]


def test_a_gather_gives_slices_and_they_are_joined() -> None:
    params = _placeholder(5, 2)
    y = tf.gather(params, [1, 3]) * 2.0 + tf.gather(params, [3, 4])
    (gradient,) = tf.gradients(y, params)
    assert isinstance(gradient, tf.IndexedSlices)
    value = run_initialized(gradient, {params: np.ones([5, 2])})
    assert sorted(value.indices.tolist()) == [1, 3, 3, 4]
    dense = run_initialized(tf.convert_to_tensor(gradient), {params: np.ones([5, 2])})
    assert dense.tolist() == [[0, 0], [2, 2], [0, 0], [3, 3], [1, 1]]


@pytest.mark.parametrize("method", [0, 1, 2, None])
def test_aggregation_methods_agree(method: int | None) -> None:
    x = _placeholder(2)
    ys = [tf.sin(x), tf.cos(x), x * x, x]
    (gradient,) = tf.gradients(ys, x, aggregation_method=method)
    feed = np.array([0.5, 1.5], np.float32)
    wanted = np.cos(feed) - np.sin(feed) + 2 * feed + 1
    np.testing.assert_allclose(run_initialized(gradient, {x: feed}), wanted, rtol=1e-6)


def test_gated_gradients_wait_for_each_other() -> None:
    x, z = _placeholder(2), _placeholder(2)
    gradients = tf.gradients(x * z, [x, z], gate_gradients=True)
    assert all("tuple" in g.name for g in gradients)
    assert run_initialized(gradients[0], {x: [1, 2], z: [3, 4]}).tolist() == [3, 4]


def test_colocation() -> None:
    with tf.device("/cpu:0"):
        x = _placeholder(2)
    y = tf.sin(x, name="sine")
    (gradient,) = tf.gradients(y, x, colocate_gradients_with_ops=True)
    assert gradient.op.colocation_groups() == [b"loc:@sine"]


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (
            lambda: tf.gradients(tf.constant("a"), _placeholder(3)),
            None,
            None,
        ),
        (
            lambda: tf.gradients(_placeholder(3, dtype=tf.complex64), _placeholder(3)),
            TypeError,
            "Gradients of complex tensors must set grad_ys",
        ),
        (
            lambda: tf.gradients([_placeholder(3)], [_placeholder(3)], [1.0, 2.0]),
            ValueError,
            "Passed 2 grad_ys for 1 ys",
        ),
        (
            lambda: tf.gradients(_placeholder(3), _placeholder(3), [tf.constant(True)]),
            TypeError,
            "Gradient type bool generated for real or integer-valued",
        ),
        (
            lambda: tf.gradients(_placeholder(3), _placeholder(3), [tf.constant(1j)]),
            TypeError,
            "Gradient type complex128",
        ),
        (
            lambda: tf.gradients(_placeholder(3), [], aggregation_method=7),
            ValueError,
            "Invalid aggregation_method specified 7",
        ),
        (
            lambda: tf.gradients(_placeholder(3), [], unconnected_gradients="no"),
            ValueError,
            "Unknown value for unconnected_gradients: 'no'",
        ),
        (
            lambda: _with_gradient(lambda op, grad: [grad, grad]),
            ValueError,
            "Num gradients 2 generated for op",
        ),
        (
            lambda: _with_gradient(lambda op, grad: tf.ones([4])),
            ValueError,
            "Incompatible shapes between op input and calculated input gradient",
        ),
        (
            lambda: _with_gradient(lambda op, grad: "s"),
            TypeError,
            "either all Tensors",
        ),
    ],
)
def test_errors(make: Callable[[], Any], error: Any, text: str | None) -> None:
    if error is None:
        with pytest.raises(TypeError):
            make()
        return
    with pytest.raises(error, match=text):
        make()


def test_an_op_without_gradient() -> None:
    x = _placeholder(3)
    y, _ = tf.unique(x)
    message = r"No gradient defined for operation 'Unique' \(op type: Unique\)"
    with pytest.raises(LookupError, match=message):
        tf.gradients(y, x)


def test_an_unregistered_override() -> None:
    x = _placeholder(3)
    with tf.get_default_graph().gradient_override_map({"Sin": "NobodyKnows"}):
        y = tf.sin(x)
    with pytest.raises(LookupError, match="No gradient defined for operation 'Sin'"):
        tf.gradients(y, x)


def test_registering_twice() -> None:
    with pytest.raises(KeyError, match="two gradient with name 'Sin'"):
        tf.RegisterGradient("Sin")(lambda op, grad: grad)
    with pytest.raises(TypeError, match="must be a string"):
        tf.RegisterGradient(1)  # type: ignore[arg-type]


def test_long_chains_do_not_recurse() -> None:
    x = _placeholder()
    y = x
    for _ in range(3000):
        y = tf.negative(y)
    (gradient,) = tf.gradients(y, x)
    assert len(tf.get_default_graph().get_operations()) < 2 * 3000 + 10
    assert gradient.dtype == tf.float32


def test_control_dependencies_take_sparse_gradients() -> None:
    v = tf.get_variable("v", initializer=[[1.0, 2.0]] * 2)
    slices = tf.gradients(tf.gather(v, [0]), v)[0]
    with tf.control_dependencies([slices]):
        after = tf.no_op()
    assert after.control_inputs == [slices.op]
