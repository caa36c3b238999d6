"""Which nodes of a piece that waits share a thread."""

from __future__ import annotations

from typing import Any

import pytest

from tensorloom.framework import op_kernel
from tensorloom.worker import strands
from tests.worker.small_graphs import node

op_kernel.load_host_kernels()

TAKE = "AccumulatorTakeGradient"
DEQUEUE = "QueueDequeueV2"


@pytest.mark.parametrize(
    ("ops", "members"),
    [
        # Nothing goes on before both are there: one thread waits for one, then another.
        ([TAKE, TAKE], [["a", "b"], ["both"]]),
        # Dequeuing may let an enqueue go on that the other one waits for.
        ([DEQUEUE, DEQUEUE], [["a"], ["b"], ["both"]]),
        ([TAKE, DEQUEUE], [["a"], ["b"], ["both"]]),
    ],
)
def test_takes_that_are_waited_for_together(
    ops: list[str], members: list[list[str]]
) -> None:
    nodes = [
        node("a", ops[0]),
        node("b", ops[1]),
        node("both", "NoOp", ["^a", "^b"]),
    ]
    plan = strands.split(nodes, {}, False)
    assert [[n.name for n in group] for group in plan.members] == members
    assert plan.after[-1] == set(range(len(members) - 1))
    assert plan.blocks == [True] * (len(members) - 1) + [False]
    assert [(n.name, plan.members[i]) for n, i in plan.order] == [
        (n.name, next(group for group in plan.members if n in group)) for n in nodes
    ]


def test_takes_with_users_of_their_own_stay_apart() -> None:
    nodes = [
        node("a", TAKE),
        node("b", TAKE),
        node("of_a", "NoOp", ["^a"]),
        node("both", "NoOp", ["^a", "^b"]),
    ]
    plan = strands.split(nodes, {}, False)
    assert [[n.name for n in group] for group in plan.members] == [
        ["a", "of_a"],
        ["b"],
        ["both"],
    ]


def handle_dequeue_send() -> list[Any]:
    return [
        node("queue", "FIFOQueueV2"),
        node("taken", DEQUEUE, ["queue"]),
        node("sent", "_Send", ["taken"]),
    ]


def test_what_is_received_may_follow_from_what_a_dequeue_sends() -> None:
    nodes = [
        *handle_dequeue_send(),
        node("received", "_Recv"),
        node("used", "NoOp", ["^received", "^queue"]),
        node("later", "_Recv"),
    ]
    plan = strands.split(nodes, {}, False)
    assert [[n.name for n in group] for group in plan.members] == [
        ["queue"],
        ["taken", "sent"],
        ["received", "used"],
        ["later"],
    ]
    assert plan.after == [set(), {0}, {0}, set()]
    assert plan.blocks == [False, True, True, True]


def test_a_dequeue_does_not_wait_for_what_is_received() -> None:
    nodes = [
        node("first", "_Recv"),
        node("second", "_Recv"),
        node("used", "NoOp", ["^second"]),
        *handle_dequeue_send(),
    ]
    plan = strands.split(nodes, {}, False)
    assert [[n.name for n in group] for group in plan.members] == [
        ["first", "second", "used"],
        ["queue"],
        ["taken", "sent"],
    ]
    # Two strands that can wait run side by side, but none needs two threads at first.
    assert plan.after == [{1}, set(), {1}]


def test_pieces_that_do_not_block_receive_in_order() -> None:
    nodes = [node("a", "_Recv"), node("b", "NoOp", ["^a"]), node("c", "_Recv")]
    assert strands.split(nodes, {}, False).members == [nodes]
