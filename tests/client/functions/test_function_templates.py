"""Functions with attrs: calls of a template run its instances.

As TensorFlow 1.15 and 2.21 have it; `tests/peer/cluster/templates.py` asks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import text_format

import tensorloom as tf
from tests.cluster.clusters import PS, cluster_over, over_the_network
from tests.peer.cluster.template_graphs import (
    FLOAT,
    GRAPHS,
    WRONG,
    called,
    function,
    graph_text,
    inner,
    node,
)

FEEDS = {"x:0": 3.0, "i:0": 5, "p:0": True}


@pytest.fixture(scope="module", params=["local", "in process", "grpc", "other task"])
def place(request: pytest.FixtureRequest) -> Iterator[tuple[str, str | None]]:
    """The target of sessions, and the device of all nodes."""
    if request.param == "local":
        yield "", None
        return
    transport = "grpc" if request.param == "grpc" else "sockets"
    with (
        cluster_over(transport, ps=1, worker=1) as servers,
        pytest.MonkeyPatch.context() as patch,
    ):
        if request.param != "in process":
            over_the_network(patch)
        device = PS if request.param == "other task" else None
        yield servers["worker"][0].target, device


def imported(nodes: str, functions: str, device: str | None = None) -> tf.Graph:
    graph_def = text_format.Parse(graph_text(nodes, functions), tf.GraphDef())
    with tf.Graph().as_default() as graph, tf.device(device):
        tf.import_graph_def(graph_def, name="")
    return graph


@pytest.mark.parametrize("name", GRAPHS)
def test_a_call_runs_an_instance(name: str, place: tuple[str, str | None]) -> None:
    target, device = place
    nodes, functions, values = GRAPHS[name]
    graph = imported(nodes, functions, device)
    # The graph is written as it was read.
    wanted = text_format.Parse(graph_text(nodes, functions), tf.GraphDef())
    assert graph.as_graph_def().library == wanted.library
    written = {n.name: n for n in graph.as_graph_def().node}
    assert [written[n.name].op for n in wanted.node] == [n.op for n in wanted.node]
    fetches = ["y:0", "z:0"][: len(values)]
    with tf.Session(target, graph=graph) as sess:
        assert tuple(sess.run(fetches, FEEDS)) == values
        assert tuple(sess.run(fetches, FEEDS)) == values


@pytest.mark.parametrize("name", WRONG)
def test_wrong_attrs(name: str, place: tuple[str, str | None]) -> None:
    target, device = place
    nodes, functions, at_import, at_run = WRONG[name]
    if at_import is not None:
        kind = getattr(tf.errors, at_import, ValueError)
        with pytest.raises(kind, match=r"Function '|Op<name=Twice|node y|Input 0"):
            imported(nodes, functions, device)
        return
    graph = imported(nodes, functions, device)
    with (
        tf.Session(target, graph=graph) as sess,
        pytest.raises(getattr(tf.errors, str(at_run)), match="Twice"),
    ):
        sess.run("y:0", FEEDS)


# Beyond what TensorFlow's Python can do: it has no gradients of such calls.
GRADIENTS = {
    "by name": ("by name", 2),
    "by attr": ("by attr", 2),
    "from functions": ("from functions", 4),
    "of a function": ("of a function", 2),
    "of some tensors": ("of some tensors", 3),
    "of any tensors": ("of any tensors", 1),
    "branches": ("branches", 6),
    "loops": ("loops", 64),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str, place: tuple[str, str | None]) -> None:
    target, device = place
    graph_name, value = GRADIENTS[name]
    nodes, functions, _ = GRAPHS[graph_name]
    with imported(nodes, functions, device).as_default() as graph:
        y, x = (graph.get_tensor_by_name(n) for n in ("y:0", "x:0"))
        (gradient,) = tf.gradients(y, x)
        (second,) = tf.gradients(gradient, x)
    with tf.Session(target, graph=graph) as sess:
        assert sess.run(gradient, FEEDS) == value
        if name == "branches":
            assert sess.run(second, FEEDS) == 2
        # What was added can be read again.
        again = tf.Graph()
        with again.as_default():
            tf.import_graph_def(graph.as_graph_def(), name="")
    with tf.Session(target, graph=again) as sess:
        assert sess.run(gradient.name, FEEDS) == value


def test_the_gradient_function_of_a_template() -> None:
    _, functions, _ = GRAPHS["gradient function"]
    nodes = node("y", "Square_", ["x"], T=FLOAT)
    with imported(nodes, functions).as_default() as graph:
        x = graph.get_tensor_by_name("x:0")
        (gradient,) = tf.gradients(graph.get_tensor_by_name("y:0"), x)
        with tf.Session() as sess:
            assert sess.run(gradient, FEEDS) == 4  # 3 + 1


def test_an_extended_session_has_further_instances() -> None:
    nodes, functions, _ = GRAPHS["by name"]
    with imported(nodes, functions).as_default(), tf.Session() as sess:
        assert sess.run("y:0", FEEDS) == 6
        more = graph_text(node("y", "Twice", ["x"], T="type: DT_DOUBLE"), functions)
        more = more.replace("DT_FLOAT", "DT_DOUBLE")
        tf.import_graph_def(text_format.Parse(more, tf.GraphDef()), name="more")
        assert sess.run("more/y:0", {"more/x:0": 4.0}) == 8
        assert sess.run("z:0", FEEDS) == 10


def test_other_functions_of_the_same_name_are_renamed() -> None:
    nodes, functions, _ = GRAPHS["from functions"]
    other = functions.replace('"Add"', '"Mul"')
    with imported(nodes, functions).as_default(), tf.Session() as sess:
        text = graph_text(nodes, other)
        tf.import_graph_def(text_format.Parse(text, tf.GraphDef()), name="other")
        assert sess.run("y:0", FEEDS) == 12
        assert sess.run("other/y:0", {"other/x:0": 3.0}) == 81


def test_ever_other_attrs_are_refused() -> None:
    """Each instance calls another one: TensorFlow does not come back."""
    endless = function(
        "Endless",
        [("x", FLOAT)],
        [("y", FLOAT)],
        [("f", 'type: "func"')],
        inner("a", "Endless", ["x"], f=called("Endless", f='placeholder: "f"')),
        y="a:y:0",
    )
    nodes = node("y", "Endless", ["x"], f=called("None"))
    with pytest.raises(ValueError, match="ever other attrs"):
        imported(nodes, endless)


def test_a_template_that_calls_itself_is_imported() -> None:
    itself = function(
        "Itself",
        [("x", 'type_attr: "T"')],
        [("y", 'type_attr: "T"')],
        [("T", 'type: "type"')],
        inner("a", "Itself", ["x"], T='placeholder: "T"'),
        y="a:y:0",
    )
    graph: Any = imported(node("y", "Itself", ["x"], T=FLOAT), itself)
    with tf.Session(graph=graph) as sess:
        assert sess.run("x:0", FEEDS) == 3
