"""Where the fields of CSV records lie in a buffer of records (RFC 4180)."""

from __future__ import annotations

from typing import Any, Final

from tensorloom.kernels.loops import loop
from tensorloom.kernels.loops.strings.byte_words import first_mark, marks_in, word_at

_QUOTE: Final = 34
_LINE_ENDS: Final = 3  # marks without a quote


@loop
def find_fields(
    blob: Any,
    starts: Any,
    lengths: Any,
    marks: Any,
    columns: Any,
    every: bool,
    field_starts: Any,
    field_lengths: Any,
) -> int:
    """Finds fields of records.

    Args:
      blob: the bytes of all records, uint8; eight can be read where the last one ends.
        Quoted fields lose there the quotes that only double others.
      starts, lengths: of the records in it, int64 [records], looked at by the caller.
      marks: the delimiter, the two bytes of line ends, which may stand in front of
        fields and in quoted ones, and the quote if it is one. Each of them eight times
        in a word, uint64.
      columns: for each field of a record its column, int64; -1 for one not wanted.
      every: whether records have no fields but those.
      field_starts, field_lengths: get where the fields are, int64 [columns, records].

    Returns:
      The place of the first record that has not these fields, or -1.
    """
    delimiter, wanted = marks[0] & 0xFF, len(field_starts)
    for i in range(len(starts)):
        at, end, field, count = starts[i], starts[i] + lengths[i], 0, 0
        # What stands behind the fields wanted is not looked at.
        while at < end and (every or count < wanted):
            if blob[at] == 10 or blob[at] == 13:
                at += 1
                continue
            first, stop, at = _field(blob, at, end, marks)
            if stop < 0 or (at < end and blob[at] != delimiter):
                return i
            count += _put(columns, field, i, first, stop, field_starts, field_lengths)
            field += 1
            at += 1
        if end > starts[i] and blob[end - 1] == delimiter and (every or count < wanted):
            count += _put(columns, field, i, end, end, field_starts, field_lengths)
            field += 1
        if count != wanted or (every and field != count):
            return i
    return -1


@loop
def _put(
    columns: Any, field: int, i: int, first: int, stop: int, starts: Any, lengths: Any
) -> int:
    """Whether a field of a record is wanted; notes where it is."""
    if field >= len(columns) or columns[field] < 0:
        return 0
    column = columns[field]
    starts[column, i], lengths[column, i] = first, stop - first
    return 1


@loop
def _field(blob: Any, at: int, end: int, marks: Any) -> Any:
    """(where a text begins, where it ends, what is behind); -1 if it does not end."""
    if len(marks) > _LINE_ENDS and blob[at] == _QUOTE:
        stop, behind = _unquoted(blob, at + 1, end)
        return at + 1, stop, behind
    stop = _next_mark(blob, at, end, marks)
    return at, stop, stop


@loop
def _next_mark(blob: Any, at: int, end: int, marks: Any) -> Any:
    while at < end:
        found = first_mark(marks_in(word_at(blob, at), marks))
        if found < 8:
            return min(at + found, end)
        at += 8
    return end


@loop
def _unquoted(blob: Any, at: int, end: int) -> Any:
    """(where the text of a quoted field ends, what is behind); -1 if it does not."""
    stop = at
    while at < end:
        if blob[at] == _QUOTE:
            if at + 1 == end or blob[at + 1] != _QUOTE:
                return stop, at + 1
            at += 1
        blob[stop] = blob[at]
        stop += 1
        at += 1
    return -1, -1


@loop
def find_text(blob: Any, starts: Any, lengths: Any, text: Any, found: Any) -> None:
    """Whether fields are empty or a certain text, uint8; `found` gets it, bool."""
    for i in range(len(starts)):
        size = lengths[i]
        same = size == len(text)
        for k in range(size if same else 0):
            same &= blob[starts[i] + k] == text[k]
        found[i] = same or size == 0
