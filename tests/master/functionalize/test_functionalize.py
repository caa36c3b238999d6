"""Random structured programs: as functions, interpreted, and in plain Python."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.master.functionalize import functionalize
from tensorloom.master.optimize.node_facts import CONTROL_FLOW
from tensorloom.master.run import master

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

# A step is ("add", k), ("mul", k), ("cond", then, else) or ("loop", times, body); k and
# times are places in CONSTANTS.
Step = tuple[Any, ...]
CONSTANTS = (0.0, 1.0, 2.0, 0.5, -1.5)


def _steps() -> st.SearchStrategy[list[Step]]:
    place = st.integers(1, len(CONSTANTS) - 1)
    plain = st.lists(
        st.tuples(st.sampled_from(["add", "mul"]), place), min_size=1, max_size=2
    )
    return st.recursive(
        plain,
        lambda inner: st.lists(
            st.one_of(
                st.tuples(st.just("add"), place),
                st.tuples(st.just("cond"), inner, inner),
                st.tuples(st.just("loop"), st.integers(0, 2), inner),
            ),
            min_size=1,
            max_size=3,
        ),
        max_leaves=6,
    )


def _in_python(steps: Sequence[Step], x: np.float32) -> np.float32:
    for kind, *rest in steps:
        if kind == "add":
            x = x + np.float32(CONSTANTS[rest[0]])
        elif kind == "mul":
            x = x * np.float32(CONSTANTS[rest[0]])
        elif kind == "cond":
            x = _in_python(rest[0] if x > 1.0 else rest[1], x)
        else:
            for _ in range(int(CONSTANTS[rest[0]])):
                x = _in_python(rest[1], x)
    return x


class _Builder:
    """Writes a program with the primitives, as TensorFlow's v1 client does."""

    def __init__(self) -> None:
        self.frames = 0

    def block(self, steps: Sequence[Step], x: Any, env: list[Any]) -> Any:
        for kind, *rest in steps:
            if kind == "add":
                x = x + env[rest[0]]
            elif kind == "mul":
                x = x * env[rest[0]]
            elif kind == "cond":
                x = self._cond(rest[0], rest[1], x, env)
            else:
                x = self._loop(rest[0], rest[1], x, env)
        return x

    def _cond(
        self, then: Sequence[Step], otherwise: Sequence[Step], x: Any, env: list[Any]
    ) -> Any:
        pred = tf.identity(x > env[1])
        values = [tf.raw_ops.Switch(data=v, pred=pred) for v in (x, *env)]
        on_false = self.block(otherwise, values[0][0], [v[0] for v in values[1:]])
        on_true = self.block(then, values[0][1], [v[1] for v in values[1:]])
        return tf.raw_ops.Merge(inputs=[on_false, on_true])[0]

    def _loop(self, times: int, steps: Sequence[Step], x: Any, env: list[Any]) -> Any:
        self.frames += 1
        frame = f"frame_{self.frames}"
        shared = [
            tf.raw_ops.Enter(data=v, frame_name=frame, is_constant=True) for v in env
        ]
        starts = [tf.raw_ops.Enter(data=v, frame_name=frame) for v in (env[0], x)]
        merges = [tf.raw_ops.Merge(inputs=[s, s])[0] for s in starts]
        pred = tf.raw_ops.LoopCond(input=merges[0] < shared[times])
        switches = [tf.raw_ops.Switch(data=m, pred=pred) for m in merges]
        results = [
            switches[0][1] + shared[1],
            self.block(steps, switches[1][1], shared),
        ]
        for merge, result in zip(merges, results, strict=True):
            merge.op._update_input(1, tf.raw_ops.NextIteration(data=result))
        return tf.raw_ops.Exit(data=switches[1][0])


def _run(steps: Sequence[Step], x: float, how: Any) -> Any:
    with tf.Graph().as_default(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(master, "functionalize", how)
        start = tf.placeholder(tf.float32, [])
        env = [tf.constant(c) for c in CONSTANTS]
        result = tf.identity(_Builder().block(steps, start, env))
        with tf.Session() as sess:
            return sess.run(result, {start: x})


def _fully(graph: GraphIR) -> GraphIR:
    result = functionalize(graph)
    for nodes in (result.nodes, *(f.nodes for f in result.functions.values())):
        assert not [n.name for n in nodes.values() if n.op in CONTROL_FLOW]
    return result


@settings(max_examples=40, deadline=None, derandomize=True)
@given(_steps(), st.sampled_from([0.0, 1.5, -3.0]))
def test_both_ways_compute_the_program(steps: list[Step], x: float) -> None:
    wanted = _in_python(steps, np.float32(x))
    assert _run(steps, x, lambda graph: graph) == wanted
    assert _run(steps, x, _fully) == wanted


@pytest.mark.parametrize("how", [lambda graph: graph, _fully])
def test_a_stack_that_one_branch_fills(how: Any) -> None:
    ops = tf.raw_ops
    with tf.Graph().as_default(), pytest.MonkeyPatch.context() as patch:
        patch.setattr(master, "functionalize", how)
        pred = tf.placeholder(tf.bool, [])
        x = tf.placeholder(tf.float32, [])
        stack = ops.StackV2(max_size=-1, elem_type=tf.float32)
        handle = ops.Switch(data=stack, pred=pred)[1]
        inside = ops.Switch(data=x, pred=pred)[1]
        # No Merge needs it; what waits for it runs in any case.
        push = ops.StackPushV2(handle=handle, elem=inside * 2.0)
        with tf.control_dependencies([push]):
            synchronized = ops.ControlTrigger()
        with tf.control_dependencies([synchronized, inside.op]):
            popped = ops.StackPopV2(handle=stack, elem_type=tf.float32)
            after = tf.identity(x)
        with tf.Session() as sess:
            assert sess.run(popped, {pred: True, x: 3.0}) == 6.0
            assert sess.run(after, {pred: False, x: 3.0}) == 3.0
            with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
                sess.run(popped, {pred: False, x: 3.0})


def test_a_switch_behind_one_of_the_same_predicate() -> None:
    """It hands its value on, as the gradient of a Switch has it."""
    p = tf.placeholder(tf.bool, [])
    x = tf.placeholder_with_default(3.0, [])
    off, on = tf.raw_ops.Switch(data=x, pred=p)
    again = tf.raw_ops.Switch(data=-off, pred=p)[0]
    merged, _ = tf.raw_ops.Merge(inputs=[again, on * 2.0])
    functional = functionalize(merged.graph.to_ir())
    assert not any(node.op in CONTROL_FLOW for node in functional.nodes.values())
    gradient = tf.gradients(merged, x)[0]
    with tf.Session() as sess:
        assert sess.run([merged, gradient], {p: True}) == [6.0, 2.0]
        assert sess.run([merged, gradient], {p: False}) == [-3.0, -1.0]


@pytest.mark.parametrize("how", [lambda graph: graph, functionalize])
@pytest.mark.parametrize("is_constant", [True, False])
def test_a_variable_that_waits_for_another_to_leave(
    how: Any, is_constant: bool
) -> None:
    """As a gradient's counter does under `control_dependencies` on the result."""
    ops = tf.raw_ops
    x = tf.placeholder(tf.float32, [])
    frame = "frame"
    first = ops.Enter(data=x, frame_name=frame)
    limit = ops.Enter(data=tf.constant(10.0), frame_name=frame, is_constant=True)
    merged = ops.Merge(inputs=[first, first])[0]
    pred = ops.LoopCond(input=merged < limit)
    out, inside = ops.Switch(data=merged, pred=pred)
    merged.op._update_input(1, ops.NextIteration(data=inside + inside))
    result = ops.Exit(data=out)
    with tf.control_dependencies([result]):
        late = tf.constant(0.0) if is_constant else tf.identity(result)
    counter = ops.Enter(data=late, frame_name=frame)
    count = ops.Merge(inputs=[counter, counter])[0]
    out, inside = ops.Switch(data=count, pred=pred)
    with tf.control_dependencies([inside]):
        one = tf.constant(1.0)
    count.op._update_input(1, ops.NextIteration(data=inside + one))
    total = ops.Exit(data=out)
    start = 0.0 if is_constant else 12.0
    with pytest.MonkeyPatch.context() as patch, tf.Session() as sess:
        patch.setattr(master, "functionalize", how)
        assert sess.run([result, total], {x: 3.0}) == [12.0, start + 2.0]
        assert sess.run(total, {x: 20.0}) == (0.0 if is_constant else 20.0)
    functional = functionalize(total.graph.to_ir())
    loops = [n for n in functional.nodes.values() if n.op == "StatelessWhile"]
    assert bool(loops) == is_constant
