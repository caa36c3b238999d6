"""Which control edges between tasks are dropped."""

from __future__ import annotations

import pytest

from tensorloom.framework.graph import graph_def
from tensorloom.master.run.implied_controls import drop_implied_controls
from tensorloom.protos.graph_pb2 import GraphDef

WORKER = "/job:worker/replica:0/task:0/device:CPU:0"
PS = "/job:ps/replica:0/task:0/device:CPU:0"


def controls_of(*nodes: tuple[str, str, str, list[str]]) -> dict[str, list[str]]:
    """The control inputs that are left, by node, of (name, op, device, inputs)."""
    proto = GraphDef()
    for name, op, device, inputs in nodes:
        node = proto.node.add(name=name, op=op, device=device, input=inputs)
        if op == "Const":
            node.attr["dtype"].type = 1
            node.attr["value"].tensor.dtype = 1
            node.attr["value"].tensor.float_val.append(1.0)
        elif op != "NoOp":
            node.attr["T"].type = 1
        if op == "Merge":
            node.attr["N"].i = 2
    graph = graph_def.from_proto(proto, internal=True)
    after = drop_implied_controls(graph)
    assert list(after.nodes) == list(graph.nodes)
    return {name: list(node.control_inputs) for name, node in after.nodes.items()}


def chain(*inputs: str) -> list[tuple[str, str, str, list[str]]]:
    return [
        ("a", "Const", WORKER, []),
        ("b", "Neg", WORKER, ["a"]),
        ("other", "Const", WORKER, []),
        ("c", "Neg", PS, list(inputs)),
    ]


@pytest.mark.parametrize(
    ("inputs", "left"),
    [
        (["b", "^a"], []),
        (["b", "^b"], []),
        (["b", "^other"], ["other"]),
        (["b", "^a", "^other"], ["other"]),
    ],
)
def test_what_a_data_input_implies(inputs: list[str], left: list[str]) -> None:
    assert controls_of(*chain(*inputs))["c"] == left


def test_what_a_control_input_implies() -> None:
    left = controls_of(
        ("a", "NoOp", WORKER, []),
        ("b", "NoOp", WORKER, ["^a"]),
        ("c", "NoOp", PS, ["^a", "^b"]),
    )
    assert left["c"] == ["b"]


def test_edges_within_a_task_stay() -> None:
    left = controls_of(
        ("a", "NoOp", WORKER, []),
        ("b", "NoOp", WORKER, ["^a"]),
        ("c", "NoOp", WORKER, ["^a", "^b"]),
    )
    assert left["c"] == ["a", "b"]


def test_what_is_before_a_merge_may_not_have_run() -> None:
    left = controls_of(
        ("a", "Const", WORKER, []),
        ("b", "Const", WORKER, []),
        ("m", "Merge", WORKER, ["a", "b"]),
        ("c", "Neg", PS, ["m", "^a"]),
    )
    assert left["c"] == ["a"]
