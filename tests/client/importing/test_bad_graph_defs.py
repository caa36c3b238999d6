"""GraphDefs that are wrong in one thing: the error says in which."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

FLOAT, INT, STRING, INT64 = 1, 3, 7, 9


def add(graph: Any, name: str, op: str, *inputs: str, **attrs: Any) -> Any:
    node = graph.node.add(name=name, op=op, input=inputs)
    for key, value in attrs.items():
        kind, content = value
        if kind == "tensor":
            node.attr[key].tensor.CopyFrom(content)
        else:
            setattr(node.attr[key], kind, content)
    return node


def const(graph: Any, name: str, dtype: int, dims: list[int], **values: Any) -> None:
    node = add(graph, name, "Const", dtype=("type", dtype))
    tensor = node.attr["value"].tensor
    tensor.dtype = dtype
    for dim in dims:
        tensor.tensor_shape.dim.add().size = dim
    for field, value in values.items():
        if field == "tensor_content":
            tensor.tensor_content = value
        else:
            getattr(tensor, field).extend(value)


def vector(graph: Any) -> None:
    const(graph, "c", FLOAT, [2], float_val=[1.0, 2.0])


def neg(graph: Any, *inputs: str, **attrs: Any) -> None:
    vector(graph)
    add(graph, "n", "Neg", *inputs, **(attrs or {"T": ("type", FLOAT)}))


def fill_as_shape(graph: Any) -> None:
    const(graph, "d", INT, [1], int_val=[2**31 - 1])
    const(graph, "v", INT, [], int_val=[1])
    add(graph, "f", "Fill", "d", "v", T=("type", INT), index_type=("type", INT))
    vector(graph)
    add(graph, "r", "Reshape", "c", "f", T=("type", FLOAT), Tshape=("type", INT))


def function_that_waits_for_itself(graph: Any) -> None:
    function = graph.library.function.add()
    function.signature.name = "f"
    function.signature.output_arg.add(name="o", type=FLOAT)
    for name, source in (("x", "y:y:0"), ("y", "x:y:0")):
        node = function.node_def.add(name=name, op="Neg", input=[source])
        node.attr["T"].type = FLOAT
    function.ret["o"] = "x:y:0"
    add(graph, "n", "f")


BAD: dict[str, tuple[Callable[[Any], Any], str]] = {
    "overflow": (
        lambda g: const(g, "c", FLOAT, [2**62, 2**62], float_val=[1.0]),
        "too many elements",
    ),
    "negative": (lambda g: const(g, "c", FLOAT, [-5], float_val=[1.0]), "negative"),
    "dtype": (lambda g: const(g, "c", 99, [2]), "data type 99"),
    "reference": (lambda g: const(g, "c", 101, [2], float_val=[1.0]), "reference"),
    "rank": (
        lambda g: const(g, "c", FLOAT, [1] * 300, float_val=[1.0]),
        "dimension",
    ),
    "cycle": (
        lambda g: [
            add(g, "a", "Neg", "b", T=("type", FLOAT)),
            add(g, "b", "Neg", "a", T=("type", FLOAT)),
        ],
        "cycle: a -> b -> a",
    ),
    "self": (lambda g: neg(g, "n"), "cycle"),
    "control cycle": (
        lambda g: [add(g, "a", "NoOp", "^b"), add(g, "b", "NoOp", "^a")],
        "cycle",
    ),
    "unknown op": (lambda g: add(g, "a", "Frobnicate"), "Frobnicate"),
    "no op": (lambda g: add(g, "a", ""), "does not specify an operation"),
    "no name": (lambda g: add(g, "", "NoOp"), "name"),
    "duplicate": (
        lambda g: [add(g, "a", "NoOp"), add(g, "a", "NoOp")],
        "'a' is not unique",
    ),
    "missing input": (lambda g: neg(g, "z"), "Unknown input node 'z'"),
    "missing output": (lambda g: neg(g, "c:7"), "output 7"),
    "huge output": (lambda g: neg(g, "c:99999999999999999999"), "invalid output"),
    "unknown attr": (
        lambda g: neg(g, "c", T=("type", FLOAT), zork=("i", 5)),
        "zork",
    ),
    "attr kind": (lambda g: neg(g, "c", T=("i", 5)), "attr 'T'"),
    "attr type": (lambda g: neg(g, "c", T=("type", 7777)), "7777"),
    "contradiction": (lambda g: neg(g, "c", T=("type", INT)), "incompatible"),
    "inputs": (lambda g: neg(g, "c", "c"), "2 inputs"),
    "number": (
        lambda g: [vector(g), add(g, "a", "AddN", "c", T=("type", FLOAT), N=("i", -2))],
        "-2",
    ),
    "huge number": (
        lambda g: [
            vector(g),
            add(g, "a", "Unpack", "c", T=("type", FLOAT), num=("i", 2**33)),
        ],
        "too large",
    ),
    "huge computed shape": (fill_as_shape, "at most 254 dimensions"),
    "function": (function_that_waits_for_itself, "cycle: x -> y -> x"),
    "colocation": (
        lambda g: add(g, "a", "NoOp").attr["_class"].list.s.append(b"loc:@nowhere"),
        "nowhere",
    ),
    "device": (lambda g: setattr(add(g, "a", "NoOp"), "device", "/x::"), "/x::"),
    "consumer": (lambda g: setattr(g.versions, "min_consumer", 99999), "99999"),
}


# A graph that is wrong, an op that is not there, and bytes that are no tensor.
REFUSALS = (ValueError, tf.errors.NotFoundError, tf.errors.InvalidArgumentError)


@pytest.mark.parametrize("case", sorted(BAD))
def test_the_error_says_what_is_wrong(case: str) -> None:
    build, message = BAD[case]
    graph_def = tf.GraphDef()
    graph_def.versions.producer = 134
    build(graph_def)
    if not graph_def.node:
        add(graph_def, "a", "NoOp")
    with tf.Graph().as_default() as graph:
        with pytest.raises(REFUSALS) as caught:
            tf.import_graph_def(graph_def, name="")
        assert message in str(caught.value)
        assert graph.get_operations() == []


def with_dtype(graph: Any, dtype: int) -> None:
    """The constant's value is of another dtype than the node says."""
    graph.node[-1].attr["dtype"].type = dtype


#: Constants without a value, which fail when they run: the graph, what a step is told,
#: and the static shape.
UNREADABLE: dict[str, tuple[Callable[[Any], Any], str, list[int]]] = {
    "claims a gigabyte": (
        lambda g: const(g, "c", FLOAT, [10**6, 10**3], tensor_content=b"\0" * 8),
        "8 bytes",
        [10**6, 10**3],
    ),
    "few bytes": (
        lambda g: const(g, "c", FLOAT, [2], tensor_content=b"abc"),
        "3 bytes",
        [2],
    ),
    "large": (
        lambda g: const(g, "c", FLOAT, [99], tensor_content=b"abcd" * 98),
        "392 bytes",
        [99],
    ),
    "strings": (
        lambda g: const(g, "c", STRING, [2], tensor_content=b"abc"),
        "strings",
        [2],
    ),
    "empty overflow": (
        lambda g: const(g, "c", FLOAT, [0, 2**62, 2**62]),
        "too large",
        [0, 2**62, 2**62],
    ),
    "other dtype": (
        lambda g: [const(g, "c", INT, [2], int_val=[3]), with_dtype(g, FLOAT)],
        "it is int32",
        [2],
    ),
    "unknown dtype": (
        lambda g: [const(g, "c", 99, [2]), with_dtype(g, FLOAT)],
        "data type 99",
        [2],
    ),
    "reference": (
        lambda g: [const(g, "c", 101, [2], float_val=[1.0]), with_dtype(g, FLOAT)],
        "reference",
        [2],
    ),
}


@pytest.mark.parametrize("case", sorted(UNREADABLE))
@pytest.mark.parametrize("place", ["", "server"])
def test_a_constant_without_a_value_fails_when_it_runs(case: str, place: str) -> None:
    build, message, shape = UNREADABLE[case]
    graph_def = tf.GraphDef()
    build(graph_def)
    dtype = graph_def.node[0].attr["dtype"].type
    add(graph_def, "i", "Identity", "c", T=("type", dtype))
    const(graph_def, "v", FLOAT, [2], float_val=[1.0, 2.0])
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
    tensor = graph.get_tensor_by_name("c:0")
    assert tensor.shape.as_list() == shape
    assert (
        graph.as_graph_def().node[0].attr["value"] == (graph_def.node[0].attr["value"])
    )
    target = tf.train.Server.create_local_server().target if place else ""
    with tf.Session(target, graph=graph) as sess:
        assert sess.run("v:0").tolist() == [1.0, 2.0]
        for fetch in ("c:0", "i:0"):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message) as caught:
                sess.run(fetch)
            assert "node c" in str(caught.value)
        if case in ("few bytes", "unknown dtype"):
            assert sess.run("i:0", {"c:0": [5, 6]}).tolist() == [5, 6]


def test_static_values_of_constants_without_a_value() -> None:
    graph_def = tf.GraphDef()
    const(graph_def, "few", INT, [2], tensor_content=b"abc")
    const(graph_def, "other", INT64, [2], int64_val=[3])
    with_dtype(graph_def, INT)
    const(graph_def, "v", FLOAT, [], float_val=[1.0])
    attrs = {"T": ("type", FLOAT), "index_type": ("type", INT)}
    add(graph_def, "f", "Fill", "few", "v", **attrs)
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(graph_def, name="")
        assert graph.get_tensor_by_name("f:0").shape.as_list() == [None, None]
        value = tf.get_static_value(graph.get_tensor_by_name("other:0"))
        assert value.tolist() == [3, 3]
        with pytest.raises(ValueError, match="3 bytes"):
            tf.get_static_value(graph.get_tensor_by_name("few:0"))


def test_sizes_that_cannot_be_are_an_error_of_the_step() -> None:
    graph_def = tf.GraphDef()
    const(graph_def, "c", FLOAT, [2**45], float_val=[1.0])
    const(graph_def, "v", FLOAT, [2], float_val=[1.0, 2.0])
    const(graph_def, "m", INT, [1], int_val=[2**31 - 1])
    add(graph_def, "t", "Tile", "v", "m", T=("type", FLOAT), Tmultiples=("type", INT))
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        with pytest.raises(tf.errors.ResourceExhaustedError):
            sess.run("c:0")
        assert sess.run("v:0").tolist() == [1.0, 2.0]


def test_a_deep_graph_is_no_deep_recursion() -> None:
    graph_def = tf.GraphDef()
    for i in range(5000, 0, -1):  # the last node first
        add(graph_def, f"n{i}", "Neg", f"n{i - 1}", T=("type", FLOAT))
    const(graph_def, "n0", FLOAT, [], float_val=[1.0])
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.import_graph_def(graph_def, name="")
        assert sess.run("n5000:0") == 1.0
