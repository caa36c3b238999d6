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
def combine(
    out: Any, data: Any, places: Any, rows: Any, is_zero: Any, divides: int
) -> None:
    """out[rows[i]] += data[places[i]], for each i in turn; then each is divided.

    Args:
      out: [m, width], zeros; written.
      data: [k, width], of the same dtype.
      places: integers [n], each in [0, k).
      rows, is_zero: as above.
      divides: 0; 1: by the number of terms; 2: by its root.
    """
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
        if divides == 1:
            count = out.dtype.type(max(i - begin, 1))
            for j in range(data.shape[1]):
                out[row, j] = out[row, j] / count
        elif divides == 2:
            root = np.float64(math.sqrt(max(i - begin, 1)))
            for j in range(data.shape[1]):
                out[row, j] = out[row, j] / root


@loop
def distribute(
    out: Any, grad: Any, places: Any, rows: Any, is_zero: Any, divides: int, part: Any
) -> None:
    """out[places[i]] += the divided grad[rows[i]], for each i in turn.

    Args:
      out: [k, width], zeros; written.
      grad: [m, width], of the same dtype.
      places, rows, is_zero, divides: as above.
      part: [width], of the same dtype: room for a divided row.
    """
    i = 0
    for row in range(len(grad)):
        begin = i
        while i < len(rows) and rows[i] == row:
            i += 1
        if is_zero[row]:
            continue
        for j in range(len(part)):
            part[j] = grad[row, j]
        if divides == 1:
            count = out.dtype.type(max(i - begin, 1))
            for j in range(len(part)):
                part[j] = part[j] / count
        elif divides == 2:
            root = np.float64(math.sqrt(max(i - begin, 1)))
            for j in range(len(part)):
                part[j] = part[j] / root
        for at in range(begin, i):
            place = places[at]
            for j in range(len(part)):
                out[place, j] += part[j]
