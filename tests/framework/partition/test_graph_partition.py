"""The nodes that stand at both ends of an edge from one place to another."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tensorloom.framework.graph.graph_ir import GraphIR, Node
from tensorloom.framework.partition import graph_partition
from tensorloom.framework.types import dtypes

A = "/job:w/replica:0/task:0/device:CPU:0"
B = "/job:p/replica:0/task:0/device:CPU:0"
C = "/job:p/replica:0/task:1/device:CPU:0"
FLOAT = dtypes.float32
TYPES = {"Switch": (FLOAT, FLOAT), "NoOp": (), "VariableV2": (FLOAT._as_ref,)}


def graph_of(*rows: tuple[str, str, str, str]) -> GraphIR:
    """From (name, op, device, inputs): `x:1` is an input, `^x` a control input."""
    nodes = {}
    for name, op, device, inputs in rows:
        texts = inputs.split()
        edges = [t.partition(":") for t in texts if t[0] != "^"]
        nodes[name] = Node(
            name,
            op,
            tuple((producer, int(index or 0)) for producer, _, index in edges),
            tuple(t[1:] for t in texts if t[0] == "^"),
            device,
            {"T": FLOAT},
            TYPES.get(op, (FLOAT,)),
            None,
        )
    return GraphIR(nodes)


def parts_of(graph: GraphIR, **options: Any) -> dict[str, GraphIR]:
    return graph_partition.partition(
        graph, lambda n: n.device, {A: 1, B: 2, C: 3}, "_S", **options
    )


def ops(part: GraphIR) -> list[str]:
    return [node.op for node in part.nodes.values()]


def test_a_tensor_goes_once_to_each_place() -> None:
    parts = parts_of(
        graph_of(
            ("x", "Const", A, ""),
            ("y", "Neg", B, "x"),
            ("z", "Add", B, "x y"),
            ("u", "Neg", C, "x"),
        )
    )
    assert ops(parts[A]) == ["Const", "_Send", "_Send"]
    assert ops(parts[B]) == ["_Recv", "Neg", "Add"]
    assert ops(parts[C]) == ["_Recv", "Neg"]


@pytest.mark.parametrize("can_be_dead", [False, True])
def test_what_stands_for_a_control_edge(can_be_dead: bool) -> None:
    """A Recv alone says nothing of dead tensors to TensorFlow's executor."""
    source = ("x", "Switch", A, "c c") if can_be_dead else ("x", "Neg", A, "c")
    parts = parts_of(
        graph_of(
            ("c", "Const", A, ""),
            source,
            ("y", "NoOp", A, "^x"),
            ("z", "Const", B, "^y"),
        )
    )
    first, *middle, last = parts[B].nodes.values()
    assert (first.op, last.op) == ("_Recv", "Const")
    if can_be_dead:
        (identity,) = middle
        assert (identity.op, identity.inputs) == ("Identity", ((first.name, 0),))
        assert last.control_inputs == (identity.name,)
    else:
        assert last.control_inputs == (first.name,)


def test_graphs_of_one_session_share_no_names() -> None:
    """A worker may keep one Send for each name, with the key that it had first."""
    numbers = itertools.count(1)
    sent = [
        {n.name: n.attrs["recv_device"] for n in part.nodes.values() if n.op == "_Send"}
        for place in (B, C)
        for part in parts_of(
            graph_of(("x", "Const", A, ""), ("y", "Neg", place, "x")), numbers=numbers
        ).values()
    ]
    names = [name for sends in sent for name in sends]
    assert len(names) == len(set(names)) == 2


def test_tensors_that_travel_in_another_dtype() -> None:
    graph = graph_of(
        ("c", "NoOp", A, ""),
        ("x", "Neg", A, "^c"),
        ("y", "Neg", B, "x ^c"),
        ("z", "Add", B, "x y"),
    )
    parts = parts_of(graph, sends_as={FLOAT: dtypes.bfloat16})
    assert ops(parts[A]) == ["NoOp", "Const", "_Send", "Neg", "Cast", "_Send"]
    assert ops(parts[B]) == ["_Recv", "_Recv", "Cast", "Neg", "Add"]
    sent, given = (
        next(node for node in parts[place].nodes.values() if node.op == "Cast")
        for place in (A, B)
    )
    assert sent.attrs == {"SrcT": FLOAT, "DstT": dtypes.bfloat16, "Truncate": True}
    assert given.attrs == {"SrcT": dtypes.bfloat16, "DstT": FLOAT, "Truncate": False}
    assert parts[B].nodes["z"].inputs[0] == (given.name, 0)
    # What stands for a control edge is as it was.
    sent_as = [n.attrs["T"] for n in parts[A].nodes.values() if n.op == "_Send"]
    assert sent_as == [FLOAT, dtypes.bfloat16]
    others = parts_of(graph, sends_as={dtypes.int32: dtypes.int8})
    assert not any("Cast" in ops(part) for part in others.values())


def test_a_variable_of_another_task_is_sent_after_what_its_reader_waits_for() -> None:
    """And to others as early as before: what they wait for may need it."""
    graph = graph_of(
        ("v", "VariableV2", B, ""),
        ("early", "Identity", A, "v"),
        ("here", "Assign", B, "v early"),
        ("there", "NoOp", C, "^early"),
        ("late", "Identity", A, "v ^here ^there"),
        ("last", "Identity", A, "v ^late"),
    )
    parts = parts_of(graph)
    variable = parts[B]
    sends = [
        n for n in variable.nodes.values() if n.op == "_Send" and n.inputs[0][0] == "v"
    ]
    waits = [
        [variable.nodes[name].op for name in send.control_inputs] for send in sends
    ]
    assert waits == [[], ["Assign", "_Recv"], ["_Recv"]]
    recvs = {n.name: n for n in parts[A].nodes.values() if n.op == "_Recv"}
    for reader, send in zip(("early", "late", "last"), sends, strict=True):
        (name, _), *_ = parts[A].nodes[reader].inputs
        assert recvs[name].attrs["tensor_name"] == send.attrs["tensor_name"]


def test_a_reader_that_is_late_waits_for_what_its_variable_is_sent_after() -> None:
    graph = graph_of(
        ("v", "VariableV2", B, ""),
        ("queue", "NoOp", B, ""),
        ("late", "Identity", A, "v ^queue"),
    )
    parts = parts_of(graph, waits={"queue": frozenset({"queue"})})
    assert [
        node.attrs.get("_waits_for")
        for node in parts[A].nodes.values()
        if node.op == "_Recv"
    ] == [[b"queue"], [b"queue"]]
