"""Specs of Assert, Case, ControlTrigger, Enter, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def assertion(d: Draw) -> Any:
    return call(
        np.array(True), [d.array(dtype="float32"), d.array(dtype="string")], summarize=3
    )


def failing(d: Draw) -> Any:
    return call(np.array(False), [d.array((2,), dtype="float32")])


spec("Assert", assertion, types=(), bad=(failing,), mutate=("dtype", "rank"))


spec("NoOp", lambda d: call(), types=(), mutate=())


spec("ControlTrigger", lambda d: call(), types=(), mutate=())


# --- functions ------------------------------------------------------------------


def twice(f: Program, x: Any) -> list[Any]:
    return [f.op("AddV2", x, x)]


def partitioned(d: Draw) -> Any:
    p = Program()
    fn = p.function([d.dtype], twice, name="twice")
    p.run(p.op(d.op, [p.feed(d.array((2, 3)))], Tout=[d.dtype], f=fn))
    return p


NUMBERS = ["float32", "float64", "int32", "complex64"]


spec(
    "PartitionedCall StatefulPartitionedCall",
    partitioned,
    types=NUMBERS,
    mutate=("dtype",),
    gradient=False,
)


def conditional(d: Draw) -> Any:
    p = Program()
    yes = p.function([d.dtype], twice, name="yes")
    no = p.function([d.dtype], lambda f, x: [f.op("Neg", x)], name="no")
    p.run(
        p.op(
            d.op,
            p.feed(np.array(d.maybe())),
            [p.feed(d.array((2,)))],
            Tout=[d.dtype],
            then_branch=yes,
            else_branch=no,
        )
    )
    return p


spec("If StatelessIf", conditional, types=NUMBERS, mutate=("dtype",), gradient=False)


def case(d: Draw) -> Any:
    p = Program()
    branches = [
        p.function([d.dtype], twice, name="yes"),
        p.function([d.dtype], lambda f, x: [f.op("Neg", x)], name="no"),
        p.function([d.dtype], lambda f, x: [f.op("Square", x)], name="square"),
    ]
    index = np.int32(d.integer(-1, 4))
    p.run(
        p.op(
            d.op,
            p.feed(index),
            [p.feed(d.array((2,)))],
            Tout=[d.dtype],
            branches=branches,
        )
    )
    return p


spec("Case StatelessCase", case, types=NUMBERS, mutate=("dtype",), gradient=False)


def loop(d: Draw) -> Any:
    p = Program()
    types = ["int32", d.dtype]
    test = p.function(
        types, lambda f, i, x: [f.op("Less", i, f.const(np.int32(4)))], name="test"
    )
    body = p.function(
        types,
        lambda f, i, x: [f.op("AddV2", i, f.const(np.int32(1))), f.op("AddV2", x, x)],
        name="body",
    )
    p.run(
        p.op(
            d.op,
            [p.feed(np.int32(d.integer(0, 5))), p.feed(d.array((2,), low=-3, high=3))],
            cond=test,
            body=body,
        )
    )
    return p


spec("While StatelessWhile", loop, types=NUMBERS, mutate=("dtype",), gradient=False)


# --- classic control flow -------------------------------------------------------


def switch_merge(d: Draw) -> Any:
    p = Program(differentiate=False)
    branch = p.op("Switch", p.feed(d.array()), p.feed(np.array(d.maybe())))
    yes = p.op("Identity", branch[1])
    no = p.op("Identity", branch[0])
    p.run(p.op("Merge", [yes[0], no[0]]))
    return p


def classic_loop(d: Draw) -> Any:
    p = Program(differentiate=False)
    frame = {
        "frame_name": f"loop{d.example}_{d.dtype.name}_{d.op}",
        "parallel_iterations": 10,
    }
    i = p.op("Enter", p.feed(np.int32(0)), **frame)
    x = p.op("Enter", p.feed(d.array((2,), low=-2, high=2)), **frame)
    limit = p.op("Enter", p.const(np.int32(3)), is_constant=True, **frame)
    back_i, back_x = "back_i:0", "back_x:0"
    from tests.peer.ops.program import Ref

    merge_i = p.op("Merge", [i[0], Ref(back_i, i[0].dtype)])
    merge_x = p.op("Merge", [x[0], Ref(back_x, x[0].dtype)])
    go = p.op("LoopCond", p.op("Less", merge_i[0], limit[0]))
    switch_i, switch_x = p.op("Switch", merge_i[0], go), p.op("Switch", merge_x[0], go)
    one = p.op(
        "Const",
        value=np.array(1, np.int32),
        dtype="int32",
        control=[p.op("Identity", switch_i[1])],
    )
    p.op("NextIteration", p.op("AddV2", switch_i[1], one), name="back_i")
    p.op("NextIteration", p.op("AddV2", switch_x[1], switch_x[1]), name="back_x")
    p.run(p.op("Exit", switch_i[0]), p.op("Exit", switch_x[0]))
    return p


spec(
    "Switch Merge",
    switch_merge,
    types=["float32", "int32", "string", "bool", "complex64"],
    mutate=("dtype",),
)


spec(
    "Enter Exit NextIteration LoopCond",
    classic_loop,
    types=["float32", "float64", "int32"],
    mutate=(),
)
