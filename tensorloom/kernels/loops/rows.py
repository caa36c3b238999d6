"""Rows of a matrix changed by index, where a row may come more than once."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def add_rows(target: Any, index: Any, update: Any) -> None:
    """target[index[i]] += update[i], for each i in turn.

    Args:
      target: [n, m].
      index: integers, [k], each in [0, n).
      update: [k, m], of the target's dtype.
    """
    for i in range(len(index)):
        row = index[i]
        for j in range(target.shape[1]):
            target[row, j] += update[i, j]


@loop
def subtract_rows(target: Any, index: Any, update: Any) -> None:
    """target[index[i]] -= update[i], for each i in turn; see `add_rows`."""
    for i in range(len(index)):
        row = index[i]
        for j in range(target.shape[1]):
            target[row, j] -= update[i, j]
