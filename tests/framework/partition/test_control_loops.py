"""What the partitioner gives each place of a loop."""

from __future__ import annotations

from typing import Any

import pytest

from tensorloom.framework import errors
from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.partition import graph_partition
from tensorloom.framework.partition.control_loops import frame_paths, with_control_loops
from tensorloom.framework.types import dtypes

A = "/job:w/replica:0/task:0/device:CPU:0"
B = "/job:p/replica:0/task:0/device:CPU:0"
FLOAT, BOOL, INT = dtypes.float32, dtypes.bool, dtypes.int32


def node(
    name: str, op: str, *inputs: str, device: str = A, frame: bytes = b"f", **attrs: Any
) -> Node:
    """`x:1` is an input, `^x` a control input."""
    edges = []
    for text in inputs:
        if not text.startswith("^"):
            producer, _, index = text.partition(":")
            edges.append((producer, int(index or 0)))
    types = {
        "Less": (BOOL,),
        "LoopCond": (BOOL,),
        "Merge": (FLOAT, INT),
        "Switch": (FLOAT, FLOAT),
        "NoOp": (),
    }.get(op, (FLOAT,))
    attrs.setdefault("T", FLOAT)
    if op == "Enter":
        attrs = {"is_constant": False, "frame_name": frame, **attrs}
    control = tuple(text[1:] for text in inputs if text.startswith("^"))
    return Node(name, op, tuple(edges), control, device, attrs, types, None)


def loop(*body: Node, step: str = "step", **devices: str) -> GraphIR:
    """`x = step(x)` while `x < limit`."""
    nodes = [
        node("start", "Const"),
        node("limit", "Const"),
        node("enter", "Enter", "start", device=devices.get("enter", A)),
        node("bound", "Enter", "limit", is_constant=True),
        node("merge", "Merge", "enter", "next"),
        node("less", "Less", "merge", "bound"),
        node("cond", "LoopCond", "less"),
        node("switch", "Switch", "merge", "cond"),
        *body,
        node("next", "NextIteration", step, device=devices.get("next", A)),
        node("exit", "Exit", "switch:0", device=devices.get("exit", A)),
    ]
    return GraphIR({n.name: n for n in nodes})


def parts_of(graph: GraphIR) -> dict[str, GraphIR]:
    return graph_partition.partition(graph, lambda n: n.device, {A: 1, B: 2}, "_S")


def test_a_loop_at_one_place_is_left_alone() -> None:
    graph = loop(node("step", "Neg", "switch:1"))
    changed, _ = with_control_loops(graph, lambda n: n.device)
    assert changed.nodes.keys() == graph.nodes.keys()


def test_each_other_place_gets_a_control_loop() -> None:
    parts = parts_of(loop(node("step", "Neg", "switch:1", device=B)))
    ops = {n.op for n in parts[B].nodes.values()}
    assert {"Enter", "Merge", "Switch", "NextIteration", "_Recv"} <= ops
    merge = next(n for n in parts[B].nodes.values() if n.op == "Merge")
    recvs = [n for n in parts[B].nodes.values() if n.op == "_Recv"]
    assert len(recvs) == 2  # the tensor and the condition
    assert all(n.control_inputs == (merge.name,) for n in recvs)
    (back,) = [n for n in parts[A].nodes.values() if n.op == "_Recv"]
    assert back.control_inputs == ("merge",)


def test_primitives_move_to_their_loop_variable() -> None:
    graph = loop(node("step", "Neg", "switch:1", device=B), enter=B, next=B, exit=B)
    parts = parts_of(graph)
    assert {"enter", "merge", "next", "exit"} <= parts[A].nodes.keys()


def test_what_iterations_share_is_sent_once() -> None:
    parts = parts_of(loop(node("step", "Mul", "switch:1", "bound", device=B)))
    copy = parts[B].nodes["bound/copy_0"]
    assert copy.op == "Enter"
    assert copy.attrs["is_constant"]
    recv = parts[B].nodes[copy.inputs[0][0]]
    assert (recv.op, recv.control_inputs) == ("_Recv", ())  # outside of the loop


def test_frames_of_nodes() -> None:
    graph = loop(
        node("inner", "Enter", "switch:1", frame=b"g"),
        node("neg", "Neg", "inner"),
        node("step", "Exit", "neg"),
    )
    paths = frame_paths(graph.nodes.values())
    assert [paths[n] for n in ("start", "merge", "neg", "step", "exit")] == [
        (),
        (b"f",),
        (b"f", b"g"),
        (b"f",),
        (),
    ]


def test_a_loop_over_places_needs_a_condition() -> None:
    graph = GraphIR(
        {
            n.name: n
            for n in [
                node("start", "Const"),
                node("enter", "Enter", "start"),
                node("far", "Neg", "enter", device=B),
            ]
        }
    )
    with pytest.raises(errors.InvalidArgumentError, match="must have a LoopCond"):
        parts_of(graph)


def test_inputs_from_different_frames_are_refused() -> None:
    graph = loop(node("step", "Add", "switch:1", "start"))
    with pytest.raises(errors.InvalidArgumentError, match="different frames"):
        frame_paths(graph.nodes.values())
