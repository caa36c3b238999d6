"""Sums of rows that sparse ids name, some of them zeros, and their gradient.

`rows` is [n], not falling, and has each row of the result; `is_zero` says which of
these are zeros, whatever there would be to sum.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tensorloom.kernels.loops import loop


@loop
def _first_outside(places: Any, size: int) -> int:
    """The first i whose place is not in [0, size), or -1."""
    for i in range(len(places)):
        if not 0 <= places[i] < size:
            return i
    return -1


@loop
def _divide(rows: Any, row: int, count: int, divides: int) -> None:
    """Divides a row by a number of terms (`divides` is 1), or by its root (2)."""
    if count <= 1:
        return
    if divides == 1:
        by = rows.dtype.type(count)
        for j in range(rows.shape[1]):
            rows[row, j] = rows[row, j] / by
    elif divides == 2:
        root = np.float64(math.sqrt(count))
        for j in range(rows.shape[1]):
            rows[row, j] = rows[row, j] / root


@loop
def combine(
    out: Any, data: Any, places: Any, rows: Any, is_zero: Any, divides: int
) -> int:
    """out[rows[i]] += data[places[i]], for each i in turn; then each is divided.

    Args:
      out: [m, width], zeros; written.
      data: [k, width], of the same dtype.
      places: integers [n].
      rows, is_zero: as above.
      divides: 0; 1: by the number of terms; 2: by its root.

    Returns:
      The first i whose place is not in [0, k), or -1; then `out` is not whole.
    """
    bad = _first_outside(places, len(data))
    if bad >= 0:
        return bad
    i = 0
    for row in range(len(out)):
        begin = i
        while i < len(rows) and rows[i] == row:
            i += 1
        if is_zero[row]:
            continue
        for at in range(begin, i):
            place = places[at]
            for j in range(data.shape[1]):
                out[row, j] += data[place, j]
        _divide(out, row, i - begin, divides)
    return -1


@loop
def distribute(
    out: Any, grad: Any, places: Any, rows: Any, is_zero: Any, divides: int
) -> int:
    """out[places[i]] += the divided grad[rows[i]], for each i in turn.

    Args:
      out: [k, width], zeros; written.
      grad: [m, width], of the same dtype.
      places, rows, is_zero, divides: as above.

    Returns:
      The first i whose place is not in [0, k), or -1; then `out` is not whole.
    """
    bad = _first_outside(places, len(out))
    if bad >= 0:
        return bad
    part = np.empty((1, grad.shape[1]), grad.dtype)
    i = 0
    for row in range(len(grad)):
        begin = i
        while i < len(rows) and rows[i] == row:
            i += 1
        if is_zero[row]:
            continue
        for j in range(grad.shape[1]):
            part[0, j] = grad[row, j]
        _divide(part, 0, i - begin, divides)
        for at in range(begin, i):
            place = places[at]
            for j in range(grad.shape[1]):
                out[place, j] += part[0, j]
    return -1
