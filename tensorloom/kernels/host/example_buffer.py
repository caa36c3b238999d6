"""The bytes of a batch of Example messages, and numbers read from many places in them.

See `example_wire.py` for what stands in the bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Heads = NDArray[np.void]  # items of HEAD bytes

MISSING, BYTES, FLOAT, INT64 = 0, 0x0A, 0x12, 0x1A

CONTINUED = np.uint64(0x8080808080808080)
LOW_BITS = np.uint64(0x7F)
ONE, BYTE, SEVEN, EIGHT = (np.uint64(n) for n in (1, 0xFF, 7, 8))
# Bytes at the start of a value that are read together with what stands before it.
HEAD = 16
# Beyond so many steps, a few messages alone are left to protobuf: a hostile message
# could have a million empty entries.
PATIENCE, CROWD = 64, 32


class Irregular(Exception):
    """These bytes are not as a standard writer writes them."""


class Buffer:
    """The bytes of a batch, one message after another."""

    def __init__(self, texts: list[bytes]) -> None:
        # An entry's start and its value's can be read at every position.
        self.blob = b"".join([*texts, bytes(200)])
        self.words: Words = np.ndarray(
            len(self.blob) - 8, np.dtype("<u8"), self.blob, strides=(1,)
        )
        lengths = np.fromiter(map(len, texts), np.int64, len(texts))
        self.ends: Ints = lengths.cumsum()
        self.starts: Ints = self.ends - lengths

    def items(self, dtype: Any) -> NDArray[Any]:
        """A view with an item of a dtype at every position."""
        kind = np.dtype(dtype)
        return np.ndarray(
            len(self.blob) - kind.itemsize + 1, kind, self.blob, strides=(1,)
        )

    def field(self, at: Ints) -> tuple[Words, Ints, Ints]:
        """(tag byte, where the contents start, their length) of fields."""
        words = self.words[at]
        length, size = varint(words >> EIGHT)
        return words & BYTE, at + 1 + size, length


def varint(words: Words) -> tuple[Ints, Ints | int]:
    """(values, sizes in bytes) of varints at the low end of words, up to 35 bits.

    Longer ones give a length that no message has.
    """
    low = words & BYTE
    if not (low >> SEVEN).any():
        return low.view(np.int64), 1
    stops = ~words & CONTINUED
    mask = stops ^ (stops - ONE)
    value = np.zeros(len(words), np.uint64)
    size = np.zeros(len(words), np.int64)
    masked = words & mask
    for i in range(5):
        shift = np.uint64(8 * i)
        value |= ((masked >> shift) & LOW_BITS) << np.uint64(7 * i)
        size += ((mask >> shift) & ONE).view(np.int64)
    too_long = (mask >> np.uint64(40)).astype(bool)
    value[too_long] = np.uint64(1 << 40)
    return value.view(np.int64), size


@dataclass(frozen=True)
class Spans:
    """Where a feature's list lies in each message, and of what kind it is."""

    kind: NDArray[np.uint8]
    start: Ints
    length: Ints


@dataclass(frozen=True)
class AlikeSpans:
    """Where each message has one string, or numbers packed in one piece.

    They are under 128 bytes long, and those of a piece are what is described: not the
    list that they are in.
    """

    kind: int
    entries: Ints  # where their entries start
    offset: int  # from there to the value
    length: Ints | int  # a number if all have the same
    # Their first bytes, and what follows if they are shorter.
    heads: Heads

    @property
    def start(self) -> Ints:
        """Where each starts."""
        return self.entries + self.offset

    @property
    def lengths(self) -> Ints:
        """The length of each."""
        if isinstance(self.length, int):
            return np.full(len(self.entries), self.length)
        return self.length

    def first(self, size: int) -> NDArray[np.void]:
        """The first bytes of each, at most HEAD, as an array of its own."""
        return self.heads.getfield(f"V{size}").copy()
