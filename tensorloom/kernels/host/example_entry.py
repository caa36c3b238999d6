"""What entries of Example messages of one writer have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.kernels.host.example_buffer import (
    BYTES,
    FLOAT,
    HEAD,
    INT64,
    Buffer,
    Heads,
    Ints,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

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

    def read(self, buffer: Buffer, at: Ints) -> tuple[Ints | int, Heads] | None:
        """(lengths, one number if all are the same; `Spans.heads`) of entries.

        None if one is not of this form. All is read in one go: from memory comes
        a line at a time, which holds the start of the value too.
        """
        count, size = len(at), len(self.key) + 10
        width = 8 * len(self.values) + HEAD
        found = buffer.items(f"V{width}")[at]
        words = found.view("<u8").reshape(count, -1)
        differs = [words[:, i] ^ value for i, value in enumerate(self.values)]
        differs[-1] &= self.whole[-1]
        heads: Heads = np.ndarray(count, f"V{HEAD}", found, size, (width,))
        if not any(d.any() for d in differs):
            return self.entry_length, heads
        if any((d & mask).any() for d, mask in zip(differs, self.fixed, strict=True)):
            return None
        entry, *inner = (_bytes(found, i) for i in (1, size - 5, size - 3, size - 1))
        for i, length in enumerate(inner):
            if (entry - length != size - 6 + 2 * i).any():
                return None
        return entry, heads


def _words_of(text: bytes) -> tuple[np.uint64, ...]:
    padded = text + bytes(-len(text) % 8)
    return tuple(np.frombuffer(padded, "<u8"))


def _bytes(found: NDArray[Any], index: int) -> Ints:
    """The byte at an index of each item."""
    flat = found.view(np.uint8).reshape(len(found), -1)
    return flat[:, index].astype(np.int64)
