"""GraphDef bytes from outside: damaged ones give an error, nothing worse."""

from __future__ import annotations

import functools
import resource
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf

# What importing or running a damaged graph may raise.
EXPECTED = (ValueError, TypeError, tf.errors.OpError)
FLOAT, INT, STRING, INT64, BOOL = 1, 3, 7, 9, 10


# --- graphs to be damaged -------------------------------------------------------------


def arithmetic() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    y = tf.reshape(tf.matmul(x, tf.constant(np.ones([3, 4], np.float32))), [-1, 2, 2])
    tf.reduce_sum(tf.concat([y, y[:, ::-1]], 1), [1, 2], name="out")


def training() -> None:
    w = tf.get_variable("w", [4, 4])
    loss = tf.reduce_mean(tf.square(tf.nn.softmax(w) - 1.0))
    tf.train.AdamOptimizer().minimize(loss)


def control_flow() -> None:
    x = tf.placeholder(tf.float32, [2])
    y = tf.cond(tf.reduce_sum(x) > 0.0, lambda: x * 2.0, lambda: x - 1.0)
    tf.while_loop(lambda i, v: i < 5, lambda i, v: (i + 1, v + y), [0, x])


def images_and_strings() -> None:
    x = tf.placeholder(tf.float32, [None, 8, 8, 1])
    k = tf.constant(np.ones([3, 3, 1, 2], np.float32))
    y = tf.nn.max_pool(tf.nn.conv2d(x, k, [1, 1, 1, 1], "SAME"), 2, 2, "VALID")
    tf.cond(tf.shape(y)[0] > 1, lambda: tf.constant("many"), lambda: tf.constant("few"))


@functools.cache
def graph_bytes(build: Callable[[], None]) -> bytes:
    with tf.Graph().as_default() as graph:
        build()
    data: bytes = graph.as_graph_def(add_shapes=True).SerializeToString()
    return data


BUILDERS = [arithmetic, training, control_flow, images_and_strings]


def import_and_run(data: bytes) -> None:
    """Takes bytes as far as they go; raises what is not among the expected errors."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tf.Graph().as_default() as graph:
        try:
            graph_def = tf.GraphDef.FromString(data)
        except DecodeError:
            return
        try:
            tf.import_graph_def(graph_def, name="")
        except EXPECTED:
            graph_def = None
        run_all(graph.get_operations())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 1_000_000  # kilobytes; torch itself is a fifth of that


def run_all(operations: list[Any]) -> None:
    """Runs initializers and the last operation, with what placeholders ask for."""
    feeds = {}
    for op in operations:
        if op.type == "Placeholder" and op.outputs[0].dtype == tf.float32:
            dims = op.outputs[0].shape.dims or []
            sizes = [2 if d.value is None else d.value for d in dims]
            if np.prod(sizes, dtype=float) < 1e6:
                feeds[op.outputs[0]] = np.ones(sizes, np.float32)
    targets = [op for op in operations if op.type == "Assign"] + operations[-1:]
    with tf.Session() as sess:
        for op in targets:
            try:
                sess.run(op, feeds, options=tf.RunOptions(timeout_in_ms=2000))
            except EXPECTED:
                continue


@pytest.mark.parametrize("build", BUILDERS, ids=lambda build: build.__name__)
def test_what_is_not_damaged_goes_through(build: Callable[[], None]) -> None:
    with tf.Graph().as_default() as graph:
        tf.import_graph_def(tf.GraphDef.FromString(graph_bytes(build)), name="")
        *_, last = graph.get_operations()
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for op in graph.get_operations():
                if op.type == "Assign":
                    sess.run(op)
            feeds = {
                op.outputs[0]: np.ones([d.value or 2 for d in op.outputs[0].shape])
                for op in graph.get_operations()
                if op.type == "Placeholder"
            }
            sess.run(last, feeds)


fuzz = settings(max_examples=40)
builders = st.sampled_from(BUILDERS)


@fuzz
@given(builders, st.floats(0, 1))
def test_truncated_bytes(build: Callable[[], None], part: float) -> None:
    data = graph_bytes(build)
    import_and_run(data[: int(part * len(data))])


@fuzz
@given(builders, st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1))
def test_changed_bytes(
    build: Callable[[], None], changes: list[tuple[float, int]]
) -> None:
    data = bytearray(graph_bytes(build))
    for place, value in changes:
        data[int(place * (len(data) - 1))] = value
    import_and_run(bytes(data))


@fuzz
@given(builders, st.floats(0, 1), st.floats(0, 1), st.binary(max_size=20))
def test_replaced_parts(
    build: Callable[[], None], begin: float, end: float, between: bytes
) -> None:
    data = graph_bytes(build)
    a, b = int(begin * len(data)), int(end * len(data))
    import_and_run(data[:a] + between + data[b:])


@fuzz
@given(st.binary(max_size=200))
def test_random_bytes(data: bytes) -> None:
    import_and_run(data)


numbers = st.one_of(
    st.integers(-3, 9), st.sampled_from([2**31 - 1, -(2**31), 2**40, 2**62, -(2**63)])
)


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A well-formed message whose contents contradict each other."""
    graph_def = tf.GraphDef.FromString(graph_bytes(draw(builders)))
    nodes = list(graph_def.node)
    for _ in range(draw(st.integers(1, 3))):
        node, other = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
        damage = draw(st.sampled_from(DAMAGES))
        damage(draw, graph_def, node, other)
    data: bytes = graph_def.SerializeToString()
    return data


def _rename(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    node.name = draw(st.sampled_from([other.name, "", "a b", "_", "x" * 300, "ü"]))


def _change_op(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    node.op = draw(st.sampled_from([other.op, "", "Nothing", "Const", "_Recv", "AddN"]))


def _rewire(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    suffix = draw(st.sampled_from(["", ":0", ":1", ":-1", ":x", ":99999999999"]))
    name = draw(st.sampled_from(["", "^"])) + other.name + suffix
    if node.input and draw(st.booleans()):
        node.input[draw(st.integers(0, len(node.input) - 1))] = name
    else:
        node.input.append(name)


def _drop_input(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    if node.input:
        del node.input[draw(st.integers(0, len(node.input) - 1))]


def _drop_attr(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    if node.attr:
        del node.attr[draw(st.sampled_from(sorted(node.attr)))]


def _swap_attr(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    if node.attr and other.attr:
        source = draw(st.sampled_from(sorted(other.attr)))
        node.attr[draw(st.sampled_from(sorted(node.attr)))].CopyFrom(other.attr[source])


def _change_number(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    if not node.attr:
        return
    attr = node.attr[draw(st.sampled_from(sorted(node.attr)))]
    number = draw(numbers)
    kind = attr.WhichOneof("value")
    if kind == "i":
        attr.i = number
    elif kind == "type":
        attr.type = number % 130
    elif kind == "shape":
        attr.shape.dim.add().size = number
    elif kind == "list":
        attr.list.i.append(number)
    elif kind == "tensor":
        _change_tensor(draw, attr.tensor, number)


def _change_tensor(draw: st.DrawFn, tensor: Any, number: int) -> None:
    where = draw(st.sampled_from(["dim", "new dim", "dtype", "content", "value"]))
    if where == "dim" and tensor.tensor_shape.dim:
        tensor.tensor_shape.dim[0].size = number
    elif where == "new dim":
        tensor.tensor_shape.dim.add().size = number
    elif where == "dtype":
        tensor.dtype = number % 130
    elif where == "content":
        tensor.tensor_content = tensor.tensor_content[: number % 9]
    else:
        tensor.int_val.append(max(-(2**31), min(number, 2**31 - 1)))


def _repeat_node(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    graph.node.add().CopyFrom(node)


def _damage_function(draw: st.DrawFn, graph: Any, node: Any, other: Any) -> None:
    if not graph.library.function:
        return
    function = draw(st.sampled_from(list(graph.library.function)))
    what = draw(st.integers(0, 4))
    if what == 0:
        function.signature.name = draw(st.sampled_from(["", node.op, "other"]))
    elif what == 1 and function.node_def:
        _rewire(draw, graph, function.node_def[0], node)
    elif what == 2:
        function.ret.clear()
    elif what == 3:
        function.signature.input_arg.add(name="more", type=FLOAT)
    else:
        graph.library.gradient.add(function_name="nobody", gradient_func="nothing")


DAMAGES = [
    _rename,
    _change_op,
    _rewire,
    _drop_input,
    _drop_attr,
    _swap_attr,
    _change_number,
    _change_number,
    _repeat_node,
    _damage_function,
]


@settings(fuzz, max_examples=150)
@given(damaged())
def test_contradictory_graphs(data: bytes) -> None:
    import_and_run(data)


@pytest.mark.slow
@pytest.mark.timeout(900)
@settings(fuzz, max_examples=4000)
@given(damaged())
def test_many_contradictory_graphs(data: bytes) -> None:
    import_and_run(data)


# --- one row a case -------------------------------------------------------------------


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
    const(graph_def, "other", 9, [2], int64_val=[3])
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
