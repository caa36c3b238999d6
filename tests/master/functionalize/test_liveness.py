"""A loop that shares a value of a branch: its iterations run when the value is dead."""

from __future__ import annotations

from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.control_flow.classic_loop import build_loop
from tensorloom.master.functionalize import functionalize


def _loop(x: Any, p: Any, shared: Any) -> Any:
    """Three times: one more, or if `p` the product with the shared value."""

    def body(i: Any, a: Any) -> tuple[Any, Any]:
        kept, taken = tf.raw_ops.Switch(data=a, pred=p)
        merged = tf.raw_ops.Merge(inputs=[kept + 1.0, taken * shared])[0]
        return i + 1, merged

    start = [tf.constant(0), tf.identity(x)]
    return build_loop(lambda i, a: i < 3, body, start)[1]


def _remaining(graph: tf.Graph) -> list[str]:
    nodes = functionalize(graph.to_ir()).nodes.values()
    return [node.name for node in nodes if node.op in ("Enter", "LoopCond")]


@pytest.mark.parametrize(("taken", "wanted"), [(True, 27.0), (False, 4.0)])
def test_values_of_a_branch(taken: bool, wanted: float) -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
        _, alive = tf.raw_ops.Switch(data=x, pred=p)
        y = _loop(x, p, alive * 3.0)
        assert sess.run(y, {x: 1.0, p: taken}) == wanted
        assert _remaining(graph)


def test_what_is_always_alive_goes_into_a_function() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
        y = _loop(x, p, x * 3.0)
        assert sess.run(y, {x: 1.0, p: True}) == 27.0
        assert not _remaining(graph)


def test_a_loop_in_a_branch_shares_values_of_the_branch() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        x, p = tf.placeholder(tf.float32, []), tf.placeholder(tf.bool, [])
        other, alive = tf.raw_ops.Switch(data=x, pred=p)
        shared = alive * 3.0
        with tf.control_dependencies([alive]):
            zero = tf.constant(0)
        _, product = build_loop(
            lambda i, a: i < 3, lambda i, a: (i + 1, a * shared), [zero, alive]
        )
        y = tf.raw_ops.Merge(inputs=[other, product])[0]
        assert sess.run(y, {x: 1.0, p: True}) == 27.0
        assert sess.run(y, {x: 1.0, p: False}) == 1.0
        assert not _remaining(graph)
