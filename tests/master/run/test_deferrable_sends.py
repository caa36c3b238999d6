"""Which tensors may wait for others before they leave their task."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tensorloom.framework.devices.device_name import task_of
from tensorloom.framework.graph import graph_def
from tensorloom.framework.partition.graph_partition import DEFERRABLE, partition
from tensorloom.master.run.deferrable_sends import mark_deferrable
from tensorloom.protos.graph_pb2 import GraphDef

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

WORKER = "/job:worker/replica:0/task:0/device:CPU:0"
OTHER = "/job:worker/replica:0/task:1/device:CPU:0"
PS = "/job:ps/replica:0/task:0/device:CPU:0"

# (name, op, device, inputs)
Row = tuple[str, str, str, list[str]]


def parts_of(*rows: Row) -> dict[str, GraphIR]:
    proto = GraphDef()
    for name, op, device, inputs in rows:
        node = proto.node.add(name=name, op=op, device=device, input=inputs)
        if op == "NoOp":
            continue
        if op == "Neg":
            node.attr["T"].type = 1
        else:
            node.attr["dtype"].type = 1
        if op == "Const":
            node.attr["value"].tensor.dtype = 1
            node.attr["value"].tensor.float_val.append(1.0)
        if op == "VarHandleOp":
            node.attr["shape"].shape.SetInParent()
    return partition(
        graph_def.from_proto(proto, internal=True),
        lambda node: task_of(node.device),
        dict.fromkeys((WORKER, OTHER, PS), 1),
    )


def held(*rows: Row) -> set[str]:
    """The nodes whose tensors may wait."""
    return {
        node.inputs[0][0]
        for graph in mark_deferrable(parts_of(*rows)).values()
        for node in graph.nodes.values()
        if node.op == "_Send" and DEFERRABLE in node.attrs
    }


GRADIENT: list[Row] = [
    ("v", "VarHandleOp", PS, []),
    ("g", "Const", WORKER, []),
]
UPDATE: Row = ("u", "AssignAddVariableOp", PS, ["v", "g"])
ANSWER: Row = ("r", "ReadVariableOp", PS, ["v", "^u"])


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ([UPDATE], {"g"}),
        # What is computed of it may take long, or be waited for.
        (
            [
                ("n", "Neg", PS, ["g"]),
                ("u", "AssignAddVariableOp", PS, ["v", "n"]),
            ],
            set(),
        ),
        # A read is no update: it is for somebody.
        ([UPDATE, ANSWER, ("m", "Neg", PS, ["r"])], set()),
    ],
)
def test_what_only_updates_may_wait(rows: list[Row], expected: set[str]) -> None:
    assert held(*GRADIENT, *rows) == expected


@pytest.mark.parametrize(("place", "expected"), [(WORKER, {"g"}), (OTHER, set())])
def test_an_answer_to_the_sender(place: str, expected: set[str]) -> None:
    # The sender lets go of what it holds before it waits for the answer; another task
    # could work with the answer meanwhile.
    done: Row = ("d", "NoOp", PS, ["^u"])
    after: Row = ("m", "NoOp", place, ["^d"])
    sent = held(*GRADIENT, UPDATE, done, after)
    assert {name for name in sent if name == "g"} == expected


def test_a_graph_on_one_task_is_left_alone() -> None:
    parts = parts_of(("g", "Const", WORKER, []))
    assert mark_deferrable(parts) == parts
