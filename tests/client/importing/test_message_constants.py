"""Constants of dtype resource and variant, as TensorFlow 1.15 and 2.21 have them.

A graph keeps them as they came, and what they mean is known where they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import tensorloom as tf
from tensorloom.framework.types.varint import encode_varint
from tests.cluster.clusters import PS, cluster_over, over_the_network
from tests.peer.cluster.template_graphs import function, inner, node


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


def constant(dtype: str, value: str, shape: str = "", **options: Any) -> str:
    tensor = f"tensor {{ dtype: {dtype} tensor_shape {{ {shape} }} {value} }}"
    return node("h", "Const", [], dtype=f"type: {dtype}", value=tensor, **options)


def handle(device: str = "", name: str = "v", **options: Any) -> str:
    return constant(
        "DT_RESOURCE",
        f'resource_handle_val {{ device: "{device}" container: "localhost" '
        f'name: "{name}" maybe_type_name: "N10tensorflow3VarE" }}',
        **options,
    )


def variant(type_name: str, metadata: bytes, tensors: str = "", **options: Any) -> str:
    text = "".join(f"\\{byte:03o}" for byte in metadata)
    return constant(
        "DT_VARIANT",
        f'variant_val {{ type_name: "{type_name}" metadata: "{text}" {tensors} }}',
        **options,
    )


def element(value: float) -> str:
    return f"tensors {{ dtype: DT_FLOAT tensor_shape {{ }} float_val: {value} }} "


def metadata(*unset: int) -> bytes:
    """Of a list of float scalars, of which these are not set."""
    numbers = (len(unset), *unset, 1, 2**64 - 1)
    return b"".join(map(encode_varint, numbers))


LIST = "tensorflow::TensorList"
TWO = variant(LIST, metadata(), element(1.5) + element(2.5))
FLOAT, FLOAT_ATTR = "type: DT_FLOAT", {"element_dtype": "type: DT_FLOAT"}
NUMBER = node(
    "k",
    "Const",
    [],
    dtype=FLOAT,
    value="tensor { dtype: DT_FLOAT tensor_shape { } float_val: 5 }",
)
VARIABLE = (
    node(
        "v",
        "VarHandleOp",
        [],
        dtype=FLOAT,
        shape="shape { }",
        shared_name='s: "v"',
    )
    + NUMBER
    + node("init", "AssignVariableOp", ["v", "k"], dtype=FLOAT)
)
READ = node("y", "ReadVariableOp", ["h"], dtype=FLOAT)
INITIALIZED = node("y", "VarIsInitializedOp", ["h"])
LENGTH = node("y", "TensorListLength", ["h"])
SHAPE = node(
    "s",
    "Const",
    [],
    dtype="type: DT_INT32",
    value="tensor { dtype: DT_INT32 tensor_shape { dim { size: 0 } } }",
)


def stacked(name: str = "h") -> str:
    return SHAPE + node("y", "TensorListStack", [name, "s"], **FLOAT_ATTR)


PUSHED = NUMBER + node("p", "TensorListPushBack", ["h", "k"], **FLOAT_ATTR)
SIZE = {
    dtype: node("y", "Size", ["h"], T=f"type: {dtype}")
    for dtype in (
        "DT_RESOURCE",
        "DT_VARIANT",
    )
}
NONE = "dim { size: 0 }"

#: By name: the graph, and what y is.
GRAPHS: dict[str, tuple[str, Any]] = {
    "a variable": (VARIABLE + handle() + READ, 5),
    "it is initialized": (VARIABLE + handle() + INITIALIZED, True),
    "no variable": (handle(name="w") + INITIALIZED, False),
    "no handle": (
        constant("DT_RESOURCE", "", NONE) + SIZE["DT_RESOURCE"],
        0,
    ),
    "not used": (handle() + NUMBER.replace('"k"', '"y"'), 5),
    "a list": (TWO + stacked(), [1.5, 2.5]),
    "its length": (TWO + LENGTH, 2),
    "a list that grows": (TWO + PUSHED + stacked("p"), [1.5, 2.5, 5]),
    "a list of nothing set": (variant(LIST, metadata(0, 1)) + LENGTH, 2),
    "zeros for it": (variant(LIST, metadata(0, 1)) + stacked(), [0, 0]),
    "no variant": (constant("DT_VARIANT", "", NONE) + SIZE["DT_VARIANT"], 0),
    "an unknown variant that is not used": (
        variant("foo", b"abc") + NUMBER.replace('"k"', '"y"'),
        5,
    ),
}


def imported(text: str, device: str | None) -> tf.Graph:
    graph_def = text_format.Parse(text + "versions { producer: 134 }", tf.GraphDef())
    with tf.Graph().as_default() as graph, tf.device(device):
        tf.import_graph_def(graph_def, name="")
    written = {n.name: n for n in graph.as_graph_def().node}
    for read in graph_def.node:
        assert written[read.name].op == read.op
        assert written[read.name].attr["value"] == read.attr["value"]
    return graph


@pytest.mark.parametrize("name", GRAPHS)
def test_a_graph_with_one(name: str, place: tuple[str, str | None]) -> None:
    target, device = place
    text, wanted = GRAPHS[name]
    graph = imported(text, device)
    with tf.Session(target, graph=graph) as sess:
        if "init" in text:
            sess.run("init")
        for _ in range(2):
            np.testing.assert_array_equal(sess.run("y:0"), wanted)


#: By name: the graph, what a step raises, and its message.
WRONG: dict[str, tuple[str, type[Exception], str]] = {
    "no variable": (
        handle(name="w") + READ,
        tf.errors.FailedPreconditionError,
        "resource variable w",
    ),
    "a variable elsewhere": (
        VARIABLE + handle("/job:localhost/replica:0/task:3/device:CPU:0") + READ,
        tf.errors.FailedPreconditionError,
        "resource variable v",
    ),
    "an assignment to none": (
        handle(name="w")
        + NUMBER
        + node("a", "AssignVariableOp", ["h", "k"], dtype=FLOAT)
        + READ.replace('input: "h"', 'input: "h" input: "^a"'),
        tf.errors.NotFoundError,
        "w/Variable does not exist",
    ),
    "an empty handle": (
        constant("DT_RESOURCE", "") + READ,
        tf.errors.NotFoundError,
        "does not exist",
    ),
    "an unknown variant": (
        variant("foo", b"abc") + LENGTH,
        tf.errors.InvalidArgumentError,
        "Cannot parse tensor from proto: variant of type 'foo'",
    ),
    "more than fits into memory": (
        constant("DT_VARIANT", "", "dim { size: 1000000000000 }")
        + node("y", "Identity", ["h"], T="type: DT_VARIANT"),
        tf.errors.ResourceExhaustedError,
        "OOM when allocating",
    ),
    "a list of other bytes": (
        variant(LIST, b"\xff") + LENGTH,
        tf.errors.InvalidArgumentError,
        "Cannot parse tensor from proto",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_fails_in_the_step(name: str, place: tuple[str, str | None]) -> None:
    target, device = place
    text, kind, message = WRONG[name]
    graph = imported(text, device)
    with tf.Session(target, graph=graph) as sess:
        if "init" in text:
            sess.run("init")
        with pytest.raises(kind, match=message):
            sess.run("y:0")


def test_in_a_function(place: tuple[str, str | None]) -> None:
    target, device = place
    body = TWO.replace("node {", "node_def {")
    body += inner("n", "TensorListLength", ["h:output:0"])
    length = function("Length", [], [("n", "type: DT_INT32")], [], body, n="n:length:0")
    text = node("y", "Length", []) + f"library {{ {length} }}"
    with tf.Session(target, graph=imported(text, device)) as sess:
        assert sess.run("y:0") == 2


def test_no_array_stands_for_one() -> None:
    graph = imported(TWO, None)
    with pytest.raises(TypeError, match="Unsupported tensor type: 21"):
        tf.get_static_value(graph.get_tensor_by_name("h:0"))
