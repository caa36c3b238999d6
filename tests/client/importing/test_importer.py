"""`tf.import_graph_def`: names, maps, return elements, and what is refused.

Expectations are those of TensorFlow 1.15.0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from google.protobuf import text_format

import tensorloom as tf
from tensorloom.protos import op_def_pb2


def _placeholder(name: str) -> str:
    return (
        f'node {{ name: "{name}" op: "Placeholder" '
        'attr { key: "dtype" value { type: DT_FLOAT } } }'
    )


def _node(
    name: str, op: str, *inputs: str, dtype: str = "DT_FLOAT", extra: str = ""
) -> str:
    lines = " ".join(f'input: "{i}"' for i in inputs)
    return (
        f'node {{ name: "{name}" op: "{op}" {lines} '
        f'attr {{ key: "T" value {{ type: {dtype} }} }} {extra} }}'
    )


def _class(group: str) -> str:
    return f'attr {{ key: "_class" value {{ list {{ s: "loc:@{group}" }} }} }}'


def _graph_def(*parts: str) -> Any:
    return text_format.Parse(" ".join(parts), tf.GraphDef())


SIMPLE = (
    _placeholder("a"),
    _placeholder("b"),
    _node("c", "Add", "a", "b"),
    _node("d", "Mul", "c", "a:0", "^b"),
)


def _describe() -> list[str]:
    return [
        f"{op.name}({', '.join(t.name for t in op.inputs)}"
        + "".join(f", ^{c.name}" for c in op.control_inputs)
        + ")"
        for op in tf.get_default_graph().get_operations()
    ]


def test_nodes_come_under_a_prefix_in_order() -> None:
    tf.import_graph_def(_graph_def(*SIMPLE))
    assert _describe() == [
        "import/a()",
        "import/b()",
        "import/c(import/a:0, import/b:0)",
        "import/d(import/c:0, import/a:0, ^import/b)",
    ]


def test_prefixes_are_made_unique_and_may_be_empty() -> None:
    for _ in range(2):
        tf.import_graph_def(_graph_def(_placeholder("a")))
        tf.import_graph_def(_graph_def(_placeholder("a")), name="")
    assert _describe() == ["import/a()", "a()", "import_1/a()", "a_1()"]


def test_names_that_differ_in_case_stay() -> None:
    tf.import_graph_def(_graph_def(_placeholder("a"), _placeholder("A")))
    assert _describe() == ["import/a()", "import/A()"]


def test_producers_may_come_later_in_the_graph_def() -> None:
    nodes = (_node("d", "Neg", "c"), _node("c", "Neg", "a"), _placeholder("b"))
    tf.import_graph_def(_graph_def(*nodes, _placeholder("a")), name="")
    assert [op.name for op in tf.get_default_graph().get_operations()] == [
        *("b", "a", "c", "d")
    ]


def test_return_elements() -> None:
    tensor, op = tf.import_graph_def(_graph_def(*SIMPLE), return_elements=["c:0", "d"])
    assert isinstance(tensor, tf.Tensor)
    assert isinstance(op, tf.Operation)
    assert (tensor.name, op.name) == ("import/c:0", "import/d")


def test_input_map() -> None:
    x = tf.constant([1.0, 2.0], name="x")
    c, a = tf.import_graph_def(
        _graph_def(*SIMPLE), {"a": x, "^b": x.op}, return_elements=["c:0", "a:0"]
    )
    assert a is x
    assert [t.name for t in c.op.inputs] == ["x:0", "import/b:0"]
    product = tf.get_default_graph().get_operation_by_name("import/d")
    assert product.control_inputs == [x.op]


def test_an_input_map_converts_values_inside_the_prefix() -> None:
    (c,) = tf.import_graph_def(
        _graph_def(*SIMPLE), {"a:0": np.float32(3)}, return_elements=["c:0"]
    )
    assert c.op.inputs[0].name == "import/_inputs/Const:0"
    with pytest.raises(ValueError, match="non-empty `name`"):
        tf.import_graph_def(_graph_def(*SIMPLE), {"a:0": 3.0}, name="")


def test_a_mapped_producer_may_be_absent() -> None:
    (c,) = tf.import_graph_def(
        _graph_def(_node("c", "Neg", "gone:3")),
        {"gone:3": tf.constant(1.0)},
        return_elements=["c:0"],
    )
    with tf.Session() as sess:
        assert sess.run(c) == -1.0


def test_control_dependencies_around_hold_for_all_nodes() -> None:
    x = tf.constant(1.0, name="x")
    with tf.control_dependencies([x]):
        tf.import_graph_def(_graph_def(*SIMPLE))
    assert _describe()[1:] == [
        "import/a(, ^x)",
        "import/b(, ^x)",
        "import/c(import/a:0, import/b:0, ^x)",
        "import/d(import/c:0, import/a:0, ^import/b, ^x)",
    ]


def test_devices_and_colocation() -> None:
    nodes = (
        _placeholder("a").replace("node {", 'node { device: "/device:CPU:0"'),
        _node("c", "Neg", "a", extra=_class("a")),
    )
    with tf.device("/job:worker"):
        tf.import_graph_def(_graph_def(*nodes))
    a, c = tf.get_default_graph().get_operations()
    assert a.device == "/job:worker/device:CPU:0"
    assert c.device == a.device
    assert c.colocation_groups() == [b"loc:@import/a"]


def test_a_graph_goes_out_and_comes_back() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [2], name="x")
        p = tf.placeholder(tf.bool, [], name="p")
        y = tf.cond(p, lambda: tf.sin(x) * x, lambda: x * 2.0)
        tf.while_loop(lambda v: tf.reduce_sum(v) < 9.0, lambda v: v * v + y, [y])
    fetches = ["while/Identity_2:0"]
    x, p, z = tf.import_graph_def(
        graph.as_graph_def(), return_elements=["x:0", "p:0", *fetches]
    )
    assert z.shape.as_list() == [2]
    (gradient,) = tf.gradients(z, x)
    with tf.Session(graph=graph) as sess:
        wanted = sess.run(fetches[0], {"x:0": [0.5, 1.0], "p:0": True})
    with tf.Session() as sess:
        value, slope = sess.run([z, gradient], {x: [0.5, 1.0], p: True})
        above = sess.run(z, {x: [0.501, 1.0], p: True})
    np.testing.assert_array_equal(value, wanted)
    assert slope[0] == pytest.approx((above[0] - value[0]) / 0.001, rel=2e-2)


def test_functions_of_other_graphs_do_not_replace_ours() -> None:
    def program(factor: float) -> Any:
        with tf.Graph().as_default() as graph:
            x = tf.placeholder(tf.float32, [], name="x")
            p = tf.placeholder(tf.bool, [], name="p")
            tf.cond(p, lambda: x * factor, lambda: x)
        return graph.as_graph_def()

    first, second = program(2.0), program(5.0)
    # As if both were made by processes of their own, with the same function names.
    names = [[f.signature.name for f in g.library.function] for g in (first, second)]
    text = text_format.MessageToString(second)
    for mine, theirs in zip(*names, strict=True):
        text = text.replace(theirs, mine)
    second = text_format.Parse(text, tf.GraphDef())
    with tf.Session() as sess:
        for proto, wanted in ((first, 2.0), (second, 5.0), (first, 2.0)):
            x, p, y = tf.import_graph_def(
                proto, return_elements=["x:0", "p:0", "cond/Identity:0"]
            )
            assert sess.run(y, {x: 1.0, p: True}) == wanted
    # The branches that are equal are kept once.
    assert len(tf.get_default_graph().as_graph_def().library.function) == 3


def test_new_attrs_with_their_default_are_dropped() -> None:
    extra = 'attr { key: "brand_new" value { b: false } }'
    proto = _graph_def(_placeholder("a"), _node("c", "Neg", "a", extra=extra))
    with pytest.raises(ValueError, match="brand_new"):
        tf.import_graph_def(proto)
    ops = text_format.Parse(
        'op { name: "Neg" input_arg { name: "x" type_attr: "T" } '
        'output_arg { name: "y" type_attr: "T" } attr { name: "T" type: "type" } '
        'attr { name: "brand_new" type: "bool" default_value { b: false } } }',
        op_def_pb2.OpList(),
    )
    tf.import_graph_def(proto, producer_op_list=ops)


REFUSED: list[tuple[str, dict[str, Any], type[Exception], str]] = [
    ("", {"input_map": [1]}, TypeError, "input_map must be a dictionary"),
    ("", {"input_map": {1: 2}}, TypeError, "input_map must be a dictionary"),
    ("", {"return_elements": [1]}, TypeError, "must be a list of strings"),
    ("", {"return_elements": ["z"]}, ValueError, "return node 'z' not found"),
    ("", {"return_elements": ["z:0"]}, ValueError, "return tensor 'z:0' not found"),
    ("", {"return_elements": ["c:5"]}, ValueError, "Invalid return output 5"),
    ("", {"return_elements": ["c:x"]}, ValueError, "Cannot convert 'c:x'"),
    ("", {"input_map": {"a:b:c": 1.0}}, ValueError, "Cannot convert 'a:b:c'"),
    ("", {"input_map": {"z:0": 1.0}}, ValueError, r"not found in graph_def: \[z:0\]"),
    ("", {"input_map": {"a:1": 1.0}}, ValueError, r"not found in graph_def: \[a:1\]"),
    ("", {"input_map": {"a": 1}}, ValueError, "incompatible with expected float"),
    (_node("e", "Neg", "zz"), {}, ValueError, "Unknown input node 'zz'"),
    (_node("e", "Neg", "a", "^zz"), {}, ValueError, r"Unknown input node '\^zz'"),
    (_node("e", "Neg", "^a", "a"), {}, ValueError, "Control dep"),
    (_node("e", "Neg", "a:1"), {}, ValueError, "invalid output 1 of source node"),
    (_node("e", "Neg", "a", dtype="DT_INT32"), {}, ValueError, "incompatible with exp"),
    (_node("e", "Add", "a"), {}, ValueError, "do not match 1 inputs"),
    (_node("e", "Neg", "a", "b"), {}, ValueError, "do not match 2 inputs"),
    (_placeholder("a"), {}, ValueError, "Node 'a' is not unique"),
    ('node { name: "e" op: "Nope" }', {}, tf.errors.NotFoundError, "not registered"),
    ('node { name: "e" op: "Placeholder" }', {}, ValueError, "missing attr 'dtype'"),
    ('node { name: "e f" op: "NoOp" }', {}, ValueError, "contains invalid char"),
    ('node { name: "e" }', {}, ValueError, "does not specify an operation"),
    (_node("e", "Neg", "f") + _node("f", "Neg", "e"), {}, ValueError, "cycle"),
    (_node("e", "Neg", "a", extra=_class("zz")), {}, ValueError, "unknown node 'zz'"),
    ("versions { min_consumer: 999 }", {}, ValueError, "min consumer version 999"),
    ("versions { bad_consumers: 134 }", {}, ValueError, "disallows consumer"),
]


@pytest.mark.parametrize(("more", "options", "error", "text"), REFUSED)
def test_refused(
    more: str, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        tf.import_graph_def(_graph_def(*SIMPLE, more), **options)


def test_nothing_is_added_when_a_node_does_not_fit() -> None:
    k2, k3 = (
        f'node {{ name: "k{n}" op: "Const" '
        'attr { key: "dtype" value { type: DT_FLOAT } } '
        'attr { key: "value" value { tensor { dtype: DT_FLOAT float_val: 1 '
        f"tensor_shape {{ dim {{ size: {n} }} }} }} }} }} }}"
        for n in (2, 3)
    )
    proto = _graph_def(k2, k3, _node("c", "Add", "k2", "k3"))
    with pytest.raises(ValueError, match="Dimensions must be equal"):
        tf.import_graph_def(proto)
    assert _describe() == []


@pytest.mark.parametrize("value", ["abc", None, 3])
def test_only_graph_defs(value: Any) -> None:
    with pytest.raises(TypeError, match="graph_def must be a GraphDef proto"):
        tf.import_graph_def(value)
    with pytest.raises(TypeError, match="graph_def must be a GraphDef proto"):
        tf.import_graph_def(tf.ConfigProto())


def test_defaults_that_a_graph_def_leaves_out_are_written_into_it() -> None:
    text = """
      node { name: "x" op: "Placeholder"
             attr { key: "dtype" value { type: DT_FLOAT } } }
      node { name: "y" op: "MatMul" input: "x" input: "x"
             attr { key: "T" value { type: DT_FLOAT } }
             attr { key: "transpose_a" value { b: true } } }
      node { name: "z" op: "Conv2D" input: "x" input: "x"
             attr { key: "T" value { type: DT_FLOAT } }
             attr { key: "padding" value { s: "SAME" } }
             attr { key: "strides" value { list { i: [1, 1, 1, 1] } } } }
    """
    graph_def = text_format.Parse(text, tf.GraphDef())
    tf.import_graph_def(graph_def, name="")
    x, y, z = graph_def.node
    assert x.attr["shape"].shape.unknown_rank
    assert (y.attr["transpose_a"].b, y.attr["transpose_b"].b) == (True, False)
    assert z.attr["data_format"].s == b"NHWC"
    assert list(z.attr["dilations"].list.i) == [1, 1, 1, 1]
    assert z.attr["use_cudnn_on_gpu"].b


@pytest.mark.parametrize(
    ("producer", "shape", "rank"),
    [(0, [], None), (21, [], None), (22, [], 0), (21, [2], 1)],
)
def test_placeholders_of_old_graphs_tell_no_scalar_from_any_shape(
    producer: int, shape: list[int], rank: int | None
) -> None:
    with tf.Graph().as_default() as graph:
        tf.placeholder(tf.float32, shape, name="p")
    graph_def = graph.as_graph_def()
    graph_def.versions.producer = producer
    with tf.Graph().as_default(), tf.Session() as session:
        (imported,) = tf.import_graph_def(graph_def, return_elements=["p:0"])
        assert imported.shape.rank == rank
        if rank is None:
            assert session.run(imported + 1.0, {imported: [1.0]}).tolist() == [2.0]
