"""Keypoints, divisive normalization, reversible blocks and the first layers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib import layers, slim


def _run(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_spatial_softmax_finds_the_brightest_place(data_format: str) -> None:
    features = np.zeros([1, 3, 5, 2], np.float32)
    features[0, 0, 4, 0] = features[0, 2, 0, 1] = 100.0
    if data_format == "NCHW":
        features = features.transpose(0, 3, 1, 2)
    with tf.Graph().as_default():
        places = layers.spatial_softmax(tf.constant(features), data_format=data_format)
        assert places.get_shape().as_list()[1] == 4
        assert [v.op.name for v in tf.trainable_variables()] == [
            "spatial_softmax/temperature"
        ]
        np.testing.assert_allclose(_run(places), [[-1, 1, 1, -1]], atol=1e-5)


@pytest.mark.parametrize("rank", [3, 4, 5])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_gdn_is_undone_by_one_step_of_its_inverse(rank: int, data_format: str) -> None:
    sizes = [2, *[4] * (rank - 2)]
    sizes.insert(rank if data_format == "channels_last" else 1, 3)
    x = np.random.RandomState(0).rand(*sizes).astype(np.float32)
    with tf.Graph().as_default():
        options = {"data_format": data_format, "gamma_init": 0.1}
        y = layers.gdn(tf.constant(x), **options)
        z = layers.gdn(tf.constant(x), inverse=True, **options)
        root = np.sqrt(1.0 + 0.1 * x.astype(np.float64) ** 2)
        values = _run([y, z])
        assert y.get_shape().as_list() == sizes
    np.testing.assert_allclose(values[0], x / root, rtol=1e-5)
    np.testing.assert_allclose(values[1], x * root, rtol=1e-5)


def test_gdn_lets_its_parameters_come_back_over_their_bound() -> None:
    with tf.Graph().as_default():
        x = tf.ones([1, 2, 2, 1])
        y = layers.gdn(x, gamma_init=0.0, beta_min=1.0)
        beta = tf.trainable_variables()[0]
        lowered = tf.assign(beta, [0.5])
        gradient_up = tf.gradients(y, beta)[0]
        gradient_down = tf.gradients(-y, beta)[0]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            session.run(lowered)
            up, down = session.run([gradient_up, gradient_down])
    assert up[0] < 0
    assert down[0] == 0


def _half(x: Any, side: Any = None) -> Any:
    with tf.variable_scope("half"):
        y = tf.layers.dense(x, 4, activation=tf.tanh)
    return y if side is None else y * side[0]


@pytest.mark.parametrize("with_side", [False, True])
def test_reversible_blocks_have_the_gradients_of_plain_ones(with_side: bool) -> None:
    random = np.random.RandomState(0)
    with tf.Graph().as_default():
        tf.set_random_seed(0)
        x1, x2 = (tf.constant(random.rand(3, 4), tf.float32) for _ in range(2))
        side = [tf.constant(random.rand(3, 4), tf.float32)] if with_side else None
        results = []
        for is_training in (True, False):
            with tf.variable_scope("block", reuse=tf.AUTO_REUSE, use_resource=True):
                ys = layers.rev_block(
                    x1, x2, _half, _half, 2, side, side, is_training=is_training
                )
            variables = tf.trainable_variables()
            sources = [x1, x2, *(side or []), *variables]
            loss = tf.reduce_sum(tf.square(ys[0])) + tf.reduce_sum(ys[1] ** 3)
            results.append([*ys, *tf.gradients(loss, sources)])
        assert len(variables) == 8
        assert "block/revblock/revlayer_1/g/half/dense/kernel" in {
            variable.op.name for variable in variables
        }
        efficient, plain = _run(results)
    for actual, expected in zip(efficient, plain, strict=True):
        np.testing.assert_allclose(actual, expected, rtol=2e-4, atol=1e-6)


def test_a_block_goes_back_to_its_inputs() -> None:
    with tf.Graph().as_default():
        x1, x2 = tf.ones([2, 4]), 2.0 * tf.ones([2, 4])
        block = layers.RevBlock([_half] * 3, [_half] * 3, num_layers=3)
        back = block.backward(*block.forward(x1, x2))
        assert len(block.trainable_weights) == 12
        first, second = _run(back)
    np.testing.assert_allclose(first, np.ones([2, 4]), rtol=1e-5)
    np.testing.assert_allclose(second, 2 * np.ones([2, 4]), rtol=1e-5)


@pytest.mark.parametrize(
    "options",
    [{}, {"use_data_dep": True}, {"use_data_dep": True, "tupleize_grads": True}],
)
def test_recomputed_functions_have_the_same_gradients(options: dict[str, bool]) -> None:
    calls = []

    @layers.recompute_grad(**options)
    def recomputed(x: Any, is_recomputing: bool = False) -> Any:
        calls.append(is_recomputing)
        return _half(x)

    with tf.Graph().as_default():
        x = tf.constant(np.random.RandomState(0).rand(3, 4), tf.float32)
        with tf.variable_scope("net", use_resource=True):
            y = recomputed(x)
        with tf.variable_scope("net", reuse=True, use_resource=True):
            plain = _half(x)
        sources = [x, *tf.trainable_variables()]
        pair = [tf.gradients(tf.square(y), sources), tf.gradients(plain**2, sources)]
        assert calls == [False, True]
        actual, expected = _run(pair)
    for one, other in zip(actual, expected, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5)


def test_refusals_of_recomputing() -> None:
    with tf.Graph().as_default():
        z = tf.ones([2])
        with pytest.raises(ValueError, match=r"closes over Tensor ones:0 .*: z\)"):
            layers.recompute_grad(lambda x: x * z)
        plain = layers.recompute_grad(lambda x: x * 2.0)
        with pytest.raises(ValueError, match="All inputs to function must be Tensors"):
            plain(1.0)
        twice = layers.recompute_grad(lambda x: tf.layers.dense(x, 2))
        with tf.variable_scope("net", use_resource=True):
            y = twice(tf.ones([1, 2])) + twice(tf.zeros([1, 2]))
        with pytest.raises(ValueError, match="called twice in the same enclosing"):
            tf.gradients(y, tf.trainable_variables())


def test_scaled_gradients() -> None:
    with tf.Graph().as_default():
        x = tf.constant([1.0, 2.0])
        y = layers.scale_gradient(x, tf.constant([3.0, -1.0]))
        assert y.get_shape().as_list() == [2]
        values = _run([y, tf.gradients(y * y, x)[0]])
    assert [value.tolist() for value in values] == [[1, 2], [6, -4]]


def test_legacy_layers_and_their_collections() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2, 3])
        y = layers.legacy_relu(x, 4)
        layers.legacy_linear(x, 4, bias_init=None, name="plain")
        assert y.get_shape().as_list() == [None, 2, 4]
        names = [v.op.name for v in tf.global_variables()]
        assert names == [
            "fully_connected/weights",
            "fully_connected/bias",
            "plain/weights",
        ]
        assert len(tf.get_collection(tf.GraphKeys.WEIGHTS)) == 2
        assert tf.get_collection(tf.GraphKeys.ACTIVATIONS)[0] is y
        assert len(tf.get_collection(tf.GraphKeys.ACTIVATIONS)) == 2
        assert len(slim.summarize_weights()) == 2
        with pytest.raises(ValueError, match="rank of x must be at least 2 not: 1"):
            layers.legacy_fully_connected(tf.ones([2]), 1)


def test_pools_of_any_rank() -> None:
    with tf.Graph().as_default():
        x = tf.reshape(tf.range(8.0), [1, 8, 1])
        means = slim.pool(x, 2, "AVG", stride=2)
        maxima = slim.pool(x, [3], "MAX", dilation_rate=2)
        assert maxima.op.name.startswith("max_pool")
        first, second = _run([means, maxima])
        with pytest.raises(ValueError, match="Rank of inputs must be >= 3, got 2"):
            slim.pool(tf.ones([2, 2]), 1, "MAX")
    assert first.ravel().tolist() == [0.5, 2.5, 4.5, 6.5]
    assert second.ravel().tolist() == [4, 5, 6, 7]
