"""Examples read from their bytes give what protobuf gives; bad ones are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework import errors
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.parsing import example_columns as columns
from tensorloom.kernels.host.parsing import example_wire as wire
from tensorloom.kernels.host.parsing.sequence_steps import pick
from tensorloom.protos import example_pb2, feature_pb2

_DTYPES = (dtypes.int64, dtypes.float32, dtypes.string)
# Long keys that differ at either end or in their middle.
_KEYS = [
    *("a", "b", "ab", "feature_one", "feature_two", "x" * 8, "x" * 9, "x" * 7 + "\0"),
    "a_rather_long_key_1_of_a_feature",
    "a_rather_long_key_2_of_a_feature",
    *("k" * 130, "é"),
]

_LISTS = st.one_of(
    st.lists(st.integers(-(2**63), 2**63 - 1), max_size=4).map(
        lambda v: feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=v))
    ),
    st.lists(st.floats(width=32, allow_nan=False), max_size=4).map(
        lambda v: feature_pb2.Feature(float_list=feature_pb2.FloatList(value=v))
    ),
    st.lists(st.binary(max_size=200), max_size=4).map(
        lambda v: feature_pb2.Feature(bytes_list=feature_pb2.BytesList(value=v))
    ),
    st.just(feature_pb2.Feature()),
)
_EXAMPLES = st.lists(
    st.dictionaries(st.sampled_from(_KEYS), _LISTS, max_size=6), min_size=1, max_size=20
)


def _text(features: dict[str, Any]) -> bytes:
    message = example_pb2.Example()
    for key, feature in features.items():
        message.features.feature[key].CopyFrom(feature)
    return bytes(message.SerializeToString())


def _refuse(row: int) -> Exception:
    return errors.InvalidArgumentError(None, None, f"row {row}")


def _columns(texts: list[bytes]) -> list[Any]:
    """What each key gives for each dtype, or that it is refused."""
    by_protobuf = _columns_of(texts)
    with mock.patch.object(columns, "_FEW", 0):
        assert _columns_of(texts) == by_protobuf
    return by_protobuf


def _columns_of(texts: list[bytes]) -> list[Any]:
    keys = [key.encode() for key in _KEYS]
    try:
        found = columns.Examples(texts, keys, columns.Where(()), _refuse)
        return [
            _outcome(found.column, key, dtype) for key in _KEYS for dtype in _DTYPES
        ]
    except errors.InvalidArgumentError:
        return ["refused"]


def _of_protobuf(texts: list[bytes]) -> list[Any]:
    """The same, without a look at the bytes."""
    messages = [columns.read_message("Example", text) for text in texts]
    if None in messages:
        return ["refused"]

    def column(key: bytes, dtype: Any, mismatch: str) -> columns.Column:
        picked = [pick(m.features.feature, key) for m in messages]
        return columns.message_column(picked, dtype, lambda row: "")

    return [_outcome(column, key, dtype) for key in _KEYS for dtype in _DTYPES]


def _outcome(of: Callable[..., columns.Column], key: str, dtype: Any) -> Any:
    try:
        column = of(key.encode(), dtype, "")
    except errors.InvalidArgumentError:
        return "refused"
    parts = column.values, column.counts, column.present
    return [x.tolist() for x in parts]


@settings(max_examples=60, deadline=None)
@given(_EXAMPLES)
def test_bytes_give_what_protobuf_gives(rows: list[dict[str, Any]]) -> None:
    """Any features in any order, of any length."""
    texts = [_text(row) for row in rows]
    assert _columns(texts) == _of_protobuf(texts)


@settings(max_examples=150, deadline=None)
@given(_EXAMPLES, st.data())
def test_broken_bytes(rows: list[dict[str, Any]], data: st.DataObject) -> None:
    """Cut, changed and repeated bytes are refused, or read as protobuf reads them."""
    texts = [_text(row) for row in rows]
    row = data.draw(st.integers(0, len(texts) - 1))
    broken = bytearray(texts[row])
    for _ in range(data.draw(st.integers(1, 3))):
        at = data.draw(st.integers(0, len(broken)))
        action = data.draw(st.sampled_from(["cut", "set", "insert", "double"]))
        if action == "cut":
            del broken[at : at + data.draw(st.integers(1, 4))]
        elif action == "double":
            broken += bytes(broken)
        else:
            byte = data.draw(st.integers(0, 255))
            broken[at : at + (action == "set")] = bytes([byte])
    texts[row] = bytes(broken)
    fast, slow = _columns(texts), _of_protobuf(texts)
    if slow != ["refused"]:  # protobuf refuses keys that are no UTF-8, we do not
        assert repr(fast) == repr(slow)  # NaN is not equal to itself


def _single(kind: str, value: Any) -> Any:
    if kind == "int":
        return feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=[value]))
    if kind == "floats":
        floats = [0.5] * (value % 40)
        return feature_pb2.Feature(float_list=feature_pb2.FloatList(value=floats))
    words = [b"w" * (value % 150)] * (1 if kind == "word" else value % 3)
    return feature_pb2.Feature(bytes_list=feature_pb2.BytesList(value=words))


def _written(entries: list[tuple[str, Any]]) -> bytes:
    """An Example with its entries in this order, repeated ones too."""
    texts = []
    for key, feature in entries:
        message = feature_pb2.Features()
        message.feature[key].CopyFrom(feature)
        texts.append(message.SerializeToString())
    contents = b"".join(texts)
    length = bytes([len(contents) & 127 | 128, len(contents) >> 7])
    return b"\x0a" + length + contents


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.sampled_from(_KEYS),
        st.sampled_from(["int", "floats", "word", "words"]),
        min_size=1,
        max_size=6,
    ),
    st.lists(st.integers(0, 2**16), min_size=1, max_size=40),
    st.integers(0, 2**10),
)
def test_records_of_one_writer(
    layout: dict[str, str], values: list[int], odd: int
) -> None:
    """The same features in one order; a few rows have a key twice, or none at all."""
    texts = []
    for row, value in enumerate(values):
        entries = [(key, _single(kind, value)) for key, kind in layout.items()]
        if row == odd % 64:
            entries.append((entries[0][0], _single("int", odd)))
        texts.append(_written(entries[:-1] if row == odd % 37 else entries))
    assert _columns(texts) == _of_protobuf(texts)


@pytest.mark.parametrize(
    "second", ["ints", "floats", "words", "none", "twice", "another"]
)
def test_messages_of_two_kinds(second: str) -> None:
    """Messages that are alike up to a place in their middle."""
    usual = [("a", _ints(5)), ("b", _single("floats", 2))]
    others = {
        "ints": [("a", _ints(300)), ("b", _single("floats", 2))],
        "floats": [("a", _ints(5)), ("b", _single("floats", 3))],
        "words": [("a", _single("word", 5)), ("b", _single("floats", 2))],
        "none": [("a", _ints(5))],
        "twice": [*usual, ("a", _ints(7))],
        "another": [("ab", _ints(9)), *usual],
    }
    texts = [_written(usual)] * 6 + [_written(others[second])] * 6
    assert _columns(texts) == _of_protobuf(texts)


_SHORT_AND_LONG: dict[str, list[Any]] = {
    "strings": [b"s" * n for n in range(19)],
    "short strings": [b"", b"s", b"\0s", b"s" * 16],
    "strings with zeros": [b"s", b"s\0", b"\0", b""],
    "integers": [*(1 << n for n in range(0, 63, 3)), 0, -1, -(2**63), 127, 128],
    **{f"{n} floats": [[1.5 * k] * n for k in range(4)] for n in range(1, 7)},
    "floats": [[2.5] * n for n in range(7)],
}


@pytest.mark.parametrize("name", _SHORT_AND_LONG)
@pytest.mark.parametrize("count", [1, 9])
def test_values_of_all_lengths(name: str, count: int) -> None:
    """Alike entries whose values differ in length, by a few or by many messages."""

    def feature(value: Any) -> Any:
        if isinstance(value, bytes):
            return feature_pb2.Feature(bytes_list=feature_pb2.BytesList(value=[value]))
        if isinstance(value, list):
            return feature_pb2.Feature(float_list=feature_pb2.FloatList(value=value))
        return _ints(value)

    values = _SHORT_AND_LONG[name] * count
    texts = [_written([("b", feature(v)), ("a", _ints(1))]) for v in values]
    assert _columns(texts) == _of_protobuf(texts)


def test_irregular_writers() -> None:
    """Values before keys, unpacked lists, unknown fields, repeated keys."""

    def field(tag: int, data: bytes) -> bytes:
        return bytes([tag, len(data)]) + data

    ints = field(0x1A, field(0x0A, b"\x05\x06"))
    unpacked = field(0x1A, b"\x08\x05\x08\x06")
    entries = [
        field(0x0A, b"a") + field(0x12, ints),
        field(0x12, ints) + field(0x0A, b"a"),
        field(0x0A, b"a") + field(0x12, unpacked),
    ]
    texts = [field(0x0A, field(0x0A, entry)) for entry in entries]
    texts.append(texts[0] + b"\x10\x01")
    last = field(0x0A, b"a") + field(0x12, field(0x1A, field(0x0A, b"\x07")))
    texts.append(field(0x0A, field(0x0A, entries[0]) + field(0x0A, last)))
    found = columns.Examples(texts * 4, [b"a"], columns.Where(()), _refuse)
    column = found.column(b"a", dtypes.int64, "")
    assert column.values.tolist() == [5, 6, 5, 6, 5, 6, 5, 6, 7] * 4


def test_a_million_empty_entries() -> None:
    """A hostile message costs no more than protobuf takes for it."""
    hostile = b"\x0a\x00" * 300_000
    size = len(hostile)
    prefix = bytes([0x0A, size & 127 | 128, size >> 7 & 127 | 128, size >> 14])
    texts = [prefix + hostile] + [b""] * 20
    found = columns.Examples(texts, [b"a"], columns.Where(()), _refuse)
    assert not found.column(b"a", dtypes.int64, "").present.any()


def test_lengths_past_the_end() -> None:
    """Lengths of any size are compared with what is there."""
    for length in (
        b"\x7f",
        b"\xff\xff\xff\xff\x0f",
        b"\xff" * 9 + b"\x01",
        b"\xff" * 11,
    ):
        texts = [b"\x0a" + length + b"\x0a\x00"] * 20
        with pytest.raises(errors.InvalidArgumentError):
            columns.Examples(texts, [b"a"], columns.Where(()), _refuse)


def test_keys_that_differ_in_their_middle_only() -> None:
    keys = ["12345678" + middle + "12345678" for middle in "xy"]
    feature = feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=[3]))
    texts = [_text({keys[0]: feature})] * 20
    found = columns.Examples(
        texts, [k.encode() for k in keys], columns.Where(()), _refuse
    )
    assert found.column(keys[0].encode(), dtypes.int64, "").counts.tolist() == [1] * 20
    assert not found.column(keys[1].encode(), dtypes.int64, "").present.any()


def _ints(*values: int) -> feature_pb2.Feature:
    return feature_pb2.Feature(int64_list=feature_pb2.Int64List(value=values))


ERRORS = [
    (
        "zz",
        tf.FixedLenFeature([2], tf.float32),
        r"Name: <unknown>, Feature: zz \(data ",
    ),
    (
        "a",
        tf.FixedLenFeature([2], tf.float32),
        "Data type: int64 but expected type: fl",
    ),
    ("a", tf.VarLenFeature(tf.float32), "Expected type: float, Actual type: int64"),
    ("a", tf.FixedLenFeature([3], tf.int64), r"Values size: 2 but output shape: \[3\]"),
    (
        "a",
        tf.FixedLenSequenceFeature([3], tf.int64, allow_missing=True),
        r"Saw 2 values but output shape is: \[\?,3\]",
    ),
]


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize(("key", "feature", "message"), ERRORS)
def test_messages(count: int, key: str, feature: Any, message: str) -> None:
    """The words of TensorFlow 1.15, for few and for many messages."""
    with tf.Graph().as_default(), tf.Session() as session:
        parsed = tf.parse_example([_text({"a": _ints(1, 2)})] * count, {key: feature})
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(parsed)


def test_sequence_examples() -> None:
    """A batch of SequenceExamples: padded, sparse and missing lists."""
    lists = feature_pb2.FeatureLists(
        feature_list={"l": feature_pb2.FeatureList(feature=[_ints(1, 2), _ints(3)])}
    )
    context = feature_pb2.Features(feature={"c": _ints(3)})
    texts = [
        example_pb2.SequenceExample(
            context=context, feature_lists=lists
        ).SerializeToString(),
        b"",
    ]
    with tf.Graph().as_default(), tf.Session() as session:
        found = session.run(
            tf.io.parse_sequence_example(
                texts,
                {"c": tf.FixedLenFeature([], tf.int64, -1)},
                {
                    "l": tf.VarLenFeature(tf.int64),
                    "q": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True),
                },
            )
        )
    assert found[0]["c"].tolist() == [3, -1]
    assert found[1]["l"].indices.tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0]]
    assert found[1]["l"].dense_shape.tolist() == [2, 2, 2]
    assert found[1]["q"].shape == (2, 0, 2)
    assert found[2]["q"].tolist() == [0, 0]


_FEATURE_LISTS = st.dictionaries(
    st.sampled_from(["l", "q", "other"]),
    st.lists(_LISTS, max_size=3),
)


def _parse_sequences(texts: list[bytes]) -> Any:
    op = tf.raw_ops.ParseSequenceExampleV2(
        serialized=texts,
        debug_name=np.array([], object),
        context_sparse_keys=["a"],
        context_dense_keys=["b"],
        context_ragged_keys=["ab"],
        feature_list_sparse_keys=["l"],
        feature_list_dense_keys=["q"],
        feature_list_ragged_keys=["l"],
        feature_list_dense_missing_assumed_empty=[True],
        context_dense_defaults=[np.zeros(2, np.float32)],
        Ncontext_sparse=1,
        context_sparse_types=[tf.int64],
        context_ragged_value_types=[tf.string],
        context_ragged_split_types=[tf.int32],
        context_dense_shapes=[[2]],
        Nfeature_list_sparse=1,
        Nfeature_list_dense=1,
        feature_list_dense_types=[tf.int64],
        feature_list_sparse_types=[tf.string],
        feature_list_ragged_value_types=[tf.string],
        feature_list_ragged_split_types=[tf.int64],
        feature_list_dense_shapes=[[1]],
    )
    with tf.Session() as session:
        try:
            return [x.tolist() for part in session.run(op) for x in _flat(part)]
        except tf.errors.InvalidArgumentError as error:
            return str(error).splitlines()[0]


def _flat(part: Any) -> list[Any]:
    return part if isinstance(part, list) else [part]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(_EXAMPLES, _FEATURE_LISTS, st.booleans()), max_size=4))
def test_sequences_are_what_protobuf_reads(rows: list[Any]) -> None:
    texts = []
    for features, lists, is_odd in rows:
        message = example_pb2.SequenceExample()
        for key, feature in features[0].items():
            message.context.feature[key].CopyFrom(feature)
        for key, steps in lists.items():
            message.feature_lists.feature_list[key].feature.extend(steps)
        # An unknown field is for protobuf.
        texts.append(message.SerializeToString() + b"\x18\x01" * is_odd)
    found = _parse_sequences(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(wire.Walk, "lists", _irregular)
        patch.setattr(wire.Walk, "steps", _irregular)
        patch.setattr(wire.Walk, "has", _irregular)
        assert repr(_parse_sequences(texts)) == repr(found)


def _irregular(*_: Any) -> None:
    raise wire.Irregular


def test_sparse_feature() -> None:
    """Indices and values of two features make one SparseTensor."""
    values = feature_pb2.Feature(float_list=feature_pb2.FloatList(value=[1, 2]))
    texts = [_text({"i": _ints(2, 0), "v": values})] * 2
    with tf.Graph().as_default(), tf.Session() as session:
        feature = tf.SparseFeature("i", "v", tf.float32, 5)
        found = session.run(tf.parse_example(texts, {"s": feature}))["s"]
    assert found.indices.tolist() == [[0, 0], [0, 2], [1, 0], [1, 2]]
    assert found.values.tolist() == [2, 1, 2, 1]
    assert found.dense_shape.tolist() == [2, 5]


def test_parse_example_v2() -> None:
    """Ragged features, of a batch and of one message."""
    with tf.Graph().as_default(), tf.Session() as session:
        texts = [_text({"a": _ints(1, 2)}), b"", _text({"a": _ints(3)})]
        found = session.run(
            list(
                tf.raw_ops.ParseExampleV2(
                    serialized=texts,
                    names=np.array([], object),
                    sparse_keys=np.array([], object),
                    dense_keys=np.array([], object),
                    ragged_keys=["a"],
                    dense_defaults=[],
                    num_sparse=0,
                    sparse_types=[],
                    ragged_value_types=[tf.int64],
                    ragged_split_types=[tf.int32],
                    dense_shapes=[],
                )
            )[-2:]
        )
    assert [x.tolist() for part in found for x in part] == [[1, 2, 3], [0, 2, 2, 3]]
