"""Which nodes of a piece that waits share a thread."""

from __future__ import annotations

from typing import Any

import pytest

from tensorloom.framework.registry import op_kernel
from tensorloom.framework.types import dtypes
from tensorloom.worker.compile import parallel_segments
from tests.worker.small_graphs import node

op_kernel.load_host_kernels()

TAKE = "AccumulatorTakeGradient"
DEQUEUE = "QueueDequeueV2"


@pytest.mark.parametrize(
    ("ops", "members"),
    [
        # Nothing goes on before both are there: one thread waits for the last, then for
        # the other, and then there is nothing left to run beside it.
        ([TAKE, TAKE], [["b", "a", "both"]]),
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
    plan = parallel_segments.split(nodes, {})
    assert [[n.name for n in group] for group in plan.members] == members
    assert plan.after[-1] == set(range(len(members) - 1))
    assert plan.is_sequential == (len(members) == 1)
    assert plan.has_blocking_ops
    assert {n.name: plan.members[i] for n, i in plan.order} == {
        n.name: next(group for group in plan.members if n in group) for n in nodes
    }


def test_takes_with_users_of_their_own_stay_apart() -> None:
    nodes = [
        node("a", TAKE),
        node("b", TAKE),
        node("of_a", "NoOp", ["^a"]),
        node("both", "NoOp", ["^a", "^b"]),
    ]
    plan = parallel_segments.split(nodes, {})
    assert [[n.name for n in group] for group in plan.members] == [
        ["a", "of_a"],
        ["b"],
        ["both"],
    ]


def queue_taken_sent() -> list[Any]:
    return [
        node("queue", "FIFOQueueV2"),
        node("taken", DEQUEUE, ["queue"]),
        node("sent", "_Send", ["taken"]),
    ]


def recv(name: str, *waits_for: str) -> Any:
    return node(name, "_Recv", _waits_for=[op.encode() for op in waits_for])


def names(plan: parallel_segments.Plan) -> list[list[str]]:
    return [[n.name for n in group] for group in plan.members]


def test_a_dequeue_does_not_wait_for_what_is_received() -> None:
    nodes = [
        recv("first"),
        recv("second"),
        node("used", "NoOp", ["^second"]),
        *queue_taken_sent(),
    ]
    plan = parallel_segments.split(nodes, {})
    assert names(plan) == [
        ["queue"],
        ["first", "second", "used"],
        ["taken", "sent"],
    ]
    # Two segments that can wait run side by side, but none needs two threads at first.
    assert plan.after == [set(), {0}, {0}]
    assert plan.blocks == [False, True, True]
    assert plan.has_blocking_ops


def test_an_enqueue_follows_from_what_is_received() -> None:
    nodes = [
        node("queue", "FIFOQueueV2"),
        node("taken", DEQUEUE, ["queue"]),
        recv("element"),
        node("put", "QueueEnqueueV2", ["queue", "element"]),
    ]
    plan = parallel_segments.split(nodes, {})
    assert names(plan) == [["queue"], ["element"], ["taken"], ["put"]]
    assert plan.after == [set(), {0}, {0}, {0, 1}]


def test_what_follows_from_a_dequeue_elsewhere_is_received_last() -> None:
    nodes = [
        recv("taken", "dequeue"),
        node("used", "NoOp", ["^taken"]),
        recv("fed"),
        node("element", "NoOp", ["^fed"]),
        node("sent", "_Send", ["element"]),
    ]
    plan = parallel_segments.split(nodes, {})
    assert names(plan) == [["fed", "element", "sent", "taken", "used"]]
    assert not plan.has_blocking_ops
    assert plan.is_sequential


def test_a_chain_of_dequeues_elsewhere_is_received_in_its_order() -> None:
    nodes = [
        recv("second", "dequeue", "later"),
        recv("first", "dequeue"),
        node("sent", "_Send", ["first"]),
    ]
    plan = parallel_segments.split(nodes, {})
    assert names(plan) == [["first", "sent", "second"]]


def test_dequeues_elsewhere_that_may_go_on_in_any_order_have_a_segment_each() -> None:
    nodes = [
        recv("a", "one"),
        node("of_a", "_Send", ["a"]),
        recv("b", "other"),
        node("of_b", "_Send", ["b"]),
        node("both", "NoOp", ["^of_a", "^of_b"]),
    ]
    plan = parallel_segments.split(nodes, {})
    assert names(plan) == [["a", "of_a"], ["b", "of_b"], ["both"]]
    assert plan.after == [set(), set(), {0, 1}]
    assert plan.blocks == [True, True, False]
    assert not plan.has_blocking_ops


def test_what_is_received_for_the_same_use_is_waited_for_in_one_thread() -> None:
    nodes = [
        recv("a", "one"),
        recv("b", "other"),
        node("both", "NoOp", ["^a", "^b"]),
    ]
    assert names(parallel_segments.split(nodes, {})) == [["a", "b", "both"]]


def test_what_comes_back_after_a_dequeue_waits_for_no_other() -> None:
    nodes = [
        *queue_taken_sent(),
        recv("back", "taken"),
        node("used", "NoOp", ["^back", "^queue"]),
        recv("other"),
    ]
    plan = parallel_segments.split(nodes, {})
    assert names(plan) == [["queue"], ["other"], ["taken", "sent"], ["back", "used"]]
    assert plan.after == [set(), {0}, {0}, {0, 1, 2}]


def test_pieces_in_which_nothing_follows_from_a_blocking_op_receive_in_order() -> None:
    nodes = [recv("a"), node("b", "NoOp", ["^a"]), recv("c")]
    assert parallel_segments.split(nodes, {}).members == [nodes]


@pytest.mark.parametrize("reference", [True, False])
def test_a_fetch_of_a_reference_comes_after_all_else(reference: bool) -> None:
    kind = dtypes.float32._as_ref if reference else dtypes.float32
    nodes = [
        node("step", "VariableV2", dtype=kind),
        *queue_taken_sent(),
        node("fetch", "_Retval", ["step"]),
    ]
    plan = parallel_segments.split(nodes, {})
    first = ["step", "queue"] if reference else ["step", "queue", "fetch"]
    assert [n.name for n in plan.members[0]][: len(first)] == first
    assert (plan.members[-1][-1].name == "fetch") == reference
