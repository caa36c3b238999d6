"""Assertions, prints, summaries, files, checkpoints, functions."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from tests.peer.ops.draw import Draw, Value
from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec


def assertion(d: Draw) -> Any:
    return call(
        np.array(True), [d.array(dtype="float32"), d.array(dtype="string")], summarize=3
    )


def failing(d: Draw) -> Any:
    return call(np.array(False), [d.array((2,), dtype="float32")])


spec("Assert", assertion, types=(), bad=(failing,), mutate=("dtype", "rank"))
spec(
    "Print",
    lambda d: call(d.array(), [d.array(dtype="int32")], message="m", summarize=2),
    types=["float32", "int32", "string"],
    mutate=("dtype",),
)
spec(
    "PrintV2",
    lambda d: call(
        Value(np.array(b"text", object), always=True), output_stream="stderr"
    ),
    types=(),
    mutate=(),
)
spec("NoOp", lambda d: call(), types=(), mutate=())
spec("ControlTrigger", lambda d: call(), types=(), mutate=())


def scalar_summary(d: Draw) -> Any:
    shape = d.shape(0, 2)
    tags = np.empty(shape, object)
    tags.reshape(-1)[:] = [f"t{i}".encode() for i in range(tags.size)]
    return tags, d.array(shape)


spec(
    "ScalarSummary",
    scalar_summary,
    bad=(lambda d: (np.array([b"a", b"b"], object), d.array((3,))),),
)
spec(
    "HistogramSummary",
    lambda d: (np.array(b"tag", object), d.array(d.shape(0, 2, empty=0))),
    bad=(
        lambda d: (
            (np.array(b"tag", object), np.array([np.nan], d.dtype.np_dtype))
            if d.dtype.is_floating
            else (np.array([b"tag"], object), d.array((1,)))
        ),
    ),
)


def merge_summary(d: Draw) -> Any:
    p = Program()
    a = p.op("ScalarSummary", np.array(b"a", object), np.array(1.0, np.float32))
    b = p.op("ScalarSummary", np.array(b"b", object), np.array(2.0, np.float32))
    p.run(p.op("MergeSummary", [a[0], b[0]]))
    return p


def merge_same(d: Draw) -> Any:
    p = Program()
    a = p.op("ScalarSummary", np.array(b"a", object), np.array(1.0, np.float32))
    p.run(p.op("MergeSummary", [a[0], a[0]]))
    return p


spec("MergeSummary", merge_summary, types=(), bad=(merge_same,), mutate=("dtype",))

# --- files ----------------------------------------------------------------------

FOLDER = Path(tempfile.gettempdir()) / "tensorloom_op_specs"


def folder() -> Path:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / "one.txt").write_bytes(b"one\ntwo\n")
    (FOLDER / "two.txt").write_bytes(b"")
    return FOLDER


def text(value: Any) -> Any:
    return np.array(str(value).encode(), object)


spec(
    "ReadFile",
    lambda d: (text(folder() / d.choice(["one.txt", "two.txt"])),),
    types=(),
    bad=(lambda d: (text(folder() / "none.txt"),), lambda d: (text(folder()),)),
    mutate=("dtype",),
)
spec(
    "WriteFile",
    lambda d: (text(folder() / "new" / "file.txt"), np.array(b"contents", object)),
    types=(),
    mutate=("dtype",),
    alone=True,
)
spec(
    "MatchingFiles",
    lambda d: (text(folder() / d.choice(["*.txt", "o*", "none*"])),),
    types=(),
    mutate=("dtype",),
)
spec(
    "ShardedFilename",
    lambda d: (np.array(b"name", object), np.int32(d.integer(0, 3)), np.int32(4)),
    types=(),
    mutate=("dtype", "rank"),
)
spec(
    "ShardedFilespec",
    lambda d: (np.array(b"name", object), np.int32(4)),
    types=(),
    mutate=("dtype", "rank"),
)


def checkpoint(d: Draw) -> Any:
    p = Program(differentiate=False)
    prefix = p.const(text(folder() / f"check_{d.dtype.name}_{d.example}"))
    names, slices = [b"a", b"b"], [b"", b""]
    a, b = d.array(d.shape(0, 3)), d.array((2,), dtype="int32")
    save = p.op(
        "SaveV2", prefix, p.const(names), p.const(slices), [p.feed(a), p.feed(b)]
    )
    types = [d.dtype, "int32"]
    load = p.op("RestoreV2", prefix, p.const(names), p.const(slices), dtypes=types)
    p.run(save)
    p.run(load)
    return p


def missing_checkpoint(d: Draw) -> Any:
    p = Program(differentiate=False)
    prefix = p.const(text(folder() / "no such checkpoint"))
    p.run(
        p.op("RestoreV2", prefix, p.const([b"a"]), p.const([b""]), dtypes=["float32"])
    )
    return p


def missing_tensor(d: Draw) -> Any:
    p = Program(differentiate=False)
    prefix = p.const(text(folder() / f"check_{d.dtype.name}_x"))
    save = p.op(
        "SaveV2", prefix, p.const([b"a"]), p.const([b""]), [p.feed(d.array((2,)))]
    )
    load = p.op("RestoreV2", prefix, p.const([b"b"]), p.const([b""]), dtypes=[d.dtype])
    p.run(save)
    p.run(load)
    return p


spec(
    "SaveV2",
    checkpoint,
    types=[
        "float16",
        "float32",
        "float64",
        "int8",
        "int32",
        "int64",
        "bool",
        "complex64",
        "string",
        "bfloat16",
        "uint8",
        "uint16",
    ],
    mutate=(),
)
spec(
    "RestoreV2",
    checkpoint,
    types=["float32", "int64", "string"],
    bad=(missing_checkpoint, missing_tensor),
    mutate=(),
)

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
