"""Fused products give what their parts give."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.registry.op_kernel import find_kernels
from tensorloom.framework.types.tensor_shape import TensorShape
from tests.kernels.math.math_ops_calls import construction

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "none": lambda x: x,
    "relu": tf.nn.relu,
    "relu6": tf.nn.relu6,
    "elu": tf.nn.elu,
    "tanh": tf.nn.tanh,
    "sigmoid": tf.nn.sigmoid,
}


def run_both(build: Callable[[], Any], feeds: Callable[[], dict[Any, Any]]) -> str:
    """Runs with and without passes; asserts equal values; returns the fused graph."""
    plain = tf.ConfigProto()
    plain.graph_options.rewrite_options.disable_meta_optimizer = True
    options = tf.RunOptions(output_partition_graphs=True)
    results, metadata = [], tf.RunMetadata()
    result = build()
    for config in (plain, None):
        with tf.Session(config=config) as sess:
            results.append(sess.run(result, feeds(), options, metadata))
    np.testing.assert_allclose(results[1], results[0], rtol=1e-4, atol=1e-5)
    assert results[1].dtype == results[0].dtype
    return str([n.op for g in metadata.partition_graphs for n in g.node])


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [3, 80, 200])  # in host memory, in both, as tensors
def test_mat_mul(activation: str, dtype: str, size: int) -> None:
    random = np.random.RandomState(1)
    x = tf.placeholder(dtype, [size, size])
    w = tf.placeholder(dtype, [size, size])
    b = tf.placeholder(dtype, [size])

    def build() -> Any:
        product = tf.matmul(x, w, transpose_b=True)
        return ACTIVATIONS[activation](tf.nn.bias_add(product, b)) * 1.5

    values = {t: random.randn(*t.shape.as_list()) for t in (x, w, b)}
    assert "_FusedMatMul" in run_both(build, lambda: values)


@pytest.mark.parametrize("activation", ["none", "relu", "elu"])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize("batch", [0, 2])
def test_convolution(
    activation: str, data_format: str, padding: str, batch: int
) -> None:
    random = np.random.RandomState(2)
    shape = [None, 8, 8, 3] if data_format == "NHWC" else [None, 3, 8, 8]
    x = tf.placeholder(tf.float32, shape)
    w = tf.placeholder(tf.float32, [3, 3, 3, 5])
    b = tf.placeholder(tf.float32, [5])

    def build() -> Any:
        strides = [1, 2, 2, 1] if data_format == "NHWC" else [1, 1, 2, 2]
        product = tf.nn.conv2d(x, w, strides, padding, data_format=data_format)
        biased = tf.nn.bias_add(product, b, data_format=data_format)
        return ACTIVATIONS[activation](biased) * 1.5

    values = {
        x: random.randn(batch, *shape[1:]),
        w: random.randn(3, 3, 3, 5),
        b: random.randn(5),
    }
    assert "_FusedConv2D" in run_both(build, lambda: values)


def test_shapes_that_do_not_fit() -> None:
    x = tf.placeholder(tf.float32, [None, None])
    w = tf.placeholder(tf.float32, [None, None])
    b = tf.placeholder(tf.float32, [None])
    y = tf.nn.relu(tf.nn.bias_add(tf.matmul(x, w), b)) + 1.0
    good = np.ones([2, 3])
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"[Mm]atrix size"):
            sess.run(y, {x: good, w: good, b: [1, 1]})
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(y, {x: good, w: good.T, b: [1, 1, 1]})
        assert sess.run(y, {x: good, w: good.T, b: [1, 1]}).tolist() == [[5, 5]] * 2


@pytest.mark.parametrize(
    "optimizer",
    [
        tf.train.GradientDescentOptimizer(0.1),
        tf.train.MomentumOptimizer(0.1, 0.9),
        tf.train.AdamOptimizer(0.1),
    ],
    ids=lambda o: type(o).__name__,
)
@pytest.mark.parametrize("resource", [False, True], ids=["ref", "resource"])
def test_fused_updates_train_alike(optimizer: Any, resource: bool) -> None:
    results = []
    for level in (-1, 0):
        with tf.Graph().as_default():
            variables = [
                tf.get_variable(
                    f"v{size}",
                    initializer=np.linspace(-1, 1, size).astype(np.float32),
                    use_resource=resource,
                )
                for size in (2, 30, 50)
            ]
            loss = tf.add_n([tf.reduce_sum(tf.square(v - 0.5)) for v in variables])
            train = type(optimizer)(**_arguments(optimizer)).minimize(loss)
            config = tf.ConfigProto()
            config.graph_options.optimizer_options.opt_level = level
            with tf.Session(config=config) as sess:
                sess.run(tf.global_variables_initializer())
                losses = [sess.run([loss, train])[0] for _ in range(4)]
                results.append((losses, sess.run(variables)))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-5)
    for one, two in zip(results[0][1], results[1][1], strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-5, atol=1e-6)


def _arguments(optimizer: Any) -> dict[str, float]:
    if isinstance(optimizer, tf.train.MomentumOptimizer):
        return {"learning_rate": 0.1, "momentum": 0.9}
    return {"learning_rate": 0.1}


EXTREMES = [0.0, 1e-9, 0.3, 1.0, 16.0, 17.5, 20.0, 88.0, 104.0, 1e30, np.inf]


@pytest.mark.parametrize("count", [1, 400, 40000])  # a row of extremes, many, tensors
def test_sigmoid_cross_entropy_where_little_is_left(count: int) -> None:
    x = np.array([*EXTREMES, *(-e for e in EXTREMES)] * count, np.float32)
    wide = x.astype(np.float64)
    with np.errstate(all="ignore"):
        # Labels that fit: nothing but the logarithm is left.
        z = (x > 0).astype(np.float32)
        expected = np.log1p(np.exp(-np.abs(wide)))
    fed = tf.placeholder(tf.float32, x.shape)
    loss = tf.nn.sigmoid_cross_entropy_with_logits(labels=z, logits=fed)
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    with tf.Session() as sess:
        found = sess.run(loss, {fed: x}, options, metadata)
    ops = [node.op for part in metadata.partition_graphs for node in part.node]
    assert "_SigmoidCrossEntropy" in ops
    finite = np.isfinite(x)
    # TensorFlow has zeros for what is no normal number.
    np.testing.assert_allclose(found[finite], expected[finite], rtol=1e-6, atol=2e-38)
    assert np.isnan(found[~finite]).all()


@pytest.mark.parametrize("known", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize(
    ("dtype", "shapes"),
    [
        (np.float32, [(2, 8), (2, 8)]),
        (np.float32, [(64, 33), (64, 33)]),
        (np.float32, [(64, 33), (33,)]),  # labels for all rows
        (np.float64, [(64, 33), (64, 33)]),
    ],
)
def test_sigmoid_cross_entropy_is_the_same_in_a_loop(
    dtype: Any, shapes: list[tuple[int, ...]], known: bool
) -> None:
    random = np.random.default_rng(0)
    x, z = (random.standard_normal(shape).astype(dtype) for shape in shapes)
    x = np.asfortranarray(x)
    expected = np.maximum(x, 0) - x * z + np.log1p(np.exp(-np.abs(x)))
    slope = z / (1 + np.exp(-x)) + x
    for op, inputs, wanted in (
        ("_SigmoidCrossEntropy", [x, z], expected),
        ("_SigmoidCrossEntropyGrad", [np.broadcast_to(z, x.shape), x, x], slope),
    ):
        c = construction(op, inputs)
        if known:
            of = tuple([TensorShape.of(value.shape) for value in inputs])
            c = dataclasses.replace(c, input_shapes=of)
        _, definition = find_kernels(op, c.attrs, "CPU")
        assert definition is not None
        found = definition.factory(c)(*inputs)
        assert (found.dtype, found.shape) == (dtype, x.shape)
        np.testing.assert_allclose(found, wanted, rtol=2e-6, atol=1e-6)
