"""Batches of strings in one buffer, and strings made of pieces of it."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.host.strings.spans import (
    even_spans,
    kept_spans_of,
    lengths_of,
    spans_of,
    strings_at,
)

_WORDS = st.lists(st.binary(max_size=40))


@given(_WORDS)
def test_strings_come_back(words: list[bytes]) -> None:
    spans = spans_of(words)
    assert [spans.word(i) for i in range(len(words))] == words
    assert spans.strings().tolist() == words
    assert lengths_of(to_strings(words, (-1,))).tolist() == [*map(len, words)]


@pytest.mark.parametrize(
    "array",
    [
        np.array([[b"a", b"bc"], [b"", b"d" * 5000]], object),
        np.array([[b"a", b"bc"], [b"", b"def"]], object).T,
        np.array([b"a", b"bc", b"", b"def"], object)[::-2],
        np.array(b"scalar", object),
        np.array([], object),
    ],
    ids=["matrix", "transposed", "strided", "scalar", "empty"],
)
@pytest.mark.parametrize("writable", [True, False])
def test_arrays(array: Any, writable: bool) -> None:
    array = array.view()
    array.flags.writeable = writable
    spans = spans_of(array)
    assert spans.strings(array.shape).tolist() == array.tolist()


def test_strings_of_numpy() -> None:
    words = np.array([b"a", b"bcd", b""])
    found = spans_of(words.astype(object)).strings()
    assert spans_of([*words]).strings().tolist() == found.tolist() == words.tolist()
    assert {*map(type, found)} == {bytes}


@pytest.mark.parametrize("other", ["text", 5, None])
def test_what_is_no_string(other: Any) -> None:
    with pytest.raises(TypeError, match="bytes-like"):
        spans_of([b"a", other])


def test_objects_are_counted() -> None:
    """No reference is lost, and none is kept."""
    words = [b"a string of its own %d" % i for i in range(50)]
    before = [sys.getrefcount(word) for word in words]
    for _ in range(3):
        made = spans_of(words).strings()
    assert [sys.getrefcount(word) for word in words] == before
    assert {sys.getrefcount(word) for word in made.tolist()} == {4}


def test_kept_spans_are_those_of_the_strings_now() -> None:
    words = np.array([b"word %d" % i for i in range(40)], object)
    spans = kept_spans_of(words)
    again = kept_spans_of(words.copy().reshape(8, 5))
    assert again.strings().tolist() == words.tolist()
    words[7] = b"another, and longer"
    assert kept_spans_of(words).strings().tolist() == words.tolist()
    assert spans.word(7) == b"word 7"
    assert kept_spans_of(words[:20]).strings().tolist() == words[:20].tolist()
    assert kept_spans_of(words.tolist()).strings().tolist() == words.tolist()


def test_pieces() -> None:
    blob = np.frombuffer(b"abcdefgh", np.uint8)
    starts, lengths = np.array([[7, 0, 3, 8], [1, 8, 0, 0]])
    found = strings_at(blob, starts, lengths, (2, 2))
    assert found.tolist() == [[b"h", b"abcdefgh"], [b"", b""]]


def test_rows() -> None:
    rows = np.arange(6, dtype=np.int16).reshape(3, 2)
    assert even_spans(rows.T).strings().tolist() == [r.tobytes() for r in rows.T]
    assert even_spans(rows[:, :0]).strings().tolist() == [b"", b"", b""]
