"""The whole system in a few seconds: build, differentiate, run, train, distribute."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf


def test_a_graph_runs() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.matmul(x, [[1.0], [2.0]]) + 0.5
    with tf.Session() as sess:
        np.testing.assert_allclose(sess.run(y, {x: [[3.0, 4.0]]}), [[11.5]])


def test_a_model_trains() -> None:
    random = np.random.RandomState(0)
    features = random.randn(64, 3).astype(np.float32)
    targets = features @ np.array([[1.0], [-2.0], [0.5]], np.float32) + 0.25
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.float32, [None, 1])
    with tf.variable_scope("linear"):
        weights = tf.get_variable("weights", [3, 1])
        bias = tf.get_variable("bias", [1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) + bias - y))
    train = tf.train.AdamOptimizer(0.1).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(200):
            sess.run(train, {x: features, y: targets})
        assert sess.run(loss, {x: features, y: targets}) < 1e-3


def test_control_flow_and_its_gradient() -> None:
    x = tf.placeholder(tf.float32, [])
    _, power = tf.while_loop(lambda i, _: i < 3, lambda i, p: (i + 1, p * x), [0, 1.0])
    y = tf.cond(x > 0.0, lambda: power, lambda: -x)
    (slope,) = tf.gradients(y, x)
    with tf.Session() as sess:
        assert sess.run([y, slope], {x: 2.0}) == [8.0, 12.0]
        assert sess.run([y, slope], {x: -2.0}) == [2.0, -1.0]


def test_two_devices_exchange_tensors() -> None:
    with tf.device("/cpu:0"):
        a = tf.placeholder(tf.float32, [2], name="a")
        b = a * 2.0
    with tf.device("/cpu:1"):
        c = b + 1.0
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True)
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.Session(config=config) as sess:
        value = sess.run(c, {a: [1.0, 2.0]}, options, metadata)
    np.testing.assert_allclose(value, [3.0, 5.0])
    ops = [node.op for graph in metadata.partition_graphs for node in graph.node]
    assert "_Send" in ops
    assert "_Recv" in ops


def test_an_error_names_the_node_and_the_session_goes_on() -> None:
    x = tf.placeholder(tf.float32, None, name="x")
    product = tf.matmul(x, x, name="product")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.InvalidArgumentError, match="product"):
            sess.run(product, {x: np.ones([2, 3])})
        np.testing.assert_allclose(sess.run(product, {x: [[2.0]]}), [[4.0]])


def test_a_graph_travels_as_bytes() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [], name="x")
        tf.sqrt(x, name="root")
    data = graph.as_graph_def().SerializeToString()
    (root,) = tf.import_graph_def(
        tf.GraphDef.FromString(data), return_elements=["root:0"], name="copy"
    )
    with tf.Session() as sess:
        assert sess.run(root, {"copy/x:0": 9.0}) == 3.0
