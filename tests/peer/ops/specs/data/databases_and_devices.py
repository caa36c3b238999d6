"""Datasets of databases and files, and what several devices share."""

from __future__ import annotations

import shutil
import sqlite3
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.data.iterators_and_files import _file, _text
from tests.peer.ops.specs.data.pipelines import INT, ints, numbers, pipeline, read
from tests.peer.ops.specs.shared.data_files import FOLDER
from tests.peer.ops.specs.shared.pipelines import shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_NUMBERS = process_count()


def _alone(op: str, make: Any, **options: Any) -> None:
    spec(op, make, types=(), gradient=False, mutate=(), alone=True, **options)


pipeline(
    "SamplingDataset",
    lambda d, p: [
        p.const(np.float32(d.choice([0.25, 0.5, 1.0]))),
        *ints(d.integer(1, 9), d.integer(0, 9))(d, p),
    ],
)


def _batches_of_four(p: Program) -> Any:
    attrs = shaped(["int64"], [(None,)])
    drop = p.const(False, "bool")
    return p.op("BatchDatasetV2", numbers(p), p.const(4, "int64"), drop, **attrs)


pipeline(
    "RebatchDatasetV2",
    lambda d, p: [
        p.const(d.choice([[2], [1, 3], [5, 2]]), "int64"),
        p.const(d.maybe(), "bool"),
    ],
    shapes=[(None,)],
    source=_batches_of_four,
    count=5,
)


def _fastest(d: Draw) -> Program:
    p = Program()
    made = p.op(d.op, [numbers(p), numbers(p)], num_experiments=2, **shaped(*INT))
    return read(p, made, *INT, 3)


_alone("ChooseFastestDataset ExperimentalChooseFastestDataset", _fastest)


def _branches(d: Draw) -> Program:
    p = Program()

    def body(f: Program, source: Any) -> list[Any]:
        return [f.op("TakeDataset", source, f.const(5, "int64"), **shaped(*INT))]

    function = p.function(["variant"], body)
    one = p.const(1, "int64")
    made = p.op(
        d.op,
        numbers(p),
        one,
        one,
        [],
        num_elements_per_branch=2,
        branches=[function, function],
        other_arguments_lengths=[0, 0],
        **shaped(*INT),
    )
    return read(p, made, *INT, 3)


_alone("ChooseFastestBranchDataset", _branches)


def _database() -> str:
    FOLDER.mkdir(exist_ok=True)
    name = FOLDER / "people.sqlite"
    if not name.exists():
        with sqlite3.connect(name) as database:
            database.execute("create table people (name text, age int, height real)")
            rows = [("Ann", 31, 1.5), ("Bob", 7, None), (None, -3, 2.25)]
            database.executemany("insert into people values (?, ?, ?)", rows)
        database.close()
    return str(name)


def _sql(d: Draw, query: str = "", driver: str = "sqlite") -> Program:
    p = Program()
    types = ["string", d.choice(["int64", "int32", "bool", "int16"]), "float64"]
    query = query or "select name, age, height from people order by age"
    texts = [p.const(_text(text)) for text in (driver, _database(), query)]
    made = p.op(d.op, *texts, **shaped(types, [()] * 3))
    return read(p, made, types, [()] * 3, 4)


_alone(
    "SqlDataset ExperimentalSqlDataset",
    _sql,
    bad=(
        lambda d: _sql(d, "select name from people"),
        lambda d: _sql(d, "select nothing from nowhere"),
        lambda d: _sql(d, driver="other"),
    ),
)


def _saved(d: Draw) -> Program:
    p = Program()
    shutil.rmtree(FOLDER / "saved", ignore_errors=True)
    path = p.const(_text(str(FOLDER / "saved")))
    shard = p.function(["int64"], lambda f, x: [f.const(0, "int64")])
    compression = d.choice(["", "GZIP"])
    save = p.op(
        "SaveDataset",
        numbers(p, 4),
        path,
        [],
        compression=compression,
        shard_func=shard,
        use_shard_func=True,
    )
    if d.op == "SaveDataset":
        p.run(save)
        return p
    if d.op == "SaveDatasetV2":
        made = p.op(
            d.op,
            numbers(p, 4),
            path,
            [],
            compression=compression,
            shard_func=shard,
            use_shard_func=True,
            **shaped(*INT),
        )
        return read(p, made, *INT, 5)
    p.run(save)

    def merge(f: Program, shards: Any) -> list[Any]:
        inner = f.function(["variant"], lambda g, one: [one])
        return [f.op("FlatMapDataset", shards, [], f=inner, **shaped(*INT))]

    made = p.op(
        d.op,
        path,
        [],
        compression=compression,
        reader_func=p.function(["variant"], merge),
        **shaped(*INT),
    )
    return read(p, made, *INT, 5)


_alone("SaveDataset SaveDatasetV2 LoadDataset", _saved)


def _snapshot(d: Draw) -> Program:
    p = Program()
    folder = FOLDER / f"snapshot{next(_NUMBERS)}"
    shutil.rmtree(folder, ignore_errors=True)
    made = p.op(d.op, numbers(p, 4), p.const(_text(str(folder))), **shaped(*INT))
    return read(p, made, *INT, 5)


_alone("SnapshotDataset", _snapshot)


def _csv(d: Draw) -> Program:
    p = Program()
    name = p.const(_text(_file("v2.csv", b"a,b,c\n1,x,2.5\n2,y,3.5\n")))
    exclude = d.choice([[], [1]])
    kept = [0, 2] if exclude or d.maybe() else []
    types = ["int64", "float32"] if kept else ["int64", "string", "float32"]
    empty = {"int64": np.int64, "float32": np.float32, "string": object}
    made = p.op(
        "CSVDatasetV2",
        name,
        p.const(_text("")),
        p.const(100, "int64"),
        p.const(True, "bool"),
        p.const(_text(",")),
        p.const(True, "bool"),
        p.const(_text("")),
        p.const([] if exclude else kept, "int64"),
        [p.const(np.array([], empty[t]), t) for t in types],
        p.const(exclude, "int64"),
        output_shapes=[()] * len(types),
    )
    return read(p, made, types, [()] * len(types), 3)


_alone("CSVDatasetV2", _csv)


def _table(d: Draw) -> Program:
    p = Program()
    table = p.op(
        "HashTableV2",
        key_dtype="int64",
        value_dtype="int64",
        shared_name="",
        container="",
    )
    both = p.op(
        "ZipDataset", [numbers(p, 4), numbers(p, 4)], **shaped(["int64"] * 2, [()] * 2)
    )
    p.run(p.op("InitializeTableFromDataset", table, both))
    p.run(p.op("LookupTableFindV2", table, p.const([2, 7], "int64"), np.int64(-1)))
    return p


_alone("InitializeTableFromDataset", _table)


def _thread_pool(d: Draw) -> Program:
    p = Program()
    old = "Experimental" if d.op.startswith("Experimental") else ""
    pool = p.op(
        f"{old}ThreadPoolHandle",
        num_threads=2,
        display_name="pool",
        shared_name=f"p{next(_NUMBERS)}",
    )
    made = p.op(f"{old}ThreadPoolDataset", numbers(p), pool, **shaped(*INT))
    return read(p, made, *INT, 3)


_alone(
    "ThreadPoolHandle ExperimentalThreadPoolHandle ThreadPoolDataset"
    " ExperimentalThreadPoolDataset",
    _thread_pool,
)


def _stats(d: Draw) -> Program:
    p = Program()
    old = "Experimental" if d.op.startswith("Experimental") else ""
    handle = p.op(
        "StatsAggregatorHandleV2"
        if d.op.endswith("V2")
        else f"{old}StatsAggregatorHandle",
        shared_name=f"s{next(_NUMBERS)}",
    )
    if d.op.endswith("V2"):
        p.run(handle)
        return p
    if d.op.endswith("Summary"):
        p.run(p.op(d.op, handle))
        return p
    made = p.op(
        f"{old}SetStatsAggregatorDataset",
        numbers(p),
        handle,
        p.const(_text("tag")),
        p.const(_text("prefix")),
        **shaped(*INT),
    )
    return read(p, made, *INT, 3)


_alone(
    "StatsAggregatorHandle ExperimentalStatsAggregatorHandle StatsAggregatorHandleV2"
    " SetStatsAggregatorDataset ExperimentalSetStatsAggregatorDataset"
    " StatsAggregatorSummary ExperimentalStatsAggregatorSummary",
    _stats,
)


def _several(d: Draw) -> Program:
    p = Program()
    iterator = p.op(
        "MultiDeviceIterator",
        devices=["/cpu:0", "/cpu:1"],
        shared_name="",
        container="",
        **shaped(*INT),
    )
    handle = iterator
    if "StringHandle" in d.op:
        text = p.op("MultiDeviceIteratorToStringHandle", iterator)
        handle = p.op("MultiDeviceIteratorFromStringHandle", text, **shaped(*INT))
    begun = p.op("MultiDeviceIteratorInit", numbers(p, 5), handle, np.int64(10))
    p.run(begun)
    for shard in (0, 1, 1, 0, 0, 1):
        p.run(
            p.op(
                "MultiDeviceIteratorGetNextFromShard",
                handle,
                np.int32(shard),
                np.int64(1),
                **shaped(*INT),
            )
        )
    return p


_alone(
    "MultiDeviceIterator MultiDeviceIteratorInit MultiDeviceIteratorGetNextFromShard"
    " MultiDeviceIteratorToStringHandle MultiDeviceIteratorFromStringHandle",
    _several,
)


def _to_file(d: Draw) -> Program:
    p = Program()
    rows = p.op(
        "TensorSliceDataset",
        [np.array([b"one", b"two"], object)],
        output_shapes=[()],
    )
    name = str(FOLDER / "written.tfrecord")
    write = p.op(d.op, rows, p.const(_text(name)), p.const(_text("")))
    p.run(write)
    return p


_alone("ExperimentalDatasetToTFRecord", _to_file)
