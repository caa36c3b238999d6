"""String kernels that treat many strings at once do as with each alone."""

from __future__ import annotations

import base64
import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.parsing.number_texts import number_of, numbers_of
from tensorloom.kernels.host.strings import regex as regex_ops
from tensorloom.kernels.host.strings.hash_arrays import (
    fingerprints64,
    hashes64,
    siphashes,
)
from tensorloom.kernels.host.strings.hashes import fingerprint64, hash64, siphash
from tensorloom.kernels.host.strings.regular_expressions import is_never_empty
from tensorloom.kernels.host.strings.spans import spans_of


def run(build: Any, *values: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build(*(tf.constant(value) for value in values)))


_KEY = (7, (1 << 64) - 3)


@pytest.mark.parametrize(
    ("many", "one"),
    [
        (fingerprints64, fingerprint64),
        (hashes64, hash64),
        (lambda texts: siphashes(texts, _KEY), lambda text: siphash(text, _KEY)),
    ],
)
def test_hashes(many: Any, one: Any) -> None:
    random = np.random.RandomState(0)
    texts = [random.bytes(size) for size in range(200) for _ in range(size % 40)]
    texts += [b""] * 20
    texts += [random.bytes(random.randint(250, 400)) for _ in range(60)]
    # As many long ones as are hashed together, and fewer that are longer still.
    texts += [random.bytes(random.randint(2900, 3000)) for _ in range(25)]
    texts += [random.bytes(9000), random.bytes(9064)]
    random.shuffle(texts)
    assert many(texts).tolist() == [one(text) for text in texts]
    assert many([]).tolist() == []


@pytest.mark.parametrize(
    ("texts", "dtype"),
    [
        ([b"1", b"-7", b" 12 "], dtypes.int32),
        ([b"2147483647", b"-2147483648"], dtypes.int32),
        ([b"9223372036854775807"], dtypes.int64),
        ([b"-9223372036854775808", b"5"], dtypes.int64),
        ([b"0", b"-0", b"007", b"3"], dtypes.int64),
        ([b"-3"], dtypes.int32),
        ([b"1.5", b"-inf", b"nan", b"1e400", b"1e-46"], dtypes.float32),
        ([], dtypes.float64),
    ],
)
@pytest.mark.parametrize("times", [1, 40])
def test_numbers(texts: list[bytes], dtype: Any, times: int) -> None:
    texts = texts * times
    with np.errstate(over="ignore"):
        found = numbers_of(texts, dtype)
        expected = np.array([number_of(x, dtype) for x in texts], dtype.as_numpy_dtype)
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        (b"2147483648", dtypes.int32),
        (b"9223372036854775808", dtypes.int64),
        (b"1_0", dtypes.int32),
        (b"1_0", dtypes.float32),
        (b"1.5", dtypes.int64),
        (b"", dtypes.float32),
        (b"", dtypes.int32),
        (b"-", dtypes.int32),
        (b"--5", dtypes.int32),
        (b"5-3", dtypes.int64),
        (b"1,2", dtypes.int64),
        ("\u0661".encode(), dtypes.int32),
        (b"+1", dtypes.int32),
        (b"0x10", dtypes.int64),
        (b"infinity", dtypes.float32),
        (b"-INFINITY", dtypes.float64),
        (b"0x", dtypes.float32),
        (b"-0x" + b"f" * 400, dtypes.float64),
        (b"0x1.8p3", dtypes.float64),
    ],
)
def test_no_numbers(text: bytes, dtype: Any) -> None:
    assert numbers_of([b"1", text], dtype) is None
    assert numbers_of([*[b"1"] * 40, text], dtype) is None
    shown = "StringToNumberOp could not correctly convert string"
    with pytest.raises(InvalidArgumentError, match=shown):
        run(lambda x: tf.string_to_number(x, dtype), [b"1", text])


def test_reals_in_hexadecimal() -> None:
    texts = [b"0x10", b"-0X1f", b" +0xA ", b"inf", b"0x1ffffffffffffffff"]
    found = run(lambda x: tf.string_to_number(x, dtypes.float64), texts)
    np.testing.assert_array_equal(found, [16.0, -31.0, 10.0, np.inf, 2.0**65])


_DECIMALS = [b"1", b"-0.25", b".5", b"-.0", b"007.10", b"3.", b"-0"] * 9


@pytest.mark.parametrize("odd", [b"0.1", b"9" * 17, b"1." + b"0" * 30, b"-1.5e-3"])
def test_many_decimals(odd: bytes) -> None:
    texts = [*_DECIMALS, odd]
    expected = np.array(list(map(float, texts)))
    assert numbers_of(texts, dtypes.float64).tobytes() == expected.tobytes()
    rounded = expected.astype(np.float32)
    assert numbers_of(texts, dtypes.float32).tobytes() == rounded.tobytes()


@pytest.mark.parametrize("wrong", [b".", b"-.", b"1.2.3", b".-6", b"1-2", b"--1", b""])
def test_no_decimals(wrong: bytes) -> None:
    assert numbers_of([*_DECIMALS, wrong], dtypes.float64) is None


def test_bytes() -> None:
    texts = [b"ab", b"", b"\0\xff"]
    split = run(lambda x: tf.string_split(x, ""), texts)
    assert split.indices.tolist() == [[0, 0], [0, 1], [2, 0], [2, 1]]
    assert split.values.tolist() == [b"a", b"b", b"\0", b"\xff"]
    assert split.dense_shape.tolist() == [3, 2]


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize(
    ("position", "length", "unit", "expected"),
    [
        (1, 3, "BYTE", [b"bcd", b"yz"]),
        (1, -1, "BYTE", [b"bcdef", b"yz"]),
        (-2, -1, "BYTE", [b"ef", b"yz"]),
        ([1, 1], [-1, -2], "BYTE", [b"bcdef", b"yz"]),
        (1, -3, "UTF8_CHAR", [b"", b""]),
        (1, 2, "UTF8_CHAR", [b"bc", b"yz"]),
        (-2, 1, "UTF8_CHAR", [b"e", b"y"]),
        (-2, 9, "BYTE", [b"ef", b"yz"]),
        (-3, 2, "BYTE", [b"de", b"xy"]),
        (3, 1, "BYTE", [b"d", b""]),
    ],
)
@pytest.mark.parametrize("times", [1, 100])
def test_parts(
    position: Any, length: Any, unit: str, expected: list[bytes], times: int
) -> None:
    texts = [[b"abcdef", b"xyz"]] * times
    found = run(lambda x: tf.strings.substr(x, position, length, unit=unit), texts)
    assert found.tolist() == [expected] * times


@pytest.mark.parametrize("times", [1, 100])
def test_parts_of_characters(times: int) -> None:
    texts = ["é日x".encode(), "aé".encode()] * times

    def part(begin: int, size: int) -> Any:
        found = run(
            lambda x: tf.strings.substr(x, begin, size, "s", "UTF8_CHAR"), texts
        )
        return [text.decode() for text in found[:2]]

    assert part(1, 1) == ["日", "é"]
    assert part(-2, 9) == ["日x", "aé"]
    assert part(1, -1) == ["", ""]


@pytest.mark.parametrize("unit", ["BYTE", "UTF8_CHAR"])
@pytest.mark.parametrize("begin", [4, -4])
@pytest.mark.parametrize("times", [1, 100])
def test_parts_beyond_a_text(unit: str, begin: int, times: int) -> None:
    texts = [b"abcdef"] * times + [b"xyz"]
    message = rf"pos {begin} out of range for string b'xyz' at index {times}"
    with pytest.raises(InvalidArgumentError, match=message):
        run(lambda x: tf.strings.substr(x, begin, 1, unit=unit), texts)


PLAIN_PATTERNS = [
    b"o[wx]",
    b"[^a-z]+",
    b" +\\s",
    b"a\\.b",
    b"[]x]",
    b"[[:alpha:]]+.",
    b"\\\\",
    b"(o)(w+)",
    b"((.x)) *",
]


@pytest.mark.parametrize("pattern", PLAIN_PATTERNS)
@pytest.mark.parametrize("rewrite", [b"A", b"", b"\\\\n", b"g<0>", b"<\\0>", b"\n"])
def test_replacing_by_a_template(
    pattern: bytes, rewrite: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    pieces = [b"a", b"ow", b" ", b"]", b"\\", b".", b"\xc3\xa9", b"\xff", b"\n"]
    random = np.random.RandomState(0)
    texts = [b"".join(random.choice(pieces, 8)) for _ in range(40)]
    static = tf.raw_ops.StaticRegexReplace

    def replaced() -> Any:
        return run(lambda x: static(input=x, pattern=pattern, rewrite=rewrite), texts)

    by_template = replaced().tolist()
    monkeypatch.setattr(regex_ops, "is_never_empty", lambda pattern: False)
    assert replaced().tolist() == by_template


@pytest.mark.parametrize("pattern", [b"(o)(w+)", b"((.x)) *", b"(a)(b*)"])
@pytest.mark.parametrize("rewrite", [b"\\2\\1", b"<\\1>", b"\\1\n\\\\\\1", b"\\2\\0"])
def test_replacing_by_groups(pattern: bytes, rewrite: bytes) -> None:
    pieces = [b"a", b"ow", b"abb", b" x", b"\xc3\xa9x", b"\xff", b"y"]
    random = np.random.RandomState(0)
    texts = [b"".join(random.choice(pieces, 8)) for _ in range(40)]
    static = tf.raw_ops.StaticRegexReplace
    found = run(lambda x: static(input=x, pattern=pattern, rewrite=rewrite), texts)
    # No dot meets the byte that is no character: all of them have an x behind.
    template = rewrite.replace(b"\\0", rb"\g<0>")
    whole = pattern.replace(b".", rb"(?:[^\x80-\xff]|\xc3\xa9)")
    assert found.tolist() == [re.sub(whole, template, text) for text in texts]


def test_more_words_than_are_expected() -> None:
    texts = [b"a b  c" * 5, b"", b" " * 9, b"ab"] * 10
    found = run(lambda x: tf.string_split(x, " ", skip_empty=False), texts)
    expected = [word for text in texts if text for word in text.split(b" ")]
    assert found.values.tolist() == expected
    found = run(lambda x: tf.string_split(x, " ,b"), texts)
    expected = [word for text in texts for word in text.replace(b"b", b" ").split()]
    assert found.values.tolist() == expected


@pytest.mark.parametrize(
    "pattern",
    [b"a*", b"a?", b"\\b", b"^a", b"a|", b"(a)*", b"", b"x$", b"[a]*", b"a{0}", b"()"],
)
def test_patterns_that_may_match_nothing(pattern: bytes) -> None:
    assert not is_never_empty(pattern)
    assert all(is_never_empty(plain) for plain in PLAIN_PATTERNS)


def _base64(text: bytes) -> bytes | None:
    bare = text[:-2] + text[-2:].rstrip(b"=") if len(text) % 4 == 0 else text
    if len(bare) % 4 == 1 or re.search(rb"[^A-Za-z0-9_-]", bare):
        return None
    return base64.urlsafe_b64decode(bare + b"=" * (-len(bare) % 4))


_BASE64_PIECES = [b"A", b"Zg", b"-_8", b"=", b"==", b"YWJj", b"+", b"\n", b"\0", b""]


@given(
    st.lists(st.lists(st.sampled_from(_BASE64_PIECES), max_size=3).map(b"".join)),
    st.lists(st.binary(max_size=7)),
)
def test_base_64(texts: list[bytes], plain: list[bytes]) -> None:
    for count in (1, 20):  # one by one, and together
        given_texts = np.array(texts * count, object)
        expected = [_base64(text) for text in texts] * count
        if None in expected:
            with pytest.raises(InvalidArgumentError):
                run(tf.io.decode_base64, given_texts)
        else:
            assert run(tf.io.decode_base64, given_texts).tolist() == expected
    for pad in (False, True):
        found = run(lambda x: tf.io.encode_base64(x, pad), np.array(plain, object))  # noqa: B023
        coded = [base64.urlsafe_b64encode(text) for text in plain]
        assert found.tolist() == [x if pad else x.rstrip(b"=") for x in coded]


@pytest.mark.parametrize("shape", [(0, 2), (3, 0), (20, 1), (20, 3), (5, 2, 2), (4,)])
@pytest.mark.parametrize("kind", ["float64", "bool", "int8", "string"])
def test_fingerprints_of_rows(shape: tuple[int, ...], kind: str) -> None:
    random = np.random.RandomState(0)
    data = random.randint(0, 9, shape)
    if kind == "string":
        flat = [b"ab" * n for n in data.reshape(-1).tolist()]
        data = np.array(flat, object).reshape(shape)
    else:
        data = data.astype(kind)
    found = run(lambda x: tf.fingerprint(x), data)
    expected = []
    for row in data.reshape(shape[0], int(np.prod(shape[1:]))):
        content = row.tobytes()
        if kind == "string":
            texts = row.tolist()
            hashes = [fingerprint64(text) for text in texts]
            content = np.array(hashes, np.uint64).tobytes()
            content = texts[0] if len(texts) == 1 else content
        expected.append(list(fingerprint64(content).to_bytes(8, "little")))
    assert found.tolist() == expected
    assert found.shape == (shape[0], 8)


def test_words_with_zeros_in_them() -> None:
    words = [b"a\0b", b"", b"\0", b"cd"]
    spans = spans_of(words)
    assert [spans.word(i) for i in range(4)] == words


_RAW = tf.raw_ops
_EACH = {
    "strip": tf.strings.strip,
    "upper": tf.strings.upper,
    "lower": tf.strings.lower,
    "length": tf.strings.length,
    "characters": lambda x: tf.strings.length(x, unit="UTF8_CHAR"),
    "first": lambda x: tf.strings.substr(x, 0, 3),
    "rest": lambda x: tf.strings.substr(x, 0, -1),
    "last characters": lambda x: tf.strings.substr(x, -1, 2, unit="UTF8_CHAR"),
    "padded": lambda x: _RAW.DecodePaddedRaw(
        input_bytes=x, fixed_length=6, out_type=tf.int16
    ),
    "split": lambda x: tf.string_split(x, " \t").values,
    "split_v2": lambda x: _RAW.StringSplitV2(input=x, sep=" ")[1],
}


@pytest.mark.parametrize("name", _EACH)
def test_many_as_each(name: str) -> None:
    """What many give is what each gives alone."""
    texts = [b" a b ", b"\tXy\n", "\u6f22Z\u00e9".encode(), b"\xff\x80.", b"long " * 9]
    build = _EACH[name]
    alone = [run(build, [text]) for text in texts]
    found = run(build, texts * 40)
    assert found.tolist() == np.concatenate(alone * 40).tolist()
    assert found.dtype == alone[0].dtype


@pytest.mark.parametrize("dtype", [np.int8, np.int32, np.int64, np.uint64, np.uint8])
def test_texts_of_integers(dtype: Any) -> None:
    ends = np.iinfo(dtype)
    numbers = [0, 1, 9, 10, 99, 100, ends.max, ends.min, ends.min // 10, ends.max // 10]
    array = np.array(numbers * 40, dtype)
    found = run(tf.as_string, array)
    assert found.tolist() == [b"%d" % number for number in array.tolist()]


@pytest.mark.parametrize("count", [3, 30])
def test_raw_bytes(count: int) -> None:
    texts = [bytes([i, 1, 0, 128]) for i in range(count)]
    for kind in (np.uint8, np.bool_, np.int16, np.dtype(">i2")):
        little = np.dtype(kind).byteorder != ">"
        found = run(lambda x: tf.decode_raw(x, kind, little_endian=little), texts)  # noqa: B023
        whole = b"".join(texts)
        expected = np.frombuffer(whole, kind if kind != np.bool_ else np.uint8)
        expected = expected != 0 if kind == np.bool_ else expected
        assert found.tolist() == expected.reshape(count, -1).tolist()
    with pytest.raises(InvalidArgumentError, match="has size 4 != 5"):
        run(lambda x: tf.decode_raw(x, np.uint8), [*texts, b"12345", b"123456"])


@given(st.lists(st.floats(allow_nan=False), min_size=40, max_size=60))
def test_reals_as_they_are_written(numbers: list[float]) -> None:
    for texts in (
        [b"%r" % x for x in numbers],
        [b"%.3e" % x for x in numbers],
        [b"%.5f" % (x % 1e6) for x in numbers if abs(x) < 1e300] + [b"1E+2"] * 40,
    ):
        expected = np.array(list(map(float, texts)))
        assert numbers_of(texts, dtypes.float64).tobytes() == expected.tobytes()


@given(
    st.lists(st.integers(0, 5), max_size=5),
    st.lists(st.integers(1, 5), max_size=3),
    st.integers(-1, 3),
    st.booleans(),
)
def test_n_grams(
    sizes: list[int], widths: list[int], most: int, keep_short: bool
) -> None:
    splits = np.append(0, np.cumsum(sizes)).astype(np.int64)
    words = [b"w%d" % i for i in range(splits[-1])]
    expected = []
    for size, end in zip(sizes, splits[1:].tolist(), strict=True):
        row = words[end - size : end]
        grams = []
        for width in widths:
            pad = width - 1 if most < 0 else min(most, width - 1)
            padded = [b"<"] * pad + row + [b">"] * pad
            grams += [
                b" ".join(padded[i : i + width]) for i in range(len(padded) - width + 1)
            ]
        if not grams and keep_short and row:
            pad = max(most, 0)
            grams = [b" ".join([b"<"] * pad + row + [b">"] * pad)]
        expected.append(grams)
    found = run(
        lambda x: tf.raw_ops.StringNGrams(
            data=x,
            data_splits=splits,
            separator=" ",
            ngram_widths=widths,
            left_pad="<",
            right_pad=">",
            pad_width=most,
            preserve_short_sequences=keep_short,
        ),
        np.array(words, object),
    )
    assert found.ngrams.tolist() == [gram for row in expected for gram in row]
    counts = [len(row) for row in expected]
    assert found.ngrams_splits.tolist() == [0, *np.cumsum(counts)]


def test_texts_that_are_not_in_others() -> None:
    x = np.array([b"a", b"b", b"a", b"c", b""], object)
    found = run(lambda a, b: tf.setdiff1d(a, b), x, np.array([b"b", b""], object))
    assert found.out.tolist() == [b"a", b"a", b"c"]
    assert found.idx.tolist() == [0, 2, 3]
