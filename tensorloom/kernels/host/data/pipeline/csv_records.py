"""Records of CSV files as lists of fields: a line each, but for quoted line ends.

A record that is malformed ends where its line does, so that the next one can be read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument

#: The fields of a record, or what is wrong with it.
Record = list[bytes] | errors.OpError

_UNQUOTED = "Unquoted fields cannot have quotes inside"
_UNESCAPED = "Quote inside a string has to be escaped by another quote"
_OPEN = "Reached end of file without closing quoted field in record"


def records(
    blocks: Iterable[bytes], separator: bytes, is_quoted: bool
) -> Iterator[Record]:
    """The records of a file; a line ends with a line feed, a carriage return or both.

    Args:
      blocks: the file's bytes, in pieces of any size.
      separator: the one byte between fields.
      is_quoted: whether a field in double quotes may have separators and line ends.
    """
    rest = b""  # of a record that is not complete yet
    for block in blocks:
        text = rest + block
        if is_quoted and b'"' in text:
            at = 0
            while found := _record(text, at, separator, at_end=False):
                record, at = found
                yield record
            rest = text[at:]
            continue
        *lines, rest = text.split(b"\n")
        if b"\r" not in text:
            for line in lines:
                yield line.split(separator)
            continue
        for line in lines:
            for part in line.removesuffix(b"\r").split(b"\r"):
                yield part.split(separator)
    at = 0
    while at < len(rest):
        found = _record(rest, at, separator, at_end=True, is_quoted=is_quoted)
        assert found is not None
        record, at = found
        yield record


def _record(
    text: bytes, at: int, separator: bytes, at_end: bool, is_quoted: bool = True
) -> tuple[Record, int] | None:
    """The record that begins at a place and where the next one does.

    None if more of the file is needed to tell; never where `at_end`.
    """
    fields: list[bytes] = []
    problem = ""
    while True:
        begin = at
        if is_quoted and text[at : at + 1] == b'"':
            at, why = _end_of_quoted(text, at + 1, separator)
            field = text[begin + 1 : at - 1].replace(b'""', b'"')
            if at < 0:
                if not at_end:
                    return None
                at, why, field = len(text), _OPEN, b""
        else:
            at = _end_of_unquoted(text, at, separator)
            field = text[begin:at]
            why = _UNQUOTED if is_quoted and b'"' in field else ""
        fields.append(field)
        problem = problem or why
        if at >= len(text) and not at_end:
            return None
        if text[at : at + 1] != separator:
            break
        at += 1
    if text[at : at + 1] == b"\r":
        if at + 1 == len(text) and not at_end:
            return None  # a line feed may follow
        at += text[at + 1 : at + 2] == b"\n"
    return (invalid_argument(problem) if problem else fields), at + 1


def _end_of_unquoted(text: bytes, at: int, separator: bytes) -> int:
    places = (text.find(end, at) for end in (separator, b"\n", b"\r"))
    return min((place for place in places if place >= 0), default=len(text))


def _end_of_quoted(text: bytes, at: int, separator: bytes) -> tuple[int, str]:
    """After the closing quote, or -1; and what is wrong with the field."""
    why = ""
    while True:
        at = text.find(b'"', at) + 1
        if at == 0:
            return -1, why
        after = text[at : at + 1]
        if after in (b"", b"\n", b"\r", separator):
            return at, why
        if after != b'"':
            why = _UNESCAPED
        at += 1
