"""Rows of indices of sparse tensors: int64 [n, rank]."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def _compare(a: Any, i: int, b: Any, j: int) -> int:
    """-1, 0 or 1: row i of `a` is before row j of `b`, equals it, is behind it."""
    for axis in range(a.shape[1]):
        if a[i, axis] != b[j, axis]:
            return -1 if a[i, axis] < b[j, axis] else 1
    return 0


@loop
def number(indices: Any, shape: Any, places: Any) -> int:
    """The row-major place of each row, up to the first that is outside: which, or -1.

    Args:
      indices: integers [n, rank].
      shape: int64 [rank], of at most 2**63 - 1 elements.
      places: int64 [n], written.
    """
    for i in range(len(indices)):
        place = 0
        for axis in range(len(shape)):
            index = indices[i, axis]
            if index < 0 or index >= shape[axis]:
                return i
            place = place * shape[axis] + index
        places[i] = place
    return -1


@loop
def put_in_order(indices: Any, values: Any, shape: Any, dense: Any) -> bool:
    """Puts values at their places, up to one that is outside or not behind the last.

    Args:
      indices: int64 [n, rank].
      values: [n].
      shape: int64 [rank].
      dense: the elements of a tensor of that shape, row by row; written.

    Returns:
      Whether all values were put.
    """
    last = -1
    for i in range(len(indices)):
        place = 0
        for axis in range(len(shape)):
            index = indices[i, axis]
            if index < 0 or index >= shape[axis]:
                return False
            place = place * shape[axis] + index
        if place <= last:
            return False
        dense[place] = values[i]
        last = place
    return True


@loop
def merge(a: Any, b: Any, rows: Any, from_a: Any, from_b: Any) -> int:
    """The union of rows in order: how many there are. Equal ones become one.

    Args:
      a, b: [n, rank] and [m, rank], each in order.
      rows: [n + m, rank], written.
      from_a, from_b: int64 [n] and [m], written: where each went.
    """
    i = j = count = 0
    while i < len(a) or j < len(b):
        order = 0
        if i < len(a) and j < len(b):
            order = _compare(a, i, b, j)
        takes_a = j == len(b) or (i < len(a) and order <= 0)
        takes_b = i == len(a) or (j < len(b) and order >= 0)
        for axis in range(rows.shape[1]):
            rows[count, axis] = a[i, axis] if takes_a else b[j, axis]
        if takes_a:
            from_a[i] = count
            i += 1
        if takes_b:
            from_b[j] = count
            j += 1
        count += 1
    return count


@loop
def find(wanted: Any, rows: Any, places: Any) -> None:
    """Where each row that is wanted is, or -1; no row is found twice.

    Args:
      wanted: [n, rank], in order.
      rows: [m, rank], in order.
      places: int64 [n], written.
    """
    j = 0
    for i in range(len(wanted)):
        places[i], order = -1, -1
        while j < len(rows) and order < 0:
            order = _compare(rows, j, wanted, i)
            if order == 0:
                places[i] = j
            if order <= 0:
                j += 1


@loop
def subsequence(rows: Any, wanted: Any, places: Any) -> int:
    """Where wanted rows are in the order in which they are: how many were found.

    Args:
      rows: [n, rank].
      wanted: [m, rank].
      places: int64 [m], written: up to that many.
    """
    found = 0
    for i in range(len(rows)):
        if found < len(wanted) and _compare(rows, i, wanted, found) == 0:
            places[found] = i
            found += 1
    return found


@loop
def count_rows(indices: Any, counts: Any) -> int:
    """How many indices each row has, up to the first that is outside: which, or -1.

    Args:
      indices: [n, rank], rank of at least 1; the row comes first.
      counts: int64 [rows], zeros; written.
    """
    for i in range(len(indices)):
        row = indices[i, 0]
        if row < 0 or row >= len(counts):
            return i
        counts[row] += 1
    return -1


@loop
def fill_empty_rows(indices: Any, ends: Any, filled: Any, places: Any) -> None:
    """Brings the indices of each row together; a row without any gets one at zeros.

    Args:
      indices: [n, rank], rank of at least 1, the rows in [0, rows).
      ends: int64 [rows], where each row of the result ends; it changes.
      filled: [the last end, rank], zeros; written.
      places: int64 [n], written: where each went.
    """
    for row in range(len(ends)):
        filled[ends[row] - 1, 0] = row
    # From the end of each row to its beginning.
    for i in range(len(indices) - 1, -1, -1):
        row = indices[i, 0]
        ends[row] -= 1
        places[i] = ends[row]
        for axis in range(indices.shape[1]):
            filled[ends[row], axis] = indices[i, axis]


@loop
def multiply(rows: Any, columns: Any, values: Any, right: Any, result: Any) -> int:
    """result[rows[i]] += values[i] * right[columns[i]], for each i in turn.

    Args:
      rows: int64 [n].
      columns: int64 [n].
      values: [n].
      right: [k, m], of the dtype of `values`.
      result: [size, m], of the dtype of `values`.

    Returns:
      -1, or the first i whose row or column is outside.
    """
    for i in range(len(rows)):
        row, column, value = rows[i], columns[i], values[i]
        if row < 0 or row >= len(result) or column < 0 or column >= len(right):
            return i
        for j in range(right.shape[1]):
            result[row, j] += value * right[column, j]
    return -1
