"""Which nodes of a piece that waits share a thread."""

from __future__ import annotations

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
