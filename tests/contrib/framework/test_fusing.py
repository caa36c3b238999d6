"""`fuse_op`, `py_func` and other functions of `tf.contrib.framework`."""

from __future__ import annotations

import pytest

import tensorloom as tf

framework = tf.contrib.framework


def _graph_def() -> tf.GraphDef:
    a = tf.placeholder(tf.float32, [2], name="a")
    other = tf.placeholder(tf.float32, [2], name="other")
    b = tf.add(tf.nn.relu(a, name="b"), tf.exp(other, name="e"), name="sum")
    tf.add(tf.identity(b, name="c"), 1.0, name="d")
    return tf.get_default_graph().as_graph_def()


def test_a_node_for_many() -> None:
    fused = framework.fuse_op(
        _graph_def(), ["b", "e"], ["c"], [1], False, "fused", "Fused"
    )
    nodes = {node.name: list(node.input) for node in fused.node}
    assert nodes["fused"] == ["b", "e"]
    assert nodes["c"] == ["fused"]
    assert "sum" not in nodes
    assert "d" in nodes


def test_what_else_the_part_reads_is_refused() -> None:
    with pytest.raises(TypeError, match="input_nodes must be a list"):
        framework.fuse_op(_graph_def(), "a", ["c"], [1], False, "f", "F")
    tf.reset_default_graph()
    with pytest.raises(AssertionError, match="nothing is not in graph"):
        framework.fuse_op(_graph_def(), ["nothing"], ["c"], [1], False, "f", "F")


def test_python_functions_of_structures() -> None:
    result = framework.py_func(
        lambda x, y: {"sum": x + y},
        [tf.constant(1.0)],
        {"y": tf.constant(2.0)},
        {"sum": tf.float32},
        {"sum": []},
    )
    assert result["sum"].shape.as_list() == []
    with tf.Session() as sess:
        assert sess.run(result) == {"sum": 3.0}
    with pytest.raises(TypeError, match="args must be list"):
        framework.py_func(len, 3)


def test_zeros_without_a_copy() -> None:
    v = tf.get_variable("v", [2], initializer=tf.ones_initializer())
    zeros = framework.zero_initializer(v)
    with tf.Session() as sess:
        assert sess.run(zeros).tolist() == [0.0, 0.0]
        with pytest.raises(tf.errors.InvalidArgumentError):
            sess.run(zeros)
