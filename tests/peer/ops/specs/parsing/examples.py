"""Specs of DecodeCompressed, DecodeJSONExample, ParseExample, ParseExampleV2, ...."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.program import Program
from tests.peer.ops.spec import call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw
from tests.peer.ops.specs.shared.examples import drawn_example, drawn_examples

_PARSED: dict[str, Any] = {
    "sparse_types": ["int64", "string"],
    "dense_shapes": [(2,), (1,)],
}


def _names(*names: bytes) -> list[Any]:
    return [np.array(name, object) for name in names]


def _defaults() -> list[Any]:
    return [np.array([], np.float32), np.array([9], np.int64)]


def _parse(d: Draw, data: Any = None) -> Any:
    data = drawn_examples(d) if data is None else data
    no_names = np.array([], object)
    sparse, dense = _names(b"b", b"c"), _names(b"a", b"missing")
    return call(data, no_names, sparse, dense, _defaults(), **_PARSED)


def _parse_v2(d: Draw) -> Any:
    keys = [np.array(one, object) for one in ([b"b", b"c"], [b"a", b"missing"], [b"r"])]
    return call(
        drawn_examples(d),
        np.array([], object),
        *keys,
        _defaults(),
        num_sparse=2,
        ragged_value_types=["int64"],
        ragged_split_types=["int32"],
        **_PARSED,
    )


def _parse_one(d: Draw, data: Any = None) -> Any:
    data = np.array(drawn_example(d), object) if data is None else data
    return call(
        data,
        _defaults(),
        num_sparse=2,
        sparse_keys=["b", "c"],
        dense_keys=["a", "missing"],
        **_PARSED,
    )


def _garbage(d: Draw) -> Any:
    return _parse(d, np.array([b"garbage"], object))


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
        lambda d: _parse_one(d, np.array(b"garbage", object)),
        lambda d: _parse_one(d, np.array(b"", object)),
    ),
)


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
    counts = dict.fromkeys(
        (
            "Ncontext_sparse",
            "Ncontext_dense",
            "Nfeature_list_sparse",
            "Nfeature_list_dense",
        ),
        1,
    )
    return call(
        data,
        np.array([], object),
        [np.array([], np.float32)],
        feature_list_dense_missing_assumed_empty=[],
        context_sparse_keys=["b"],
        context_dense_keys=["a"],
        feature_list_sparse_keys=["s"],
        feature_list_dense_keys=["d"],
        **counts,
        **_TYPES,
    )


def _parse_sequence(d: Draw, data: Any = None) -> Any:
    data = np.array(_sequence(d), object) if data is None else data
    return call(
        data,
        np.array([], object),
        _names(b"b"),
        _names(b"a"),
        _names(b"s"),
        _names(b"d"),
        [np.array([], np.float32)],
        np.array(b"", object),
        **_TYPES,
    )


def _parse_sequences_v2(d: Draw) -> Any:
    keys = [
        np.array(one, object)
        for one in ([b"b"], [b"a"], [b"r"], [b"s"], [b"d"], [b"t"])
    ]
    counts = dict.fromkeys(
        ("Ncontext_sparse", "Nfeature_list_sparse", "Nfeature_list_dense"), 1
    )
    return call(
        np.array([_sequence(d) for _ in range(2)], object),
        np.array([], object),
        *keys,
        np.array([False]),
        [np.array([], np.float32)],
        context_ragged_value_types=["int64"],
        context_ragged_split_types=["int64"],
        feature_list_ragged_value_types=["string"],
        feature_list_ragged_split_types=["int64"],
        **counts,
        **_TYPES,
    )


spec(
    "ParseSequenceExample",
    _parse_sequences,
    types=(),
    mutate=("dtype",),
    bad=(
        lambda d: _parse_sequences(d, np.array([b"garbage"], object)),
        lambda d: _parse_sequences(d, np.array([b""], object)),
    ),
)


spec(
    "ParseSingleSequenceExample",
    _parse_sequence,
    types=(),
    mutate=("dtype",),
    bad=(
        lambda d: _parse_sequence(d, np.array(b"garbage", object)),
        lambda d: _parse_sequence(d, np.array(b"", object)),
    ),
)


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

    example = example_pb2.Example.FromString(drawn_example(d))
    return np.array([json_format.MessageToJson(example).encode()], object)


def _canonical_examples(arrays: list[Any]) -> list[Any]:
    """Features are a map, which has no order."""
    from tensorloom.protos import example_pb2

    found = [example_pb2.Example.FromString(bytes(one)) for one in arrays[0].ravel()]
    return [
        np.array([one.SerializeToString(deterministic=True) for one in found], object)
    ]


spec(
    "DecodeJSONExample",
    lambda d: (_json(d),),
    types=(),
    canonical=_canonical_examples,
    mutate=("dtype",),
    bad=(
        lambda d: (np.array([b"{no json"], object),),
        lambda d: (np.array([b'{"unknown": 1}'], object),),
    ),
)


def _compressed(d: Draw) -> Any:
    import gzip
    import zlib

    kind = d.choice(("", "ZLIB", "GZIP"))
    data = b"something " * 20
    packed = {
        "": data,
        "ZLIB": zlib.compress(data),
        "GZIP": gzip.compress(data, mtime=0),
    }[kind]
    return call(np.array([packed, packed], object), compression_type=kind)


spec(
    "DecodeCompressed",
    _compressed,
    types=(),
    mutate=("dtype",),
    bad=(
        lambda d: call(np.array([b"garbage"], object), compression_type="ZLIB"),
        lambda d: call(np.array([b"garbage"], object), compression_type="LZMA"),
    ),
)
