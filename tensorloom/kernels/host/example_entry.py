"""What entries of Example messages of one writer have in common."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tensorloom.kernels.host.example_buffer import (
    BYTE,
    BYTES,
    EIGHT,
    FLOAT,
    HEAD,
    INT64,
    Buffer,
    Heads,
    Ints,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

_KINDS = (BYTES, FLOAT, INT64)
_MOST = 127  # what a length of one byte says
_EVERY_BIT = np.uint64((1 << 64) - 1)


@dataclass(frozen=True)
class EntryForm:
    """What entries have in common that differ in their values alone.

    An entry of short fields starts with 0A, its length, 0A, the key's length, the key,
    12, the feature's length, the kind, the list's length, 0A, the length of its only
    string or of its packed numbers. What one is longer than another, all four of its
    lengths are: as whole numbers, its words differ by so many times the same pattern.
    """

    key: bytes
    kind: int
    size: int  # of what stands before the value
    entry_length: int
    value_length: int
    # The start as words: what is in them, 1 for each length, and which bits count.
    words: tuple[np.uint64, ...]
    patterns: tuple[np.uint64, ...]
    masks: tuple[np.uint64, ...]

    @classmethod
    def at(cls, blob: bytes, place: int) -> EntryForm | None:
        """The form of the entry there; None if one of its lengths is not short."""
        return _form(blob[place : place + blob[place + 3] + 10])

    def read(self, buffer: Buffer, at: Ints) -> tuple[Ints | None, Heads] | None:
        """(how much longer each is, None if all are alike; their values' heads).

        None if one is not of this form. All is read in one go: from memory comes
        a line at a time, which holds the start of the value too.
        """
        count, width = len(at), 8 * len(self.words) + HEAD
        found = buffer.items(f"V{width}")[at]
        columns = found.view("<u8").reshape(count, -1).T
        heads: Heads = np.ndarray(count, f"V{HEAD}", found, self.size, (width,))
        if not any(other.any() for other in self._others(columns)):
            return None, heads
        more = ((columns[0] >> EIGHT) & BYTE).view(np.int64) - self.entry_length
        if more.min() < -self.value_length or more.max() > _MOST - self.entry_length:
            return None
        if any(other.any() for other in self._others(columns, more)):
            return None
        return more, heads

    def _others(
        self, columns: NDArray[np.uint64], more: Ints | None = None
    ) -> Iterable[NDArray[np.bool_]]:
        """Which entries have another word than the form has, so much longer."""
        for i, (word, pattern, mask) in enumerate(
            zip(self.words, self.patterns, self.masks, strict=True)
        ):
            wanted: NDArray[np.uint64] | np.uint64 = word
            if more is not None and pattern:
                wanted = more.view(np.uint64) * pattern + word
            got = columns[i] if mask == _EVERY_BIT else columns[i] & mask
            yield got != wanted


# A data set's entries have few forms.
@functools.lru_cache(1024)
def _form(start: bytes) -> EntryForm | None:
    """The form of an entry that starts like that."""
    size = len(start)
    if size < 10 or size != start[3] + 10 or start[3] > _MOST:
        return None
    tags = start[0], start[2], start[-6], start[-2]
    if tags != (0x0A, 0x0A, 0x12, 0x0A) or start[-4] not in _KINDS:
        return None
    inner, entry = start[-1], start[1]
    if (start[-5], start[-3]) != (inner + 4, inner + 2):
        return None
    if entry != inner + size - 2 or entry > _MOST:
        return None
    pattern = bytearray(size)
    pattern[1] = pattern[-5] = pattern[-3] = pattern[-1] = 1
    words = (_words_of(text) for text in (start, bytes(pattern), b"\xff" * size))
    return EntryForm(start[4:-6], start[-4], size, entry, inner, *words)


def _words_of(text: bytes) -> tuple[np.uint64, ...]:
    padded = text + bytes(-len(text) % 8)
    return tuple(np.frombuffer(padded, "<u8"))
