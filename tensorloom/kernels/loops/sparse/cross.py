"""Hashed crosses of features."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tensorloom.kernels.loops import loop

_U = np.uint64
_FACTOR: Final = _U(0xC6A4A7935BD1E995)
_SHIFT: Final = _U(47)


@loop
def _cat(first: Any, second: Any) -> Any:
    """One fingerprint of two, as `fingerprint_cat` of the host kernels."""
    mixed = second * _FACTOR
    result = first ^ _FACTOR
    result = (result ^ (mixed ^ (mixed >> _SHIFT)) * _FACTOR) * _FACTOR
    result = (result ^ (result >> _SHIFT)) * _FACTOR
    return result ^ (result >> _SHIFT)


@loop
def cross_hashed(
    numbers: Any,
    starts: Any,
    counts: Any,
    key: Any,
    buckets: Any,
    places: Any,
    hashes: Any,
) -> None:
    """The crosses of each row: those of the last feature's values come first.

    Args:
      numbers: uint64 [n], fingerprints of the values of all features.
      starts: int64 [features, batch], where those of a row begin in `numbers`.
      counts: int64 [features, batch], how many they are.
      key: uint64, the fingerprint that each cross begins with.
      buckets: uint64, positive.
      places: int64 [crosses, 2], written: the row of each cross, its place there.
      hashes: int64 [crosses], written.
    """
    features = len(starts)
    choice = np.zeros(features, np.int64)
    # What a cross has in common with the one before it is not computed again.
    parts = np.empty(features, np.uint64)
    end = 0
    for row in range(starts.shape[1]):
        size = 1
        for i in range(features):
            size *= counts[i, row]
            choice[i] = 0
        first = 0
        for at in range(size):
            for i in range(first, features):
                before = parts[i - 1] if i else key
                parts[i] = _cat(before, numbers[starts[i, row] + choice[i]])
            hashes[end] = np.int64(parts[features - 1] % buckets)
            places[end, 0] = row
            places[end, 1] = at
            end += 1
            first = features - 1
            choice[first] += 1
            while first > 0 and choice[first] == counts[first, row]:
                choice[first] = 0
                first -= 1
                choice[first] += 1


@loop
def count_crosses(counts: Any) -> tuple[float, float]:
    """(how many crosses there are, how many the row with most has)."""
    total = widest = 0.0
    for row in range(counts.shape[1]):
        size = 1.0
        for i in range(len(counts)):
            size *= counts[i, row]
        total += size
        widest = max(widest, size)
    return total, widest


@loop
def rows_in_order(indices: Any, starts: Any, counts: Any) -> bool:
    """Counts the values of each row, as long as they are inside and in order.

    Args:
      indices: int64 [n, 2], the row comes first.
      starts: int64 [batch], written: where the values of each row begin.
      counts: int64 [batch], zeros; written.

    Returns:
      Whether all are.
    """
    last = 0
    for i in range(len(indices)):
        row = indices[i, 0]
        if row < last or row >= len(counts):
            return False
        counts[row] += 1
        last = row
    begin = 0
    for row in range(len(counts)):
        starts[row] = begin
        begin += counts[row]
    return True


@loop
def cross_even(
    numbers: Any, widths: Any, key: Any, buckets: Any, places: Any, hashes: Any
) -> None:
    """As `cross_hashed`, of features that have as many values in each row.

    Args:
      numbers: uint64 [n], those of the features one behind the other, row by row.
      widths: int64 [features], how many values each has in a row.
      key, buckets, places, hashes: as there.
    """
    features, size = len(widths), 1
    for i in range(features):
        size *= widths[i]
    batch = len(hashes) // size if size else 0
    choice, begins = np.zeros(features, np.int64), np.zeros(features, np.int64)
    for i in range(1, features):
        begins[i] = begins[i - 1] + batch * widths[i - 1]
    # What a cross has in common with the one before it is not computed again.
    parts = np.empty(features, np.uint64)
    end = 0
    for row in range(batch):
        first = 0
        for at in range(size):
            for i in range(first, features):
                before = parts[i - 1] if i else key
                number = numbers[begins[i] + row * widths[i] + choice[i]]
                parts[i] = _cat(before, number)
            hashes[end] = np.int64(parts[features - 1] % buckets)
            places[end, 0] = row
            places[end, 1] = at
            end += 1
            first = features - 1
            choice[first] += 1
            while first > 0 and choice[first] == widths[first]:
                choice[first] = 0
                first -= 1
                choice[first] += 1
        choice[0] = 0
