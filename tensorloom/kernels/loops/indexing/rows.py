"""Rows of a matrix changed by index, where a row may come more than once."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def _all_inside(index: Any, rows: Any) -> Any:
    is_inside = True
    for i in range(len(index)):
        is_inside &= 0 <= index[i] < rows
    return is_inside


@loop
def add_rows(target: Any, index: Any, update: Any) -> Any:
    """target[index[i]] += update[i], for each i in turn.

    Args:
      target: [n, m].
      index: integers, [k].
      update: [k, m], of the target's dtype.

    Returns:
      Whether all indices are in [0, n); if not, nothing was changed.
    """
    if not _all_inside(index, len(target)):
        return False
    for i in range(len(index)):
        row = index[i]
        for j in range(target.shape[1]):
            target[row, j] += update[i, j]
    return True


@loop
def subtract_rows(target: Any, index: Any, update: Any) -> Any:
    """target[index[i]] -= update[i], for each i in turn; see `add_rows`."""
    if not _all_inside(index, len(target)):
        return False
    for i in range(len(index)):
        row = index[i]
        for j in range(target.shape[1]):
            target[row, j] -= update[i, j]
    return True
