"""Loops change no variable that nobody looks at, and all others as ever."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework.graph.graph_ir import FunctionIR, GraphIR, Node
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tensorloom.master.optimize.simplify.dead_loop_variables import (
    freeze_dead_loop_variables,
)
from tensorloom.master.optimize.target import OptimizeTarget

COUNT = 4
ARGS = tuple(f"v{i}" for i in range(COUNT))


def node(name: str, op: str, inputs: list[str], **attrs: Any) -> Node:
    edges = [(i.split(":")[0], int(i.split(":")[1]) if ":" in i else 0) for i in inputs]
    types = (dtypes.int32,) * (COUNT if op.endswith("While") else 1)
    return Node(name, op, tuple(edges), (), "", {"T": dtypes.int32, **attrs}, types)


def function(name: str, nodes: list[Node], returns: list[str]) -> FunctionIR:
    edges = tuple((r.split(":")[0], int(r.split(":")[1])) for r in returns)
    types = (dtypes.int32,) * COUNT
    return FunctionIR(
        name,
        ARGS,
        types,
        tuple(f"o{i}" for i in range(len(edges))),
        types[: len(edges)],
        {n.name: n for n in nodes},
        edges,
    )


def loop(inputs: list[str], body: str = "body", name: str = "loop") -> Node:
    functions = {"cond": NameAttrList("cond"), "body": NameAttrList(body)}
    return node(name, "StatelessWhile", inputs, **functions)


COND = function("cond", [node("less", "Neg", ["v0"])], ["less:0"])
# Each variable and what its next value is made of: 0 counts, 1 adds 0, 2 adds 1, and
# 3 is of its own.
BODY = function(
    "body",
    [
        node("a", "Neg", ["v0"]),
        node("b", "Add", ["v1", "v0"]),
        node("c", "Add", ["v2", "v1"]),
        node("d", "Neg", ["v3"]),
    ],
    ["a:0", "b:0", "c:0", "d:0"],
)


def bodies_of(graph: GraphIR, read: list[int], **target: Any) -> dict[str, list[str]]:
    """The results of the bodies of all loops that are left, by loop."""
    nodes = dict(graph.nodes)
    for index in read:
        reader = node(f"r{index}", "_Retval", [f"loop:{index}"])
        nodes[reader.name] = reader
    graph = GraphIR(nodes, graph.functions)
    after = freeze_dead_loop_variables(graph, OptimizeTarget(**target))
    results = {}
    todo = [after.nodes]
    while todo:
        for n in todo.pop().values():
            if n.op == "StatelessWhile":
                body = after.functions[n.attrs["body"].name]
                results[n.name] = [f"{name}:{index}" for name, index in body.returns]
                todo.append(body.nodes)
    return results


def simple(**functions: FunctionIR) -> GraphIR:
    nodes = [node(f"x{i}", "_Arg", []) for i in range(COUNT)]
    nodes.append(loop([f"x{i}" for i in range(COUNT)]))
    library = {"cond": COND, "body": BODY, **functions}
    return GraphIR({n.name: n for n in nodes}, library)


@pytest.mark.parametrize(
    ("read", "kept"),
    [
        ([0], [0]),
        ([1], [0, 1]),
        ([2], [0, 1, 2]),
        ([3], [0, 3]),
        ([2, 3], [0, 1, 2, 3]),
        ([], [0]),
    ],
)
def test_what_is_read_stays(read: list[int], kept: list[int]) -> None:
    changed = ["a:0", "b:0", "c:0", "d:0"]
    wanted = [changed[i] if i in kept else f"v{i}:0" for i in range(COUNT)]
    assert bodies_of(simple(), read)["loop"] == wanted


def test_a_fetched_loop_stays() -> None:
    found = bodies_of(simple(), [0], preserve=frozenset(["loop"]))
    assert found["loop"] == ["a:0", "b:0", "c:0", "d:0"]


def test_effects_need_their_inputs() -> None:
    nodes = [*BODY.nodes.values(), node("e", "PyFunc", ["v3"])]
    body = function("body", nodes, ["a:0", "b:0", "c:0", "d:0"])
    assert bodies_of(simple(body=body), [0])["loop"] == ["a:0", "v1:0", "v2:0", "d:0"]


def test_loops_in_loops() -> None:
    nodes = [loop(list(ARGS), "inner", "within")]
    outer = function("body", nodes, [f"within:{i}" for i in range(COUNT)])
    inner = function("inner", list(BODY.nodes.values()), ["a:0", "b:0", "c:0", "d:0"])
    found = bodies_of(simple(body=outer, inner=inner), [1])
    assert found["loop"] == ["within:0", "within:1", "v2:0", "v3:0"]
    assert found["within"] == ["a:0", "b:0", "v2:0", "v3:0"]


@pytest.mark.parametrize(
    "body",
    [
        function("body", [loop(list(ARGS), "body", "again")], ["again:0"] * COUNT),
        function("body", [node("m", "Merge", ["v0", "v1"])], ["m:0"] * COUNT),
        function("body", [], ["nowhere:0"] * COUNT),
        function("body", [], ["v0:0"]),
    ],
    ids=["itself", "classic", "nowhere", "too few results"],
)
def test_bodies_of_which_nothing_is_known(body: FunctionIR) -> None:
    graph = simple(body=body)
    assert freeze_dead_loop_variables(graph, OptimizeTarget()) is graph


def test_names_of_others_are_not_taken() -> None:
    taken = simple(body_for_1=BODY)
    after = freeze_dead_loop_variables(taken, OptimizeTarget())
    assert after.functions["body_for_1"] is BODY
    assert after.nodes["loop"].attrs["body"].name == "body_for_1_"


# --- whole programs ------------------------------------------------------------------


def ops_run(fetches: Any) -> list[str]:
    """The ops of all functions that a step has."""
    options, metadata = tf.RunOptions(output_partition_graphs=True), tf.RunMetadata()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(fetches, None, options, metadata)
    return [
        n.op
        for part in metadata.partition_graphs
        for f in part.library.function
        for n in f.node_def
        if f.signature.name in {w.attr["body"].func.name for w in part.node}
    ]


def test_a_step_without_the_gradient_keeps_nothing_for_it() -> None:
    x = tf.ones([2, 2])
    loop = tf.while_loop(lambda i, h: i < 3, lambda i, h: (i + 1, tf.tanh(h)), [0, x])
    gradient = tf.gradients(loop[1], x)
    assert "TensorListPushBack" in ops_run(gradient)
    forward = ops_run(loop[1])
    assert "Tanh" in forward
    assert "TensorListPushBack" not in forward


_COMBINE: list[Callable[[Any, Any], Any]] = [
    lambda a, b: a + b,
    lambda a, b: a - 2 * b,
    lambda a, b: b,
    lambda a, b: a,
]
_SOURCES = st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from(range(4)))


@settings(deadline=None)
@given(
    sources=st.lists(_SOURCES, min_size=4, max_size=4),
    limit=st.integers(0, 3),
    rounds=st.integers(0, 4),
    read=st.sets(st.integers(0, 3)),
    nested=st.booleans(),
)
def test_values_do_not_change(
    sources: list[tuple[int, int, int]],
    limit: int,
    rounds: int,
    read: set[int],
    nested: bool,
) -> None:
    def step(values: list[Any]) -> list[Any]:
        return [_COMBINE[how](values[a], values[b]) for a, b, how in sources]

    def run(i: Any, *values: Any) -> list[Any]:
        results = step(list(values))
        if nested:
            _, *results = tf.while_loop(
                lambda j, *v: (j < 2) & (v[limit] < 50),
                lambda j, *v: [j + 1, *step(list(v))],
                [0, *results],
            )
        return [i + 1, *results]

    values = [1, 2, 3, 4]
    for _ in range(rounds):
        values = step(values)
        turns = 0
        while nested and turns < 2 and values[limit] < 50:
            values, turns = step(values), turns + 1
    with tf.Graph().as_default(), tf.Session() as sess:
        starts = [tf.constant(v, tf.int64) for v in (1, 2, 3, 4)]
        _, *outputs = tf.while_loop(lambda i, *v: i < rounds, run, [0, *starts])
        wanted = sorted(read)
        found = sess.run([outputs[i] for i in wanted])
    assert np.array_equal(found, [values[i] for i in wanted])
