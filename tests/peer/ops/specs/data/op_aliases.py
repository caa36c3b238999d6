"""Specs of ExperimentalGroupByReducerDataset, ExperimentalGroupByWindowDataset, ..."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.storage.records.tfrecord import RecordWriter
from tests.peer.ops.program import Node, Program, Ref
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.data.pipelines import (
    NONE,
    ints,
    numbers,
    pipeline,
    read,
    with_function,
)
from tests.peer.ops.specs.shared.pipelines import shaped
from tests.peer.ops.specs.shared.sparse_parts import VALUES, sparse_parts

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# --- earlier names --------------------------------------------------------------------


def _is_small(p: Program) -> Any:
    return p.function(["int64"], lambda f, x: [f.op("Less", x, f.const(5, "int64"))])


for _op in ("UniqueDataset", "IgnoreErrorsDataset", "NonSerializableDataset"):
    pipeline(f"Experimental{_op}")


pipeline("ExperimentalMaxIntraOpParallelismDataset", ints(2))


pipeline("ExperimentalPrivateThreadPoolDataset", ints(2))


pipeline("ExperimentalSleepDataset", ints(10))


pipeline("ExperimentalSlidingWindowDataset", ints(3, 2, 1), shapes=[(None,)])


with_function("ExperimentalTakeWhileDataset", _is_small, attr="predicate", count=5)


# --- groups ---------------------------------------------------------------------------


def _groups(p: Program) -> dict[str, Any]:
    def key(f: Program, x: Ref) -> Sequence[Node]:
        return [f.op("FloorMod", x, f.const(3, "int64"))]

    def reduce(f: Program, key: Ref, window: Ref) -> Sequence[Node]:
        size = f.const(9, "int64")
        return [f.op("BatchDataset", window, size, **shaped(["int64"], [(None,)]))]

    def size(f: Program, key: Ref) -> Sequence[Node]:
        return [f.op("Add", key, f.const(1, "int64"))]

    return {
        "key_func": p.function(["int64"], key, name="key"),
        "reduce_func": p.function(["int64", "variant"], reduce, name="reduce"),
        "window_size_func": p.function(["int64"], size, name="size"),
        "Tkey_func_other_arguments": [],
        "Treduce_func_other_arguments": [],
        "Twindow_size_func_other_arguments": [],
    }


for _op in ("GroupByWindowDataset", "ExperimentalGroupByWindowDataset"):
    pipeline(
        _op,
        lambda d, p: [NONE, NONE, NONE],
        shapes=[(None,)],
        attrs=lambda d, p: _groups(p),
        count=4,
    )


def _reducers(p: Program) -> dict[str, Any]:
    def key(f: Program, x: Ref) -> Sequence[Node]:
        return [f.op("FloorMod", x, f.const(4, "int64"))]

    names = "key_func", "init_func", "reduce_func", "finalize_func"
    functions = [
        p.function(["int64"], key, name="key"),
        p.function(["int64"], lambda f, k: [f.op("Mul", k, k)], name="init"),
        p.function(["int64"] * 2, lambda f, a, b: [f.op("Add", a, b)], name="reduce"),
        p.function(["int64"], lambda f, s: [f.op("Neg", s)], name="finish"),
    ]
    attrs: dict[str, Any] = dict(zip(names, functions, strict=True))
    return attrs | {f"T{name}_other_arguments": [] for name in names}


for _op in ("GroupByReducerDataset", "ExperimentalGroupByReducerDataset"):
    pipeline(
        _op,
        lambda d, p: [NONE, NONE, NONE, NONE],
        attrs=lambda d, p: _reducers(p),
        count=4,
    )


# --- windows, sparse ------------------------------------------------------------------


def _windows(d: Draw) -> Program:
    p = Program()
    arguments = [p.const(n, "int64") for n in (3, d.integer(1, 4), d.integer(1, 2))]
    windows = p.op(
        "WindowDataset",
        numbers(p),
        *arguments,
        p.const(d.maybe(), "bool"),
        **shaped(["variant"], [()]),
    )

    def batch(f: Program, window: Ref) -> Sequence[Node]:
        size = f.const(9, "int64")
        return [f.op("BatchDataset", window, size, **shaped(["int64"], [(None,)]))]

    flat = p.op(
        "FlatMapDataset",
        windows,
        NONE,
        f=p.function(["variant"], batch),
        Targuments=[],
        **shaped(["int64"], [(None,)]),
    )
    return read(p, flat, ["int64"], [(None,)], 2)


def _sparse_rows(d: Draw) -> Program:
    p = Program()
    made = p.op("SparseTensorSliceDataset", *sparse_parts(d))
    types = ["int64", d.dtype.name, "int64"]
    return read(p, made, types, [(None, None), (None,), (None,)], 3)


spec("WindowDataset", _windows, types=(), gradient=False, mutate=())


spec(
    "SparseTensorSliceDataset",
    _sparse_rows,
    attr="Tvalues",
    types=VALUES,
    gradient=False,
    mutate=(),
)


# --- files -----

_FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-files"


def _file(name: str, data: bytes) -> str:
    _FOLDER.mkdir(exist_ok=True)
    (_FOLDER / name).write_bytes(data)
    return str(_FOLDER / name)


def _reading(op: str, *inputs: Any, count: int) -> Program:
    p = Program()
    values = [
        p.const(np.array(v.encode(), object) if isinstance(v, str) else v, t)
        for v, t in inputs
    ]
    return read(p, p.op(op, *values), ["string"], [()], count)


def _lines(d: Draw) -> Program:
    name = _file("lines", b"one\r\ntwo\n\nlast")
    return _reading(
        "TextLineDataset", (name, "string"), ("", "string"), (0, "int64"), count=4
    )


def _records(d: Draw) -> Program:
    name = _file("records", b"")
    with RecordWriter(name) as writer:
        for record in (b"", b"a", b"bc" * 70):
            writer.write(record)
    return _reading(
        "TFRecordDataset", (name, "string"), ("", "string"), (0, "int64"), count=3
    )


def _damaged(d: Draw) -> Program:
    name = _file("damaged", b"x" * 40)
    return _reading(
        "TFRecordDataset", (name, "string"), ("", "string"), (0, "int64"), count=1
    )


def _missing(d: Draw) -> Program:
    return _reading(
        "TFRecordDataset", ("/missing", "string"), ("", "string"), (0, "int64"), count=1
    )


def _fixed(d: Draw) -> Program:
    name = _file("fixed", b"HHaaabbbF")
    sizes = [(n, "int64") for n in (2, 3, 1, 0)]
    return _reading(
        "FixedLengthRecordDatasetV2",
        (name, "string"),
        *sizes,
        ("", "string"),
        count=2,
    )


spec("TextLineDataset", _lines, types=(), gradient=False, mutate=())


spec(
    "TFRecordDataset",
    _records,
    types=(),
    gradient=False,
    mutate=(),
    bad=(_damaged, _missing),
)


spec("FixedLengthRecordDatasetV2", _fixed, types=(), gradient=False, mutate=())
