"""Words that are looked up where they lie are those that splitting makes."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.kernels.host import split_lookup_ops
from tensorloom.kernels.host.key_tables import NotIndexed
from tensorloom.kernels.host.string_index import StringIndex
from tensorloom.kernels.host.string_spans import (
    PADDING,
    Spans,
    split_at_any,
    split_at_each,
)

# Words that differ in a byte anywhere, of all the lengths that are read differently.
_ALPHABET = st.sampled_from([b"a", b"b", b"\0", b"\xff"])
_WORDS = st.lists(_ALPHABET, max_size=40).map(b"".join)
_TEXTS = st.lists(
    st.lists(st.sampled_from([b"a", b"b", b" ", b",", b"\0"])), max_size=9
)


def _spans_of(words: list[bytes]) -> Spans:
    lengths = np.array([len(word) for word in words], np.int64)
    blob = b"".join([*words, bytes(PADDING)])
    return Spans(blob, lengths.cumsum() - lengths, lengths, lengths)


def _cut(spans: Spans) -> list[list[bytes]]:
    words = [
        spans.blob[start : start + length]
        for start, length in zip(
            spans.starts.tolist(), spans.lengths.tolist(), strict=True
        )
    ]
    ends = spans.counts.cumsum().tolist()
    return [
        words[end - count : end]
        for end, count in zip(ends, spans.counts.tolist(), strict=True)
    ]


@given(_TEXTS, st.sampled_from([b" ", b",", b"\0"]))
def test_split_at_each(parts: list[list[bytes]], separator: bytes) -> None:
    texts = [b"".join(part) for part in parts]
    expected = [text.split(separator) for text in texts]
    assert _cut(split_at_each(texts, separator)) == expected


@given(_TEXTS, st.sampled_from([b" ", b" ,", b",\0 "]))
def test_split_at_any(parts: list[list[bytes]], separators: bytes) -> None:
    texts = [b"".join(part) for part in parts]
    pattern = b"[" + re.escape(separators) + b"]"
    expected = [list(filter(None, re.split(pattern, text))) for text in texts]
    assert _cut(split_at_any(texts, separators)) == expected


@settings(max_examples=200)
@given(st.lists(_WORDS, unique=True, max_size=60), st.lists(_WORDS, max_size=60))
def test_index(keys: list[bytes], others: list[bytes]) -> None:
    """Every short key is found, nothing else is."""
    try:
        index = StringIndex(keys)
    except NotIndexed:
        # Words that differ in nothing but zeros at their end.
        short = [key for key in keys if len(key) <= 16]
        stripped = {(key[:8].rstrip(b"\0"), key[8:][-8:]) for key in short}
        assert len(stripped) < len(short)
        return
    words = keys + others
    places = {key: i for i, key in enumerate(keys) if len(key) <= 16}
    expected = [places.get(word, len(keys)) for word in words]
    assert index.find(_spans_of(words)).tolist() == expected


def test_a_large_vocabulary() -> None:
    keys = [b"%d" % (i * 7919) for i in range(20_000)]
    keys += [b"longer_%d" % i for i in range(20_000)]
    words = keys[::3] + [b"word%d" % i for i in range(1000)] + keys[1::2]
    places = {key: i for i, key in enumerate(keys)}
    expected = [places.get(word, len(keys)) for word in words]
    assert StringIndex(keys).find(_spans_of(words)).tolist() == expected


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
    monkeypatch.setattr(split_lookup_ops, "_MOST_BYTES_ALONE", 0)
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
