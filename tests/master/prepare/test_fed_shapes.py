"""Steps that are compiled for the shapes that are fed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.cluster import local
from tensorloom.framework.functions.called_functions import called_functions
from tensorloom.framework.graph.graph_ir import GraphIR, sort_topologically
from tensorloom.framework.interfaces import StepContext, StepSignature
from tensorloom.master.functionalize import functionalize
from tensorloom.master.prepare.fed_shapes import (
    FedShapes,
    ShapedStep,
    open_feeds,
    with_fed_shapes,
    with_shapes_of_feeds,
)
from tensorloom.master.prepare.prune import prune

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import Node

F = np.float32


# --- which of the compiled steps runs -------------------------------------------------


class Compiled:
    """A step that gives what it was compiled for."""

    def __init__(self, shapes: FedShapes) -> None:
        self.shapes = dict(shapes)

    def run(self, feeds: Sequence[Any], step: StepContext | None = None) -> list[Any]:
        return [self.shapes]


def test_the_first_shapes_and_all_others() -> None:
    made: list[FedShapes] = []

    def compile_for(shapes: FedShapes) -> Compiled:
        made.append(shapes)
        return Compiled(shapes)

    step = ShapedStep(compile_for, [0, 2])
    assert not made
    first, special = [np.ones((2, 3)), F(1), np.ones(4)], {0: (2, 3), 2: (4,)}
    assert step.run(first) == [special]
    assert step.run([np.zeros((2, 3)), np.ones(9), np.zeros(4)]) == [special]
    for other in ((2, 4), (2,), ()):
        assert step.run([np.ones(other), F(1), np.ones(4)]) == [{}]
    assert step.run([np.ones((2, 3)), F(1), np.ones(5)]) == [{}]
    assert step.run(first) == [special]
    assert made == [special, {}]


def test_what_cannot_be_compiled_is_tried_again() -> None:
    attempts: list[FedShapes] = []

    def compile_for(shapes: FedShapes) -> Compiled:
        attempts.append(shapes)
        if len(attempts) == 1:
            raise tf.errors.InvalidArgumentError(None, None, "no such device")
        return Compiled(shapes)

    step = ShapedStep(compile_for, [0])
    with pytest.raises(tf.errors.InvalidArgumentError, match="no such device"):
        step.run([np.ones(2)])
    assert step.run([np.ones(3)]) == [{0: (3,)}]


# --- shapes that are not those of the graph ---------------------------------------


def _counted(x: Any) -> Any:
    """A loop whose variable keeps the shape of a feed."""
    return tf.while_loop(lambda i, a: i < 3, lambda i, a: [i + 1, a + x], [0, x])[1]


@pytest.mark.parametrize(
    "program",
    [
        tf.negative,
        lambda x: tf.raw_ops.Shape(input=x),
        lambda x: tf.raw_ops.Size(input=tf.raw_ops.Neg(x=x)),
        lambda x: x + tf.zeros([1]),
        _counted,
    ],
)
def test_any_shape_may_be_fed(program: Callable[[Any], Any]) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x, any_x = tf.placeholder(tf.float32, [2]), tf.placeholder(tf.float32)
        fetches = [program(x), program(any_x)]
        session.run(fetches, {x: [1, 2], any_x: [1, 2]})
        signatures = [
            StepSignature((feed.name,), (fetch.name,), any_fed_shapes=feed is x)
            for feed, fetch in zip((x, any_x), fetches, strict=True)
        ]
        steps = [session._prepare(signature) for signature in signatures]
        for fed in (np.ones(3, F), np.ones((2, 2), F), np.ones((), F), np.ones(2, F)):
            here, there = (step.run([fed])[0] for step in steps)
            np.testing.assert_array_equal(here, there)


# --- what the shapes tell -------------------------------------------------------------


def _rnn(x: Any) -> Any:
    w = tf.get_variable("w", [4, 4])
    steps = tf.scan(lambda a, e: tf.tanh(tf.matmul(a, w) + e), x, tf.zeros_like(x[0]))
    loss = tf.reduce_sum(steps[-1])
    return [loss, *tf.gradients(loss, [w, x])]


def _dense(x: Any) -> Any:
    w = tf.get_variable("w", [5, 3])
    y = tf.nn.softmax(tf.matmul(tf.reshape(x, [-1, 5]), w))
    loss = tf.reduce_mean(y * tf.to_float(tf.shape(x)[0]))
    return [y, loss, *tf.gradients(loss, [w, x])]


def _reshaped(x: Any) -> Any:
    size = tf.shape(x)
    return [tf.reshape(x, tf.stack([size[1] // 1, 1, -1])), tf.rank(x)]


def _branch(x: Any) -> Any:
    return [
        tf.cond(
            tf.shape(x)[0] > 2, lambda: tf.reduce_sum(x, 0), lambda: tf.reduce_max(x, 0)
        )
    ]


def _growing(x: Any) -> Any:
    """A loop variable whose shape changes in each iteration."""
    return [
        tf.while_loop(
            lambda i, a: i < 3,
            lambda i, a: [i + 1, tf.concat([a, x], 0)],
            [0, x],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, 4])],
        )[1]
    ]


def _array(x: Any) -> Any:
    """An array whose elements differ in shape."""
    array = tf.TensorArray(tf.float32, 2, clear_after_read=False, infer_shape=False)
    array = array.write(0, x).write(1, tf.concat([x, x], 0))
    return [array.concat(), tf.shape(array.read(0)), tf.shape(array.read(1))]


def _function(x: Any) -> Any:
    from tensorloom.contrib.eager import defun

    @defun
    def twice(value: Any) -> Any:
        return tf.reshape(value, [tf.shape(value)[0], -1]) * 2.0

    return [twice(x)]


PROGRAMS: list[tuple[Callable[[Any], Any], list[int | None], list[tuple[int, ...]]]] = [
    (_rnn, [None, None, 4], [(5, 3, 4), (2, 3, 4), (1, 1, 4), (5, 3, 4)]),
    (_dense, [None, 5], [(3, 5), (1, 5), (0, 5), (3, 5)]),
    (_dense, None, [(3, 5), (2, 4, 5), (3, 5)]),  # type: ignore[list-item]
    (_reshaped, [None, None], [(3, 4), (4, 3), (3, 4)]),
    (_branch, [None, 3], [(4, 3), (2, 3), (4, 3)]),
    (_growing, [None, 4], [(2, 4), (1, 4), (0, 4)]),
    (_array, [None, 2], [(3, 2), (1, 2)]),
]


@pytest.mark.parametrize(("program", "dims", "shapes"), PROGRAMS)
def test_each_shape_has_its_results(
    program: Callable[[Any], Any], dims: Any, shapes: list[tuple[int, ...]]
) -> None:
    """The same as of a graph that knows the shape, in whatever order they come."""
    draw = np.random.RandomState(1)
    values = [draw.standard_normal(shape).astype(F) for shape in shapes]
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, dims)
        fetches = program(x)
        sess.run(tf.global_variables_initializer())
        found = [sess.run(fetches, {x: value}) for value in values]
    for value, results in zip(values, found, strict=True):
        with tf.Graph().as_default(), tf.Session() as sess:
            tf.set_random_seed(1)
            x = tf.placeholder(tf.float32, value.shape)
            fetches = program(x)
            sess.run(tf.global_variables_initializer())
            expected = sess.run(fetches, {x: value})
        for result, want in zip(results, expected, strict=True):
            np.testing.assert_allclose(result, want, rtol=1e-5, atol=1e-6)
            assert result.shape == want.shape


def _inferred(fetches: Sequence[Any], fed: dict[Any, tuple[int, ...]]) -> GraphIR:
    """The functional graph of a step with all that the fed shapes tell."""
    graph = tf.get_default_graph()
    built = {node.name: node for node in graph.nodes_since(0)}
    nodes = {node.name: node for node in sort_topologically(built)}
    signature = StepSignature(
        tuple(tensor.name for tensor in fed), tuple(tensor.name for tensor in fetches)
    )
    pruned = prune(GraphIR(nodes, dict(graph._functions)), signature, "/device:CPU:0")
    assert open_feeds(pruned) == list(range(len(fed)))
    shaped = with_fed_shapes(pruned, dict(enumerate(fed.values())))
    return with_shapes_of_feeds(functionalize(shaped), local.evaluate)


def _open_nodes(graph: GraphIR) -> list[str]:
    """Names of the nodes, in functions too, whose shapes are not known."""
    return [node.name for node in _all_nodes(graph) if not _is_known(node)]


def _all_nodes(graph: GraphIR) -> list[Node]:
    bodies = [function.nodes for function in called_functions(graph).values()]
    return [node for nodes in (graph.nodes, *bodies) for node in nodes.values()]


def _is_known(node: Node) -> bool:
    return all(shape.is_fully_defined() for shape in node.output_shapes or ())


@pytest.mark.parametrize(
    ("program", "dims", "shape"),
    [
        (_rnn, [None, None, 4], (5, 3, 4)),
        (_dense, [None, 5], (3, 5)),
        (_reshaped, [None, None], (3, 4)),
        (_branch, [None, 3], (4, 3)),
    ],
)
def test_nothing_stays_unknown(
    program: Callable[[Any], Any], dims: Any, shape: tuple[int, ...]
) -> None:
    """Through reshapes, loops, their arrays and lists, and branches."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, dims)
        assert _open_nodes(_inferred(program(x), {x: shape})) == []


def test_arrays_with_elements_of_several_shapes() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 2])
        graph = _inferred(_array(x), {x: (3, 2)})
        reads = [n for n in graph.nodes.values() if n.op == "TensorArrayReadV3"]
        assert [str(n.output_shapes[0]) for n in reads if n.output_shapes] == [
            "(?, 2)",
            "(?, 2)",
        ]


def test_a_function_that_is_called_for_two_shapes_stays_general() -> None:
    from tensorloom.client.functions.function import Defun

    @Defun(tf.float32)
    def doubled(value: Any) -> Any:
        return value * 2.0

    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        y = tf.placeholder(tf.float32, [None, None])
        fed = {x: np.ones(3, F), y: np.ones((2, 2), F)}
        first, second = sess.run([doubled(x), doubled(y)], fed)
        assert first.shape == (3,)
        assert second.shape == (2, 2)


def test_feeds_that_are_known_need_no_second_compilation() -> None:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [2, 3])
        nodes = {node.name: node for node in tf.get_default_graph().nodes_since(0)}
        signature = StepSignature((x.name,), ("y:0",))
        y = tf.identity(x, name="y")
        nodes[y.op.name] = tf.get_default_graph().nodes_since(1)[0]
        assert open_feeds(prune(GraphIR(nodes), signature, "/device:CPU:0")) == []


def test_shapes_that_fit_nothing_fail_when_they_run() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
        product = tf.matmul(x, y)
        with pytest.raises(tf.errors.InvalidArgumentError, match="MatMul"):
            sess.run(product, {x: np.ones((2, 3)), y: np.ones((2, 3))})
        assert sess.run(product, {x: [[2.0]], y: [[3.0]]}) == [[6.0]]


def test_equal_feeds_give_equal_bits() -> None:
    """Whichever shapes come between."""
    draw = np.random.RandomState(1)
    big, small = draw.randn(7, 5).astype(F), draw.randn(3, 5).astype(F)
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None, 5])
        results = _dense(x)
        sess.run(tf.global_variables_initializer())
        runs = [sess.run(results, {x: v}) for v in (big, small, big, small, big)]
    for again in (2, 4):
        for first, later in zip(runs[0], runs[again], strict=True):
            np.testing.assert_array_equal(first, later)
    for first, later in zip(runs[1], runs[3], strict=True):
        np.testing.assert_array_equal(first, later)


@pytest.mark.parametrize(
    "program",
    [
        lambda x: tf.matmul(x, tf.ones([3, 2])),
        lambda x: tf.nn.relu(tf.nn.bias_add(tf.matmul(x, tf.ones([3, 2])), [1.0, 2.0])),
        lambda x: tf.reduce_sum(x + tf.ones([2, 3])),
        lambda x: tf.reshape(x, [3]),
        lambda x: tf.concat([x, tf.ones([2, 3])], 0)[5],
        lambda x: tf.cond(
            x[0, 0] > 0, lambda: tf.matmul(x, tf.ones([3, 2])), lambda: x
        ),
        lambda x: tf.map_fn(lambda row: row * tf.ones([3]), x),
    ],
)
def test_shapes_that_do_not_fit_have_the_error_of_unknown_ones(
    program: Callable[[Any], Any],
) -> None:
    """Kernels that know the shapes of their inputs rely on the check of those."""
    value, messages = np.ones((4, 4), F), []
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32)
        y = program(x)
        for fed in (value, np.ones((5, 5), F)):  # compiled for the first, or not
            with pytest.raises(tf.errors.InvalidArgumentError) as info:
                sess.run(y, {x: fed})
            messages.append(re.sub(r"\d+", "#", info.value.message.split("[[")[0]))
    assert messages[0] == messages[1]


def test_a_branch_not_taken_may_not_fit() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [None])
        y = tf.cond(tf.size(x) > 2, lambda: x[2], lambda: x[0])
        assert sess.run(y, {x: [7.0]}) == 7.0
        assert sess.run(y, {x: [7.0, 8.0, 9.0]}) == 9.0
