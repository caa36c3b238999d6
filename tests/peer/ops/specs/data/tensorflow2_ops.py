"""Datasets of 2.x, and those that tell or check how a pipeline was put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

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
from tests.peer.ops.specs.shared.pipelines import shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _texts(*values: str) -> Any:
    return np.array([value.encode() for value in values], object)


def _alone(op: str, make: Any, **options: Any) -> None:
    spec(op, make, types=(), gradient=False, mutate=(), alone=True, **options)


# --- seeds from outside -------------------------------------------------------


def _batched(p: Program, dataset: Node) -> Node:
    wide = shaped(["int64"], [(None,)])
    many, whole = p.const(50, "int64"), p.const(False)
    made = p.op("BatchDatasetV2", dataset, many, whole, **wide)
    return p.op("DatasetToSingleElement", made, **wide)


def _seeded(d: Draw, size: int | None = None) -> Program:
    """Shuffled twice by a generator that a step makes and uses."""
    p = Program()
    attrs = shaped(*INT)
    again = p.const(d.maybe(), "bool")
    two = [p.const(d.integer(1, 9), "int64"), p.const(d.integer(0, 9), "int64")]
    seeds = p.op("AnonymousSeedGenerator", *two, again)
    room = p.const(d.integer(1, 6) if size is None else size, "int64")
    twice = p.const(2, "int64")
    if d.op == "ShuffleAndRepeatDatasetV2":
        made = p.op(d.op, numbers(p, 6), room, *two, twice, seeds, **attrs)
    else:
        made = p.op("ShuffleDatasetV3", numbers(p, 6), room, *two, seeds, **attrs)
        made = p.op("RepeatDataset", made, twice, **attrs)
    p.run(_batched(p, made))
    return p


_alone(
    "AnonymousSeedGenerator ShuffleDatasetV3 ShuffleAndRepeatDatasetV2",
    _seeded,
    bad=(lambda d: _seeded(d, 0), lambda d: _seeded(d, -2)),
)


def _placeholder_state(d: Draw) -> Program:
    """Handles that stand for nothing; the ops make seeds and caches of their own."""
    p = Program()
    attrs = shaped(*INT)
    handle = p.op(d.op)
    if d.op == "DummySeedGenerator":
        two = [p.const(d.integer(1, 9), "int64"), p.const(5, "int64")]
        room = p.const(3, "int64")
        made = p.op("ShuffleDatasetV3", numbers(p, 6), room, *two, handle, **attrs)
    elif d.op == "DummyMemoryCache":
        name = p.const(np.array(b"", object))
        made = p.op("CacheDatasetV2", numbers(p, 6), name, handle, **attrs)
    else:
        p.run(handle)
        return p
    p.run(_batched(p, made))
    return p


_alone("DummySeedGenerator DummyMemoryCache DummyIterationCounter", _placeholder_state)


def _random(d: Draw) -> Program:
    p = Program()
    seeds = [p.const(d.integer(1, 99), "int64"), p.const(d.integer(0, 9), "int64")]
    counter = p.op("DummySeedGenerator")
    made = p.op(d.op, *seeds, counter, **shaped(*INT))
    made = p.op("TakeDataset", made, p.const(5, "int64"), **shaped(*INT))
    p.run(_batched(p, made))
    return p


_alone("RandomDatasetV2", _random)


# --- handles -----------------------------------------------------------------


def _anonymous(d: Draw) -> Program:
    p = Program()
    made = p.op(d.op, **shaped(*INT))
    start = p.op("MakeIterator", numbers(p, 3), made)
    p.run(p.op("IteratorGetNext", made, control=[start], **shaped(*INT)))
    return p


_alone("AnonymousIteratorV3", _anonymous)


def _several(d: Draw) -> Program:
    p = Program()
    made = p.op(d.op, devices=["/cpu:0", "/cpu:1"], **shaped(*INT))
    begun = p.op("MultiDeviceIteratorInit", numbers(p, 5), made, np.int64(10))
    shard = np.int32(d.integer(0, 1))
    get = "MultiDeviceIteratorGetNextFromShard"
    p.run(p.op(get, made, shard, begun[0], **shaped(*INT)))
    return p


_alone("AnonymousMultiDeviceIteratorV3", _several)


def _device(d: Draw) -> Program:
    p = Program()
    attrs = shaped(*INT)
    iterator = p.op("IteratorV2", shared_name="", container="", **attrs)
    p.run(p.op("MakeIterator", numbers(p), iterator))
    p.run(p.op(d.op, iterator))
    return p


_alone("IteratorGetDevice ExperimentalIteratorGetDevice", _device)


# --- with functions ----------------------------------------------------------


def _inner(p: Program) -> Any:
    def body(f: Program, x: Any) -> Sequence[Node]:
        start, step = f.const(0, "int64"), f.const(1, "int64")
        return [f.op("RangeDataset", start, x, step, **shaped(*INT))]

    return p.function(["int64"], body)


with_function(
    "LegacyParallelInterleaveDatasetV2",
    _inner,
    ints(3, 2, 1, 1),
    count=12,
    bad=[
        lambda d, p: [NONE, *ints(0, 2, 1, 1)(d, p)],
        lambda d, p: [NONE, *ints(3, 0, 1, 1)(d, p)],
    ],
)


with_function(
    "ParallelInterleaveDatasetV4",
    _inner,
    ints(3, 2, 1, 1, 2),
    count=12,
    bad=[
        lambda d, p: [NONE, *ints(0, 2, 1, 1, 2)(d, p)],
        lambda d, p: [NONE, *ints(3, 0, 1, 1, 2)(d, p)],
        lambda d, p: [NONE, *ints(3, 2, 1, 1, -5)(d, p)],
    ],
)


def _generated(d: Draw, stop: int = 3) -> Program:
    """Counts from a state that the functions pass on; it ends out of range."""
    p = Program()

    def following(f: Program, state: Any) -> list[Any]:
        values = f.const(np.arange(stop, dtype=np.int64))
        first = f.op("GatherV2", values, state, f.const(0, "int32"))
        return [first]

    made = p.op(
        "GeneratorDataset",
        [p.const(d.integer(0, 2), "int64")],
        NONE,
        NONE,
        init_func=p.function(["int64"], lambda f, x: [x], name="init"),
        next_func=p.function(["int64"], following, name="next"),
        finalize_func=p.function(["int64"], lambda f, x: [x], name="finish"),
        Tnext_func_args=[],
        Tfinalize_func_args=[],
        **shaped(*INT),
    )
    made = p.op("TakeDataset", made, p.const(2, "int64"), **shaped(*INT))
    return read(p, made, *INT, 3)


_alone("GeneratorDataset", _generated)


# --- elements -----------------------------------------------------------------


def _listed(d: Draw) -> Program:
    p = Program()
    rows = [d.array((2,), dtype="float32") for _ in range(3)]
    types, shapes = ["float32"], [(2,)]
    made = p.op(d.op, rows, **shaped(types, shapes))
    return read(p, made, types, shapes, 4)


def _listed_pairs(d: Draw) -> Program:
    p = Program()
    rows: list[Any] = []
    for number in range(3):
        rows += [d.array((), dtype="float32"), np.int64(number)]
    types, shapes = ["float32", "int64"], [(), ()]
    made = p.op(d.op, rows, **shaped(types, shapes))
    return read(p, made, types, shapes, 4)


def _uneven(d: Draw) -> Program:
    p = Program()
    types, shapes = ["float32", "float32"], [(), ()]
    made = p.op(d.op, [np.float32(n) for n in range(3)], **shaped(types, shapes))
    return read(p, made, types, shapes, 2)


_alone("ListDataset", _listed, bad=(_listed_pairs, _uneven))


# --- the pipeline itself ------------------------------------------------------

pipeline(
    "OptimizeDatasetV2",
    lambda d, p: [p.const(np.array([], object), "string") for _ in range(3)],
)


def _asserted(d: Draw, *expected: str) -> Program:
    """Which transformations come next, or came before."""
    p = Program()
    attrs = shaped(*INT)
    three, one = p.const(3, "int64"), p.const(1, "int64")
    if d.op == "AssertPrevDataset":
        told = p.const(
            _texts(*(expected or ("name: 'SkipDataset'", "name: 'TakeDataset'")))
        )
        made = p.op("TakeDataset", numbers(p), three, **attrs)
        made = p.op("SkipDataset", made, one, **attrs)
        made = p.op(d.op, made, told, **attrs)
    else:
        told = p.const(_texts(*(expected or ("FiniteTake", "FiniteSkip"))))
        made = p.op(d.op, numbers(p), told, **attrs)
        made = p.op("TakeDataset", made, three, **attrs)
        made = p.op("SkipDataset", made, one, **attrs)
    return read(p, made, *INT, 3)


_alone("AssertNextDataset ExperimentalAssertNextDataset AssertPrevDataset", _asserted)


def _options(d: Draw) -> Program:
    p = Program()
    kept = b"\x08\x01"
    made = p.op("OptionsDataset", numbers(p), serialized_options=kept, **shaped(*INT))
    made = p.op("TakeDataset", made, p.const(3, "int64"), **shaped(*INT))
    p.run(p.op(d.op, made if d.maybe() else numbers(p)))
    return p


_alone("GetOptions", _options)
