"""GraphDef to GraphIR and back, and the checks on the way in."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.framework.errors import InvalidArgumentError, NotFoundError
from tensorloom.framework.graph import graph_def, node_attrs, node_def
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.types import attr_value, dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.protos.graph_pb2 import GraphDef
from tensorloom.protos.op_def_pb2 import OpDef, OpList
from tests.framework import toy_ops


@pytest.fixture(autouse=True)
def _toy_ops(monkeypatch: pytest.MonkeyPatch) -> None:
    toy_ops.register(monkeypatch)


FLOAT = dtypes.float32


def node(
    node_name: str,
    op: str,
    inputs: Any = (),
    controls: Any = (),
    device: str = "",
    **attrs: Any,
) -> Node:
    definition = node_def.find_op(op, {})
    complete = node_attrs.complete_attrs(definition, attrs)
    types = tuple(definition.output_types(complete))
    return Node(node_name, op, tuple(inputs), tuple(controls), device, complete, types)


def sample() -> GraphIR:
    nodes = [
        node("a", "Const", dtype=FLOAT, value=np.array([1, 2], np.float32)),
        node("s", "Split", [("a", 0)], T=FLOAT, N=2, _note=b"kept"),
        node("b", "Add", [("s", 0), ("s", 1)], T=FLOAT, device="/device:CPU:0"),
        node("v", "Variable", dtype=FLOAT, shape=TensorShape([None])),
        node("w", "Assign", [("v", 0), ("b", 0)], ["a", "s"], T=FLOAT),
        node(
            "c", "Call", [("b", 0)], Tin=[FLOAT], Tout=[], f=NameAttrList("g", {"n": 1})
        ),
        node("p", "Pad", [("b", 0)], sizes=[3, 4], name=b"\xff"),
    ]
    return GraphIR({n.name: n for n in nodes})


def test_control_inputs_are_sorted_in_graphs() -> None:
    """As by TensorFlow; a node alone says the order in which they were given."""
    names = ["z", "a_1", "aV", "B"]
    nodes = [
        node(name, "Const", dtype=FLOAT, value=np.ones((), np.float32))
        for name in names
    ]
    last = node("last", "Split", [("z", 0)], names, T=FLOAT, N=1)
    graph = GraphIR({n.name: n for n in [*nodes, last]})
    (written,) = (n for n in graph_def.to_proto(graph).node if n.name == "last")
    assert list(written.input) == ["z", "^B", "^aV", "^a_1", "^z"]
    alone = graph_def.node_to_proto(last)
    assert list(alone.input) == ["z", "^z", "^a_1", "^aV", "^B"]


def assert_equal(a: GraphIR, b: GraphIR) -> None:
    assert list(a.nodes) == list(b.nodes)
    for mine, theirs in zip(a.nodes.values(), b.nodes.values(), strict=True):
        for field in ("op", "inputs", "control_inputs", "device", "output_types"):
            assert getattr(mine, field) == getattr(theirs, field)
        protos = [
            {key: attr_value.to_proto(value) for key, value in n.attrs.items()}
            for n in (mine, theirs)
        ]
        assert protos[0] == protos[1]
    assert (a.producer, a.min_consumer) == (b.producer, b.min_consumer)


def test_there_and_back() -> None:
    proto = graph_def.to_proto(sample())
    graph = graph_def.from_proto(graph_def.parse(proto.SerializeToString()))
    assert_equal(graph, sample())
    assert graph.nodes["w"].output_types == (dtypes.float32_ref,)


def test_inputs_are_written_as_tensorflow_does() -> None:
    proto = graph_def.to_proto(sample())
    inputs = {n.name: list(n.input) for n in proto.node}
    assert inputs["b"] == ["s", "s:1"]
    assert inputs["w"] == ["v", "b", "^a", "^s"]
    assert (proto.versions.producer, proto.versions.min_consumer) == (134, 0)


def test_one_node() -> None:
    proto = graph_def.node_to_proto(sample().nodes["p"])
    assert proto.attr["sizes"].list.i == [3, 4]
    assert proto.attr["mode"].s == b"SAME"


def test_nodes_come_out_in_topological_order() -> None:
    proto = graph_def.to_proto(sample())
    backwards = GraphDef()
    backwards.CopyFrom(proto)
    del backwards.node[:]
    backwards.node.extend(reversed(proto.node))
    names = list(graph_def.from_proto(backwards).nodes)
    assert names.index("a") < names.index("s") < names.index("b") < names.index("w")


def test_absent_attrs_get_their_defaults() -> None:
    graph = read(CONST + 'node { name: "p" op: "Pad" input: "a" }')
    attrs = graph.nodes["p"].attrs
    assert attrs == {"mode": b"SAME", "sizes": [0, 1], "scale": 1.5, "name": b""}


def test_a_loop_is_no_cycle() -> None:
    graph = read(
        CONST
        + 'node { name: "m" op: "Merge" input: "a" input: "n"'
        + f" {T} attr {{ key: 'N' value {{ i: 2 }} }} }}"
        + f'node {{ name: "n" op: "NextIteration" input: "m" {T} }}'
    )
    assert list(graph.nodes) == ["a", "m", "n"]


T = 'attr { key: "T" value { type: DT_FLOAT } }'
CONST = (
    'node { name: "a" op: "Const" attr { key: "dtype" value { type: DT_FLOAT } } '
    'attr { key: "value" value { tensor { dtype: DT_FLOAT float_val: 1 } } } } '
)


def read(text: str) -> GraphIR:
    proto = GraphDef()
    text_format.Parse(text, proto)
    return graph_def.from_proto(proto)


def b(inputs: str, attrs: str = T, op: str = "Add") -> str:
    lines = " ".join(f'input: "{name}"' for name in inputs.split(",") if inputs)
    return CONST + f'node {{ name: "b" op: "{op}" {lines} {attrs} }}'


def attr(name: str, value: str) -> str:
    return f'attr {{ key: "{name}" value {{ {value} }} }}'


# Graph, what its message says; the cases and their words are TensorFlow 1.15's.
MALFORMED = [
    (CONST + CONST, "Node 'a' is not unique"),
    ('node { name: "a b" op: "NoOp" }', "Node 'a b': Node name contains invalid"),
    ('node { name: "" op: "NoOp" }', "Node '': Node name contains invalid"),
    ('node { name: "_a" op: "NoOp" }', "Node '_a': Node name contains invalid"),
    ('node { name: "b" }', "Node 'b' does not specify an operation"),
    (b("a,x"), "Node 'b': Unknown input node 'x'"),
    (b("a,a,^x"), "Node 'b': Unknown input node '^x'"),
    (
        b("a,a:1"),
        "Node 'b': Connecting to invalid output 1 of source node a which has 1",
    ),
    (b("a,a:-1"), "Node 'b': Unknown input node 'a:-1'"),
    (b("a,a:x"), "Node 'b': Unknown input node 'a:x'"),
    (b("a,^a,a"), "Control dependencies must come after regular dependencies"),
    (b("a"), "NodeDef expected inputs 'float, float' do not match 1 inputs"),
    (b("a,a,a"), "do not match 3 inputs specified"),
    (b("a,a", attr("T", "type: DT_INT32")), "was passed float from a:0 incompatible"),
    (b("a,a", ""), "NodeDef missing attr 'T'"),
    (b("a,a", attr("T", "i: 1")), "with type 'int' when 'type' expected"),
    (b("a,a", attr("T", "")), "missing value with expected type 'type'"),
    (b("a,a", attr("T", "type: 99")), "Unknown data type 99"),
    (b("a,a", attr("T", "type: 0")), "Unknown data type 0"),
    (b("a,a", attr("T", "type: DT_STRING")), "of string is not in the list of allowed"),
    (b("a,a", attr("T", 'placeholder: "S"')), "placeholder for attr 'S'"),
    (b("a,a", T + attr("foo", "i: 1")), "NodeDef mentions attr 'foo'"),
    (b("a", T + attr("N", "i: 0"), "Split"), "of 0 must be at least minimum 1"),
    (b("a", T + attr("N", "b: true"), "Split"), "type 'bool' when 'int' expected"),
    (
        b("a", T + attr("N", f"i: {2**62}"), "Split"),
        "too large for a number of tensors",
    ),
    (b("a", T + attr("N", "i: 99"), "Merge"), "float, ...' do not match 1 inputs"),
    (b("a", attr("mode", 's: "FOO"'), "Pad"), 'of "FOO" is not in the list of allowed'),
    (b("a", attr("sizes", "list { i: 1 }"), "Pad"), "Length for attr 'sizes' of 1"),
    (b("a", attr("sizes", "list { f: 1 f: 2 }"), "Pad"), "type 'float' when 'int'"),
    (b("a", attr("sizes", "i: 1"), "Pad"), "'int' when 'list.int.' expected"),
    (b("b,a"), "cycle"),
    (CONST + "versions { min_consumer: 1000 }", "min consumer version 1000 above"),
    (CONST + "versions { bad_consumers: 134 }", "disallows consumer version 134"),
]


@pytest.mark.parametrize(("text", "message"), MALFORMED)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        read(text)
    assert message.replace("list.int.", "list(int)") in caught.value.message


def test_an_unknown_op_is_not_found() -> None:
    with pytest.raises(NotFoundError, match="Op type not registered 'FooBar'"):
        read('node { name: "b" op: "FooBar" }')


def test_attrs_with_an_underscore_and_new_producers_are_legal() -> None:
    text = b("a,a", T + attr("_foo", "i: 1")) + "versions { producer: 99999 }"
    graph = read(text)
    assert graph.nodes["b"].attrs["_foo"] == 1
    assert graph.producer == 99999


def test_a_reference_is_taken_where_a_value_is_expected_and_not_the_other_way() -> None:
    variable = (
        'node { name: "v" op: "Variable" '
        + attr("dtype", "type: DT_FLOAT")
        + attr("shape", "shape { }")
        + "} "
    )
    graph = read(variable + b("v,v"))
    assert graph.nodes["b"].output_types == (FLOAT,)
    with pytest.raises(InvalidArgumentError, match="expected float_ref"):
        read(variable + b("a,v", T, "Assign"))


def test_names_of_the_runtime_are_legal_within() -> None:
    proto = GraphDef()
    text_format.Parse('node { name: "_recv_x_0" op: "NoOp" }', proto)
    assert "_recv_x_0" in graph_def.from_proto(proto, internal=True).nodes


@pytest.mark.parametrize("raw", [b"\n", b"\n\x05abc", b"\xff" * 10, b"abc"])
def test_refuses_bytes_that_are_no_graph(raw: bytes) -> None:
    with pytest.raises(InvalidArgumentError, match="Invalid GraphDef"):
        graph_def.parse(raw)


@given(st.data())
def test_damaged_bytes_give_a_graph_or_an_error(data: st.DataObject) -> None:
    raw = bytearray(graph_def.to_proto(sample()).SerializeToString())
    for _ in range(data.draw(st.integers(0, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    with contextlib.suppress(InvalidArgumentError, NotFoundError):
        graph_def.from_proto(graph_def.parse(bytes(raw[:cut])))


def test_new_attrs_of_a_producer_are_stripped_at_their_default() -> None:
    producer = OpDef(name="Add")
    for name, default in (("grad_x", False), ("grad_y", True)):
        definition = producer.attr.add(name=name, type="bool")
        definition.default_value.b = default
    text = b("a,a", T + attr("grad_x", "b: false") + attr("grad_y", "b: false"))
    proto = GraphDef()
    text_format.Parse(text, proto)
    body = proto.library.function.add().node_def
    body.add().CopyFrom(proto.node[1])
    graph_def.strip_new_default_attrs(proto, OpList(op=[producer]))
    assert set(proto.node[1].attr) == {"T", "grad_y"}
    assert set(body[0].attr) == {"T", "grad_y"}


def test_constants_over_two_gigabytes_do_not_fit() -> None:
    large = np.zeros(2**31 + 8, np.int8)  # never touched: costs no memory
    graph = GraphIR({"a": node("a", "Const", dtype=dtypes.int8, value=large)})
    with pytest.raises(ValueError, match="larger than 2GB"):
        graph_def.to_proto(graph)
