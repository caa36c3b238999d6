"""What entries of Example messages of one writer have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensorloom.kernels.host.example_buffer import (
    BYTE,
    BYTES,
    FLOAT,
    INT64,
    Ints,
    Words,
)

_KINDS = (BYTES, FLOAT, INT64)


@dataclass(frozen=True)
class EntryForm:
    """What entries have in common that differ in their values alone.

    An entry of short fields starts with 0A, its length, 0A, the key's length, the key,
    12, the feature's length, the kind, the list's length, 0A, the length of its only
    string or of its packed numbers.
    """

    key: bytes
    kind: int
    entry_length: int
    # The start as words, and which of their bits are it, without and with lengths.
    values: tuple[np.uint64, ...]
    fixed: tuple[np.uint64, ...]
    whole: tuple[np.uint64, ...]

    @classmethod
    def at(cls, blob: bytes, place: int) -> EntryForm | None:
        """The form of the entry there; None if one of its lengths is not short."""
        key_length = blob[place + 3]
        size = key_length + 10
        start = blob[place : place + size]
        if len(start) < size or key_length > 127:
            return None
        tags = start[0], start[2], start[-6], start[-2]
        if tags != (0x0A, 0x0A, 0x12, 0x0A) or start[-4] not in _KINDS:
            return None
        inner, entry = start[-1], start[1]
        if (start[-5], start[-3]) != (inner + 4, inner + 2):
            return None
        if entry != inner + size - 2 or entry > 127:
            return None
        whole = bytes([0xFF]) * size
        fixed = bytearray(whole)
        fixed[1] = fixed[-5] = fixed[-3] = fixed[-1] = 0x80
        words = (_words_of(text) for text in (start, bytes(fixed), whole))
        return cls(start[4:-6], start[-4], entry, *words)

    def lengths(self, words: Words, at: Ints) -> Ints | int | None:
        """The lengths of entries, one number if all are the same.

        None if one is not of this form.
        """
        found = [words[at + 8 * i if i else at] for i in range(len(self.values))]
        differs = [w ^ value for w, value in zip(found, self.values, strict=True)]
        differs[-1] &= self.whole[-1]
        if not any(d.any() for d in differs):
            return self.entry_length
        if any((d & mask).any() for d, mask in zip(differs, self.fixed, strict=True)):
            return None
        size = len(self.key)
        entry, *inner = (_byte(found, i) for i in (1, size + 5, size + 7, size + 9))
        for i, length in enumerate(inner):
            if (entry - length != size + 4 + 2 * i).any():
                return None
        return entry


def _words_of(text: bytes) -> tuple[np.uint64, ...]:
    padded = text + bytes(-len(text) % 8)
    return tuple(np.frombuffer(padded, "<u8"))


def _byte(words: list[Words], index: int) -> Ints:
    shift = np.uint64(8 * (index % 8))
    return ((words[index // 8] >> shift) & BYTE).view(np.int64)
