"""CSV records, one by one and many at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tensorloom as tf
from tensorloom.framework.errors import InvalidArgumentError
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.parsing.decoding import RecordColumns


def run(build: Any, *values: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(build(*(tf.constant(value) for value in values)))


def test_csv_with_and_without_quotes() -> None:
    defaults: list[Any] = [[0], [""], [1.5]]
    plain = [b"%d,word,%d.5" % (i, i) for i in range(5)]
    numbers, words, reals = run(lambda x: tf.decode_csv(x, defaults), plain)
    assert numbers.tolist() == [0, 1, 2, 3, 4]
    assert words.tolist() == [b"word"] * 5
    assert reals.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    mixed = [*plain[:2], b',"a,b",', b"7,,3"]
    numbers, words, reals = run(lambda x: tf.decode_csv(x, defaults), mixed)
    assert numbers.tolist() == [0, 1, 0, 7]
    assert words.tolist() == [b"word", b"word", b"a,b", b""]
    assert reals.tolist() == [0.5, 1.5, 1.5, 3.0]


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize(
    ("records", "defaults", "options", "expected"),
    [
        (
            [b"1,a,2.5", b"NA,NA,NA", b",,", b"7,b,-0.0"],
            [[5], ["x"], [1.5]],
            {"na_value": "NA"},
            [[1, 5, 5, 7], [b"a", b"x", b"x", b"b"], [2.5, 1.5, 1.5, -0.0]],
        ),
        (
            [b"1,a,2.5", b'4,"b,c",3', b"7,d,1"],
            [[5], [2.5]],
            {"select_cols": [0, 2]},
            [[1, 4, 7], [2.5, 3.0, 1.0]],
        ),
        (
            [b"1,a,2.5", b"4,b", b"7,d,1,9"],
            [[5], ["x"]],
            {"select_cols": [0, 1]},
            [[1, 4, 7], [b"a", b"b", b"d"]],
        ),
        (np.array([], object), [[5], ["x"]], {"select_cols": [0, 2]}, [[], []]),
    ],
)
def test_csv_with_gaps_and_chosen_columns(
    records: Any, defaults: Any, options: Any, expected: Any
) -> None:
    found = run(lambda x: tf.decode_csv(x, defaults, **options), records)
    assert [column.tolist() for column in found] == expected


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize(
    ("records", "message"),
    [
        ([b"1,a", b"4,b"], "Expect 2 fields but have 1 in record 0"),
        ([b"1,a,2", b"4,b"], "Expect 2 fields but have 1 in record 1"),
        ([b'1,"a,2'] * 20, "Quoted field has to end with quote followed by delim"),
        ([b'1,"a"b",2'] * 20, "Quote inside a string has to be escaped by another"),
        ([b'1,"a,2'], "Quoted field has to end with quote followed by delim or end"),
        ([b'1,a"b,2'], "Unquoted fields cannot have quotes/CRLFs inside"),
        ([b",a,2", b"x,b,2"], "Field 0 in record 1 is not a valid int32: x"),
    ],
)
def test_csv_that_is_refused(records: list[bytes], message: str) -> None:
    def build(x: Any) -> Any:
        return tf.decode_csv(x, [[5], ["x"]], select_cols=[0, 2])

    with pytest.raises(InvalidArgumentError, match=message):
        run(build, records)


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize(
    ("records", "options", "expected"),
    [
        ([b"1,2,\r", b'3,4,"'], {"select_cols": [0]}, [[1, 3]]),
        ([b'"1",2,\r', b"3,4,"], {"select_cols": [0, 1]}, [[1, 3], [2, 4]]),
        ([b"\n1,2", b"3,\r\n4"], {}, [[1, 3], [2, 4]]),
        ([b"1,\n,2", b"3,,4"], {}, [[1, 3], [5, 5], [2, 4]]),
        ([b"\r,2,", b"1,2,\r,"], {"select_cols": [0, 2]}, [[5, 1], [5, 5]]),
    ],
)
@pytest.mark.parametrize("times", [1, 20])
def test_what_is_not_looked_at(
    records: list[bytes], options: Any, expected: list[list[int]], times: int
) -> None:
    defaults = [[5]] * len(expected)
    found = run(lambda x: tf.decode_csv(x, defaults, **options), records * times)
    assert [column.tolist() for column in found] == [x * times for x in expected]


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize(
    ("record", "options", "message"),
    [
        (b"", {}, "Expect 1 fields but have 0 in record"),
        (b"", {"select_cols": [0]}, "Expect 1 fields but have 0 in record"),
        (b"\n", {}, "Expect 1 fields but have 0 in record"),
        (b"1,\r", {"select_cols": [1]}, "Expect 1 fields but have 0 in record"),
        (b"1\n", {"use_quote_delim": False}, "Unquoted fields cannot have quotes/CRLF"),
        (b'"1', {}, "Quoted field has to end with quote followed by delim or end"),
        (b'1"', {"use_quote_delim": False}, 'is not a valid int32: 1"'),
        (b"99999999999", {}, "is not a valid int32: 99999999999"),
    ],
)
@pytest.mark.parametrize("times", [1, 20])
def test_a_record_that_is_refused(
    record: bytes, options: Any, message: str, times: int
) -> None:
    with pytest.raises(InvalidArgumentError, match=message):
        run(
            lambda x: tf.decode_csv(x, [[5]], **options),
            [*[b"1,2"[:1]] * times, record],
        )


def test_columns_in_another_order() -> None:
    decode = tf.raw_ops.DecodeCSV
    with pytest.raises(InvalidArgumentError, match="should be strictly increasing"):
        run(
            lambda x: decode(records=x, record_defaults=[[1], [1]], select_cols=[2, 0]),
            [b"1,2,3"],
        )


@pytest.mark.parametrize("chosen", [[0], [0, 1, 2]])
@pytest.mark.parametrize("times", [1, 20])
def test_another_number_of_columns(chosen: list[int], times: int) -> None:
    decode, given = tf.raw_ops.DecodeCSV, [[1], [1]]
    with pytest.raises(InvalidArgumentError, match="select_cols, but 2 columns"):
        run(
            lambda x: decode(records=x, record_defaults=given, select_cols=chosen),
            [b"1,2,3"] * times,
        )


_PIECES = ['"a"', '""', '"', "a", ";", ",", ",", "\xff", " ", "\n", "12", "\r", "NA"]
_RECORDS = st.lists(
    st.lists(st.sampled_from(_PIECES), max_size=12).map(
        lambda parts: "".join(parts).encode("latin-1")
    ),
    min_size=1,
    max_size=3,
)
_CHOSEN = st.sampled_from([[], [], [0], [1], [0, 2]])


@given(_RECORDS, st.sampled_from([b",", b";", b" "]), st.booleans(), _CHOSEN)
def test_many_are_read_as_one(
    lines: list[bytes], delimiter: bytes, quoted: bool, chosen: list[int]
) -> None:
    columns = RecordColumns(
        [dtypes.string] * (len(chosen) or 2), delimiter, quoted, b"NA", chosen
    )
    defaults = [np.array([b"none"], object)] * len(columns.types)
    together = columns.together(np.array([*lines, None], object)[:-1], defaults)
    try:
        expected = columns.one_by_one(lines, defaults)
    except InvalidArgumentError:
        assert together is None
    else:
        assert together is not None
        assert [x.tolist() for x in together] == [x.tolist() for x in expected]
