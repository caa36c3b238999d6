"""Specs of datasets and iterators: a small pipeline around the op, and its elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Node, Program, Ref
from tests.peer.ops.spec import spec
from tests.peer.ops.specs.shared.pipelines import shaped

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


INT = (["int64"], [()])


def read(
    p: Program, dataset: Node, types: Sequence[str], shapes: Sequence[Any], count: int
) -> Program:
    """Runs an iterator over a dataset for `count` elements."""
    attrs = shaped(types, shapes)
    iterator = p.op("IteratorV2", shared_name="", container="", **attrs)
    p.run(p.op("MakeIterator", dataset, iterator))
    element = p.op("IteratorGetNext", iterator, **attrs)
    for _ in range(count):
        p.run(element)
    return p


def numbers(p: Program, stop: int = 9) -> Node:
    """The int64 numbers from 0 on."""
    start, end, step = (p.const(n, "int64") for n in (0, stop, 1))
    return p.op("RangeDataset", start, end, step, **shaped(*INT))


def pipeline(
    op: str,
    arguments: Callable[[Draw, Program], Sequence[Any]] = lambda d, p: (),
    types: Sequence[str] = ("int64",),
    shapes: Sequence[Any] = ((),),
    count: int = 3,
    source: Callable[[Program], Node] = numbers,
    attrs: Callable[[Draw, Program], dict[str, Any]] = lambda d, p: {},
    bad: Sequence[Callable[[Draw, Program], Sequence[Any]]] = (),
) -> None:
    """A spec of an op that takes a dataset and other inputs."""

    def make(given: Callable[[Draw, Program], Sequence[Any]]) -> Callable[[Draw], Any]:
        def program(d: Draw) -> Program:
            p = Program()
            made = p.op(
                op, source(p), *given(d, p), **attrs(d, p), **shaped(types, shapes)
            )
            return read(p, made, types, shapes, count)

        return program

    spec(
        op,
        make(arguments),
        types=(),
        gradient=False,
        mutate=(),
        bad=tuple(make(one) for one in bad),
    )


def ints(*values: int) -> Callable[[Draw, Program], Sequence[Any]]:
    """Constant int64 scalars."""
    return lambda d, p: [p.const(value, "int64") for value in values]


def small(d: Draw, p: Program) -> Sequence[Any]:
    """A number between 1 and 3."""
    return [p.const(d.integer(1, 3), "int64")]


# --- sources ------------------------------------------------------------------------


def _tensors(d: Draw) -> Program:
    p = Program()
    value = d.array((2, 3))
    made = p.op("TensorDataset", [value, np.int64(7)], output_shapes=[(2, 3), ()])
    return read(p, made, [d.dtype.name, "int64"], [(2, 3), ()], 1)


def _slices(d: Draw) -> Program:
    p = Program()
    made = p.op("TensorSliceDataset", [d.array((3, 2))], output_shapes=[(2,)])
    return read(p, made, [d.dtype.name], [(2,)], 3)


def _range(d: Draw) -> Program:
    p = Program()
    bounds = [p.const(n, "int64") for n in (d.integer(0, 3), d.integer(9, 20), 2)]
    return read(p, p.op("RangeDataset", *bounds, **shaped(*INT)), *INT, 3)


def _random(d: Draw) -> Program:
    p = Program()
    seeds = [p.const(d.integer(1, 99), "int64"), p.const(d.integer(0, 9), "int64")]
    return read(p, p.op("RandomDataset", *seeds, **shaped(*INT)), *INT, 6)


spec(
    "TensorDataset",
    _tensors,
    types=["float32", "int64", "string"],
    gradient=False,
    mutate=(),
)


spec(
    "TensorSliceDataset",
    _slices,
    gradient=False,
    mutate=(),
    types=["float32", "int64", "string", "bool"],
)


spec("RangeDataset", _range, types=(), gradient=False, mutate=())


spec("RandomDataset", _random, types=(), gradient=False, mutate=())


# --- selections and batches -----------------------------------------------------------

pipeline("TakeDataset", ints(4))


pipeline("SkipDataset", small)


pipeline("RepeatDataset", small, count=9)


pipeline("ShardDataset", ints(3, 1), bad=[ints(2, 5), ints(0, 0)])


pipeline("PrefetchDataset", ints(2), bad=[ints(-3)])


pipeline("ShuffleDataset", ints(4, 5, 6), count=9, bad=[ints(0, 1, 1)])


pipeline("ShuffleAndRepeatDataset", ints(4, 5, 6, 2), count=18, bad=[ints(0, 1, 1, 1)])


pipeline("CacheDataset", lambda d, p: [p.const(b"", "string")], count=9)


pipeline("BatchDataset", small, shapes=[(None,)], bad=[ints(0)])


pipeline(
    "BatchDatasetV2",
    lambda d, p: [*small(d, p), p.const(d.maybe(), "bool")],
    shapes=[(None,)],
    bad=[lambda d, p: [p.const(0, "int64"), p.const(False, "bool")]],
)


pipeline("ModelDataset")


pipeline("OptimizeDataset", lambda d, p: [p.const(np.array([], object), "string")])


for _op in ("UniqueDataset", "IgnoreErrorsDataset", "NonSerializableDataset"):
    pipeline(_op)


pipeline("MaxIntraOpParallelismDataset", ints(2))


pipeline("PrivateThreadPoolDataset", ints(2))


pipeline("SleepDataset", ints(10))


pipeline(
    "UnbatchDataset",
    source=lambda p: p.op(
        "BatchDataset", numbers(p), p.const(3, "int64"), **shaped(["int64"], [(None,)])
    ),
    count=9,
)


pipeline("SlidingWindowDataset", ints(3, 2, 1), shapes=[(None,)], bad=[ints(0, 1, 1)])


def _two(op: str, inputs: Callable[[Program], Sequence[Any]], width: int) -> None:
    def program(d: Draw) -> Program:
        p = Program()
        types, shapes = ["int64"] * width, [()] * width
        made = p.op(op, *inputs(p), **shaped(types, shapes))
        return read(p, made, types, shapes, 4)

    spec(op, program, types=(), gradient=False, mutate=())


_two("ConcatenateDataset", lambda p: [numbers(p, 2), numbers(p, 3)], 1)


_two("ZipDataset", lambda p: [[numbers(p, 9), numbers(p, 5)]], 2)


_two(
    "DirectedInterleaveDataset",
    lambda p: [
        p.op(
            "TensorSliceDataset",
            [np.array([0, 1, 1, 0, 1], np.int64)],
            output_shapes=[()],
        ),
        [numbers(p), numbers(p, 5)],
    ],
    1,
)


def _padded(d: Draw) -> Program:
    p = Program()
    source = p.op("TensorSliceDataset", [d.array((4, 2))], output_shapes=[(2,)])
    fill = d.array(())
    made = p.op(
        "PaddedBatchDatasetV2",
        source,
        p.const(3, "int64"),
        [p.const(np.array([d.integer(2, 4)], np.int64), "int64")],
        [fill],
        p.const(d.maybe(), "bool"),
        output_shapes=[(None, None)],
    )
    return read(p, made, [d.dtype.name], [(None, None)], 1)


spec(
    "PaddedBatchDatasetV2",
    _padded,
    attr="Toutput_types",
    types=["float32", "int64", "string"],
    gradient=False,
    mutate=(),
)


# --- functions -----


def _double(p: Program) -> Any:
    return p.function(["int64"], lambda f, x: [f.op("Add", x, x)])


def _is_small(p: Program) -> Any:
    return p.function(["int64"], lambda f, x: [f.op("Less", x, f.const(5, "int64"))])


def _inner(p: Program) -> Any:
    def body(f: Program, x: Ref) -> Sequence[Node]:
        start, step = f.const(0, "int64"), f.const(1, "int64")
        return [f.op("RangeDataset", start, x, step, **shaped(*INT))]

    return p.function(["int64"], body)


def _add(p: Program) -> Any:
    def body(f: Program, state: Ref, x: Ref) -> Sequence[Node]:
        total = f.op("Add", state, x)
        return [total, f.op("Mul", total, x)]

    return p.function(["int64", "int64"], body)


NONE: Sequence[Any] = []


def with_function(
    op: str,
    make: Callable[[Program], Any],
    arguments: Callable[[Draw, Program], Sequence[Any]] = lambda d, p: (),
    attr: str = "f",
    **options: Any,
) -> None:
    """A pipeline of an op with one function that captures nothing."""
    pipeline(
        op,
        lambda d, p: [NONE, *arguments(d, p)],
        attrs=lambda d, p: {attr: make(p), "Targuments": []},
        **options,
    )


with_function("MapDataset", _double)


with_function(
    "ParallelMapDataset", _double, lambda d, p: [p.const(d.integer(1, 4), "int32")]
)


with_function("FilterDataset", _is_small, attr="predicate", count=5)


with_function("TakeWhileDataset", _is_small, attr="predicate", count=5)


with_function("FlatMapDataset", _inner, count=12)


with_function("InterleaveDataset", _inner, ints(3, 2), count=12)


with_function("ParallelInterleaveDatasetV2", _inner, ints(3, 2, 2), count=12)


with_function(
    "MapAndBatchDataset",
    _double,
    lambda d, p: [*ints(4, 2)(d, p), p.const(d.maybe(), "bool")],
    shapes=[(None,)],
    count=2,
)


pipeline(
    "ScanDataset",
    lambda d, p: [[p.const(3, "int64")], NONE],
    attrs=lambda d, p: {"f": _add(p), "Targuments": [], "Tstate": ["int64"]},
)


def _reduce(d: Draw) -> Program:
    p = Program()
    function = p.function(["int64", "int64"], lambda f, a, b: [f.op("Add", a, b)])
    source = numbers(p, d.integer(1, 9))
    state = p.const(d.integer(0, 9), "int64")
    p.run(
        p.op(
            "ReduceDataset",
            source,
            [state],
            NONE,
            f=function,
            Targuments=[],
            **shaped(*INT),
        )
    )
    return p


def _single(d: Draw) -> Program:
    p = Program()
    p.run(p.op("DatasetToSingleElement", numbers(p, 1), **shaped(*INT)))
    return p


def _not_single(d: Draw) -> Program:
    p = Program()
    p.run(p.op("DatasetToSingleElement", numbers(p, 3), **shaped(*INT)))
    return p


def _cardinality(d: Draw) -> Program:
    p = Program()
    p.run(p.op("DatasetCardinality", numbers(p, d.integer(0, 9))))
    return p


def _batch_size(d: Draw) -> Program:
    p = Program()
    wide = shaped(["int64"], [(None,)])
    sizes = [p.const(d.integer(1, 4), "int64") for _ in range(2)]
    batches = [
        p.op("BatchDatasetV2", numbers(p, 7), size, p.const(False), **wide)
        for size in sizes
    ]
    made = p.op("ConcatenateDataset", *batches, **wide) if d.maybe() else batches[0]
    made = p.op("TakeDataset", made, p.const(2, "int64"), **wide)
    p.run(p.op(d.op, made))
    return p


spec("ComputeBatchSize", _batch_size, types=(), gradient=False, mutate=())


spec("ReduceDataset", _reduce, types=(), gradient=False, mutate=())


spec(
    "DatasetToSingleElement",
    _single,
    types=(),
    gradient=False,
    mutate=(),
    bad=(_not_single,),
)


spec("DatasetCardinality", _cardinality, types=(), gradient=False, mutate=())


# --- iterators and optionals ----------------------------------------------------------


def _next(d: Draw) -> Program:
    p = Program()
    return read(p, numbers(p), *INT, 3)


def _past_the_end(d: Draw) -> Program:
    p = Program()
    return read(p, numbers(p, 1), *INT, 2)


def _wrong_types(d: Draw) -> Program:
    p = Program()
    return read(p, numbers(p), ["float32"], [()], 1)


def _optional(d: Draw) -> Program:
    p = Program()
    attrs = shaped(*INT)
    iterator = p.op("IteratorV2", shared_name="", container="", **attrs)
    p.run(p.op("MakeIterator", numbers(p, 2), iterator))
    following = p.op("IteratorGetNextAsOptional", iterator, **attrs)
    has = p.op("OptionalHasValue", following)
    for _ in range(3):
        p.run(has)
    return p


def _held(d: Draw) -> Program:
    p = Program()
    held = p.op("OptionalFromValue", [d.array((2,))])
    got = p.op("OptionalGetValue", held, **shaped([d.dtype.name], [(2,)]))
    p.run(got)
    return p


def _nothing(d: Draw) -> Program:
    p = Program()
    none = p.op("OptionalNone")
    p.run(p.op("OptionalGetValue", none, **shaped([d.dtype.name], [(2,)])))
    return p


spec(
    "IteratorGetNext",
    _next,
    types=(),
    gradient=False,
    mutate=(),
    bad=(_past_the_end, _wrong_types),
)


spec("IteratorV2 MakeIterator", _next, types=(), gradient=False, mutate=())


spec(
    "IteratorGetNextAsOptional OptionalHasValue",
    _optional,
    types=(),
    gradient=False,
    mutate=(),
)


spec(
    "OptionalGetValue OptionalFromValue",
    _held,
    attr="output_types",
    types=["float32", "int32", "string"],
    gradient=False,
    mutate=(),
    bad=(_nothing,),
)
