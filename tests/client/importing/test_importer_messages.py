"""Errors, names and devices of imports, as TensorFlow has them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from google.protobuf import text_format

import tensorloom as tf
from tensorloom.test import test_ops  # registers the ops  # noqa: F401


def graph_def(text: str) -> tf.GraphDef:
    return text_format.Parse(text, tf.GraphDef())


@pytest.mark.parametrize(
    ("text", "mapped", "message"),
    [
        (
            "node { name: 'A' op: 'IntOutput' } "
            "node { name: 'B' op: 'FloatInput' input: 'A:0' }",
            False,
            "Input 0 of node import/B was passed int32 from import/A:0 incompatible "
            "with expected float.",
        ),
        (
            "node { name: 'A' op: 'IntOutput' } "
            "node { name: 'B' op: 'IntInput' input: 'A:0' }",
            True,
            "Input 0 of node import/B was passed float from Const:0 incompatible with "
            "expected int32.",
        ),
        (
            "node { name: 'B' op: 'FloatInput' input: 'A:0' }",
            False,
            "Node 'B': Unknown input node 'A:0'",
        ),
        (
            "node { name: 'B' op: 'None' input: 'A:B:0' }",
            False,
            "Node 'B': Unknown input node 'A:B:0'",
        ),
        (
            "node { name: 'A' op: 'IntOutput' } "
            "node { name: 'B' op: 'IntInputFloatInput' input: 'A:0' }",
            False,
            "NodeDef expected inputs 'int32, float' do not match 1 inputs specified",
        ),
    ],
)
def test_an_edge_that_does_not_fit(text: str, mapped: bool, message: str) -> None:
    with tf.Graph().as_default():
        value = tf.constant(5.0)
        with pytest.raises(ValueError) as caught:
            tf.import_graph_def(graph_def(text), {"A:0": value} if mapped else None)
    assert str(caught.value).startswith(message)


NODES = """
node { name: 'A' op: 'None' %s attr { key: '_class' value { list { s: 'loc:@A' } } } }
node { name: 'B' op: 'None' %s attr { key: '_class' value { list { s: 'loc:@A' } } } }
"""


@pytest.mark.parametrize(
    ("of_a", "of_b", "found"), [("/cpu:0", "", "/device:CPU:0"), ("", "/cpu:0", "")]
)
def test_a_colocated_node_has_the_device_of_the_other(
    of_a: str, of_b: str, found: str
) -> None:
    text = NODES % (f"device: '{of_a}'", f"device: '{of_b}'")
    with tf.Graph().as_default():
        a, b = tf.import_graph_def(graph_def(text), return_elements=["A", "B"])
    assert (a.device, b.device) == (found, found)


def test_a_name_is_not_that_of_a_scope_of_nodes() -> None:
    with tf.Graph().as_default():
        with tf.name_scope("outer"), tf.name_scope("inner"):
            tf.constant(1, name="c")
        names = ["outer", "inner", "c", "outer/inner", "outer/inner/c"]
        text = "".join(f"node {{ name: '{name}' op: 'IntOutput' }}" for name in names)
        made = tf.import_graph_def(graph_def(text), return_elements=names, name="")
    assert [op.name for op in made] == [
        "outer_1",
        "inner",
        "c",
        "outer/inner_1",
        "outer/inner/c_1",
    ]


def test_what_older_graphs_say_of_a_handles_shape_does_not_count() -> None:
    text = """node { name: 'A' op: 'Barrier'
      attr { key: '_output_shapes' value { list { shape { } } } }
      attr { key: 'component_types' value { list { type: DT_FLOAT } } } }"""
    with tf.Graph().as_default():
        (made,) = tf.import_graph_def(graph_def(text), return_elements=["A:0"])
    assert made.shape.as_list() == [2]


def test_threads_import_into_one_graph() -> None:
    text = "".join(f"node {{ name: 'scope/{i}' op: 'IntOutput' }}" for i in range(40))
    message, graph = graph_def(text), tf.Graph()

    def add(number: int) -> None:
        with graph.as_default():
            for _ in range(10):
                tf.import_graph_def(message, name=f"of_{number}")

    with ThreadPoolExecutor() as pool:
        list(pool.map(add, range(4)))
    assert len(graph.get_operations()) == 4 * 10 * 40
