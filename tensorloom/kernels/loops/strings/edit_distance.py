"""Levenshtein's distance of sequences."""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def distances(
    a: Any, a_starts: Any, b: Any, b_starts: Any, row: Any, result: Any
) -> None:
    """The distance of each pair of sequences, which lie one behind the other.

    Args:
      a: [n], the elements of the first ones.
      a_starts: int64 [pairs + 1], where each begins, rising, and the end of the last.
      b: [m], of the dtype of `a`.
      b_starts: int64 [pairs + 1].
      row: int64, of one element more than the longest sequence of `b`.
      result: int64 [pairs], written.
    """
    for pair in range(len(result)):
        first, end = b_starts[pair], b_starts[pair + 1]
        width = end - first
        for j in range(width + 1):
            row[j] = j
        for i in range(a_starts[pair], a_starts[pair + 1]):
            before, left = row[0], row[0] + 1
            row[0] = left
            for j in range(width):
                above = row[j + 1]
                cost = before if a[i] == b[first + j] else before + 1
                left = min(cost, min(left, above) + 1)
                before, row[j + 1] = above, left
        result[pair] = row[width]
