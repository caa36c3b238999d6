"""`tf.contrib.copy_graph`, as TensorFlow 1.15 copies the same graph."""

from __future__ import annotations

import pytest

import tensorloom as tf

copy_graph = tf.contrib.copy_graph


def test_copies_compute_the_same() -> None:
    source, target = tf.Graph(), tf.Graph()
    with source.as_default():
        x = tf.placeholder(tf.float32, name="x")
        kept = ["mine", tf.GraphKeys.GLOBAL_VARIABLES]
        v = tf.Variable(3.0, name="v", collections=kept)
        first = tf.no_op(name="first")
        with tf.control_dependencies([first]), tf.device("/cpu:0"):
            y = tf.add(x * v, tf.constant([4.0, 1.0]), name="y")
        tf.add_to_collection("outs", y)
        parts = tf.split(y, 2)
    plain = copy_graph.copy_variable_to_graph(v, target)
    scoped = copy_graph.copy_variable_to_graph(v, target, "s")
    y1 = copy_graph.copy_op_to_graph(y, target, [plain])
    part = copy_graph.copy_op_to_graph(parts[1], target, [scoped], "s")
    assert (y1.name, part.name, scoped.op.name) == ("y:0", "s/split:1", "s/v")
    assert target.get_collection("outs") == [y1]
    assert target.get_collection("s/mine") == [scoped]
    product = target.get_operation_by_name("s/mul")
    assert product.device == "/device:CPU:0"
    assert [one.name for one in product.control_inputs] == ["s/first"]
    assert copy_graph.copy_op_to_graph(y, target, [plain]) is y1
    x1 = copy_graph.get_copied_op(x, target)
    with tf.Session(graph=target) as session:
        session.run([plain.initializer, scoped.initializer])
        assert session.run(y1, {x1: 5.0}).tolist() == [19.0, 16.0]
        assert session.run(part, {"s/x:0": 2.0}).tolist() == [7.0]


def test_refusals() -> None:
    source, target = tf.Graph(), tf.Graph()
    with source.as_default():
        v = tf.Variable(1.0, name="v")
    with pytest.raises(TypeError, match="3 is not a Variable"):
        copy_graph.copy_variable_to_graph(3, target)
    with pytest.raises(TypeError, match="Could not copy instance"):
        copy_graph.copy_op_to_graph(v, target, [])
    with pytest.raises(KeyError, match="'v'"):
        copy_graph.get_copied_op(v.op, target)
