"""Specs of AssertCardinalityDataset, AutoShardDataset, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.data.pipelines import (
    INT,
    NONE,
    ints,
    numbers,
    pipeline,
    read,
    with_function,
)
from tests.peer.ops.specs.shared.data_files import FOLDER
from tests.peer.ops.specs.shared.pipelines import shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


# Cases share a session, in which an iterator is known by its name.
_NAMES = process_count()


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


def _file(name: str, data: bytes) -> str:
    FOLDER.mkdir(exist_ok=True)
    (FOLDER / name).write_bytes(data)
    return str(FOLDER / name)


# --- iterators ---------------------------------------------------------------


def _one_shot(d: Draw) -> Program:
    p = Program()
    factory = p.function([], lambda f: [numbers(f, 3)], name="factory")
    made = p.op("OneShotIterator", dataset_factory=factory, **shaped(*INT))
    element = p.op("IteratorGetNext", made, **shaped(*INT))
    for _ in range(4):
        p.run(element)
    return p


def _by_handle(d: Draw) -> Program:
    p = Program()
    old = d.op == "IteratorFromStringHandle"
    attrs = shaped(*INT)
    made = p.op(
        "Iterator" if old else "IteratorV2",
        shared_name=f"i{next(_NAMES)}",
        container="",
        **attrs,
    )
    p.run(p.op("MakeIterator", numbers(p, 3), made))
    handle = p.op("IteratorToStringHandle", made)
    again = p.op("IteratorFromStringHandle" + ("" if old else "V2"), handle, **attrs)
    element = p.op("IteratorGetNext", again, **attrs)
    for _ in range(4):
        p.run(element)
    return p


def _other_types(d: Draw) -> Program:
    p = Program()
    made = p.op(
        "IteratorV2", shared_name=f"i{next(_NAMES)}", container="", **shaped(*INT)
    )
    p.run(p.op("MakeIterator", numbers(p, 3), made))
    handle = p.op("IteratorToStringHandle", made)
    p.run(p.op("IteratorFromStringHandleV2", handle, **shaped(["float32"], [()])))
    return p


def _no_handle(d: Draw) -> Program:
    p = Program()
    p.run(p.op("IteratorFromStringHandleV2", p.const(_text("nothing")), **shaped(*INT)))
    return p


def _synchronous(d: Draw) -> Program:
    p = Program()
    attrs = shaped(*INT)
    made = p.op("Iterator", shared_name=f"i{next(_NAMES)}", container="", **attrs)
    p.run(p.op("MakeIterator", numbers(p, 2), made))
    element = p.op("IteratorGetNextSync", made, **attrs)
    for _ in range(3):
        p.run(element)
    return p


for _op, _make in (
    ("OneShotIterator", _one_shot),
    ("Iterator", _synchronous),
    ("IteratorGetNextSync", _synchronous),
    ("IteratorFromStringHandle", _by_handle),
):
    spec(_op, _make, types=(), gradient=False, mutate=())


spec(
    "IteratorToStringHandle IteratorFromStringHandleV2",
    _by_handle,
    types=(),
    gradient=False,
    mutate=(),
    bad=(_other_types, _no_handle),
    canonical=lambda arrays: [a for a in arrays if a.dtype != object],
)


# --- datasets ----------------------------------------------------------------


def _strings(*values: str) -> Any:
    return lambda d, p: [p.const(_text(value)) for value in values]


def _add_one(p: Program) -> Any:
    return p.function(["int64"], lambda f, x: [f.op("AddV2", x, f.const(1, "int64"))])


def _inner(p: Program) -> Any:
    def body(f: Program, x: Any) -> list[Node]:
        bounds = [x, f.op("AddV2", x, f.const(2, "int64")), f.const(1, "int64")]
        return [f.op("RangeDataset", *bounds, **shaped(*INT))]

    return p.function(["int64"], body)


with_function("ParallelMapDatasetV2", _add_one, ints(2))


with_function("ParallelInterleaveDatasetV3", _inner, ints(2, 1, 2), count=6)


pipeline("OptionsDataset", attrs=lambda d, p: {"serialized_options": b""})


for _op in (
    *("LatencyStatsDataset", "ExperimentalLatencyStatsDataset"),
    "ExperimentalBytesProducedStatsDataset",
):
    pipeline(_op, _strings("tag"))


for _op in ("RebatchDataset", "ExperimentalRebatchDataset"):
    pipeline(
        _op,
        ints(2),
        shapes=[(None,)],
        source=lambda p: p.op(
            "BatchDataset",
            numbers(p),
            p.const(4, "int64"),
            **shaped(["int64"], [(None,)]),
        ),
        count=4,
    )


for _op in ("AutoShardDataset", "ExperimentalAutoShardDataset"):
    pipeline(_op, ints(2, 1), bad=[ints(2, 5)])


pipeline("AssertCardinalityDataset", ints(9), count=9, bad=[ints(3)])


pipeline("FinalizeDataset")


pipeline("RewriteDataset", _strings("none"), count=1)


pipeline(
    "ParallelBatchDataset",
    lambda d, p: [*ints(3, 2)(d, p), p.const(False, "bool")],
    shapes=[(None,)],
)


for _op in ("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"):

    def _sparse(d: Draw, name: str = _op) -> Program:
        p = Program()
        rows = p.op(
            "TensorSliceDataset", [d.array((4, 3), dtype="int64")], output_shapes=[(3,)]
        )
        types, shapes = ["int64", "int64", "int64"], [(None, 2), (None,), (2,)]
        attrs = shaped(["variant"], [(None, 3)])
        del types, shapes
        made = p.op(
            name,
            rows,
            p.const(2, "int64"),
            p.const([d.choice((3, 4))], "int64"),
            **attrs,
        )
        iterator = p.op(
            "IteratorV2", shared_name="", container="", **shaped(["variant"], [(None,)])
        )
        p.run(p.op("MakeIterator", made, iterator))
        element = p.op("IteratorGetNext", iterator, **shaped(["variant"], [(None,)]))
        p.run(p.op("DeserializeSparse", element, dtype="int64"))
        return p

    spec(_op, _sparse, types=(), gradient=False, mutate=())


def _padded(d: Draw) -> Program:
    p = Program()
    values = [d.array((4, 3), dtype="int64"), np.int64(0)]
    rows = p.op("TensorSliceDataset", [values[0]], output_shapes=[(3,)])
    sizes = [p.const([d.choice((-1, 5))], "int64")]
    made = p.op(
        "PaddedBatchDataset",
        rows,
        p.const(3, "int64"),
        sizes,
        [p.const(7, "int64")],
        Toutput_types=["int64"],
        output_shapes=[(None, None)],
    )
    return read(p, made, ["int64"], [(None, None)], 2)


spec("PaddedBatchDataset", _padded, types=(), gradient=False, mutate=())


def _fixed(d: Draw) -> Program:
    p = Program()
    name = p.const(_text(_file("fixed", b"HHaaabbbF")))
    sizes = [p.const(n, "int64") for n in (2, 3, 1, 0)]
    return read(p, p.op("FixedLengthRecordDataset", name, *sizes), ["string"], [()], 3)


def _matching(d: Draw) -> Program:
    _file("match_a", b"")
    _file("match_b", b"")
    p = Program()
    pattern = p.const([str(FOLDER / "match_*").encode()])
    return read(p, p.op(d.op, pattern), ["string"], [()], 3)


def _csv(d: Draw) -> Program:
    p = Program()
    name = p.const([_file("table.csv", b'a,b\n1,"x,y"\n,z\n3,\n').encode()])
    columns = p.const(np.array([], np.int64), "int64")
    defaults = [p.const([7], "int64"), p.const([b"none"])]
    types, shapes = ["int64", "string"], [(), ()]
    made = p.op(
        d.op,
        name,
        p.const(_text("")),
        p.const(100, "int64"),
        p.const(True, "bool"),
        p.const(_text(",")),
        p.const(True, "bool"),
        p.const(_text("")),
        columns,
        defaults,
        output_shapes=shapes,
    )
    return read(p, made, types, shapes, 4)


spec("FixedLengthRecordDataset", _fixed, types=(), gradient=False, mutate=())


spec(
    "MatchingFilesDataset ExperimentalMatchingFilesDataset",
    _matching,
    types=(),
    gradient=False,
    mutate=(),
)


spec("CSVDataset ExperimentalCSVDataset", _csv, types=(), gradient=False, mutate=())


def _scan(d: Draw) -> Program:
    p = Program()
    body = p.function(
        ["int64", "int64"], lambda f, s, x: [f.op("AddV2", s, x), f.op("Mul", s, x)]
    )
    made = p.op(
        "ExperimentalScanDataset",
        numbers(p),
        [p.const(1, "int64")],
        NONE,
        f=body,
        Targuments=[],
        **shaped(*INT),
    )
    return read(p, made, *INT, 5)


def _map_and_batch(d: Draw) -> Program:
    p = Program()
    attrs = shaped(["int64"], [(None,)])
    made = p.op(
        "ExperimentalMapAndBatchDataset",
        numbers(p),
        NONE,
        p.const(4, "int64"),
        p.const(2, "int64"),
        p.const(d.maybe(), "bool"),
        f=_add_one(p),
        Targuments=[],
        **attrs,
    )
    return read(p, made, ["int64"], [(None,)], 3)


def _directed(d: Draw) -> Program:
    p = Program()
    choices = p.op(
        "TensorSliceDataset", [np.array([0, 1, 1, 0, 1], np.int64)], output_shapes=[()]
    )
    made = p.op(
        "ExperimentalDirectedInterleaveDataset",
        choices,
        [numbers(p, 2)[0], numbers(p, 3)[0]],
        **shaped(*INT),
    )
    return read(p, made, *INT, 5)


def _random(d: Draw) -> Program:
    p = Program()
    seeds = [p.const(n, "int64") for n in (3, 5)]
    return read(p, p.op("ExperimentalRandomDataset", *seeds, **shaped(*INT)), *INT, 4)


def _cardinality(d: Draw) -> Program:
    p = Program()
    p.run(p.op(d.op, numbers(p, d.integer(0, 5))))
    return p


spec("ExperimentalScanDataset", _scan, types=(), gradient=False, mutate=())


spec(
    "ExperimentalMapAndBatchDataset",
    _map_and_batch,
    types=(),
    gradient=False,
    mutate=(),
)


spec(
    "ExperimentalDirectedInterleaveDataset",
    _directed,
    types=(),
    gradient=False,
    mutate=(),
)


spec("ExperimentalRandomDataset", _random, types=(), gradient=False, mutate=())


spec(
    "ExperimentalDatasetCardinality", _cardinality, types=(), gradient=False, mutate=()
)


def _sloppy(p: Program) -> Any:
    return (
        [p.const(n, "int64") for n in (2, 1)]
        + [p.const(False, "bool")]
        + [p.const(n, "int64") for n in (2, 2)]
    )


for _op in ("ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset"):
    with_function(_op, _inner, lambda d, p: _sloppy(p), count=6)


for _op in ("ExperimentalUnbatchDataset",):
    pipeline(
        _op,
        source=lambda p: p.op(
            "BatchDataset",
            numbers(p),
            p.const(3, "int64"),
            **shaped(["int64"], [(None,)]),
        ),
        count=9,
    )


def _write_records(d: Draw) -> Program:
    p = Program()
    source = p.op(
        "TensorSliceDataset", [np.array([b"a", b"bc"], object)], output_shapes=[()]
    )
    name = p.const(_text(str(FOLDER / f"written{d.example}")))
    FOLDER.mkdir(exist_ok=True)
    p.run(p.op(d.op, source, name, p.const(_text(""))))
    return p


spec(
    "DatasetToTFRecord",
    _write_records,
    types=(),
    gradient=False,
    mutate=(),
    alone=True,
)


def _wrapped(d: Draw) -> Program:
    p = Program()
    wrapped = p.op("WrapDatasetVariant", numbers(p, 3))
    return read(p, p.op("UnwrapDatasetVariant", wrapped), *INT, 3)


spec(
    "WrapDatasetVariant UnwrapDatasetVariant",
    _wrapped,
    types=(),
    gradient=False,
    mutate=(),
)
