"""Where the words of a batch of strings lie, found without making them.

Strings that are only looked up need not become Python objects: their places in one
buffer are enough, and NumPy finds 100,000 of them in two milliseconds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]

#: So many bytes stand behind the texts: eight can be read where the last word starts.
PADDING = 16


@dataclass(frozen=True)
class Spans:
    """The words of some texts."""

    blob: bytes  # all texts; eight bytes can be read from wherever a word starts
    starts: Ints  # where each word starts
    lengths: Ints  # of each word, in bytes
    counts: Ints  # how many words each text has

    @cached_property
    def longest(self) -> int:
        """The length of the longest word."""
        return int(self.lengths.max()) if len(self.lengths) else 0

    def word(self, place: int) -> bytes:
        """One of the words."""
        start = int(self.starts[place])
        return self.blob[start : start + int(self.lengths[place])]


def joined(texts: list[bytes], padding: int = 0) -> tuple[bytes, Ints]:
    """(all texts, a zero behind each and `padding` more, where the texts end)."""
    blob = b"\0".join([*texts, bytes(padding)])
    ends = np.flatnonzero(np.frombuffer(blob, np.uint8, len(blob) - padding) == 0)
    if len(ends) == len(texts):
        # The zeros of no text: found in a fourth of the time of asking for lengths.
        return blob, ends
    lengths = np.fromiter(map(len, texts), np.int64, len(texts))
    return blob, (lengths + 1).cumsum() - 1


def spans_of(words: list[bytes]) -> Spans:
    """Words that are strings already, each a text of its own."""
    blob, ends = joined(words, PADDING)
    starts = np.zeros_like(ends)
    starts[1:] = ends[:-1] + 1
    return Spans(blob, starts, ends - starts, np.ones_like(ends))


def even_spans(data: bytes, count: int, size: int) -> Spans:
    """Words of `size` bytes each, one behind the other."""
    sizes = np.full(count, size)
    blob = data + bytes(PADDING)
    return Spans(blob, np.arange(count) * size, sizes, np.ones_like(sizes))


def words_at(blob: bytes) -> NDArray[np.uint64]:
    """A view with the eight bytes from every position, as a number."""
    return np.ndarray(len(blob) - 7, np.dtype("<u8"), blob, strides=(1,))


def blocks_at(blob: bytes) -> NDArray[np.void]:
    """A view with the 64 bytes from every position, which are taken at once."""
    return np.ndarray(len(blob) - 63, np.dtype("V64"), blob, strides=(1,))


def split_at_any(texts: list[bytes], separators: bytes) -> Spans:
    """Split at runs of some bytes, without empty words."""
    return _split(texts, separators, keep_empty=False)


def split_at_each(texts: list[bytes], separator: bytes) -> Spans:
    """Split at each occurrence of a byte, with empty words."""
    return _split(texts, separator, keep_empty=True)


def _split(texts: list[bytes], separators: bytes, *, keep_empty: bool) -> Spans:
    first = separators[:1]
    blob = first.join([b"", *texts, bytes(PADDING)])
    if len(separators) > 1:
        blob = blob.translate(bytes.maketrans(separators, first * len(separators)))
    # Behind each text stands a separator; the last of them ends the last word.
    ends = (np.fromiter(map(len, texts), np.int64, len(texts)) + 1).cumsum()
    used = np.frombuffer(blob, np.uint8, int(ends[-1]) + 1 if texts else 1)
    places = np.flatnonzero(used == first[0])
    before, lengths = places[:-1], np.diff(places)
    lengths -= 1
    if not keep_empty and not lengths.all():
        is_word = lengths > 0
        before, lengths = before[is_word], lengths[is_word]
    counts = np.diff(np.searchsorted(before, ends), prepend=0)
    return Spans(blob, before + 1, lengths, counts)
