"""Static shapes of calls, through the bodies of functions."""

from __future__ import annotations

from typing import Any

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.ops.control_flow import functional as functional_ops


def _call(name: str, arguments: list[Any], types: list[Any]) -> list[Any]:
    op = functional_ops.call_op(
        "PartitionedCall",
        arguments,
        "call",
        f=functional_ops.named(name),
        Tout=types,
    )
    return [t.shape.dims for t in op.outputs]


def _dims(shape: Any) -> Any:
    return None if shape is None else [d.value for d in shape]


def test_results_have_the_shapes_of_the_body() -> None:
    @Defun(tf.float32, func_name="products")
    def products(a: Any) -> Any:
        return tf.matmul(a, a, transpose_b=True), tf.shape(a)

    with tf.Graph().as_default() as graph:
        products.add_to_graph(graph)
        types = [tf.float32, tf.int32]
        x = tf.placeholder(tf.float32, [3, None])
        assert [_dims(s) for s in _call("products", [x], types)] == [[3, 3], [2]]
        x = tf.placeholder(tf.float32)
        assert [_dims(s) for s in _call("products", [x], types)] == [None, [None]]


def test_a_body_that_does_not_take_the_arguments_says_so_when_it_runs() -> None:
    @Defun(tf.float32, func_name="square")
    def square(a: Any) -> Any:
        return tf.matmul(a, a)

    with tf.Graph().as_default() as graph:
        square.add_to_graph(graph)
        x = tf.placeholder(tf.float32, [3, 2])
        assert _call("square", [x], [tf.float32]) == [None]


def test_the_body_of_a_newer_graph_sees_single_sizes() -> None:
    """As its nodes outside of functions do: TensorFlow 2 knows `tf.shape(x)[1]`."""

    @Defun(tf.float32, func_name="flattened")
    def flattened(a: Any) -> Any:
        size = tf.shape(a)
        return tf.reshape(a, [size[0], size[1] * size[2]])

    with tf.Graph().as_default() as graph:
        flattened.add_to_graph(graph)
        _call("flattened", [tf.placeholder(tf.float32, [None, 3, 4])], [tf.float32])
        exported = graph.as_graph_def()
    found = []
    for producer in (exported.versions.producer, 2000):
        exported.versions.producer = producer
        with tf.Graph().as_default():
            (y,) = tf.import_graph_def(exported, return_elements=["call:0"], name="")
            found.append(y.shape.as_list())
    assert found == [[None, None], [None, 12]]
