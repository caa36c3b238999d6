"""Where words and characters lie in a buffer of texts.

All take:
  blob: the bytes of all texts, uint8; eight can be read where the last one ends.
  starts, lengths: of the texts in it, int64 [texts], looked at by the caller.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop
from tensorloom.kernels.loops.strings.byte_words import first_mark, marks_in, word_at

_U = np.uint64
_ONE: Final = _U(1)
#: Which empty words count: none; all but that of an empty text; all.
NONE, INSIDE, ALL = 0, 1, 2


@loop
def find_words(
    blob: Any,
    starts: Any,
    lengths: Any,
    separators: Any,
    empty: int,
    word_starts: Any,
    word_lengths: Any,
    counts: Any,
) -> Any:
    """Where the words of each text are.

    Args:
      separators: the bytes that separate words, each eight times in a word, uint64.
      empty: which empty words count, `NONE`, `INSIDE` or `ALL`.
      word_starts, word_lengths: get where words begin and how long they are, int64.
      counts: gets how many words each text has, int64 [texts].

    Returns:
      How many words there are; -1 if there was no room for them.
    """
    place, room = _U(0), len(word_starts)
    least = 0 if empty else 1
    for i in range(len(starts)):
        first, end, before = starts[i], starts[i] + lengths[i], place
        for at in range(first, end, 8):
            ends = marks_in(word_at(blob, at), separators)
            if end - at < 8:
                ends &= (_ONE << _U(8 * (end - at))) - _ONE
            if np.int64(place) + 9 > room:  # those that end here, and the last one
                return -1
            while ends:
                last = at + first_mark(ends)
                ends &= ends - _ONE
                # Without a branch: the next word takes the place of one too short.
                word_starts[place], word_lengths[place] = first, last - first
                place += _U(last - first >= least)
                first = last + 1
        if end - first >= least and (end > starts[i] or empty == ALL):
            if np.int64(place) >= room:
                return -1
            word_starts[place], word_lengths[place] = first, end - first
            place += _ONE
        counts[i] = np.int64(place - before)
    return np.int64(place)


@loop
def strip(blob: Any, starts: Any, lengths: Any, drops: Any) -> None:
    """Takes bytes away from the ends of texts.

    Args:
      starts, lengths: get those of what is left.
      drops: whether a byte is taken away, bool [256].
    """
    for i in range(len(starts)):
        begin, end = starts[i], starts[i] + lengths[i]
        while begin < end and drops[blob[begin]]:
            begin += 1
        while end > begin and drops[blob[end - 1]]:
            end -= 1
        starts[i], lengths[i] = begin, end - begin


@loop
def pad(blob: Any, starts: Any, lengths: Any, rows: Any) -> None:
    """Texts cut or filled with zeros to one length, uint8 [texts, length]."""
    for i in range(len(starts)):
        kept = min(lengths[i], rows.shape[1])
        for k in range(kept):
            rows[i, k] = blob[starts[i] + k]
        for k in range(kept, rows.shape[1]):
            rows[i, k] = 0


@loop
def count_characters(blob: Any, starts: Any, lengths: Any, counts: Any) -> None:
    """How many bytes of each text begin a character of UTF-8; `counts` gets them."""
    for i in range(len(starts)):
        count = 0
        for at in range(starts[i], starts[i] + lengths[i]):
            count += (blob[at] & 0xC0) != 0x80
        counts[i] = count


@loop
def parts_in_bytes(starts: Any, lengths: Any, begins: Any, sizes: Any) -> int:
    """Takes a part of each text.

    Args:
      starts, lengths: of the texts; they get those of the parts.
      begins: where a part begins, from the end if negative, int64 [texts] or [1].
      sizes: of the parts; a negative one goes to the end.

    Returns:
      The place of the first text outside of which its part begins, or -1.
    """
    for i in range(len(starts)):
        begin, size = begins[i % len(begins)], sizes[i % len(sizes)]
        if not -lengths[i] <= begin <= lengths[i]:
            return i
        if begin < 0:
            begin += lengths[i]
        rest = lengths[i] - begin
        starts[i] += begin
        lengths[i] = rest if size < 0 else min(size, rest)
    return -1


@loop
def parts_in_characters(
    blob: Any, starts: Any, lengths: Any, begins: Any, sizes: Any
) -> int:
    """As `parts_in_bytes`, in characters of UTF-8; one of a negative size is empty."""
    for i in range(len(starts)):
        begin, size = begins[i % len(begins)], sizes[i % len(sizes)]
        first, end = starts[i], starts[i] + lengths[i]
        if begin < 0:
            count = 0
            for at in range(first, end):
                count += (blob[at] & 0xC0) != 0x80
            begin += count
            if begin < 0:
                return i
        at = _after(blob, first, end, begin)
        if at < 0:
            return i
        last = _after(blob, at, end, size) if size > 0 else at
        starts[i], lengths[i] = at, (end if last < 0 else last) - at
    return -1


@loop
def _after(blob: Any, at: int, end: int, count: int) -> int:
    """Where the next character begins behind so many; -1 if there are fewer."""
    # What continues a character in front of the first one belongs to none.
    while at < end:
        if (blob[at] & 0xC0) != 0x80:
            if count == 0:
                return at
            count -= 1
        at += 1
    return at if count == 0 else -1
