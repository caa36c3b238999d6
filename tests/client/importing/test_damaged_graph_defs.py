"""GraphDefs damaged at random: they give an error, nothing worse."""

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
FLOAT = 1


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
