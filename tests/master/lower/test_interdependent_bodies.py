"""Which functional nodes must not wait for all their inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.master.lower.interdependent_bodies import interdependent_nodes
from tests.worker.small_graphs import function, graph, node

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph_ir import GraphIR

DEQUEUE, ENQUEUE = "QueueDequeueV2", "QueueEnqueueV2"


def branch(name: str, inputs: list[str], then: str) -> Any:
    return node(
        name,
        "If",
        inputs,
        Tcond=dtypes.bool,
        then_branch=NameAttrList(then),
        else_branch=NameAttrList("otherwise"),
    )


def taken_and_branch(inputs: list[str], *body: Any) -> GraphIR:
    functions = {
        "then": function("then", ["queue", "x"], body, ["x"]),
        "otherwise": function("otherwise", ["queue", "x"], [], ["x"]),
    }
    return graph(
        node("queue", "FIFOQueueV2"),
        node("p", "Const"),
        node("taken", DEQUEUE, ["queue"]),
        branch("y", inputs, "then"),
        functions=functions,
    )


@pytest.mark.parametrize(
    ("inputs", "body", "expected"),
    [
        # The branch lets go what it waits for.
        (["p", "queue", "taken"], [node("put", ENQUEUE, ["queue"])], {"y"}),
        # The same, if whether it is run depends on it.
        (["taken", "queue", "taken"], [node("put", ENQUEUE, ["queue"])], set()),
        # It puts what was taken.
        (["p", "queue", "taken"], [node("put", ENQUEUE, ["queue", "x"])], set()),
        (["p", "queue", "p"], [node("put", ENQUEUE, ["queue"])], set()),
        (["p", "queue", "taken"], [node("sum", "Add", ["x", "x"])], set()),
        # A branch inside, of something that is taken in the branch.
        (
            ["p", "queue", "p"],
            [
                node("more", DEQUEUE, ["queue"]),
                node(
                    "inner",
                    "PartitionedCall",
                    ["queue", "more"],
                    f=NameAttrList("puts"),
                ),
            ],
            {"y"},
        ),
    ],
)
def test_entangled(inputs: list[str], body: list[Any], expected: set[str]) -> None:
    found = taken_and_branch(inputs, *body)
    puts = function("puts", ["queue", "x"], [node("put", ENQUEUE, ["queue"])], ["x"])
    found.functions = {**found.functions, "puts": puts}
    assert interdependent_nodes(found) == expected


def test_a_loop_begins_its_body_after_its_test() -> None:
    functions = {
        "test": function("test", ["queue", "x"], [], ["x"]),
        "puts": function(
            "puts", ["queue", "x"], [node("put", ENQUEUE, ["queue"])], ["queue", "x"]
        ),
    }
    loop = {"cond": NameAttrList("test"), "body": NameAttrList("puts")}
    nodes = [node("queue", "FIFOQueueV2"), node("taken", DEQUEUE, ["queue"])]
    tests_it = node("y", "While", ["queue", "taken"], outputs=2, **loop)
    assert interdependent_nodes(graph(*nodes, tests_it, functions=functions)) == set()
    functions["test"] = function("test", ["queue", "x"], [], ["queue"])
    ignores_it = graph(*nodes, tests_it, functions=functions)
    assert interdependent_nodes(ignores_it) == {"y"}
