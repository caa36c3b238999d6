"""`tf.cond` and `tf.while_loop` as Switch, Merge, Enter and Exit, with contexts.

`tests/peer/programs/control_flow/classic_form.py` compares whole graphs with
TensorFlow 1.15.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


@pytest.fixture(autouse=True)
def _classic() -> None:
    tf.disable_control_flow_v2()


def _types(graph: tf.Graph) -> set[str]:
    return {op.type for op in graph.get_operations()}


def _run(fetches: Any, feeds: Any = None) -> Any:
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        return sess.run(fetches, feeds)


# --- nodes and what can be done with them -------------------------------------------


def test_the_nodes_of_a_cond_are_fetched_by_tensorflows_names() -> None:
    p, x = tf.placeholder(tf.bool, []), tf.placeholder(tf.float32, [])
    y = tf.cond(p, lambda: x * 2.0, lambda: x + 1.0)
    assert y.name == "cond/Merge:0"
    with tf.Session() as sess:
        assert sess.run("cond/Merge:0", {p: True, x: 4.0}) == 8.0
        assert sess.run(["cond/Merge:0", "cond/Merge:1"], {p: False, x: 4.0}) == [5, 0]
        with pytest.raises(ValueError, match="marked as not fetchable"):
            sess.run("cond/pred_id:0", {p: True})


def test_the_nodes_of_a_loop_are_fetched_by_tensorflows_names() -> None:
    i, y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * 2.0), [0, 1.0])
    assert (i.name, y.name) == ("while/Exit:0", "while/Exit_1:0")
    with tf.Session() as sess:
        assert sess.run(["while/Exit:0", "while/Exit_1:0"]) == [3, 8.0]
        with pytest.raises(ValueError, match="marked as not fetchable"):
            sess.run("while/Identity:0")


def test_the_switch_between_both_forms() -> None:
    def graph() -> tf.Graph:
        with tf.Graph().as_default() as built:
            y = tf.cond(tf.placeholder(tf.bool, []), lambda: 1.0, lambda: 2.0)
            tf.while_loop(lambda i: i < 3, lambda i: i + y, [0.0])
        return built

    assert {"Switch", "Merge", "Enter", "LoopCond"} <= _types(graph())
    assert not tf.control_flow_v2_enabled()
    tf.enable_control_flow_v2()
    assert tf.control_flow_v2_enabled()
    assert {"StatelessIf", "StatelessWhile"} <= _types(graph())


def test_functions_have_functional_nodes() -> None:
    @tf.function
    def doubled(x: Any) -> Any:
        return tf.cond(x > 0.0, lambda: x * 2.0, lambda: x)

    x = tf.placeholder(tf.float32, [])
    y = tf.cond(x > 3.0, lambda: doubled(x), lambda: doubled(-x))
    library = tf.get_default_graph().as_graph_def().library.function
    types = {node.op for function in library for node in function.node_def}
    assert "StatelessIf" in types
    assert not types & {"Switch", "Merge"}
    assert [_run(y, {x: v}) for v in (4.0, -2.0)] == [8.0, 4.0]


# --- contexts -----------------------------------------------------------------------


def test_operations_know_their_context() -> None:
    seen: list[Any] = []

    def body(i: Any) -> Any:
        inner = tf.cond(i > 1, lambda: seen.append(i + 5) or seen[0], lambda: i)
        return i + inner

    tf.while_loop(lambda i: i < 3, body, [0], swap_memory=True, parallel_iterations=7)
    branch = seen[0].op._get_control_flow_context()
    assert branch.IsCondContext()
    assert (branch.name, branch.branch) == ("while/cond/cond_text", 1)
    assert branch.pivot.name == "while/cond/switch_t:0"
    loop = branch.GetWhileContext()
    assert loop is branch.outer_context
    assert (loop.swap_memory, loop.parallel_iterations) == (True, 7)
    assert tf.get_collection(tf.GraphKeys.WHILE_CONTEXT) == [loop]
    assert tf.get_collection(tf.GraphKeys.COND_CONTEXT) == []
    assert tf.get_default_graph()._get_control_flow_context() is None


def _nested(x: Any, p: Any) -> Any:
    """A loop in a branch, with a branch and a loop inside."""

    def body(i: Any, y: Any) -> tuple[Any, Any]:
        inner = tf.while_loop(lambda j, _: j < 2, lambda j, z: (j + 1, z * x), [0, y])
        return i + 1, tf.cond(y > 2.0, lambda: inner[1] + x, lambda: y + inner[1])

    return tf.cond(
        p, lambda: tf.while_loop(lambda i, _: i < 3, body, [0, x])[1], lambda: x * x
    )


def test_a_meta_graph_brings_the_contexts_back() -> None:
    x, p = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.bool, [], "p")
    y = _nested(x, p)
    wanted = [_run([y, tf.gradients(y, x)[0]], {x: 1.2, p: v}) for v in (True, False)]
    with tf.Graph().as_default():
        px, pp = tf.placeholder(tf.float32, [], "x"), tf.placeholder(tf.bool, [], "p")
        again = _nested(px, pp)
        meta_graph = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta_graph, import_scope="there")
        y, x, p = (graph.get_tensor_by_name(f"there/{t.name}") for t in (again, px, pp))
        fetches = [y, tf.gradients(y, x)[0]]
        found = [_run(fetches, {x: 1.2, p: v}) for v in (True, False)]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_contexts_as_messages() -> None:
    tf.cond(tf.placeholder(tf.bool, []), lambda: 1.0, lambda: 2.0)
    tf.while_loop(lambda i: i < 3, lambda i: i + 1, [0], maximum_iterations=2)
    (branch, _) = tf.get_collection(tf.GraphKeys.COND_CONTEXT)
    (loop,) = tf.get_collection(tf.GraphKeys.WHILE_CONTEXT)
    for context in (branch, loop):
        message = context.to_proto()
        assert type(context).from_proto(message).to_proto() == message
        assert context.to_proto("elsewhere") is None


# --- gradients ----------------------------------------------------------------------


def test_the_gradient_of_nested_constructs() -> None:
    x, p = tf.placeholder(tf.float64, []), tf.placeholder(tf.bool, [])
    y = _nested(x, p)
    (gradient,) = tf.gradients(y, x)
    with tf.Session() as sess:
        for taken in (True, False):
            high, low = (sess.run(y, {x: 1.1 + d, p: taken}) for d in (1e-6, -1e-6))
            found = sess.run(gradient, {x: 1.1, p: taken})
            assert found == pytest.approx((high - low) / 2e-6, rel=1e-5)


def test_no_second_derivative_of_a_loop() -> None:
    x = tf.placeholder(tf.float32, [])
    _, y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * x), [0, 1.0])
    (gradient,) = tf.gradients(y, x)
    with pytest.raises(TypeError, match="Second-order gradient for while loops"):
        tf.gradients(gradient, x)


def test_rows_that_a_body_looks_up_are_made_dense_for_a_dense_variable() -> None:
    x = tf.constant([1.0, 2.0, 3.0])
    _, y = tf.while_loop(
        lambda i, _: i < 3, lambda i, v: (i + 1, tf.gather(v, [0])), [0, x[:1]]
    )
    assert _run(tf.gradients(y * 3.0, x)[0]).tolist() == [3.0, 0.0, 0.0]


def test_a_gradient_in_a_branch_of_a_loop_outside() -> None:
    x, p = tf.constant([0.2, 0.3]), tf.placeholder(tf.bool, [])
    _, y = tf.while_loop(lambda i, _: i < 3, lambda i, a: (i + 1, a * a + x), [0, x])
    z = tf.cond(p, lambda: tf.gradients(y, x)[0], lambda: x)
    values = [_run([y, z], {p: taken}) for taken in (True, False)]
    np.testing.assert_array_equal(values[0][0], values[1][0])
    np.testing.assert_allclose(values[1][1], [0.2, 0.3])


# --- values of other kinds ----------------------------------------------------------


def test_a_tensor_array_that_branches_make() -> None:
    def array(value: float) -> Any:
        return tf.TensorArray(tf.float32, 2).unstack([value, value + 1.0])

    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: array(1.0), lambda: array(5.0)).stack()
    assert [_run(chosen, {p: v}).tolist() for v in (True, False)] == [[1, 2], [5, 6]]


def test_indices_of_two_dtypes() -> None:
    def rows(dtype: Any) -> tf.IndexedSlices:
        return tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3], dtype))

    p = tf.placeholder(tf.bool, [])
    chosen = tf.cond(p, lambda: rows(tf.int32), lambda: rows(tf.int64))
    assert chosen.indices.dtype == tf.int64
    assert _run(chosen, {p: True}).indices.tolist() == [3]


def test_writes_of_summaries_come_before_the_results() -> None:
    v = tf.get_variable("v", initializer=0.0, use_resource=True)

    def write() -> Any:
        op = v.assign_add(1.0).op
        tf.add_to_collection(tf.GraphKeys._SUMMARY_COLLECTION, op)
        return 7.0

    p = tf.placeholder(tf.bool, [])
    y = tf.cond(p, write, lambda: 0.0)
    assert tf.get_collection(tf.GraphKeys._SUMMARY_COLLECTION) == []
    with tf.Session() as sess:
        sess.run(v.initializer)
        assert sess.run(y, {p: True}) == 7.0
        assert sess.run(y, {p: False}) == 0.0
        assert sess.run(v) == 1.0


def test_a_check_of_floats_is_a_cond() -> None:
    x = tf.placeholder(tf.float32, [])
    check = tf.Assert(x > 0.0, [x])
    assert check.name == "Assert/AssertGuard/Merge"
    assert _run(check, {x: 1.0}) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="assertion failed"):
        _run(check, {x: -1.0})


# --- errors -------------------------------------------------------------------------


def _leak() -> Any:
    inside: list[Any] = []
    tf.while_loop(lambda i: i < 3, lambda i: inside.append(i + 1) or inside[0], [0])
    return inside[0]


def _loop(body: Callable[[Any], Any], start: Any, **options: Any) -> Any:
    return tf.while_loop(lambda x: tf.reduce_sum(x) < 3, body, [start], **options)


ERRORS: list[tuple[Callable[[], Any], Any, str]] = [
    (lambda: _leak() + 1, ValueError, "is in a while loop. See info log"),
    (lambda: _loop(lambda i: i + _leak(), 0), ValueError, "different while loops"),
    (lambda: _loop(lambda x: tf.cast(x, tf.float32), 0), TypeError, "Loop var"),
    (
        lambda: _loop(lambda x: tf.concat([x, x], 0), tf.zeros([2])),
        ValueError,
        r"enters the loop with shape \(2,\), but has shape \(4,\) after one iteration",
    ),
    (
        lambda: _loop(
            lambda x: x, tf.zeros([2]), shape_invariants=[tf.TensorShape([3])]
        ),
        ValueError,
        "The shape invariant specified for",
    ),
    (lambda: _loop(lambda i: i, 0, maximum_iterations=[1]), ValueError, "scalar"),
    (lambda: _loop(lambda i: (i, i), 0), ValueError, "same nested structure"),
    (lambda: tf.while_loop(lambda: True, lambda: 1, []), ValueError, "No loop"),
]


@pytest.mark.parametrize(("make", "error", "text"), ERRORS)
def test_errors(make: Callable[[], Any], error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        make()


# --- threads ------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["classic", "functional"])
def test_no_thread_takes_a_graph_whose_gradient_is_half_made(form: str) -> None:
    if form == "functional":
        tf.enable_control_flow_v2()
    graph, taken = tf.get_default_graph(), []

    def take() -> None:
        graph_def = graph.as_graph_def()
        with tf.Graph().as_default():
            tf.import_graph_def(graph_def)
        taken.append(graph_def)

    threads = [threading.Thread(target=take) for _ in range(2)]

    @tf.custom_gradient
    def tripled(x: Any) -> Any:
        def gradient(g: Any) -> Any:
            threads[0].start()
            threads[0].join(0.02)  # it waits for the end of the gradient
            assert not taken
            return g * 3.0

        return x * 3.0, gradient

    x = tf.constant(1.0)
    _, y = tf.while_loop(lambda i, _: i < 2, lambda i, y: (i + 1, tripled(y)), [0, x])
    tf.gradients(tf.sin(y), x)
    threads[1].start()
    for thread in threads:
        thread.join(20.0)
    assert len(taken) == 2


def test_a_thread_that_builds_takes_its_own_graph() -> None:
    p, before = tf.placeholder(tf.bool, []), tf.constant(4.0)
    with tf.Session() as sess:
        y = tf.cond(p, lambda: before + float(sess.run(before)), lambda: before)
        assert sess.run(y, {p: True}) == 8.0
