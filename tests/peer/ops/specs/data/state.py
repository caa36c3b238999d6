"""What datasets and iterators keep: handles of the step, caches, seeds, statistics."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.process_count import process_count
from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.data.pipelines import INT, numbers, read
from tests.peer.ops.specs.shared.pipelines import shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


_FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-files"


# Cases share a session, in which a resource is known by its name.
_NAMES = process_count()


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


def _alone(op: str, make: Any, **options: Any) -> None:
    spec(op, make, types=(), gradient=False, mutate=(), alone=True, **options)


# --- handles that live for a step ---------------------------------------------------


def _anonymous(d: Draw) -> Program:
    p = Program()
    made = p.op(d.op if d.op.startswith("A") else "AnonymousIteratorV2", **shaped(*INT))
    start = p.op("MakeIterator", numbers(p, 3), made)
    element = p.op("IteratorGetNext", made, control=[start], **shaped(*INT))
    if len(made) == 1:
        p.run(element)
        return p
    # What deletes the iterator keeps it alive until then.
    p.run(element, p.op("DeleteIterator", *made.outputs, control=[element]))
    return p


_alone("AnonymousIterator AnonymousIteratorV2 DeleteIterator", _anonymous)


def _several(d: Draw) -> Program:
    p = Program()
    made = p.op(
        "AnonymousMultiDeviceIterator", devices=["/cpu:0", "/cpu:1"], **shaped(*INT)
    )
    begun = p.op("MultiDeviceIteratorInit", numbers(p, 5), made, np.int64(10))
    first = p.op(
        "MultiDeviceIteratorGetNextFromShard",
        made,
        np.int32(d.integer(0, 1)),
        begun[0],
        **shaped(*INT),
    )
    p.run(
        first, p.op("DeleteMultiDeviceIterator", made[0], [], made[1], control=[first])
    )
    return p


_alone("AnonymousMultiDeviceIterator DeleteMultiDeviceIterator", _several)


def _kept(d: Draw) -> Program:
    """Shuffled by seeds from outside, twice, through a cache, twice."""
    p, attrs = Program(), shaped(*INT)
    seeds = p.op(
        "AnonymousRandomSeedGenerator",
        p.const(d.integer(1, 9), "int64"),
        p.const(d.integer(0, 9), "int64"),
    )
    size, twice = p.const(d.integer(1, 5), "int64"), p.const(2, "int64")
    made = p.op("ShuffleDatasetV2", numbers(p, 6), size, seeds, **attrs)
    made = p.op("RepeatDataset", made, twice, **attrs)
    cache = p.op("AnonymousMemoryCache")
    made = p.op("CacheDatasetV2", made, p.const(_text("")), cache, **attrs)
    made = p.op("RepeatDataset", made, twice, **attrs)
    wide = shaped(["int64"], [(None,)])
    many, whole = p.const(50, "int64"), p.const(False)
    made = p.op("BatchDatasetV2", made, many, whole, **wide)
    result = p.op("DatasetToSingleElement", made, **wide)
    p.run(
        result,
        p.op("DeleteMemoryCache", *cache.outputs, control=[result]),
        p.op("DeleteRandomSeedGenerator", *seeds.outputs, control=[result]),
    )
    return p


_alone(
    "AnonymousRandomSeedGenerator ShuffleDatasetV2 AnonymousMemoryCache CacheDatasetV2"
    " DeleteMemoryCache DeleteRandomSeedGenerator",
    _kept,
)


# --- statistics ---------------------------------------------------------------------


def _counted(p: Program, dataset: Node, types: Any, tag: str, count: int) -> Program:
    """Reads elements of a dataset, then what was counted."""
    handle = p.op("StatsAggregatorHandle", shared_name="")
    texts = [p.const(_text(tag)), p.const(_text(""))]
    made = p.op("SetStatsAggregatorDataset", dataset, handle, *texts, **shaped(*types))
    read(p, made, *types, count)
    p.run(p.op("StatsAggregatorSummary", handle))
    return p


def _produced(d: Draw) -> Program:
    p = Program()
    numbers_ = d.maybe()
    rows = (
        d.array((4, 3), "float32")
        if numbers_
        else np.array([b"", b"a", b"some", b"words"], object)
    )
    types = (["float32"], [(3,)]) if numbers_ else (["string"], [()])
    made = p.op("TensorSliceDataset", [p.const(rows)], output_shapes=types[1])
    name = p.const(_text("bytes"))
    made = p.op("BytesProducedStatsDataset", made, name, **shaped(*types))
    return _counted(p, made, types, d.choice(["", "some"]), d.integer(1, 4))


_alone("BytesProducedStatsDataset", _produced)


# --- versions of 2.x ----------------------------------------------------------------


def _stored(d: Draw) -> Program:
    p = Program()
    _FOLDER.mkdir(exist_ok=True)
    folder = str(_FOLDER / f"snapshot{next(_NAMES)}")
    empty = p.function(["int64"], lambda f, a: [f.const(0, "int64")], name="shard")

    def merge(f: Program, shards: Any) -> list[Any]:
        inner = f.function(["variant"], lambda g, one: [one])
        return [f.op("FlatMapDataset", shards, [], f=inner, **shaped(*INT))]

    made = p.op(
        "SnapshotDatasetV2",
        numbers(p, 4),
        p.const(_text(folder)),
        [],
        [],
        reader_func=p.function(["variant"], merge, name="reader"),
        shard_func=empty,
        Treader_func_args=[],
        Tshard_func_args=[],
        **shaped(*INT),
    )
    return read(p, made, *INT, 5)


_alone("SnapshotDatasetV2", _stored, version="2.21")


def _parsed(d: Draw) -> Program:
    from tensorloom.protos import example_pb2

    examples = []
    for _ in range(4):
        example = example_pb2.Example()
        example.features.feature["a"].float_list.value.extend(d.rng.integers(0, 9, 2))
        example.features.feature["c"].bytes_list.value.extend([b"x"] * d.integer(0, 2))
        examples.append(example.SerializeToString())
    p = Program()
    rows = p.op("TensorSliceDataset", [np.array(examples, object)], output_shapes=[()])
    two = p.const(2, "int64")
    batches = p.op(
        "BatchDatasetV2", rows, two, p.const(False), **shaped(["string"], [(None,)])
    )
    types, shapes = ["float32", "variant"], [(None, 2), None]
    made = p.op(
        "ParseExampleDatasetV2",
        batches,
        two,
        [p.const(np.array([], np.float32), "float32")],
        sparse_keys=["c"],
        dense_keys=["a"],
        sparse_types=["string"],
        dense_shapes=[(2,)],
        ragged_keys=[],
        ragged_value_types=[],
        ragged_split_types=[],
        deterministic=d.choice(["default", "true"]),
        **shaped(types, shapes),
    )
    attrs = shaped(types, shapes)
    iterator = p.op("IteratorV2", shared_name="", container="", **attrs)
    p.run(p.op("MakeIterator", made, iterator))
    element = p.op("IteratorGetNext", iterator, **attrs)
    p.run(element[0], p.op("DeserializeSparse", element[1], dtype="string"))
    p.run(element[0])
    return p


_alone("ParseExampleDatasetV2", _parsed, version="2.21")
