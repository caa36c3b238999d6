"""Activations, softmax, losses and selections: torch, host, and TensorFlow's values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

import tensorloom as tf
from tensorloom.framework import errors
from tests.kernels.nn.nn_ops_calls import run

Array = np.ndarray[Any, Any]
X = np.array([-np.inf, -20, -1.5, 0, 0.5, 3, 6, 7, np.inf], np.float32)
G = np.arange(1, 10).astype(np.float32)
INF = np.inf

# Printed by TensorFlow 1.15.0 for X (and the gradients G).
ACTIVATIONS: list[tuple[str, list[float]]] = [
    ("Relu", [0, 0, 0, 0, 0.5, 3, 6, 7, INF]),
    ("Relu6", [0, 0, 0, 0, 0.5, 3, 6, 6, 6]),
    ("Elu", [-1, -1, -0.77687, 0, 0.5, 3, 6, 7, INF]),
    (
        "Selu",
        [
            -1.758099,
            -1.758099,
            -1.365814,
            0,
            0.525351,
            3.152103,
            6.304206,
            7.354907,
            INF,
        ],
    ),
    ("LeakyRelu", [-INF, -4, -0.3, 0, 0.5, 3, 6, 7, INF]),
    (
        "Softplus",
        [0, 0, 0.201413, 0.693147, 0.974077, 3.048587, 6.002476, 7.000912, INF],
    ),
    ("Softsign", [np.nan, -0.952381, -0.6, 0, 0.333333, 0.75, 0.857143, 0.875, np.nan]),
]
GRADIENTS: list[tuple[str, list[float]]] = [
    ("ReluGrad", [0, 0, 0, 0, 5, 6, 7, 8, 9]),
    ("Relu6Grad", [0, 0, 0, 0, 5, 6, 0, 0, 0]),
    ("LeakyReluGrad", [0.2, 0.4, 0.6, 0.8, 5, 6, 7, 8, 9]),
    ("SoftplusGrad", [0, 0, 0.547277, 2, 3.112296, 5.715445, 6.982692, 7.992712, 9]),
    ("SoftsignGrad", [0, 0.004535, 0.48, 4, 2.222222, 0.375, 0.142857, 0.125, 0]),
    ("EluGrad", [-INF, -38, -1.5, 4, 5, 6, 7, 8, 9]),
    (
        "SeluGrad",
        [-INF, -36.4838, 0.774298, 4.2028, 5.253505, 6.304206, 7.3549, 8.4056, 9.4563],
    ),
]


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize(("op", "expected"), ACTIVATIONS)
def test_activations(op: str, expected: list[float], host: bool) -> None:
    (result,) = run(op, X, host=host)
    np.testing.assert_allclose(result, expected, rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize(("op", "expected"), GRADIENTS)
def test_activation_gradients(op: str, expected: list[float], host: bool) -> None:
    (result,) = run(op, G, X, host=host)
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("op", [op for op, _ in GRADIENTS])
def test_gradients_need_one_shape(op: str, host: bool) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        run(op, G[:3], X[:4], host=host)
    assert caught.value.message == (
        f"Inputs to operation node of type {op} must have the same size and shape.  "
        "Input 0: [3] != input 1: [4]"
    )


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8", "float16"])
def test_relu_of_other_numbers(dtype: str, host: bool) -> None:
    value = np.array([0, 2, 9]).astype(dtype)
    for op, expected in (("Relu", [0, 2, 9]), ("Relu6", [0, 2, 6])):
        (result,) = run(op, value, host=host)
        assert result.dtype == dtype
        assert result.tolist() == expected


# --- softmax and cross entropy ----------------------------------------------

LOGITS = np.random.RandomState(0).randn(2, 3).astype(np.float32)
MATRICES = hnp.arrays(
    np.float32,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.floats(-50, 50, width=32),
)


@given(MATRICES)
def test_softmax_on_host_and_torch(logits: Array) -> None:
    for op in ("Softmax", "LogSoftmax"):
        np.testing.assert_allclose(
            run(op, logits)[0], run(op, logits, host=True)[0], rtol=1e-4, atol=1e-5
        )
    np.testing.assert_allclose(run("Softmax", logits)[0].sum(-1), 1, rtol=1e-5)


@pytest.mark.parametrize("classes", [1, 2, 10, 15, 16, 17])
def test_softmax_of_many_short_rows(classes: int) -> None:
    logits = np.random.RandomState(0).randn(7, 90, classes).astype(np.float32) * 9
    logits[3, 4, -1] = -np.inf
    for op in ("Softmax", "LogSoftmax"):
        found = run(op, logits)[0]
        expected = run(op, logits, host=True)[0]
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("host", [False, True])
def test_cross_entropy(host: bool) -> None:
    labels = np.eye(3, dtype=np.float32)[:2]
    op = "SoftmaxCrossEntropyWithLogits"
    loss, backprop = run(op, LOGITS, labels, host=host)
    np.testing.assert_allclose(loss, [0.537452, 0.920568], rtol=1e-5)
    np.testing.assert_allclose(
        backprop,
        [[-0.415765, 0.149367, 0.266397], [0.578549, -0.601707, 0.023158]],
        rtol=1e-4,
    )
    # One row of labels for all rows of logits.
    loss, _ = run(op, LOGITS, labels[:1], host=host)
    np.testing.assert_allclose(loss, [0.537452, 0.547232], rtol=1e-5)


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_sparse_cross_entropy(dtype: str, host: bool) -> None:
    labels = np.array([0, 2], dtype)
    op = "SparseSoftmaxCrossEntropyWithLogits"
    loss, backprop = run(op, LOGITS, labels, host=host)
    np.testing.assert_allclose(loss, [0.537452, 3.765404], rtol=1e-5)
    np.testing.assert_allclose(
        backprop,
        [[-0.415765, 0.149367, 0.266397], [0.578549, 0.398293, -0.976842]],
        rtol=1e-4,
    )


@pytest.mark.parametrize("scale", [1, 30, 10000])
def test_sparse_cross_entropy_of_many_elements(scale: float) -> None:
    random = np.random.RandomState(0)
    logits = (random.randn(200, 100) * scale).astype(np.float32)
    labels = random.randint(0, 100, 200).astype(np.int32)
    logits[0], logits[1, 3], logits[2, 5] = -np.inf, np.inf, np.nan
    logits[3, labels[3]] = -np.inf
    loss, backprop = run("SparseSoftmaxCrossEntropyWithLogits", logits, labels)
    assert [str(v) for v in loss[:4]] == ["nan", "nan", "nan", "inf"]
    exact = logits[3:].astype(np.float64)
    exact -= exact.max(1, keepdims=True)
    sums = np.exp(exact).sum(1)
    place = np.arange(len(exact)), labels[3:]
    np.testing.assert_allclose(
        loss[3:], np.log(sums) - exact[place], rtol=1e-5, atol=1e-6
    )
    softmax = np.exp(exact) / sums[:, None]
    softmax[place] -= 1
    np.testing.assert_allclose(backprop[3:], softmax, rtol=1e-4, atol=1e-6)


F = np.float32
I32 = np.int32
BAD: list[tuple[str, tuple[Array, ...], str]] = [
    ("Softmax", (F(1.0),), "logits must have >= 1 dimension, got []"),
    (
        "SoftmaxCrossEntropyWithLogits",
        (np.zeros((2, 3), F), np.zeros((2, 4), F)),
        "logits and labels must be broadcastable: logits_size=[2,3] labels_size=[2,4]",
    ),
    (
        "SoftmaxCrossEntropyWithLogits",
        (np.zeros(2, F), np.zeros(2, F)),
        "logits and labels must be either 2-dimensional, or broadcasted to be "
        "2-dimensional",
    ),
    (
        "SparseSoftmaxCrossEntropyWithLogits",
        (np.zeros((2, 3), F), np.array([0, 5], I32)),
        "Received a label value of 5 which is outside the valid range of [0, 3).  "
        "Label values: 0 5",
    ),
    (
        "SparseSoftmaxCrossEntropyWithLogits",
        (np.zeros((2, 3), F), np.array([0, 5, 1], I32)),
        "logits and labels must have the same first dimension, got logits shape [2,3] "
        "and labels shape [3]",
    ),
    (
        "SparseSoftmaxCrossEntropyWithLogits",
        (np.zeros((2, 0), F), np.array([0, 0], I32)),
        "Must have at least one class, but got logits shape [2,0]",
    ),
    (
        "BiasAdd",
        (np.zeros((2, 3), F), np.zeros(4, F)),
        "Must provide as many biases as the last dimension of the input tensor: [4] "
        "vs. [2,3]",
    ),
    ("BiasAdd", (np.zeros((2, 3), F), np.zeros((3, 1), F)), "Biases must be 1D: [3,1]"),
    ("BiasAddGrad", (np.zeros(3, F),), "Input tensor must be at least 2D: [3]"),
    (
        "TopKV2",
        (np.zeros((2, 3), F), np.int32(5)),
        "input must have at least k columns. Had 3, needed 5",
    ),
    ("TopKV2", (np.zeros((2, 3), F), np.int32(-5)), "Need k >= 0, got -5"),
    (
        "TopKV2",
        (np.zeros((2, 3), F), np.array([1], I32)),
        "k must be scalar, got shape [1]",
    ),
    (
        "InTopKV2",
        (np.zeros((2, 3), F), np.array([1], I32), np.int32(1)),
        "First dimension of predictions 2 must match length of targets 1",
    ),
]


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize(("op", "inputs", "message"), BAD)
def test_bad_inputs(
    op: str, inputs: tuple[Array, ...], message: str, host: bool
) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        run(op, *inputs, host=host)
    assert caught.value.message == message


@pytest.mark.parametrize("host", [False, True])
def test_no_rows(host: bool) -> None:
    logits = np.zeros((0, 3), F)
    loss, backprop = run("SoftmaxCrossEntropyWithLogits", logits, logits, host=host)
    assert loss.shape == (0,)
    assert backprop.shape == (0, 3)
    labels = np.zeros(0, I32)
    loss, _ = run("SparseSoftmaxCrossEntropyWithLogits", logits, labels, host=host)
    assert loss.shape == (0,)
    (softmax,) = run("Softmax", np.zeros((2, 0), F), host=host)
    assert softmax.shape == (2, 0)


# --- selections ---------------------------------------------------------------


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize(
    ("row", "k", "values", "indices"),
    [
        ([1, 1, 1, 1, 2, 1, 2], 4, [2, 2, 1, 1], [4, 6, 0, 1]),
        ([1, 5, 1, 4, 2, 1, 2], 7, [5, 4, 2, 2, 1, 1, 1], [1, 3, 4, 6, 0, 2, 5]),
        ([1, 5, 1, 5, 2, 1, 2], 1, [5], [1]),
        ([3, 1, 2, 9, 8, 7, 6, 5, 4, 0], 2, [9, 8], [3, 4]),
        ([3, 1], 0, [], []),
    ],
)
def test_top_k(
    row: list[float], k: int, values: list[float], indices: list[int], host: bool
) -> None:
    got_values, got_indices = run("TopKV2", np.array([row], F), np.int32(k), host=host)
    assert got_values.tolist() == [values]
    assert got_indices.tolist() == [indices]
    assert got_indices.dtype == I32


@given(
    hnp.arrays(np.int64, (3, 12), elements=st.integers(-4, 4)),
    st.integers(0, 12),
)
def test_top_k_keeps_equal_elements_in_order(value: Array, k: int) -> None:
    order = np.argsort(-value, axis=1, kind="stable")[:, :k]
    for host in (False, True):
        values, indices = run("TopKV2", value, np.int32(k), host=host)
        np.testing.assert_array_equal(indices, order)
        np.testing.assert_array_equal(values, np.take_along_axis(value, order, 1))


@pytest.mark.parametrize("host", [False, True])
def test_in_top_k(host: bool) -> None:
    predictions = np.array(
        [
            [1, 2, 2, 2],
            [1, 2, 3, 4],
            [np.nan, 1, 1, 1],
            [np.inf, 1, 1, 1],
            [1, 2, 3, 4],
        ],
        F,
    )
    targets = np.array([1, 1, 1, 0, 7], I32)
    (result,) = run("InTopKV2", predictions, targets, np.int32(2), host=host)
    assert result.tolist() == [True, False, False, False, False]


# --- sums ----------------------------------------------------------------------


@pytest.mark.parametrize("host", [False, True])
def test_bias_and_its_gradient(host: bool) -> None:
    value = np.arange(8, dtype=F).reshape(1, 2, 2, 2)
    bias = np.array([10, 20], F)
    (last,) = run("BiasAdd", value, bias, host=host)
    np.testing.assert_array_equal(last, value + bias)
    (first,) = run("BiasAdd", value, bias, host=host, data_format=b"NCHW")
    np.testing.assert_array_equal(first, value + bias.reshape(2, 1, 1))
    (grad,) = run("BiasAddGrad", value, host=host)
    assert grad.tolist() == [12, 16]
    (grad,) = run("BiasAddGrad", value, host=host, data_format=b"NCHW")
    assert grad.tolist() == [6, 22]


@pytest.mark.parametrize("host", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_l2_loss(dtype: str, host: bool) -> None:
    (result,) = run("L2Loss", np.arange(6).reshape(2, 3).astype(dtype), host=host)
    assert result.dtype == dtype
    assert result == 27.5


@pytest.mark.slow
def test_l2_loss_of_many_numbers_is_exact() -> None:
    values = np.random.RandomState(0).rand(4_000_000).astype(np.float32)
    (result,) = run("L2Loss", values, host=False)
    expected = np.square(values.astype(np.float64)).sum() / 2
    assert abs(result / expected - 1) < 1e-6


# --- batch normalization --------------------------------------------------------


def _normalize(x: Array, scale: Array, offset: Array, epsilon: float) -> Array:
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) / np.sqrt(variance + epsilon) * scale + offset


@pytest.mark.parametrize(
    "op", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"]
)
def test_batch_norm_training(op: str) -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2, 4, 3, 5)).astype(F)
    scale, offset = rng.standard_normal((2, 5)).astype(F)
    none = np.zeros(0, F)
    y, mean, variance, *reserved = run(op, x, scale, offset, none, none, epsilon=0.01)
    np.testing.assert_allclose(
        y, _normalize(x, scale, offset, 0.01), rtol=1e-4, atol=1e-5
    )
    np.testing.assert_allclose(mean, x.mean((0, 1, 2)), rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(variance, x.var((0, 1, 2), ddof=1), rtol=1e-4)
    np.testing.assert_allclose(reserved[1], x.var((0, 1, 2)), rtol=1e-4)


def test_batch_norm_of_one_value_a_channel_is_the_offset() -> None:
    x, scale, offset = np.random.default_rng(0).standard_normal((3, 7)).astype(F)
    none = np.zeros(0, F)
    image = x.reshape(1, 1, 1, 7)
    y, mean, *_ = run("FusedBatchNormV3", image, scale, offset, none, none)
    assert y.ravel().tolist() == offset.tolist()
    assert mean.tolist() == x.tolist()


def test_batch_norm_gradient_by_differences() -> None:
    rng = np.random.default_rng(1)
    x = rng.standard_normal((2, 3, 2, 2))
    scale, offset = rng.standard_normal((2, 2))
    weights = rng.standard_normal(x.shape)
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    inputs = [v.astype(F) for v in (weights, x, scale, mean, variance)]
    dx, dscale, doffset, *_ = run("FusedBatchNormGrad", *inputs, epsilon=0.1)

    def loss(x: Array, scale: Array, offset: Array) -> float:
        return float((_normalize(x, scale, offset, 0.1) * weights).sum())

    operands = [x, scale, offset]
    for index, got in enumerate((dx, dscale, doffset)):
        flat = operands[index].reshape(-1)
        for place in range(flat.size):
            saved = flat[place]
            flat[place] = saved + 1e-5
            upper = loss(*operands)
            flat[place] = saved - 1e-5
            slope = (upper - loss(*operands)) / 2e-5
            flat[place] = saved
            assert got.reshape(-1)[place] == pytest.approx(slope, rel=1e-3, abs=1e-3)


def test_local_response_normalization() -> None:
    image = np.random.default_rng(0).standard_normal((1, 2, 2, 6)).astype(F)
    attrs = {"depth_radius": 2, "bias": 1.5, "alpha": 0.7, "beta": 0.6}
    (result,) = run("LRN", image, **attrs)
    expected = np.empty_like(image)
    for channel in range(6):
        near = image[..., max(channel - 2, 0) : channel + 3]
        norm = 1.5 + 0.7 * np.square(near).sum(-1)
        expected[..., channel] = image[..., channel] / norm**0.6
    np.testing.assert_allclose(result, expected, rtol=1e-5)


@pytest.mark.parametrize(("op", "slope"), [("EluGrad", 1.0), ("SeluGrad", 1.0507009)])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nan_counts_as_positive_wherever_it_is(
    op: str, slope: float, dtype: str
) -> None:
    size = 100_003  # torch takes most of them in vectors, the last ones alone
    gradients, outputs = tf.placeholder(dtype, [None]), tf.placeholder(dtype, [None])
    found = getattr(tf.raw_ops, op)(gradients=gradients, outputs=outputs)
    feed = {gradients: np.ones(size, dtype), outputs: np.full(size, np.nan, dtype)}
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(found, feed), slope, rtol=1e-6)
