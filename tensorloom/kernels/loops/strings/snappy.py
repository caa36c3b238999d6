"""Snappy's blocks without their heads, after the format description of its authors."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def _literal(data: Any, begin: int, end: int, made: Any, out: int) -> int:
    """Writes the bytes since the last copy as they are; returns what comes behind."""
    count = end - begin - 1
    if count < 0:
        return out
    if count < 60:
        made[out] = count << 2
        out += 1
    else:
        width = 1
        while count >> (8 * width):
            width += 1
        made[out] = (59 + width) << 2
        for k in range(width):
            made[out + 1 + k] = count >> (8 * k) & 0xFF
        out += 1 + width
    for k in range(begin, end):
        made[out] = data[k]
        out += 1
    return out


@loop
def compress(data: Any, made: Any, places: Any) -> int:
    """Compresses bytes; returns how many were made.

    Args:
      data: uint8 [n].
      made: gets the block, uint8 [at least 32 + n + n // 6].
      places: where four bytes with a hash were seen last, int64 [16384], all -1.
    """
    size, at, literal, out = len(data), 0, 0, 0
    misses = 0
    while at + 4 <= size:
        word = (
            int(data[at])
            | int(data[at + 1]) << 8
            | int(data[at + 2]) << 16
            | int(data[at + 3] & 0x7F) << 24
        )
        key = (word * 506832829 & 0xFFFFFFFF) >> 18
        before = places[key]
        places[key] = at
        if (
            before < 0
            or at - before > 65535
            or data[before] != data[at]
            or data[before + 1] != data[at + 1]
            or data[before + 2] != data[at + 2]
            or data[before + 3] != data[at + 3]
        ):
            # What does not repeat is passed over in longer and longer steps.
            misses += 1
            at += 1 + (misses >> 5)
            continue
        misses = 0
        end = at + 4
        while end < size and data[before + end - at] == data[end]:
            end += 1
        out = _literal(data, literal, at, made, out)
        offset, left = at - before, end - at
        while left > 0:
            piece = min(left, 64)
            made[out] = 2 | (piece - 1) << 2
            made[out + 1] = offset & 0xFF
            made[out + 2] = offset >> 8
            out += 3
            left -= piece
        at = literal = end
    return _literal(data, literal, size, made, out)


@loop
def _number(data: Any, at: int, width: int) -> int:
    """A number of some bytes, the lowest first."""
    value = 0
    for k in range(width):
        value |= int(data[at + k]) << (8 * k)
    return value


@loop
def decompress(data: Any, begin: int, made: Any) -> bool:
    """Fills `made` with what a block holds; False for one that is damaged.

    Args:
      data: uint8 [n].
      begin: where the block's head ends in it.
      made: uint8, of the size that the head says.
    """
    at, out, end, size = begin, 0, len(data), len(made)
    while at < end:
        tag = int(data[at])
        at += 1
        if tag & 3 == 0:
            length = (tag >> 2) + 1
            width = length - 60
            if width > 0:
                if at + width > end:
                    return False
                length = _number(data, at, width) + 1
                at += width
            if at + length > end or out + length > size:
                return False
            for k in range(length):
                made[out + k] = data[at + k]
            at += length
            out += length
            continue
        width = 1 if tag & 3 == 1 else (2 if tag & 3 == 2 else 4)
        if at + width > end:
            return False
        offset = _number(data, at, width)
        length = (tag >> 2) + 1
        if width == 1:
            length = (tag >> 2 & 7) + 4
            offset |= (tag >> 5) << 8
        at += width
        if offset < 1 or offset > out or out + length > size:
            return False
        # A copy may reach into what it writes: then it repeats.
        for k in range(length):
            made[out + k] = made[out + k - offset]
        out += length
    return out == size
