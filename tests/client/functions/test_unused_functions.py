"""Functions of an imported graph that nothing calls."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.importing.import_problems import find_problems, used_functions
from tensorloom.framework import errors


def graph_with(called: str) -> Any:
    """A graph with functions `f`, which calls `g`, and `h`; all have an unknown op."""
    graph = tf.GraphDef()
    graph.node.add(name="x", op="NoOp")
    if called:
        graph.node.add(name="call", op=called)
    for name, op in (("f", "g"), ("g", "Unheard"), ("h", "UnheardToo")):
        function = graph.library.function.add()
        function.signature.name = name
        function.node_def.add(name="n", op=op)
    return graph


def test_what_is_used() -> None:
    assert used_functions(graph_with("")) == set()
    assert used_functions(graph_with("f")) == {"f", "g"}
    graph = graph_with("")
    graph.node[0].attr["body"].list.func.add(name="h")
    assert used_functions(graph) == {"h"}
    gradient = graph.library.gradient.add()
    gradient.function_name, gradient.gradient_func = "h", "f"
    assert used_functions(graph) == {"f", "g", "h"}


def test_unused_ones_are_left_out() -> None:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_with(""), name="")
        assert [op.name for op in graph.get_operations()] == ["x"]
    assert not find_problems(graph_with(""))


def test_used_ones_are_not() -> None:
    with tf.Graph().as_default(), pytest.raises(errors.NotFoundError, match="Unheard"):
        tf.import_graph_def(graph_with("f"), name="")
    (problem,) = find_problems(graph_with("f"))
    assert problem.op == "Unheard"
