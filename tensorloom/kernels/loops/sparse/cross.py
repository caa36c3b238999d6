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
    end = 0
    for row in range(starts.shape[1]):
        size = 1
        for i in range(features):
            size *= counts[i, row]
            choice[i] = 0
        for at in range(size):
            result = key
            for i in range(features):
                result = _cat(result, numbers[starts[i, row] + choice[i]])
            hashes[end] = np.int64(result % buckets)
            places[end, 0] = row
            places[end, 1] = at
            end += 1
            i = features - 1
            choice[i] += 1
            while i > 0 and choice[i] == counts[i, row]:
                choice[i] = 0
                i -= 1
                choice[i] += 1
