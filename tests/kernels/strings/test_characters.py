"""The characters of many texts are those of each alone."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.kernels.host.strings import characters
from tensorloom.kernels.host.strings.spans import spans_of
from tensorloom.kernels.loops.strings import words

_BYTES = [b"a", b"\0", b"\x7f", b"\x85", b"\xc3", b"\xa9", b"\xe6", b"\xbc", b"\xa2"]
_PIECES = [*_BYTES, b"\xc3\xa9", b"\xe6\xbc\xa2", b"\xf0\x9f\x98\x80", b"\xff", b"\xf0"]
_TEXTS = st.lists(st.lists(st.sampled_from(_PIECES), max_size=6).map(b"".join))


def _of_one(text: bytes, encoding: str) -> Iterator[tuple[int, int, bool]]:
    """(code, first byte, whether it stands for bytes that are no character)."""
    at = 0
    while at < len(text):
        try:
            good, bad = text[at:].decode(encoding), 0
        except UnicodeDecodeError as error:
            good = text[at : at + error.start].decode(encoding)
            bad = error.end - error.start
        for char in good:
            yield ord(char), at, False
            at += len(char.encode(encoding))
        if bad:
            yield 0xFFFD, at, True
            at += bad


def _check(found: characters.Characters, texts: list[bytes], encoding: str) -> None:
    rows = [list(_of_one(text, encoding)) for text in texts]
    flat = [char for row in rows for char in row]
    assert found.codes.tolist() == [code for code, _, _ in flat]
    assert found.splits.tolist() == [0, *np.cumsum([len(row) for row in rows])]
    assert found.starts is not None
    assert found.starts.tolist() == [at for _, at, _ in flat]
    assert found.bad.tolist() == [i for i, char in enumerate(flat) if char[2]]


@given(_TEXTS)
def test_characters_of_utf_8(texts: list[bytes]) -> None:
    _check(characters.of_utf_8(texts, with_starts=True), texts, "utf-8")


@given(_TEXTS)
def test_counts_of_characters(texts: list[bytes]) -> None:
    expected = [sum(byte & 0xC0 != 0x80 for byte in text) for text in texts]
    assert [characters.character_count(text) for text in texts] == expected
    spans = spans_of(texts)
    counts = np.empty(len(texts), np.int64)
    words.count_characters(spans.blob, spans.starts, spans.lengths, counts)
    assert counts.tolist() == expected


@given(_TEXTS, st.sampled_from(["utf-16-be", "shift_jis", "latin-1", "utf-8"]))
def test_characters_of_an_encoding(texts: list[bytes], encoding: str) -> None:
    found = characters.of_encoding(texts, encoding, with_starts=True)
    _check(found, texts, encoding)


@given(
    st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
    st.sampled_from(list(characters.CODECS.values())),
)
def test_encoded(texts: list[str], codec: str) -> None:
    codes = np.array([ord(char) for text in texts for char in text], np.int32)
    splits = np.append(0, np.cumsum([len(text) for text in texts])).astype(np.int64)
    expected = [text.encode(codec) for text in texts]
    assert characters.encoded(codes, splits, codec) == expected


def _run(op: str, **attrs: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(getattr(tf.raw_ops, op)(**attrs))


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize(
    ("encoding", "expected"),
    [
        ("UTF-8", b"a\xef\xbf\xbdb"),
        ("UTF-16-BE", b"\0a\xd8\0\0b"),
        ("UTF-32-BE", b"\0\0\0a\0\0\xd8\0\0\0\0b"),
    ],
)
def test_a_surrogate_as_replacement(encoding: str, expected: bytes) -> None:
    attrs = {"output_encoding": encoding, "replacement_char": 0xD800}
    found = _run("UnicodeTranscode", input=[b"a\xffb"], input_encoding="UTF-8", **attrs)
    assert found.tolist() == [expected]
    codes = np.array([97, 0x110000, 98], np.int32)
    found = _run("UnicodeEncode", input_values=codes, input_splits=[0, 3], **attrs)
    assert found.tolist() == [expected]


@pytest.mark.parametrize(
    ("errors", "codes", "starts"),
    [
        ("replace", [97, 256, 256, 256, 98, 256], [0, 1, 2, 3, 4, 5]),
        ("ignore", [97, 98], [0, 4]),
    ],
)
def test_what_is_no_character(errors: str, codes: list[int], starts: list[int]) -> None:
    found = _run(
        "UnicodeDecodeWithOffsets",
        input=[b"a\xed\xa0\x80b\xe6\xbc", b""],
        input_encoding="UTF-8",
        replacement_char=256,
        errors=errors,
    )
    assert found.char_values.tolist() == codes
    assert found.char_to_byte_starts.tolist() == starts
    assert found.row_splits.tolist() == [0, len(codes), len(codes)]


def test_what_is_no_character_if_strict() -> None:
    texts = [b"ok", b"a\xff"]
    with pytest.raises(InvalidArgumentError, match="on input string: a"):
        _run("UnicodeDecode", input=texts, input_encoding="UTF-8", errors="strict")


def test_control_characters() -> None:
    found = _run(
        "UnicodeTranscode",
        input=[b"a\nb\xc2\x85c\x7f"],
        input_encoding="UTF-8",
        output_encoding="UTF-8",
        replacement_char=32,
        replace_control_characters=True,
    )
    assert found.tolist() == [b"a b c "]


def test_scripts() -> None:
    codes = np.array([[0, 97, 1080], [0x10FFFF, 0x110000, -1]], np.int32)
    # Common, Latin, Cyrillic; none known; outside of Unicode.
    assert _run("UnicodeScript", input=codes).tolist() == [[0, 25, 8], [103, -1, -1]]


@given(
    st.lists(
        st.tuples(
            st.lists(st.sampled_from(_PIECES), max_size=6).map(b"".join),
            st.integers(-8, 8),
            st.integers(-3, 8),
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["BYTE", "UTF8_CHAR"]),
)
def test_parts(cases: list[tuple[bytes, int, int]], unit: str) -> None:
    expected = []
    for text, start, size in cases:
        places = list(range(len(text)))
        if unit != "BYTE":
            places = [i for i in places if text[i] & 0xC0 != 0x80]
        count = len(places)
        places.append(len(text))
        begin = start + count if start < 0 else start
        if not 0 <= begin <= count:
            expected = None
            break
        to_end = size < 0 and unit == "BYTE"
        end = count if to_end else min(begin + max(size, 0), count)
        expected.append(text[places[begin] : places[end]])
    texts, starts, sizes = map(list, zip(*cases, strict=True))
    attrs = {"input": texts, "pos": starts, "len": sizes, "unit": unit}
    if expected is None:
        with pytest.raises(InvalidArgumentError, match="out of range"):
            _run("Substr", **attrs)
    else:
        assert _run("Substr", **attrs).tolist() == expected
