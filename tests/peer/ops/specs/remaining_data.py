"""Iterators and datasets that stand alone, parsing, readers of the first version."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.storage.tfrecord import RecordWriter
from tests.peer.ops.program import Node, Program
from tests.peer.ops.spec import call, spec
from tests.peer.ops.specs.data import (
    INT,
    NONE,
    ints,
    numbers,
    pipeline,
    read,
    shaped,
    with_function,
)

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw

_FOLDER = Path(tempfile.gettempdir()) / "tensorloom-peer-remaining"
# Cases share a session, in which an iterator is known by its name.
_NAMES = itertools.count()


def _text(value: bytes | str) -> Any:
    return np.array(value.encode() if isinstance(value, str) else value, object)


def _file(name: str, data: bytes) -> str:
    _FOLDER.mkdir(exist_ok=True)
    (_FOLDER / name).write_bytes(data)
    return str(_FOLDER / name)


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
    made = p.op("Iterator" if old else "IteratorV2", shared_name=f"i{next(_NAMES)}", container="", **attrs)
    p.run(p.op("MakeIterator", numbers(p, 3), made))
    handle = p.op("IteratorToStringHandle", made)
    again = p.op("IteratorFromStringHandle" + ("" if old else "V2"), handle, **attrs)
    element = p.op("IteratorGetNext", again, **attrs)
    for _ in range(4):
        p.run(element)
    return p


def _other_types(d: Draw) -> Program:
    p = Program()
    made = p.op("IteratorV2", shared_name=f"i{next(_NAMES)}", container="", **shaped(*INT))
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
for _op in ("LatencyStatsDataset", "BytesProducedStatsDataset"):
    for _name in (_op, f"Experimental{_op}"):
        pipeline(_name, _strings("tag"))
for _op in ("RebatchDataset", "ExperimentalRebatchDataset"):
    pipeline(
        _op,
        ints(2),
        shapes=[(None,)],
        source=lambda p: p.op("BatchDataset", numbers(p), p.const(4, "int64"), **shaped(["int64"], [(None,)])),
        count=4,
    )
for _op in ("AutoShardDataset", "ExperimentalAutoShardDataset"):
    pipeline(_op, ints(2, 1), bad=[ints(2, 5)])
pipeline("AssertCardinalityDataset", ints(9), count=9, bad=[ints(3)])
pipeline("FinalizeDataset")
pipeline("RewriteDataset", _strings("none"), count=1)
pipeline("ParallelBatchDataset", lambda d, p: [*ints(3, 2)(d, p), p.const(False, "bool")], shapes=[(None,)])
for _op in ("DenseToSparseBatchDataset", "ExperimentalDenseToSparseBatchDataset"):
    def _sparse(d: Draw, name: str = _op) -> Program:
        p = Program()
        rows = p.op("TensorSliceDataset", [d.array((4, 3), dtype="int64")], output_shapes=[(3,)])
        types, shapes = ["int64", "int64", "int64"], [(None, 2), (None,), (2,)]
        attrs = shaped(["variant"], [(None, 3)])
        del types, shapes
        made = p.op(name, rows, p.const(2, "int64"), p.const([d.choice((3, 4))], "int64"), **attrs)
        iterator = p.op("IteratorV2", shared_name="", container="", **shaped(["variant"], [(None,)]))
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
    made = p.op("PaddedBatchDataset", rows, p.const(3, "int64"), sizes, [p.const(7, "int64")],
                Toutput_types=["int64"], output_shapes=[(None, None)])
    return read(p, made, ["int64"], [(None, None)], 2)


spec("PaddedBatchDataset", _padded, types=(), gradient=False, mutate=())


def _fixed(d: Draw) -> Program:
    p = Program()
    name = p.const(_text(_file("fixed", b"HHaaabbbF")))
    sizes = [p.const(n, "int64") for n in (2, 3, 1, 0)]
    return read(p, p.op("FixedLengthRecordDataset", name, *sizes), ["string"], [()], 3)


def _records_file() -> str:
    name = _file("records", b"")
    with RecordWriter(name) as writer:
        for record in (b"", b"a", b"bc" * 70):
            writer.write(record)
    return name


def _matching(d: Draw) -> Program:
    _file("match_a", b"")
    _file("match_b", b"")
    p = Program()
    pattern = p.const([str(_FOLDER / "match_*").encode()])
    return read(p, p.op(d.op, pattern), ["string"], [()], 3)


def _csv(d: Draw) -> Program:
    p = Program()
    name = p.const([_file("table.csv", b'a,b\n1,"x,y"\n,z\n3,\n').encode()])
    columns = p.const(np.array([], np.int64), "int64")
    defaults = [p.const([7], "int64"), p.const([b"none"])]
    types, shapes = ["int64", "string"], [(), ()]
    made = p.op(d.op, name, p.const(_text("")), p.const(100, "int64"), p.const(True, "bool"), p.const(_text(",")),
                p.const(True, "bool"), p.const(_text("")), columns, defaults, output_shapes=shapes)
    return read(p, made, types, shapes, 4)


spec("FixedLengthRecordDataset", _fixed, types=(), gradient=False, mutate=())
spec("MatchingFilesDataset ExperimentalMatchingFilesDataset", _matching, types=(), gradient=False, mutate=())
spec("CSVDataset ExperimentalCSVDataset", _csv, types=(), gradient=False, mutate=())


def _scan(d: Draw) -> Program:
    p = Program()
    body = p.function(["int64", "int64"], lambda f, s, x: [f.op("AddV2", s, x), f.op("Mul", s, x)])
    made = p.op("ExperimentalScanDataset", numbers(p), [p.const(1, "int64")], NONE, f=body, Targuments=[], **shaped(*INT))
    return read(p, made, *INT, 5)


def _map_and_batch(d: Draw) -> Program:
    p = Program()
    attrs = shaped(["int64"], [(None,)])
    made = p.op("ExperimentalMapAndBatchDataset", numbers(p), NONE, p.const(4, "int64"), p.const(2, "int64"),
                p.const(d.maybe(), "bool"), f=_add_one(p), Targuments=[], **attrs)
    return read(p, made, ["int64"], [(None,)], 3)


def _directed(d: Draw) -> Program:
    p = Program()
    choices = p.op("TensorSliceDataset", [np.array([0, 1, 1, 0, 1], np.int64)], output_shapes=[()])
    made = p.op("ExperimentalDirectedInterleaveDataset", choices, [numbers(p, 2)[0], numbers(p, 3)[0]], **shaped(*INT))
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
spec("ExperimentalMapAndBatchDataset", _map_and_batch, types=(), gradient=False, mutate=())
spec("ExperimentalDirectedInterleaveDataset", _directed, types=(), gradient=False, mutate=())
spec("ExperimentalRandomDataset", _random, types=(), gradient=False, mutate=())
spec("ExperimentalDatasetCardinality", _cardinality, types=(), gradient=False, mutate=())


def _sloppy(p: Program) -> Any:
    return [p.const(n, "int64") for n in (2, 1)] + [p.const(False, "bool")] + [p.const(n, "int64") for n in (2, 2)]


for _op in ("ParallelInterleaveDataset", "ExperimentalParallelInterleaveDataset"):
    with_function(_op, _inner, lambda d, p: _sloppy(p), count=6)
for _op in ("ExperimentalUnbatchDataset",):
    pipeline(
        _op,
        source=lambda p: p.op("BatchDataset", numbers(p), p.const(3, "int64"), **shaped(["int64"], [(None,)])),
        count=9,
    )


def _write_records(d: Draw) -> Program:
    p = Program()
    source = p.op("TensorSliceDataset", [np.array([b"a", b"bc"], object)], output_shapes=[()])
    name = p.const(_text(str(_FOLDER / f"written{d.example}")))
    _FOLDER.mkdir(exist_ok=True)
    done = p.op(d.op, source, name, p.const(_text("")))
    p.run(done)
    p.run(p.op("ReadFile", name, control=[done]))
    return p


spec("DatasetToTFRecord", _write_records, types=(), gradient=False, mutate=())


def _wrapped(d: Draw) -> Program:
    p = Program()
    wrapped = p.op("WrapDatasetVariant", numbers(p, 3))
    return read(p, p.op("UnwrapDatasetVariant", wrapped), *INT, 3)


spec("WrapDatasetVariant UnwrapDatasetVariant", _wrapped, types=(), gradient=False, mutate=())


def _mapped(d: Draw) -> Program:
    p = Program(differentiate=False)
    body = p.function([d.dtype, d.dtype], lambda f, x, y: [f.op("AddV2", x, y)])
    rows, other = d.array((4, 2)), d.array((2,))
    p.run(p.op("MapDefun", [p.feed(rows)], [p.feed(other)], f=body, output_types=[d.dtype], output_shapes=[(2,)]))
    return p


spec("MapDefun", _mapped, attr="output_types", types=["float32", "int64"], mutate=())


# --- examples ----------------------------------------------------------------


def _example(d: Draw) -> bytes:
    """A serialized tf.Example with features a (floats), b (integers), c (strings)."""
    from tensorloom.protos import example_pb2

    example = example_pb2.Example()
    features = example.features.feature
    features["a"].float_list.value.extend(d.rng.uniform(-1, 1, 2))
    features["r"].int64_list.value.extend(range(d.integer(0, 2)))
    features["b"].int64_list.value.extend(int(n) for n in d.rng.integers(-5, 5, d.integer(0, 3)))
    features["c"].bytes_list.value.extend([b"x", b"yz"][: d.integer(0, 2)])
    return bytes(example.SerializeToString(deterministic=True))


def _examples(d: Draw) -> Any:
    return np.array([_example(d) for _ in range(3)], object)


_PARSED: dict[str, Any] = {"sparse_types": ["int64", "string"], "dense_shapes": [(2,), (1,)]}


def _names(*names: bytes) -> list[Any]:
    return [np.array(name, object) for name in names]


def _defaults() -> list[Any]:
    return [np.array([], np.float32), np.array([9], np.int64)]


def _parse(d: Draw, data: Any = None) -> Any:
    data = _examples(d) if data is None else data
    no_names = np.array([], object)
    sparse, dense = _names(b"b", b"c"), _names(b"a", b"missing")
    return call(data, no_names, sparse, dense, _defaults(), **_PARSED)


def _parse_v2(d: Draw) -> Any:
    keys = [np.array(one, object) for one in ([b"b", b"c"], [b"a", b"missing"], [b"r"])]
    return call(_examples(d), np.array([], object), *keys, _defaults(), num_sparse=2,
                ragged_value_types=["int64"], ragged_split_types=["int32"], **_PARSED)


def _parse_one(d: Draw, data: Any = None) -> Any:
    data = np.array(_example(d), object) if data is None else data
    return call(data, _defaults(), num_sparse=2, sparse_keys=["b", "c"], dense_keys=["a", "missing"], **_PARSED)


def _garbage(d: Draw) -> Any:
    return _parse(d, np.array([b"\xff\xff garbage"], object))


def _missing(d: Draw) -> Any:
    return _parse(d, np.array([b""], object))


spec("ParseExample", _parse, types=(), mutate=("dtype",), bad=(_garbage, _missing))
spec("ParseExampleV2", _parse_v2, types=(), mutate=("dtype",))
spec(
    "ParseSingleExample",
    _parse_one,
    types=(),
    mutate=("dtype",),
    bad=(
        lambda d: _parse_one(d, np.array(b"\xff\xff garbage", object)),
        lambda d: _parse_one(d, np.array(b"", object)),
    ),
)


def _parsed_dataset(d: Draw) -> Program:
    p = Program()
    rows = p.op("TensorSliceDataset", [_examples(d)], output_shapes=[()])
    batches = p.op("BatchDataset", rows, p.const(2, "int64"), **shaped(["string"], [(None,)]))
    defaults = [p.const(np.array([], np.float32), "float32")]
    types, shapes = ["float32"], [(None, 2)]
    made = p.op(d.op, batches, p.const(2, "int64"), defaults, sparse_keys=[], dense_keys=["a"], sparse_types=[],
                dense_shapes=[(2,)], **shaped(types, shapes))
    return read(p, made, types, shapes, 2)


spec("ParseExampleDataset ExperimentalParseExampleDataset", _parsed_dataset, types=(), gradient=False, mutate=())


def _sequence(d: Draw) -> bytes:
    from tensorloom.protos import example_pb2

    example = example_pb2.SequenceExample()
    example.context.feature["a"].float_list.value.extend([1.5, -2])
    example.context.feature["b"].int64_list.value.extend(range(d.integer(0, 3)))
    example.context.feature["r"].int64_list.value.extend(range(d.integer(0, 2)))
    steps = example.feature_lists.feature_list
    for _ in range(d.integer(1, 3)):
        steps["d"].feature.add().int64_list.value.extend([int(d.rng.integers(9)), 1])
        steps["t"].feature.add().bytes_list.value.extend([b"u"] * d.integer(0, 2))
        steps["s"].feature.add().bytes_list.value.extend([b"q"] * d.integer(0, 2))
    return bytes(example.SerializeToString(deterministic=True))


_TYPES: dict[str, Any] = {
    "context_sparse_types": ["int64"],
    "context_dense_shapes": [(2,)],
    "feature_list_sparse_types": ["string"],
    "feature_list_dense_types": ["int64"],
    "feature_list_dense_shapes": [(2,)],
}


def _parse_sequences(d: Draw, data: Any = None) -> Any:
    data = np.array([_sequence(d) for _ in range(2)], object) if data is None else data
    counts = dict.fromkeys(("Ncontext_sparse", "Ncontext_dense", "Nfeature_list_sparse", "Nfeature_list_dense"), 1)
    return call(data, np.array([], object), [np.array([], np.float32)], feature_list_dense_missing_assumed_empty=[],
                context_sparse_keys=["b"], context_dense_keys=["a"], feature_list_sparse_keys=["s"],
                feature_list_dense_keys=["d"], **counts, **_TYPES)


def _parse_sequence(d: Draw, data: Any = None) -> Any:
    data = np.array(_sequence(d), object) if data is None else data
    return call(data, np.array([], object), _names(b"b"), _names(b"a"), _names(b"s"), _names(b"d"),
                [np.array([], np.float32)], np.array(b"", object), **_TYPES)


def _parse_sequences_v2(d: Draw) -> Any:
    keys = [np.array(one, object) for one in ([b"b"], [b"a"], [b"r"], [b"s"], [b"d"], [b"t"])]
    counts = dict.fromkeys(("Ncontext_sparse", "Nfeature_list_sparse", "Nfeature_list_dense"), 1)
    return call(np.array([_sequence(d) for _ in range(2)], object), np.array([], object), *keys,
                np.array([False]), [np.array([], np.float32)], context_ragged_value_types=["int64"],
                context_ragged_split_types=["int64"], feature_list_ragged_value_types=["string"],
                feature_list_ragged_split_types=["int64"], **counts, **_TYPES)


spec("ParseSequenceExample", _parse_sequences, types=(), mutate=("dtype",),
     bad=(lambda d: _parse_sequences(d, np.array([b"\xff\xff"], object)), lambda d: _parse_sequences(d, np.array([b""], object))))
spec("ParseSingleSequenceExample", _parse_sequence, types=(), mutate=("dtype",),
     bad=(lambda d: _parse_sequence(d, np.array(b"\xff\xff", object)), lambda d: _parse_sequence(d, np.array(b"", object))))
spec("ParseSequenceExampleV2", _parse_sequences_v2, types=(), mutate=("dtype",))


def _serialized(d: Draw) -> Program:
    p = Program(differentiate=False)
    made = p.op("SerializeTensor", p.feed(d.array()))
    p.run(p.op("ParseTensor", made, out_type=d.dtype))
    return p


_QUANTIZED = ["qint8", "quint8", "qint32"]
spec("ParseTensor", _serialized, attr="out_type", mutate=(), without=_QUANTIZED)
spec("SerializeTensor", _serialized, mutate=(), without=_QUANTIZED)


def _json(d: Draw) -> Any:
    from google.protobuf import json_format

    from tensorloom.protos import example_pb2

    example = example_pb2.Example.FromString(_example(d))
    return np.array([json_format.MessageToJson(example).encode()], object)


def _canonical_examples(arrays: list[Any]) -> list[Any]:
    """Features are a map, which has no order."""
    from tensorloom.protos import example_pb2

    found = [example_pb2.Example.FromString(bytes(one)) for one in arrays[0].ravel()]
    return [np.array([one.SerializeToString(deterministic=True) for one in found], object)]


spec("DecodeJSONExample", lambda d: (_json(d),), types=(), canonical=_canonical_examples, mutate=("dtype",),
     bad=(lambda d: (np.array([b"{no json"], object),), lambda d: (np.array([b'{"unknown": 1}'], object),)))


def _compressed(d: Draw) -> Any:
    import gzip
    import zlib

    kind = d.choice(("", "ZLIB", "GZIP"))
    data = b"something " * 20
    packed = {"": data, "ZLIB": zlib.compress(data), "GZIP": gzip.compress(data, mtime=0)}[kind]
    return call(np.array([packed, packed], object), compression_type=kind)


spec("DecodeCompressed", _compressed, types=(), mutate=("dtype",),
     bad=(lambda d: call(np.array([b"garbage"], object), compression_type="ZLIB"),
          lambda d: call(np.array([b"garbage"], object), compression_type="LZMA")))


def _padded_raw(d: Draw) -> Any:
    size = np.dtype(d.dtype.np_dtype).itemsize
    rows = [bytes(range(size * 2)), b"", b"\x01" * size * 4]
    return call(np.array(rows, object), np.int32(size * 3), little_endian=d.maybe())


spec("DecodePaddedRaw", _padded_raw, attr="out_type", mutate=("dtype",), version="2.21")


# --- readers -----------------------------------------------------------------

_READERS: dict[str, dict[str, Any]] = {
    "TextLineReader": {"skip_header_lines": 1},
    "TFRecordReader": {},
    "FixedLengthRecordReader": {"header_bytes": 1, "record_bytes": 2, "footer_bytes": 1},
    "WholeFileReader": {},
    "IdentityReader": {},
}


def _input_file(kind: str) -> str:
    if kind == "TFRecordReader":
        return _records_file()
    return _file("lines", b"head\none\r\ntwo\n\nlast")


def _reading(d: Draw) -> Program:
    kind = d.op if d.op.removesuffix("V2") in _READERS else "IdentityReader"
    v = "V2" if kind.endswith("V2") else ""
    base = kind.removesuffix("V2")
    # Readers of the first version were removed from graphs of version 26.
    p = Program(134 if v else 25, differentiate=False)
    reader = p.op(kind, **_READERS[base])
    queue = p.op("FIFOQueue" + v, component_types=["string"], shapes=[()])
    path = p.const(_text(_input_file(base)))
    p.run(p.op("QueueEnqueue" + v, queue, [path]))
    p.run(p.op("QueueEnqueue" + v, queue, [path]))
    p.run(p.op("QueueClose" + v, queue))
    p.run(p.op("ReaderRead" + v, reader, queue))
    counts = [p.op("ReaderNumRecordsProduced" + v, reader), p.op("ReaderNumWorkUnitsCompleted" + v, reader)]
    p.run(*counts)
    p.run(p.op("ReaderReadUpTo" + v, reader, queue, p.const(3, "int64")))
    p.run(*counts)
    if base == "IdentityReader":
        state = p.op("ReaderSerializeState" + v, reader)
        p.run(state)
        p.run(p.op("ReaderReset" + v, reader))
        p.run(*counts)
        p.run(p.op("ReaderRestoreState" + v, reader, p.const(_text(b"\x08\x01\x10\x01\x18\x01"))))
        p.run(*counts)
    else:
        p.run(p.op("ReaderRead" + v, reader, queue))
        p.run(p.op("ReaderReset" + v, reader))
        p.run(*counts)
    return p


spec(
    "TextLineReaderV2 TFRecordReaderV2 FixedLengthRecordReaderV2 WholeFileReaderV2"
    " TextLineReader TFRecordReader WholeFileReader IdentityReader"
    " ReaderRead ReaderReadUpTo ReaderNumRecordsProduced ReaderNumWorkUnitsCompleted"
    " ReaderSerializeState ReaderRestoreState ReaderReset",
    _reading,
    types=(),
    gradient=False,
    mutate=(),
)
