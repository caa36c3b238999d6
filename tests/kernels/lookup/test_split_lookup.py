"""Words that are looked up where they lie are those that splitting makes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.kernels.host.lookup.key_tables import StringIndex
from tensorloom.kernels.host.strings import split as string_split_ops
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.host.strings.spans import spans_of
from tensorloom.kernels.host.strings.split import Split, SplitV2, Words

if TYPE_CHECKING:
    from collections.abc import Iterator

# Words that differ in a byte anywhere, of all the lengths that are read differently.
_ALPHABET = st.sampled_from([b"a", b"b", b"\0", b"\xff"])
_WORDS = st.lists(_ALPHABET, max_size=40).map(b"".join)
_TEXTS = st.lists(
    st.lists(st.sampled_from([b"a", b"b", b" ", b",", b"\0"])), max_size=9
)


def _cut(spans: Words) -> list[list[bytes]]:
    words = spans.strings().tolist()
    assert words == [spans.word(i) for i in range(len(words))]
    ends = spans.counts.cumsum().tolist()
    return [
        words[end - count : end]
        for end, count in zip(ends, spans.counts.tolist(), strict=True)
    ]


@pytest.mark.usefixtures("_all_in_loops")
@given(_TEXTS, st.sampled_from([b" ", b",", b"\0", b""]))
def test_split_v2(parts: list[list[bytes]], separator: bytes) -> None:
    texts = [b"".join(part) for part in parts]
    expected = [text.split(separator or None) for text in texts]
    spans = SplitV2(-1).spans(to_strings(texts, (-1,)), to_strings([separator], ()))
    assert spans is not None
    assert _cut(spans) == expected


@pytest.mark.usefixtures("_all_in_loops")
@given(_TEXTS, st.sampled_from([b" ", b" ,", b",\0 "]), st.booleans())
def test_split(parts: list[list[bytes]], separators: bytes, skip_empty: bool) -> None:
    texts = [b"".join(part) for part in parts]
    pattern = b"[" + re.escape(separators) + b"]"
    expected = [re.split(pattern, text) if text else [] for text in texts]
    if skip_empty:
        expected = [list(filter(None, words)) for words in expected]
    value, at = to_strings(texts, (-1,)), to_strings([separators], ())
    spans = Split(skip_empty).spans(value, at)
    assert spans is not None
    assert _cut(spans) == expected


@pytest.fixture(scope="module")
def _all_in_loops() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(string_split_ops, "_LEAST_BYTES", 0)
        yield


@settings(max_examples=200)
@given(st.lists(_WORDS, unique=True, max_size=60), st.lists(_WORDS, max_size=60))
def test_index(keys: list[bytes], others: list[bytes]) -> None:
    """Every key is found, nothing else is."""
    words = keys + others
    places = {key: i for i, key in enumerate(keys)}
    expected = [places.get(word, len(keys)) for word in words]
    assert StringIndex(keys).find(spans_of(words)).tolist() == expected


def test_a_large_vocabulary() -> None:
    keys = [b"%d" % (i * 7919) for i in range(20_000)]
    keys += [b"longer_%d" % i for i in range(20_000)]
    words = keys[::3] + [b"word%d" % i for i in range(1000)] + keys[1::2]
    places = {key: i for i, key in enumerate(keys)}
    expected = [places.get(word, len(keys)) for word in words]
    assert StringIndex(keys).find(spans_of(words)).tolist() == expected


_LINES = ["the cat  sat", "", "on the\tmat of unknown_words", "a" * 30 + " cat"] * 5
_KEYS = ["the", "cat", "sat", "a" * 30, "a" * 31, "mat", ""]


def _looked_up(split: Any, values: list[Any], default: Any, fuses: bool) -> list[Any]:
    config = tf.ConfigProto()
    config.graph_options.rewrite_options.disable_meta_optimizer = not fuses
    with tf.Graph().as_default(), tf.Session(config=config) as session:
        initializer = tf.lookup.KeyValueTensorInitializer(_KEYS, values)
        table = tf.lookup.StaticHashTable(initializer, default)
        text = tf.placeholder(tf.string, [None])
        words = split(text)
        ids = table.lookup(words.values)
        session.run(tf.tables_initializer())
        fetches = [ids, words.indices, words.dense_shape]
        return [x.tolist() for x in session.run(fetches, {text: _LINES})]


@pytest.mark.parametrize(
    "split",
    [
        tf.string_split,
        lambda text: tf.string_split(text, " \t"),
        lambda text: tf.string_split(text, "", skip_empty=False),
        lambda text: tf.string_split(text, " ", skip_empty=False),
        lambda text: tf.strings.split(text, result_type="SparseTensor"),
        lambda text: tf.strings.split(text, " ", result_type="SparseTensor"),
        lambda text: tf.strings.split(text, "at", result_type="SparseTensor"),
        lambda text: tf.strings.split(text, maxsplit=1, result_type="SparseTensor"),
    ],
)
@pytest.mark.parametrize(
    ("values", "default"),
    [
        (list(range(len(_KEYS))), -1),
        ([i / 2 for i in range(len(_KEYS))], 9.0),
        ([key.encode() + b"\0" for key in _KEYS], b"none\0"),
    ],
    ids=["int", "float", "string"],
)
def test_ids(
    split: Any, values: list[Any], default: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fused op gives what the two ops give."""
    monkeypatch.setattr(string_split_ops, "_LEAST_BYTES", 0)
    assert _looked_up(split, values, default, True) == _looked_up(
        split, values, default, False
    )


def test_errors_are_those_of_the_two_ops() -> None:
    text, table = (
        tf.placeholder(tf.string),
        tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer(["a"], [1]), -1),
    )
    ids = table.lookup(tf.string_split(text).values)
    with tf.Session() as session:
        with pytest.raises(tf.errors.FailedPreconditionError, match="not initialized"):
            session.run(ids, {text: ["a"]})
        session.run(tf.tables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be a vector"):
            session.run(ids, {text: "a"})
        assert session.run(ids, {text: ["a b"]}).tolist() == [1, -1]
