"""Functional control flow over several tasks as Switch, Merge and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.client.functions.function import Defun
from tensorloom.cluster import local
from tensorloom.framework.graph.graph_ir import GraphIR
from tensorloom.framework.interfaces import DeviceInfo
from tensorloom.framework.runtime.session_config import DEFAULT
from tensorloom.master.lower.lower_functional import lower_functional
from tensorloom.master.place.placer import Placer
from tensorloom.master.prepare import session_state

WORKER, PS = (f"/job:{job}/replica:0/task:0/device:CPU:0" for job in ("w", "ps"))
ENTRY = {"While", "StatelessWhile", "If", "StatelessIf"}


@pytest.fixture(autouse=True)
def fresh_graph() -> None:
    tf.reset_default_graph()


def lowered(build: Callable[[], Any]) -> tuple[GraphIR, GraphIR, Placer]:
    """The graph before and after, and the placer."""
    with tf.device(WORKER):
        build()
    graph = tf.get_default_graph()
    built = GraphIR({n.name: n for n in graph.nodes_since(0)}, dict(graph._functions))
    before = session_state.extend(GraphIR(), built)
    devices = [DeviceInfo(name, "CPU", 1, 7) for name in (WORKER, PS)]
    placer = Placer(devices, local.has_kernel, DEFAULT)
    placer.extend(before.nodes.values())
    return before, lower_functional(before, placer), placer


def ops_of(graph: GraphIR) -> set[str]:
    return {node.op for node in graph.nodes.values()}


def loop(device: str) -> Any:
    def body(i: Any, total: Any) -> Any:
        with tf.device(device):
            return i + 1, tf.sqrt(total)

    return tf.while_loop(
        lambda i, _: i < 3, body, [tf.constant(0), tf.constant(2.0)], name="loop"
    )


def test_a_loop_on_one_task_stays() -> None:
    before, after, _ = lowered(lambda: loop(WORKER))
    assert after is before


def test_a_loop_on_two_tasks() -> None:
    before, after, placer = lowered(lambda: loop(PS))
    (name,) = [n.name for n in before.nodes.values() if n.op in ENTRY]
    assert not ENTRY & ops_of(after)
    assert {"Enter", "Merge", "LoopCond", "Switch", "NextIteration", "Exit"} <= ops_of(
        after
    )
    assert after.nodes[name].op == "NoOp"  # who waits for the loop waits for this
    placed = placer.place(after)
    by_op = {n.op: n.device for n in placed.nodes.values()}
    assert (by_op["Sqrt"], by_op["LoopCond"]) == (PS, WORKER)
    # A loop variable that no iteration changes is shared by all of them.
    assert any(n.op == "Enter" and n.attrs["is_constant"] for n in after.nodes.values())


def test_a_branch_on_two_tasks() -> None:
    def build() -> Any:
        x = tf.constant(1.0)

        def far() -> Any:
            with tf.device(PS):
                return tf.exp(x) + tf.constant(2.0)

        return tf.cond(x > 0, far, lambda: x)

    _, after, placer = lowered(build)
    assert not ENTRY & ops_of(after)
    exp = next(n for n in placer.place(after).nodes.values() if n.op == "Exp")
    assert exp.device == PS
    # A constant inside runs only if its branch does.
    constants = [
        n for n in after.nodes.values() if n.op == "Const" and "branch" in n.name
    ]
    assert all("pivot" in n.control_inputs[0] for n in constants)


def test_a_branch_inside_that_stays_on_one_task_stays() -> None:
    def build() -> Any:
        def body(i: Any, total: Any) -> Any:
            with tf.device(PS):
                total = tf.cond(total > 1.0, lambda: total * 0.5, lambda: total)
            return i + 1, total

        return tf.while_loop(
            lambda i, _: i < 3, body, [tf.constant(0), tf.constant(2.0)]
        )

    _, after, placer = lowered(build)
    (inner,) = [n for n in placer.place(after).nodes.values() if n.op in ENTRY]
    assert (inner.op, inner.device) == ("StatelessIf", PS)


def test_a_loop_goes_to_its_variable_if_it_asks_for_no_other_place() -> None:
    with tf.device(PS):
        v = tf.get_variable("v", [], use_resource=True)

    def build() -> Any:
        def body(i: Any) -> Any:
            with tf.control_dependencies([v.assign_add(1.0)]):
                return i + 1

        with tf.device(None):
            tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])

    before, after, placer = lowered(build)
    assert after is before
    (node,) = [n for n in placer.place(after).nodes.values() if n.op in ENTRY]
    assert node.device == PS


def test_an_update_runs_with_its_variable() -> None:
    with tf.device(PS):
        v = tf.get_variable("v", [], use_resource=True)

    def build() -> Any:
        def body(i: Any) -> Any:
            with tf.control_dependencies([v.assign_add(1.0)]):
                return i + 1

        tf.while_loop(lambda i: i < 3, body, [tf.constant(0)])

    _, after, placer = lowered(build)
    update = next(
        n for n in placer.place(after).nodes.values() if n.op == "AssignAddVariableOp"
    )
    assert update.device == PS
    nexts = [n for n in after.nodes.values() if n.op == "NextIteration"]
    assert all(update.name in n.control_inputs for n in nexts)


def test_reads_in_bodies_come_after_all_arguments() -> None:
    """A control input that an argument implies is not in the graph."""
    with tf.device(PS):
        v = tf.get_variable("v", [], use_resource=True)

    @Defun(tf.float32)
    def called(y: Any) -> Any:
        with tf.device(PS):
            return y + v.read_value()

    def build() -> Any:
        x = tf.negative(tf.constant(1.0), name="argument")
        with tf.control_dependencies([x]):
            called(x)

            def branch() -> Any:
                with tf.device(PS):
                    return x + v.read_value()

            tf.cond(tf.constant(True), branch, lambda: x)
            tf.while_loop(lambda _: True, lambda y: y + branch(), [x])

    _, after, _ = lowered(build)
    assert not ENTRY & ops_of(after)
    brings_in = {"Identity", "Switch", "Enter"}
    handles = [
        n
        for n in after.nodes.values()
        if ("v", 0) in n.inputs and n.op in brings_in and "passed" not in n.name
    ]
    assert {n.op for n in handles} == brings_in
    for node in handles:
        waited = [n for n in node.control_inputs if "entry" not in n]
        waited += [
            m for n in node.control_inputs for m in after.nodes[n].control_inputs
        ]
        assert "argument" in waited, node


def test_a_function_that_takes_a_value_gets_no_reference() -> None:
    v = tf.get_variable("v", [], use_resource=False)

    @Defun(tf.int32, tf.float32)
    def goes_on(i: Any, _: Any) -> Any:
        return i < 3

    @Defun(tf.int32, tf.float32)
    def step(i: Any, x: Any) -> Any:
        with tf.device(PS):
            return i + 1, tf.sqrt(x)

    def build() -> Any:
        inputs = [tf.constant(0), v._ref()]
        return tf.raw_ops.While(input=inputs, cond=goes_on, body=step)

    _, after, _ = lowered(build)
    (enter,) = [
        n for n in after.nodes.values() if ("v", 0) in n.inputs[:1] and "Enter" in n.op
    ]
    assert (enter.op, enter.output_types) == ("Enter", (tf.float32,))


def test_what_asks_for_a_node_and_no_device_goes_to_the_node() -> None:
    """The gradient's array is beside the loop's array, not beside the gradient."""

    def build() -> Any:
        with tf.device(PS):
            x = tf.constant([1.0, 2.0])
            y = tf.map_fn(tf.exp, x)
        return tf.gradients(y, x)

    _, after, placer = lowered(build)
    placed = placer.place(after).nodes.values()
    assert "NextIteration" in ops_of(after)
    arrays = [n for n in placed if n.op in ("TensorArrayV3", "TensorArrayGradV3")]
    assert len(arrays) >= 4
    assert {n.device for n in arrays} == {PS}
