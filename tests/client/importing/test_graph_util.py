"""`tf.graph_util`: cutting and simplifying GraphDefs."""

from __future__ import annotations

import pytest

import tensorloom as tf


def _names(graph_def: object) -> list[str]:
    return [node.name for node in graph_def.node]  # type: ignore[attr-defined]


def test_a_sub_graph_holds_what_the_nodes_need() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.sin(x, name="y")
    tf.cos(x, name="unused")
    with tf.control_dependencies([tf.no_op(name="first")]):
        tf.negative(y, name="z")
    graph_def = tf.get_default_graph().as_graph_def()
    cut = tf.graph_util.extract_sub_graph(graph_def, ["z"])
    assert _names(cut) == ["x", "y", "first", "z"]
    assert cut.versions == graph_def.versions
    with pytest.raises(AssertionError, match="nope is not in graph"):
        tf.graph_util.extract_sub_graph(graph_def, ["nope"])
    with pytest.raises(TypeError, match="must be a list"):
        tf.graph_util.extract_sub_graph(graph_def, "z")
    with pytest.raises(TypeError, match="must be a graph_pb2"):
        tf.graph_util.extract_sub_graph("z", ["z"])


def test_training_nodes_are_spliced_out() -> None:
    x = tf.placeholder(tf.float32, [2], name="x")
    y = tf.identity(tf.identity(x, name="one"), name="two")
    tf.negative(y, name="z")
    kept = tf.identity(x, name="kept")
    with tf.control_dependencies([kept]):
        tf.identity(x, name="waits")
    result = tf.graph_util.remove_training_nodes(
        tf.get_default_graph().as_graph_def(), protected_nodes=["two"]
    )
    assert _names(result) == ["x", "two", "z", "kept", "waits"]
    inputs = {node.name: list(node.input) for node in result.node}
    assert inputs["two"] == ["x"]
    assert inputs["z"] == ["two"]


def test_shapes_by_the_names_of_node_def_inputs() -> None:
    tf.placeholder(tf.float32, [2, None], name="x")
    graph = tf.get_default_graph()
    for name in ("x", "x:0"):
        shape = tf.graph_util.tensor_shape_from_node_def_name(graph, name)
        assert shape.as_list() == [2, None]


def test_what_must_run_on_the_cpu() -> None:
    assert tf.graph_util.must_run_on_cpu(tf.constant(1).op)
    assert tf.graph_util.must_run_on_cpu(tf.constant("a").op)
    assert not tf.graph_util.must_run_on_cpu(tf.constant(1.0).op)
