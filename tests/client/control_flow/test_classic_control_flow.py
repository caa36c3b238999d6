"""Graphs with Switch, Merge and Enter, as TensorFlow 1.15 made them, give its values.

Each runs as functions and on the interpreter. `tests/peer/classic_recorder.py` made the
record.
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.master.functionalize import functionalize
from tensorloom.master.optimize.node_facts import CONTROL_FLOW
from tensorloom.master.run import master
from tensorloom.protos import graph_pb2

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

RECORDED: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "recorded" / "classic_graphs.json").read_text()
)
# Gradients of conds have a form that If nodes do not: values dead on both sides.
INTERPRETED = {"while_in_cond", "second_order", "raw_switch_merge"}


def _load(name: str) -> dict[str, Any]:
    recorded: dict[str, Any] = RECORDED[name]
    graph_def = graph_pb2.GraphDef.FromString(
        zlib.decompress(base64.b64decode(recorded["graph"]))
    )
    tf.import_graph_def(graph_def, name="")
    return recorded


def _check(recorded: dict[str, Any]) -> None:
    with tf.Session() as sess:
        if recorded["init"]:
            sess.run(recorded["init"])
        for run in recorded["runs"]:
            values = sess.run(recorded["fetches"], run["feed"])
            for value, wanted in zip(values, run["values"], strict=True):
                if wanted["dtype"] == "string":
                    assert value == wanted["values"][0].encode()
                    continue
                assert value.dtype == wanted["dtype"]
                assert list(value.shape) == wanted["shape"]
                np.testing.assert_allclose(
                    value.ravel(), wanted["values"], rtol=1e-5, atol=1e-6
                )


@pytest.mark.parametrize("name", RECORDED)
def test_interpreter_gives_the_recorded_values(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(master, "functionalize", lambda graph: graph)
    _check(_load(name))


@pytest.mark.parametrize("name", RECORDED)
def test_functions_give_the_recorded_values(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: list[str] = []

    def noting(graph: GraphIR) -> GraphIR:
        result = functionalize(graph)
        bodies = [result.nodes, *(f.nodes for f in result.functions.values())]
        left.extend(n.op for b in bodies for n in b.values() if n.op in CONTROL_FLOW)
        return result

    monkeypatch.setattr(master, "functionalize", noting)
    _check(_load(name))
    assert bool(left) == (name in INTERPRETED)


def test_a_value_of_the_other_branch_cannot_be_fetched() -> None:
    pred = tf.placeholder(tf.bool, [])
    on_false, on_true = tf.raw_ops.Switch(data=tf.constant(3.0), pred=pred)
    with tf.Session() as sess:
        assert sess.run(on_true + 1.0, {pred: True}) == 4.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            sess.run(on_false, {pred: True})
        assert sess.run(on_false, {pred: False}) == 3.0


def _endless(value: Any) -> Any:
    """A loop without end."""
    enter = tf.raw_ops.Enter(data=value, frame_name="endless")
    merge, _ = tf.raw_ops.Merge(inputs=[enter, enter])
    on_false, on_true = tf.raw_ops.Switch(
        data=merge, pred=tf.raw_ops.LoopCond(input=tf.equal(merge, merge))
    )
    following = tf.raw_ops.NextIteration(data=on_true + on_true)
    merge.op._update_input(1, following)
    return tf.raw_ops.Exit(data=on_false)


@pytest.mark.parametrize("functional", [True, False])
def test_an_endless_loop_ends_with_the_timeout(
    functional: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not functional:
        monkeypatch.setattr(master, "functionalize", lambda graph: graph)
    result = _endless(tf.constant(1.0))
    options = tf.RunOptions(timeout_in_ms=100)
    with tf.Session() as sess:
        with pytest.raises(tf.errors.DeadlineExceededError):
            sess.run(result, options=options)
        assert sess.run(tf.constant(1) + 1) == 2


def test_an_error_in_a_loop_names_its_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(master, "functionalize", lambda graph: graph)
    recorded = _load("assert_guard")
    wanted = pytest.raises(tf.errors.InvalidArgumentError, match="AssertGuard/Assert")
    with tf.Session() as sess, wanted:
        sess.run(recorded["fetches"], {"x:0": -1.0})


def test_a_queue_does_not_stall_the_interpreter() -> None:
    queue = tf.FIFOQueue(1, tf.float32, [[]])
    pred = tf.placeholder(tf.bool, [])
    taken = tf.raw_ops.Switch(data=queue.dequeue(), pred=pred)[1]
    filled = queue.enqueue([tf.raw_ops.Switch(data=tf.constant(5.0), pred=pred)[1]])
    with tf.Session() as sess:
        assert sess.run([taken, filled], {pred: True})[0] == 5.0


def test_inputs_from_different_frames_are_refused() -> None:
    inside = tf.raw_ops.Enter(data=tf.constant(1.0), frame_name="inside")
    mixed = inside + tf.constant(2.0)
    wanted = pytest.raises(
        tf.errors.InvalidArgumentError, match="has inputs from different frames"
    )
    with tf.Session() as sess, wanted:
        sess.run(tf.raw_ops.Exit(data=mixed))


def test_a_control_trigger_does_not_mind_what_is_dead() -> None:
    pred = tf.placeholder(tf.bool, [])
    on_false, _ = tf.raw_ops.Switch(data=tf.constant(3.0), pred=pred)
    with tf.control_dependencies([tf.identity(on_false)]):
        dead = tf.constant(1.0)
        trigger = tf.raw_ops.ControlTrigger()
    with tf.control_dependencies([trigger]):
        alive = tf.constant(2.0)
    with tf.Session() as sess:
        assert sess.run(alive, {pred: True}) == sess.run(alive, {pred: False}) == 2.0
        assert sess.run(dead, {pred: False}) == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have value"):
            sess.run(dead, {pred: True})


def test_abort_fails_the_step_alone() -> None:
    with tf.Session() as sess:
        with pytest.raises(tf.errors.AbortedError, match="enough"):
            sess.run(tf.raw_ops.Abort(error_msg="enough"))
        assert sess.run(tf.constant(1)) == 1


def test_a_merge_may_have_what_comes_back_first() -> None:
    recorded = RECORDED["while_simple"]
    packed = base64.b64decode(recorded["graph"])
    graph_def = graph_pb2.GraphDef.FromString(zlib.decompress(packed))
    for node in graph_def.node:
        if node.op == "Merge":
            node.input[:] = reversed(node.input)
    tf.import_graph_def(graph_def, name="")
    _check(recorded)
