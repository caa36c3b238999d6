"""Dense, dropout and flatten layers; their names as in TensorFlow 1.15."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf


def _nodes() -> list[str]:
    nodes = [n.name for n in tf.get_default_graph().as_graph_def().node]
    return [n for n in nodes if "kernel" not in n and "bias" not in n]


def test_dense() -> None:
    x = tf.placeholder(tf.float32, [None, 4], name="x")
    y = tf.layers.dense(x, 3, activation=tf.nn.relu)
    z = tf.layers.dense(y, 2, use_bias=False, name="out", activation="tanh")
    assert _nodes() == [
        "x",
        "dense/MatMul",
        "dense/BiasAdd",
        "dense/Relu",
        "out/MatMul",
        "out/Tanh",
    ]
    names = [v.op.name for v in tf.trainable_variables()]
    assert names == ["dense/kernel", "dense/bias", "out/kernel"]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        data = np.random.RandomState(0).randn(5, 4)
        got, (w, b, v) = session.run([z, tf.trainable_variables()], {x: data})
    hidden = np.maximum(data.astype(np.float32) @ w + b, 0)
    np.testing.assert_allclose(got, np.tanh(hidden @ v), rtol=1e-5, atol=1e-6)


def test_dense_over_the_last_axis_of_many() -> None:
    x = tf.ones([2, 3, 4])
    y = tf.layers.dense(x, 5, kernel_initializer=tf.ones_initializer())
    assert y.shape.as_list() == [2, 3, 5]
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(y), np.full((2, 3, 5), 4.0))


def test_reuse_by_scope() -> None:
    x = tf.ones([2, 4])
    tf.layers.dense(x, 3, name="shared")
    tf.layers.dense(x, 3, name="shared", reuse=True)
    assert len(tf.global_variables()) == 2
    with pytest.raises(ValueError, match="already exists"):
        tf.layers.dense(x, 3, name="shared", reuse=False)


def test_regularizer_is_added_once() -> None:
    layer = tf.layers.Dense(3, kernel_regularizer=lambda w: tf.reduce_sum(w * w))
    for _ in range(2):
        layer(tf.ones([2, 4]))
    losses = tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES)
    assert [loss.op.name for loss in losses] == ["dense/kernel/Regularizer/Sum"]
    assert len(layer.losses) == 1
    assert layer.count_params() == 15


def test_dropout_in_training_alone() -> None:
    x, training = tf.ones([100, 10]), tf.placeholder(tf.bool, [])
    y = tf.layers.dropout(x, 0.5, training=training, seed=1)
    with tf.Session() as session:
        assert set(np.unique(session.run(y, {training: True}))) == {0.0, 2.0}
        np.testing.assert_array_equal(session.run(y, {training: False}), 1.0)
    assert tf.layers.dropout(x).op.type == "Identity"


def test_flatten() -> None:
    x = tf.placeholder(tf.float32, [None, 3, 4])
    assert tf.layers.flatten(x).shape.as_list() == [None, 12]
    known = tf.layers.flatten(tf.zeros([2, 3, 4]), data_format="channels_first")
    assert known.shape.as_list() == [2, 12]


def test_errors() -> None:
    with pytest.raises(ValueError, match="should be defined"):
        tf.layers.dense(tf.placeholder(tf.float32, [2, None]), 3)
    with pytest.raises(ValueError, match=r"expected min_ndim=2, found ndim=1"):
        tf.layers.dense(tf.ones([4]), 3)
    with pytest.raises(TypeError, match="not understood"):
        tf.layers.Dense(3, unknown=1)
    with pytest.raises(ValueError, match="Unknown activation"):
        tf.layers.dense(tf.ones([2, 4]), 3, activation="relo")
