"""The ids of a sparse tensor, made ready for a lookup of rows of a table."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop

_U = np.uint64
# Knuth's multiplicative hashing: the upper bits of the product are the hash.
_MIX: Final = _U(0x9E3779B97F4A7C15)
_HALF: Final = _U(32)


@loop
def count_valid(indices: Any, ids: Any, counts: Any) -> int:
    """How many ids of each row are not negative, up to the first row that is outside.

    Args:
      indices: int64 [n, 2], the row comes first.
      ids: int64 [n].
      counts: int64 [rows], zeros; written.

    Returns:
      The position of the first id whose row is outside, or -1.
    """
    for i in range(len(ids)):
        if ids[i] >= 0:
            row = indices[i, 0]
            if row < 0 or row >= len(counts):
                return i
            counts[row] += 1
    return -1


@loop
def fill(indices: Any, ids: Any, default: int, counts: Any, rows: Any, out: Any) -> int:
    """Brings the valid ids of each row together; a row without any gets the default.

    Args:
      indices, ids: as above, all rows inside.
      counts: int64 [rows], how many valid ids each row has; it changes.
      rows: int32 or int64 [n + rows], written: the row of each id.
      out: int64 [n + rows], written: the ids.

    Returns:
      How many ids there are.
    """
    end = 0
    for row in range(len(counts)):
        begin = end
        end += max(counts[row], 1)
        for i in range(begin, end):
            rows[i] = row
        out[begin] = default
        counts[row] = begin
    for i in range(len(ids)):
        if ids[i] >= 0:
            row = indices[i, 0]
            out[counts[row]] = ids[i]
            counts[row] += 1
    return end


@loop
def find_distinct(ids: Any, slots: Any, distinct: Any, places: Any) -> int:
    """The different ids in the order in which they come first, and where each is.

    Args:
      ids: int64 [n], none negative.
      slots: int32, zeros, a power of two that is more than n; written.
      distinct: int64 [n], written: up to that many.
      places: int32 or int64 [n], written: the place of each id among the distinct.
    """
    last, count = len(slots) - 1, 0
    for i in range(len(ids)):
        key = ids[i]
        place = np.int64(_U(key) * _MIX >> _HALF) & last
        while slots[place] != 0 and distinct[slots[place] - 1] != key:
            place = (place + 1) & last
        if slots[place] == 0:
            distinct[count] = key
            count += 1
            slots[place] = count
        places[i] = slots[place] - 1
    return count


@loop
def ready_ids(
    indices: Any,
    ids: Any,
    default: int,
    rows: Any,
    distinct: Any,
    places: Any,
    is_empty: Any,
) -> tuple[int, int, int]:
    """All of the above in one call.

    Args:
      indices: int64 [n, 2].
      ids: int64 [n].
      default: what a row without valid ids gets.
      rows: int32 [n + count], written: the row of each id.
      distinct: int64 [n + count], written: the different ids.
      places: int32 or int64 [n + count], written: where each id is among these.
      is_empty: bool [count], written: whether a row has no valid id.

    Returns:
      (the position of the first id whose row is outside, or -1, how many ids there are
      with the defaults, how many different ones).
    """
    counts = np.zeros(len(is_empty), np.int64)
    bad = count_valid(indices, ids, counts)
    if bad >= 0:
        return bad, 0, 0
    for row in range(len(counts)):
        is_empty[row] = counts[row] == 0
    filled = np.empty(len(rows), np.int64)
    size = fill(indices, ids, default, counts, rows, filled)
    room = 1
    while room <= 2 * size:
        room *= 2
    slots = np.zeros(room, np.int32)
    return -1, size, find_distinct(filled[:size], slots, distinct, places)
