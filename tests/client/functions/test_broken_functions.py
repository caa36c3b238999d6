"""Functions that cannot be called: who calls one fails, and nobody else.

As TensorFlow 1.15 and 2.21 have it; `tests/peer/cluster/broken_functions.py` asks them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from google.protobuf import text_format

import tensorloom as tf
from tests.cluster.clusters import PS, cluster_over, over_the_network
from tests.peer.cluster.broken_graphs import (
    CALLS,
    FUNCTIONS,
    RUNS,
    UNKNOWN_ATTR,
    USES,
    graph_text,
)

NOT_FOUND = {"unknown op", "missing attr", "itself and an unknown op"}
WHOLE = {"whole", "unknown control return"}


@pytest.fixture(
    scope="module", params=["local", "in process", "sockets", "grpc", "other task"]
)
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


def parse(function: str, use: str) -> Any:
    return text_format.Parse(graph_text(function, use), tf.GraphDef())


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_who_calls_one_fails(
    name: str, use: str, place: tuple[str, str | None]
) -> None:
    target, device = place
    graph_def = parse(FUNCTIONS[name], use)
    is_found = name not in NOT_FOUND
    with tf.Graph().as_default() as graph, tf.device(device):
        if name not in WHOLE and use in CALLS:
            kind = ValueError if is_found else tf.errors.NotFoundError
            with pytest.raises(kind, match=r"Function 'f'|Op<name=f;"):
                tf.import_graph_def(graph_def, name="")
            assert not graph.get_operations()
            return
        tf.import_graph_def(graph_def, name="")
    if name not in WHOLE:
        made, given = graph.as_graph_def().library, graph_def.library
        assert [f for f in made.function if f.signature.name == "f"] == [
            f for f in given.function if f.signature.name == "f"
        ]
        assert list(made.gradient) == list(given.gradient)
    with tf.Session(target, graph=graph) as sess:
        assert sess.run("x:0") == 3
        if name in WHOLE or use not in RUNS:
            assert sess.run("y:0") == -3
        else:
            error = (
                tf.errors.InvalidArgumentError if is_found else tf.errors.NotFoundError
            )
            with pytest.raises(
                error, match=r"(?s)Function 'f(\[\])?'.*mend it.*node y"
            ):
                sess.run("y:0")
        assert sess.run("x:0") == 3


def test_an_unknown_attr_fails_in_the_step(place: tuple[str, str | None]) -> None:
    target, device = place
    for use in ("call", "partitioned call", "call of a caller", "branch", "loop"):
        with tf.Graph().as_default() as graph, tf.device(device):
            tf.import_graph_def(parse(UNKNOWN_ATTR, use), name="")
        with tf.Session(target, graph=graph) as sess:
            assert sess.run("x:0") == 3
            with pytest.raises(tf.errors.InvalidArgumentError, match="attr 'zz'"):
                sess.run("y:0")


# A kernel is made when its function first runs, whatever has been wrong until then.
LATE = {
    "unknown attr": UNKNOWN_ATTR,
    "refused attr": FUNCTIONS["whole"]
    .replace(
        'op: "Neg"',
        'op: "FakeQuantWithMinMaxArgs" attr { key: "min" value { f: 1 } }'
        ' attr { key: "max" value { f: 0 } }',
    )
    .replace('attr { key: "T" value { type: DT_FLOAT } }', "")
    .replace("n:y:0", "n:outputs:0"),
    "constant of other bytes": FUNCTIONS["whole"].replace(
        'input: "x"', 'input: "c:output:0"'
    )
    + """node_def { name: "c" op: "Const"
        attr { key: "dtype" value { type: DT_FLOAT } }
        attr { key: "value" value { tensor {
            dtype: DT_FLOAT tensor_shape { } tensor_content: "ab" } } } }""",
}
LOWERED = 'attr { key: "_lower_using_switch_merge" value { b: true } } op: "'


@pytest.mark.parametrize("name", LATE)
def test_what_is_wrong_with_kernels_fails_where_it_runs(
    name: str, place: tuple[str, str | None]
) -> None:
    target, device = place

    def run(use: str, taken: bool, x: float, is_lowered: bool = False) -> Any:
        text = graph_text(LATE[name], use)
        if is_lowered:
            for op in ("If", "While"):
                text = text.replace(f'op: "{op}"', f'{LOWERED}{op}"')
        with tf.Graph().as_default() as graph, tf.device(device):
            tf.import_graph_def(text_format.Parse(text, tf.GraphDef()), name="")
        with tf.Session(target, graph=graph) as sess:
            return sess.run("y:0", {"p:0": taken, "x:0": x})

    assert run("branch", False, 3) == -3
    assert run("other branch", True, 3) == -3
    assert run("loop", True, -3) == -3  # no iteration
    for wrong in [
        ("call", True, 3),
        ("partitioned call", True, 3),
        ("branch", True, 3),
        ("loop", True, 3),
        # Taken apart, a branch or body has its kernels with those around it.
        ("branch", False, 3, True),
        ("loop", True, -3, True),
    ]:
        with pytest.raises(tf.errors.InvalidArgumentError, match="node y"):
            run(*wrong)


def test_gradients_of_calls() -> None:
    """The gradient function of a call is called when the gradient runs."""
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(
            parse(FUNCTIONS["unknown op"], "gradient function"), name=""
        )
        x, w = (graph.get_tensor_by_name(name) for name in ("x:0", "w:0"))
        (dx,) = tf.gradients(w, x)
        assert sess.run(w) == -3
        with pytest.raises(tf.errors.NotFoundError, match="FooBar"):
            sess.run(dx)


def test_gradients_through_a_broken_branch() -> None:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(parse(FUNCTIONS["cycle"], "branch"), name="")
        x, y = (graph.get_tensor_by_name(name) for name in ("x:0", "y:0"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="cycle"):
            tf.gradients(y, x)


def test_functions_of_a_map() -> None:
    """A dataset's function is looked at when the dataset is made, as there."""
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(parse(FUNCTIONS["unknown op"], "unused"), name="")
        data = tf.data.Dataset.from_tensors(3.0).map(lambda x: -x)
        iterator = tf.data.make_initializable_iterator(data)
        maker = next(op for op in graph.get_operations() if op.type == "MapDataset")
        maker._attrs["f"] = maker._attrs["f"].__class__("f", {})
        with pytest.raises(tf.errors.NotFoundError, match=r"(?s)FooBar.*op MapDataset"):
            sess.run(iterator.initializer)


def test_a_name_that_is_taken() -> None:
    """What is wrong names the functions that it calls by their new names."""
    first = parse(FUNCTIONS["whole"], "call")
    second = parse(FUNCTIONS["itself and an unknown op"], "branch")
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.import_graph_def(first, name="a")
        tf.import_graph_def(second, name="b")
        tf.import_graph_def(second, name="c")  # the same again
        assert sess.run("a/y:0") == -3
        with pytest.raises(tf.errors.NotFoundError, match="FooBar"):
            sess.run("b/y:0")
        functions = graph.as_graph_def().library.function
        names = {f.signature.name for f in functions} - {"f", "id", "above"}
        broken = [f for f in functions if f.signature.name in names]
    assert [node.op for f in broken for node in f.node_def] == [
        op for f in broken for op in ("Neg", f.signature.name, "FooBar")
    ]
    assert broken
