"""Variables become constants: in the graph, behind handles, and in functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

VALUE = np.array([[1.0, 2.0], [3.0, 4.0]], np.float32)


def _variable(resource: bool = True) -> Any:
    return tf.get_variable("w", initializer=VALUE, use_resource=resource)


def _ref(x: Any) -> Any:
    return tf.matmul(x, _variable(False))


def _resource(x: Any) -> Any:
    return tf.matmul(x, _variable())


def _gather(x: Any) -> Any:
    return x + tf.gather(_variable(), [1, 0]) + tf.gather_nd(_variable_again(), [[0]])


def _variable_again() -> Any:
    with tf.variable_scope("", reuse=True):
        return tf.get_variable("w", shape=[2, 2])


def _shape(x: Any) -> Any:
    w = _variable()
    shape = tf.raw_ops.VariableShape(input=w.handle)
    known = tf.raw_ops.VarIsInitializedOp(resource=w.handle)
    return tf.cast(known, tf.float32) * tf.cast(shape, tf.float32) * x


def _loop(x: Any) -> Any:
    w = _variable()
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y @ w), [0, x])[1]


def _branch(x: Any) -> Any:
    w = _variable()
    return tf.cond(tf.reduce_sum(x) > 0.0, lambda: x @ w, lambda: x - w)


def _identity(x: Any) -> Any:
    handle = tf.identity(tf.identity(_variable().handle))
    return x + tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32)


PROGRAMS = [_ref, _resource, _gather, _shape, _loop, _branch, _identity]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__[1:])
def test_the_numbers_stay(program: Callable[[Any], Any]) -> None:
    x_value = np.array([[1.0, -1.0], [0.5, 2.0]], np.float32)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x = tf.placeholder(tf.float32, [2, 2], name="x")
        tf.identity(program(x), name="y")
        sess.run(tf.global_variables_initializer())
        expected = sess.run("y:0", {"x:0": x_value})
        frozen = tf.graph_util.convert_variables_to_constants(
            sess, graph.as_graph_def(), ["y"]
        )
    nodes = [*frozen.node, *(n for f in frozen.library.function for n in f.node_def)]
    assert not {"VarHandleOp", "VariableV2", "ReadVariableOp"} & {n.op for n in nodes}
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(frozen, name="")
        np.testing.assert_array_equal(sess.run("y:0", {"x:0": x_value}), expected)


@pytest.mark.parametrize("resource", [False, True])
def test_lists_of_names(resource: bool) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        a = tf.get_variable("a", initializer=1.0, use_resource=resource)
        b = tf.get_variable("b", initializer=2.0, use_resource=resource)
        tf.add(a, b, name="y")
        sess.run(tf.global_variables_initializer())
        for arguments in (
            {"variable_names_whitelist": ["a"]},
            {"variable_names_blacklist": ["b"]},
        ):
            frozen = tf.graph_util.convert_variables_to_constants(
                sess, graph.as_graph_def(), ["y"], **arguments
            )
            ops = {node.name: node.op for node in frozen.node}
            assert ops["a"] == "Const"
            assert ops["b"] in ("VarHandleOp", "VariableV2")


def _assign(x: Any) -> Any:
    return tf.assign_add(_variable(False), x)


def _assign_resource(x: Any) -> Any:
    with tf.control_dependencies([_variable().assign_add(x).op]):
        return tf.identity(x)


@pytest.mark.parametrize("program", [_assign, _assign_resource])
def test_changes_are_refused(program: Callable[[Any], Any]) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.identity(program(tf.zeros([2, 2])), name="y")
        sess.run(tf.global_variables_initializer())
        with pytest.raises(ValueError, match="Cannot freeze: node 'Assign"):
            tf.graph_util.convert_variables_to_constants(
                sess, graph.as_graph_def(), ["y"]
            )


def test_missing_outputs() -> None:
    with (
        tf.Graph().as_default() as graph,
        tf.Session() as sess,
        pytest.raises(AssertionError, match="y is not in graph"),
    ):
        tf.graph_util.convert_variables_to_constants(sess, graph.as_graph_def(), ["y"])
