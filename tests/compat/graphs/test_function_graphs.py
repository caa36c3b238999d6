"""Graphs as functions, and functions as graphs."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.compat.graphs.function_to_graph import (
    function_def_to_graph,
    function_def_to_graph_def,
)
from tensorloom.compat.graphs.graph_to_function import graph_to_function_def
from tensorloom.framework import errors


def _function(out_names: list[str] | None = None) -> Any:
    """(x, y) -> (sum of squares, the smaller part of x split by y)."""
    with tf.Graph().as_default() as graph:
        x, y = (
            tf.placeholder(tf.float32, name="x"),
            tf.placeholder(tf.float32, name="y"),
        )
        squares = tf.add_n([x * x, y * y], name="squares")
        with tf.control_dependencies([squares]):
            _, indices = tf.nn.top_k(x, name="top")
    fdef = graph_to_function_def(
        graph, graph.get_operations(), [x, y], [squares, indices], out_names
    )
    fdef.signature.name = "f"
    return fdef


def test_a_function_has_the_operations_and_names_their_outputs() -> None:
    fdef = _function()
    assert [arg.name for arg in fdef.signature.input_arg] == ["x", "y"]
    assert [arg.name for arg in fdef.signature.output_arg] == ["squares", "top_o1"]
    assert dict(fdef.ret) == {"squares": "squares:sum:0", "top_o1": "top:indices:0"}
    inputs = {node.name: list(node.input) for node in fdef.node_def}
    assert inputs["top"] == ["x", "top/k:output:0"]
    assert inputs["top/k"] == ["^squares"]
    assert not fdef.signature.is_stateful


@pytest.mark.parametrize(
    ("names", "error"), [(["a"], errors.InvalidArgumentError), (["a", "a"], ValueError)]
)
def test_names_of_results_are_as_many_and_different(
    names: list[str], error: type[Exception]
) -> None:
    assert [arg.name for arg in _function(["a", "b"]).signature.output_arg] == [
        "a",
        "b",
    ]
    with pytest.raises(error):
        _function(names)


def test_several_outputs_of_one_operation_are_arguments() -> None:
    with tf.Graph().as_default() as graph:
        values, indices = tf.nn.top_k(tf.placeholder(tf.float32, [3], name="x"))
        result = values + tf.cast(indices, tf.float32)
    inside = [op for op in graph.get_operations() if op.type in ("Cast", "AddV2")]
    fdef = graph_to_function_def(graph, inside, [values, indices], [result])
    assert [arg.name for arg in fdef.signature.input_arg] == ["TopKV2", "TopKV2_o1"]
    assert [list(node.input) for node in fdef.node_def] == [
        ["TopKV2_o1"],
        ["TopKV2", "Cast:y:0"],
    ]


def test_a_function_is_a_graph_again_that_runs() -> None:
    graph = function_def_to_graph(_function(), [tf.TensorShape([2]), None])
    assert graph.name == "f"
    assert [tensor.shape.as_list() for tensor in graph.inputs[:1]] == [[2]]
    assert graph.inputs[1].shape.rank is None
    with tf.Session(graph=graph) as session:
        fed = dict(zip(graph.inputs, ([1.0, 2.0], [3.0, 4.0]), strict=True))
        squares, indices = session.run(graph.outputs, fed)
    assert squares.tolist() == [10.0, 20.0]
    assert indices.tolist() == [1]


def test_the_graph_def_names_tensors_as_graphs_do() -> None:
    graph_def, names = function_def_to_graph_def(_function())
    assert names["top:indices:0"] == "top:1"
    assert names["^top"] == "^top"
    inputs = {node.name: list(node.input) for node in graph_def.node}
    assert (inputs["top"], inputs["top/k"]) == (["x:0", "top/k:0"], ["^squares"])
    with pytest.raises(ValueError, match="Length of input_shapes"):
        function_def_to_graph_def(_function(), [None])


def test_functions_that_it_calls_come_along() -> None:
    @tf.function
    def inner(x: Any) -> Any:
        return x + 1.0

    @tf.function
    def outer(x: Any) -> Any:
        return inner(x) * 2.0

    fdef = outer.get_concrete_function(tf.TensorSpec([], tf.float32)).function_def
    graph = function_def_to_graph(fdef)
    with tf.Session(graph=graph) as session:
        assert session.run(graph.outputs[0], {graph.inputs[0]: 2.0}) == 6.0
    with tf.Graph().as_default(), pytest.raises(ValueError, match="not found"):
        function_def_to_graph(fdef)
