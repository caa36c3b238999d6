"""Records of CSV files, whatever pieces the files are read in."""

from __future__ import annotations

import pytest

from tensorloom.framework import errors
from tensorloom.kernels.host.data.pipeline.csv_records import records

CASES = [
    (b"a,b\nc,d\n", [["a", "b"], ["c", "d"]]),
    (b"a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
    (b"a,b\rc,d\r\re\r", [["a", "b"], ["c", "d"], [""], ["e"]]),
    (b'"x\r\ny",1\r\n2,"a""b"', [["x\r\ny", "1"], ["2", 'a"b']]),
    (b',,""\n\n,', [["", "", ""], [""], ["", ""]]),
    (b"", []),
    # A malformed record ends with its line.
    (b'1,2"3,4\n"a"b",c\nd,e\n', ["Unquoted", "Quote inside", ["d", "e"]]),
    (b'a,"b\nc', ["Reached end of file"]),
]


@pytest.mark.parametrize(("text", "expected"), CASES, ids=lambda c: str(c)[:30])
def test_records(text: bytes, expected: list[object]) -> None:
    for size in (1, 2, 3, 5, 100):
        blocks = [text[i : i + size] for i in range(0, len(text), size)]
        found = list(records(blocks, b",", is_quoted=True))
        assert len(found) == len(expected), size
        for record, wanted in zip(found, expected, strict=True):
            if isinstance(record, errors.OpError):
                assert record.message.startswith(str(wanted))
            else:
                assert [field.decode() for field in record] == wanted


def test_quotes_as_text() -> None:
    found = list(records([b'"a,b"\n"\n'], b",", is_quoted=False))
    assert found == [[b'"a', b'b"'], [b'"']]
