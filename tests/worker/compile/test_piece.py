"""Pieces: what the generated source computes, keeps apart, and says when it fails."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from tensorloom.framework import errors
from tensorloom.framework.interfaces import StepContext, StepOptions
from tensorloom.framework.runtime.session_config import DEFAULT
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.attr_value import NameAttrList
from tests.worker.small_graphs import (
    CPU1,
    GATES,
    arg,
    const,
    function,
    graph,
    make_worker,
    node,
    register,
    retval,
)

F = np.float32


def test_scalars_run_in_line() -> None:
    step = register(
        graph(
            arg("x", 0),
            const("two", F(2)),
            node("y", "Mul", ["x", "two"]),
            node("z", "AddV2", ["y", "x"]),
            retval("z", 0),
        )
    )
    assert step.run([F(3)]) == [9.0]
    assert "k" not in step.source.replace("piece", "")  # no kernel call


@pytest.mark.parametrize("shape", [(), (3,), (70, 70), (200, 200), (None,), None])
def test_values_do_not_depend_on_memory(shape: tuple[int | None, ...] | None) -> None:
    step = register(
        graph(
            arg("x", 0, shape),
            node("y", "Sin", ["x"], shape=shape),
            node("z", "AddV2", ["y", "x"], shape=shape),
            retval("z", 0),
            retval("y", 1),
        )
    )
    actual = tuple(7 if d is None else d for d in shape or ())
    x = np.full(actual, 0.5, F)
    z, y = step.run([x])
    np.testing.assert_allclose(y, np.sin(x), rtol=1e-6)
    np.testing.assert_allclose(z, np.sin(x) + x, rtol=1e-6)
    assert np.shape(z) == actual


def test_fetched_feed_is_a_copy() -> None:
    step = register(graph(arg("x", 0, (2,)), retval("x", 0)))
    x = np.ones(2, F)
    (y,) = step.run([x])
    y[0] = 5
    assert x[0] == 1


def test_fetched_constant_is_a_copy() -> None:
    step = register(graph(const("c", np.ones(2, F)), retval("c", 0)))
    (first,) = step.run([])
    first[0] = 7
    assert step.run([])[0][0] == 1


def test_two_fetches_of_one_value_are_apart() -> None:
    nodes = [arg("x", 0, (2,)), node("y", "Sin", ["x"], shape=(2,))]
    step = register(graph(*nodes, retval("y", 0), retval("y", 1)))
    first, second = step.run([np.ones(2, F)])
    first[:] = 0
    assert (second != 0).all()


def test_failure_names_node_device_and_shapes() -> None:
    step = register(
        graph(
            arg("x", 0, (2,)),
            node("bad", "TestFail", ["x"], shape=(2,)),
            retval("bad", 0),
        )
    )
    with pytest.raises(errors.OutOfRangeError) as info:
        step.run([np.ones(2, F)])
    message = info.value.message
    assert message.startswith("the test's own failure\n\t [[{{node bad}}]]")
    assert "TestFail" in message
    assert "CPU:0" in message
    assert "x:0 float32[2]" in message


def test_session_survives_a_failure() -> None:
    worker = make_worker()
    bad = worker.register_graph(
        "s",
        graph(arg("x", 0), node("bad", "TestFail", ["x"]), retval("bad", 0)),
        DEFAULT,
    )
    good = worker.register_graph("s", graph(arg("x", 0), retval("x", 0)), DEFAULT)
    with pytest.raises(errors.OutOfRangeError):
        bad.run([F(1)])
    assert good.run([F(1)]) == [1.0]


# --- control flow -----------------------------------------------------------------

LESS = node("c", "Less", ["i", "n"], dtype=dtypes.float32)
BOOL_LESS = LESS.replace(output_types=(dtypes.bool,))
LOOP = {
    "cond": function("cond", ["i", "n", "s"], [BOOL_LESS], ["c"]),
    "body": function(
        "body",
        ["i", "n", "s"],
        [
            const("one", F(1)),
            node("next", "AddV2", ["i", "one"]),
            node("sum", "AddV2", ["s", "i"]),
        ],
        ["next", "n", "sum"],
    ),
}


def test_while_runs_in_line_and_keeps_invariants_outside() -> None:
    loop = node(
        "w",
        "While",
        ["zero", "x", "zero"],
        outputs=3,
        cond=NameAttrList("cond", {}),
        body=NameAttrList("body", {}),
    )
    step = register(
        graph(
            arg("x", 0),
            const("zero", F(0)),
            loop,
            retval("w:2", 0),
            retval("w:1", 1),
            functions=LOOP,
        )
    )
    assert step.run([F(5)]) == [10.0, 5.0]
    assert step.run([F(0)]) == [0.0, 0.0]


def test_endless_loop_meets_its_deadline() -> None:
    loop = node(
        "w",
        "While",
        ["x", "x", "x"],
        outputs=3,
        cond=NameAttrList("forever", {}),
        body=NameAttrList("body", {}),
    )
    functions = {
        **LOOP,
        "forever": function(
            "forever", ["i", "n", "s"], [const("yes", np.bool_(True))], ["yes"]
        ),
    }
    step = register(graph(arg("x", 0), loop, retval("w", 0), functions=functions))
    with pytest.raises(errors.DeadlineExceededError):
        step.run([F(1)], StepContext(StepOptions(timeout_s=0.1)))


@pytest.mark.parametrize(("x", "expected"), [(1.0, 2.0), (3.0, 9.0)])
@pytest.mark.parametrize("shape", [(), (200, 200)])
def test_if(x: float, expected: float, shape: tuple[int, ...]) -> None:
    functions = {
        "double": function(
            "double", ["x"], [node("y", "AddV2", ["x", "x"], shape=shape)], ["y"]
        ),
        "square": function(
            "square", ["x"], [node("y", "Mul", ["x", "x"], shape=shape)], ["y"]
        ),
    }
    step = register(
        graph(
            arg("p", 0, (), dtypes.bool),
            arg("x", 1, shape),
            node(
                "y",
                "If",
                ["p", "x"],
                shape=shape,
                then_branch=NameAttrList("double", {}),
                else_branch=NameAttrList("square", {}),
            ),
            retval("y", 0),
            functions=functions,
        )
    )
    (y,) = step.run([np.bool_(x < 2), np.full(shape, x, F)])
    assert (np.asarray(y) == expected).all()


def test_function_that_calls_itself() -> None:
    # fact(n, acc) = If(n < 2, acc, fact(n - 1, acc * n))
    functions = {
        "fact": function(
            "fact",
            ["n", "acc"],
            [
                const("two", F(2)),
                BOOL_LESS.replace(inputs=(("n", 0), ("two", 0))),
                node(
                    "r",
                    "If",
                    ["c", "n", "acc"],
                    then_branch=NameAttrList("done", {}),
                    else_branch=NameAttrList("again", {}),
                ),
            ],
            ["r"],
        ),
        "done": function("done", ["n", "acc"], [], ["acc"]),
        "again": function(
            "again",
            ["n", "acc"],
            [
                const("one", F(1)),
                node("m", "Sub", ["n", "one"]),
                node("prod", "Mul", ["acc", "n"]),
                node("call", "fact", ["m", "prod"]),
            ],
            ["call"],
        ),
    }
    step = register(
        graph(
            arg("n", 0),
            const("one", F(1)),
            node("f", "fact", ["n", "one"]),
            retval("f", 0),
            functions=functions,
        )
    )
    assert step.run([F(5)]) == [120.0]


def test_call_that_returns_its_argument() -> None:
    functions = {"same": function("same", ["x"], [], ["x"])}
    step = register(
        graph(
            arg("x", 0, (2,)),
            node("y", "same", ["x"], shape=(2,)),
            node("z", "Sin", ["y"], shape=(2,)),
            retval("z", 0),
            functions=functions,
        )
    )
    np.testing.assert_allclose(
        step.run([np.ones(2, F)])[0], np.sin(np.ones(2)), rtol=1e-6
    )


# --- devices and blocking ------------------------------------------------------------


def two_device_graph() -> object:
    return graph(
        arg("x", 0, (2,)),
        node("a", "Sin", ["x"], shape=(2,), device=CPU1),
        node("b", "Cos", ["a"], shape=(2,)),
        node("c", "AddV2", ["a", "b"], shape=(2,)),
        retval("c", 0),
    )


def test_two_devices_exchange_tensors() -> None:
    step = register(two_device_graph(), cpus=2)  # type: ignore[arg-type]
    x = np.array([0.1, 0.2], F)
    np.testing.assert_allclose(
        step.run([x])[0], np.sin(x) + np.cos(np.sin(x)), rtol=1e-6
    )
    sends = [
        n.name for p in step.parts.values() for n in p.nodes.values() if n.op == "_Send"
    ]
    assert len(sends) == 2  # x to CPU:1; a to CPU:0 once, for both its consumers


def test_failure_on_one_device_cancels_the_other() -> None:
    GATES["never"] = threading.Event()
    step = register(
        graph(
            arg("x", 0),
            node("w", "TestWait", ["x"], gate="never"),
            node("bad", "TestFail", ["x"], device=CPU1),
            retval("w", 0),
        ),
        cpus=2,
    )
    with pytest.raises(errors.OutOfRangeError, match="bad"):
        step.run([F(1)])


def test_blocking_op_does_not_stall_others() -> None:
    GATES["g"] = threading.Event()
    step = register(
        graph(
            arg("x", 0),
            node("w", "TestWait", ["x"], gate="g"),  # comes first, opened by `o`
            node("o", "TestOpen", ["x"], gate="g"),
            node("s", "AddV2", ["w", "o"]),
            retval("s", 0),
        )
    )
    assert step.run([F(2)]) == [4.0]


def test_closing_the_session_cancels_a_waiting_step() -> None:
    GATES["closed"] = threading.Event()
    worker = make_worker()
    step = worker.register_graph(
        "s",
        graph(arg("x", 0), node("w", "TestWait", ["x"], gate="closed"), retval("w", 0)),
        DEFAULT,
    )
    caught: list[BaseException] = []

    def run() -> None:
        try:
            step.run([F(1)])
        except errors.OpError as error:
            caught.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while not worker._sessions["s"]._running:
        threading.Event().wait(0.001)
    worker.delete_session("s")
    thread.join(60)
    assert isinstance(caught[0], errors.CancelledError)


def test_trace_records_every_node() -> None:
    step = register(two_device_graph(), cpus=2)  # type: ignore[arg-type]
    context = StepContext(StepOptions(trace=True, output_partition_graphs=True))
    step.run([np.ones(2, F)], context)
    names = {s.node_name for s in context.metadata.node_stats}
    assert {"x", "a", "b", "c", "fetch0"} <= names
    assert all(s.end_ns >= s.start_ns for s in context.metadata.node_stats)
    assert len(context.metadata.partition_graphs) == 2
