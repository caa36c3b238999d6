"""Tables that say which of many keys a string or an integer is.

A table is a power of two of slots, int64, of which a key takes the first free one from
the place on that its hash says. A slot holds the upper half of the hash, and one more
than the number of the key; 0 if it is free. At least half of the slots are free.

Strings are given as the bytes of all (uint8; eight can be read where the last ends),
and where they start and how long they are (int64 [n]).
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop
from tensorloom.kernels.loops.strings.byte_words import word_at

_U = np.uint64
_MIX: Final = _U(0x9E3779B97F4A7C15)
_MIX_1: Final = _U(0xBF58476D1CE4E5B9)
_MIX_2: Final = _U(0x94D049BB133111EB)
_ONE, _HALF, _LOWER = _U(1), _U(32), _U(0xFFFFFFFF)
# No key stands farther from its place, or there is no table: of keys that were made to
# have one place, each would be compared with all.
_FARTHEST: Final = 256


@loop
def mixed(h: Any) -> Any:
    """Each bit changes half of the others: what ends SplitMix64 (Steele et al.)."""
    h = (h ^ h >> _U(30)) * _MIX_1
    h = (h ^ h >> _U(27)) * _MIX_2
    return h ^ h >> _U(31)


@loop
def _rest(blob: Any, at: int, size: int) -> Any:
    """The fewer than eight bytes behind the last whole word."""
    return word_at(blob, at + (size & ~7)) & ((_ONE << _U(8 * (size & 7))) - _ONE)


@loop
def _hash(blob: Any, at: int, size: int) -> Any:
    h = _U(size) * _MIX
    place, last = at, at + (size & ~7)
    while place < last:  # a range with steps takes longer than a short key
        h = (h ^ word_at(blob, place)) * _MIX
        h ^= h >> _U(29)
        place += 8
    return mixed(h ^ _rest(blob, at, size))


@loop
def _is_same(blob: Any, at: int, others: Any, other: int, size: int) -> Any:
    i, last = 0, size & ~7
    while i < last:
        if word_at(blob, at + i) != word_at(others, other + i):
            return False
        i += 8
    return _rest(blob, at, size) == _rest(others, other, size)


@loop
def _put(slots: Any, h: Any, key: int) -> bool:
    """Whether there is a free slot near the place of a hash, which the key gets."""
    last = len(slots) - 1
    place = np.int64(h) & last
    for _ in range(_FARTHEST):
        if slots[place] == 0:
            slots[place] = np.int64(h >> _HALF << _HALF) | (key + 1)
            return True
        place = (place + 1) & last
    return False


@loop
def index_strings(blob: Any, starts: Any, lengths: Any, slots: Any) -> int:
    """Puts distinct keys into a table of free slots.

    Returns:
      The number of the first key for which there is no place, or -1.
    """
    for i in range(len(starts)):
        if not _put(slots, _hash(blob, starts[i], lengths[i]), i):
            return i
    return -1


@loop
def find_strings(
    slots: Any,
    key_blob: Any,
    key_starts: Any,
    key_lengths: Any,
    blob: Any,
    starts: Any,
    lengths: Any,
    found: Any,
) -> None:
    """The number of the key that each string is, or that of keys; `found` gets it."""
    last, none = _U(len(slots) - 1), len(key_starts)
    for i in range(len(starts)):
        at, size = starts[i], lengths[i]
        h = _hash(blob, at, size)
        place = h & last
        result: Any = none
        # Unsigned: such an index is no position from the end.
        slot = _U(slots[place])
        while slot != 0:
            key = (slot & _LOWER) - _ONE
            if (
                slot >> _HALF == h >> _HALF
                and key_lengths[key] == size
                and _is_same(blob, at, key_blob, key_starts[key], size)
            ):
                result = np.int64(key)
                break
            place = (place + _ONE) & last
            slot = _U(slots[place])
        found[i] = result


@loop
def index_integers(keys: Any, slots: Any) -> int:
    """As `index_strings`, of keys int64."""
    for i in range(len(keys)):
        if not _put(slots, mixed(_U(keys[i])), i):
            return i
    return -1


@loop
def find_integers(slots: Any, keys: Any, numbers: Any, found: Any) -> None:
    """As `find_strings`, of integers int64."""
    last = _U(len(slots) - 1)
    for i in range(len(numbers)):
        place = mixed(_U(numbers[i])) & last
        found[i] = len(keys)
        slot = _U(slots[place])
        while slot != 0:
            key = (slot & _LOWER) - _ONE
            if keys[key] == numbers[i]:
                found[i] = np.int64(key)
                break
            place = (place + _ONE) & last
            slot = _U(slots[place])
