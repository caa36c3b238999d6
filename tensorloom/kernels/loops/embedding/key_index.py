"""An index of keys that come and go, and rows that are found by it.

The index is a power of two of slots, int64, of which a key takes the first free one
from the place on that its hash says. A slot holds the upper half of the hash, and one
more than the row of the key; 0 if it is free. At least half of the slots are free. When
a key goes, those behind it move up: nothing marks where it was.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop
from tensorloom.kernels.loops.lookup.key_tables import mixed

_U = np.uint64
_ONE, _HALF, _LOWER = _U(1), _U(32), _U(0xFFFFFFFF)
_NONE: Final = -1


@loop
def _place_of(slots: Any, keys: Any, key: Any) -> Any:
    """The place of a key's slot, or of the free slot that it would take."""
    last, h = _U(len(slots) - 1), mixed(_U(key))
    place = h & last
    slot = _U(slots[place])
    while slot != 0:
        if slot >> _HALF == h >> _HALF and keys[(slot & _LOWER) - _ONE] == key:
            return place
        place = (place + _ONE) & last
        slot = _U(slots[place])
    return place


@loop
def find_rows(slots: Any, keys: Any, wanted: Any, rows: Any) -> int:
    """The row of each wanted key, -1 where it has none; `rows` gets them.

    Args:
      slots: int64, a power of two.
      keys: int64, of each row.
      wanted, rows: int64 [n].

    Returns:
      How many have none.
    """
    missing = 0
    for i in range(len(wanted)):
        slot = _U(slots[_place_of(slots, keys, wanted[i])])
        if slot == 0:
            rows[i] = _NONE
            missing += 1
        else:
            rows[i] = np.int64((slot & _LOWER) - _ONE)
    return missing


@loop
def add_rows(slots: Any, keys: Any, rows: Any) -> None:
    """Puts the keys of rows into the index, which has none of them so far."""
    last = _U(len(slots) - 1)
    for i in range(len(rows)):
        h = mixed(_U(keys[rows[i]]))
        place = h & last
        while slots[place] != 0:
            place = (place + _ONE) & last
        slots[place] = np.int64(h >> _HALF << _HALF) | (rows[i] + 1)


@loop
def remove_rows(slots: Any, keys: Any, rows: Any) -> None:
    """Takes the keys of rows out of the index, where they are."""
    last = _U(len(slots) - 1)
    for i in range(len(rows)):
        hole = _place_of(slots, keys, keys[rows[i]])
        place = (hole + _ONE) & last
        slot = _U(slots[place])
        while slot != 0:
            home = mixed(_U(keys[(slot & _LOWER) - _ONE])) & last
            # Whether the way from its home to where it is leads over the hole.
            if (place - home) & last >= (place - hole) & last:
                slots[hole] = np.int64(slot)
                hole = place
            place = (place + _ONE) & last
            slot = _U(slots[place])
        slots[hole] = 0


@loop
def gather_rows(block: Any, rows: Any, out: Any) -> None:
    """out[i] = block[rows[i]], where a row is not -1. Both are [.., width]."""
    for i in range(len(rows)):
        row = rows[i]
        if row >= 0:
            for j in range(out.shape[1]):
                out[i, j] = block[row, j]


@loop
def scatter_rows(block: Any, rows: Any, values: Any) -> None:
    """block[rows[i]] = values[i]."""
    for i in range(len(rows)):
        row = rows[i]
        for j in range(values.shape[1]):
            block[row, j] = values[i, j]


@loop
def sum_by_row(rows: Any, values: Any, marks: Any, distinct: Any, sums: Any) -> int:
    """The sums of the values of each row, in the order in which rows come first.

    Args:
      rows: int64 [n]; values of -1 are left out.
      values: [n, width].
      marks: int64, of each row; zeros, and zeros again afterwards.
      distinct: int64 [n], gets the rows.
      sums: [n, width], gets the sums.

    Returns:
      How many rows there are.
    """
    count = 0
    for i in range(len(rows)):
        row = rows[i]
        if row < 0:
            continue
        at = marks[row] - 1
        if at < 0:
            distinct[count] = row
            for j in range(values.shape[1]):
                sums[count, j] = values[i, j]
            count += 1
            marks[row] = count
        else:
            for j in range(values.shape[1]):
                sums[at, j] += values[i, j]
    for i in range(count):
        marks[distinct[i]] = 0
    return count
