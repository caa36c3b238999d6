"""Gradients of the math ops: against finite differences, and by their nodes' names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

X = np.array([[0.3, 0.6, 0.45], [0.7, 0.2, 0.55]])
Y = np.array([[1.5, 0.4, 2.2]])

# (name, function of x) with x in (0, 1)
UNARY: dict[str, Callable[[Any], Any]] = {
    **{
        name: getattr(tf, name)
        for name in (
            *("abs", "negative", "square", "sqrt", "rsqrt", "reciprocal", "exp"),
            *("expm1", "log", "log1p", "sigmoid", "tanh", "sin", "cos", "tan", "asin"),
            *("acos", "atan", "sinh", "cosh", "asinh", "atanh", "erf", "erfc"),
            *("lgamma", "digamma", "cumsum", "reduce_sum", "reduce_mean"),
            *("reduce_prod", "reduce_max", "reduce_min", "reduce_logsumexp"),
        )
    },
    "acosh": lambda x: tf.acosh(x + 1),
    "bessel_i0e": tf.math.bessel_i0e,
    "bessel_i1e": tf.math.bessel_i1e,
    "mean of columns": lambda x: tf.reduce_mean(x * x, axis=0),
    "sum kept": lambda x: tf.reduce_sum(x * x, axis=[-1], keepdims=True),
    "product of rows": lambda x: tf.reduce_prod(x, axis=1),
    "largest of rows": lambda x: tf.reduce_max(x, axis=1),
    "variance": lambda x: tf.math.reduce_variance(x, axis=1),
    "cumprod": lambda x: tf.cumprod(x, axis=1, exclusive=True),
    "cumulative_logsumexp": lambda x: tf.math.cumulative_logsumexp(x, axis=1),
    "clip_by_value": lambda x: tf.clip_by_value(x, 0.25, 0.5),
    "clip_by_norm": lambda x: tf.clip_by_norm(x, 0.5),
    "norm": tf.norm,
    "segment_mean": lambda x: tf.segment_mean(x, [0, 0]),
    "segment_max": lambda x: tf.segment_max(x, [0, 0]),
    "unsorted_segment_sum": lambda x: tf.unsorted_segment_sum(x, [-1, 1], 2),
    "unsorted_segment_prod": lambda x: tf.unsorted_segment_prod(x, [1, 1], 2),
    "unsorted_segment_max": lambda x: tf.unsorted_segment_max(x, [1, 1], 3),
    "sparse_segment_mean": lambda x: tf.sparse_segment_mean(x, [0, 1, 1], [0, 0, 1]),
    "sparse_segment_sqrt_n": lambda x: tf.sparse_segment_sqrt_n(x, [0, 1], [0, 0]),
    "cast": lambda x: tf.cast(tf.cast(x, tf.complex128), tf.float64),
    "complex": lambda x: tf.abs(tf.complex(x, 2 * x)),
    "angle": lambda x: tf.angle(tf.complex(x, x * x)),
    "add_n": lambda x: tf.add_n([x, x * x, x]),
    "accumulate_n": lambda x: tf.accumulate_n([x, x * x]),
    "cross": lambda x: tf.cross(x, x * x),
    "matmul": lambda x: tf.matmul(x, x, transpose_b=True),
    "matmul, both transposed": lambda x: tf.matmul(x, x[:2, :2], True, True),
    "batches": lambda x: tf.matmul(x[None], tf.stack([x, x * x]), adjoint_b=True),
    "tensordot": lambda x: tf.tensordot(x, x, [[1], [1]]),
    "einsum": lambda x: tf.einsum("ij,kj,k->i", x, x, x[:, 0]),
    "betainc": lambda x: tf.betainc(np.float64(1.5), np.float64(2.0), x),
    "atan2": lambda x: tf.atan2(x, x * x),
    "igamma": lambda x: tf.igamma(x + 1, np.float64(1.5)),
    "zeta": lambda x: tf.zeta(np.float64(2.5), x),
}
BINARY: dict[str, Callable[[Any, Any], Any]] = {
    **{
        name: getattr(tf, name)
        for name in (
            *("add", "subtract", "multiply", "truediv", "maximum", "minimum", "pow"),
            *("squared_difference", "div_no_nan", "floormod"),
        )
    },
    "xdivy": tf.math.xdivy,
    "xlogy": tf.math.xlogy,
    "multiply_no_nan": tf.math.multiply_no_nan,
    "where_v2": lambda x, y: tf.where_v2(x > 0.5, x, y),
    "Div": lambda x, y: tf.raw_ops.Div(x=x, y=y),
    "ClipByValue": lambda x, y: tf.raw_ops.ClipByValue(
        t=x * 2, clip_value_min=0.3 * y[0, 0], clip_value_max=y[0, 0] * 0.52
    ),
}


def numeric_gradient(run: Callable[[Any], float], x: Any) -> Any:
    """Central differences of a scalar function."""
    gradient = np.zeros_like(x)
    for place in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[place] = 1e-6
        gradient[place] = (run(x + step) - run(x - step)) / 2e-6
    return gradient


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str, static: bool) -> None:
    ragged = name == "cross" or name.startswith(
        ("matmul", "batches", "einsum", "tensor")
    )
    x = tf.placeholder(tf.float64, X.shape if static or ragged else None)
    if not static and name.startswith("unsorted"):
        x.set_shape([None, None])  # its gradient needs the rank
    y = tf.reduce_sum(tf.sin(UNARY[name](x)))
    (gradient,) = tf.gradients(y, x)
    with tf.Session() as session:
        got = session.run(gradient, {x: X})
        expected = numeric_gradient(lambda v: session.run(y, {x: v}), X)
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize("static", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name: str, static: bool) -> None:
    x = tf.placeholder(tf.float64, X.shape if static else None)
    y = tf.placeholder(tf.float64, Y.shape if static else None)
    z = tf.reduce_sum(tf.sin(BINARY[name](x, y)))
    gradients = tf.gradients(z, [x, y])
    with tf.Session() as session:
        got = session.run(gradients, {x: X, y: Y})
        by_x = numeric_gradient(lambda v: session.run(z, {x: v, y: Y}), X)
        by_y = numeric_gradient(lambda v: session.run(z, {x: X, y: v}), Y)
    np.testing.assert_allclose(got[0], by_x, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(got[1], by_y, rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "name", ["sqrt", "rsqrt", "reciprocal", "sigmoid", "tanh", "exp", "square"]
)
def test_second_gradient(name: str) -> None:
    x = tf.placeholder(tf.float64, X.shape)
    first = tf.reduce_sum(tf.gradients(UNARY[name](x), x)[0])
    (second,) = tf.gradients(first, x)
    with tf.Session() as session:
        got = session.run(second, {x: X})
        expected = numeric_gradient(lambda v: session.run(first, {x: v}), X)
    np.testing.assert_allclose(got, expected, rtol=1e-5)


@pytest.mark.parametrize("name", ["floor", "ceil", "rint", "round"])
def test_steps_have_no_gradient(name: str) -> None:
    x = tf.placeholder(tf.float32, [2])
    assert tf.gradients(getattr(tf, name)(x), x) == [None]


def made_by(build: Callable[[], Any]) -> list[str]:
    """Names of the operations under `gradients/` but the first three."""
    build()
    names = [op.name for op in tf.get_default_graph().get_operations()]
    return [n[10:] for n in names if n.startswith("gradients/")][3:]


# Recorded from TensorFlow 1.15.0.
def test_names_of_a_broadcasting_sum() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [2, 3])
        b = tf.placeholder(tf.float32, [3])
        tf.gradients(x + b, [x, b])

    assert made_by(build) == [
        "add_grad/BroadcastGradientArgs/s0",
        "add_grad/BroadcastGradientArgs/s1",
        "add_grad/BroadcastGradientArgs",
        "add_grad/Sum/reduction_indices",
        "add_grad/Sum",
        "add_grad/Reshape/shape",
        "add_grad/Reshape",
    ]


def test_the_axes_of_two_shapes_are_told_once() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [2, 3])
        b = tf.placeholder(tf.float32, [3])
        tf.gradients((x + b) * b, [x, b])

    names = made_by(build)
    assert [n for n in names if "BroadcastGradientArgs" in n] == [
        "mul_grad/BroadcastGradientArgs/s0",
        "mul_grad/BroadcastGradientArgs/s1",
        "mul_grad/BroadcastGradientArgs",
    ]


def test_names_of_a_dynamic_product() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32)
        y = tf.placeholder(tf.float32)
        tf.gradients(x * y, [x, y])

    assert made_by(build) == [
        "mul_grad/Shape",
        "mul_grad/Shape_1",
        "mul_grad/BroadcastGradientArgs",
        "mul_grad/Mul",
        "mul_grad/Sum",
        "mul_grad/Reshape",
        "mul_grad/Mul_1",
        "mul_grad/Sum_1",
        "mul_grad/Reshape_1",
    ]


def test_names_of_a_mean() -> None:
    def build() -> None:
        x = tf.placeholder(tf.float32, [None, 3])
        tf.gradients(tf.reduce_mean(x), x)

    assert made_by(build) == [
        "Mean_grad/Reshape/shape",
        "Mean_grad/Reshape",
        "Mean_grad/Shape",
        "Mean_grad/Tile",
        "Mean_grad/Shape_1",
        "Mean_grad/Shape_2",
        "Mean_grad/Const",
        "Mean_grad/Prod",
        "Mean_grad/Const_1",
        "Mean_grad/Prod_1",
        "Mean_grad/Maximum/y",
        "Mean_grad/Maximum",
        "Mean_grad/floordiv",
        "Mean_grad/Cast",
        "Mean_grad/truediv",
    ]
