"""Sets of numbers, many of them, one behind the other.

`values` is int64 [n], and `starts` int64 [sets + 1]: where each set begins, and the end
of the last one.
"""

from __future__ import annotations

from typing import Any

from tensorloom.kernels.loops import loop


@loop
def group(numbers: Any, values: Any, starts: Any, grouped: Any) -> None:
    """Brings the values of each set together.

    Args:
      numbers: int64 [n], the set of each value, in [0, sets).
      values: int64 [n].
      starts: int64 [sets + 1], zeros; written.
      grouped: int64 [n], written: the values of the first set, of the second, ...
    """
    for i in range(len(numbers)):
        starts[numbers[i]] += 1
    end = 0
    for j in range(len(starts)):
        end += starts[j]
        starts[j] = end
    # From the end of each set to its beginning.
    for i in range(len(numbers) - 1, -1, -1):
        starts[numbers[i]] -= 1
        grouped[starts[numbers[i]]] = values[i]


@loop
def make_distinct(values: Any, starts: Any) -> None:
    """The different values of each set in order, moved together; with their starts."""
    kept = 0
    for j in range(len(starts) - 1):
        some = values[starts[j] : starts[j + 1]]
        some.sort()
        starts[j] = kept
        for i in range(len(some)):
            if i == 0 or some[i] != some[i - 1]:
                # Never behind what is read: the element before stays what it was, or
                # equals it.
                values[kept] = some[i]
                kept += 1
    starts[len(starts) - 1] = kept


@loop
def combine(
    a: Any,
    a_starts: Any,
    b: Any,
    b_starts: Any,
    keeps: tuple[bool, bool, bool],
    places: Any,
    values: Any,
) -> int:
    """How many values the sets have that are made of each two; these are rising.

    Args:
      a, a_starts: sets of different values in order.
      b, b_starts: as many.
      keeps: whether a value stays that is in the first set alone, in both, and in the
        second alone.
      places: int64 [n, 2], written: the set of each value, and its place there.
      values: int64 [n], written; n suffices for the values of all.
    """
    count = 0
    for j in range(len(a_starts) - 1):
        i, k, begin = a_starts[j], b_starts[j], count
        while i < a_starts[j + 1] or k < b_starts[j + 1]:
            is_first = k == b_starts[j + 1] or (i < a_starts[j + 1] and a[i] <= b[k])
            is_second = i == a_starts[j + 1] or (k < b_starts[j + 1] and b[k] <= a[i])
            if keeps[1] if is_first and is_second else keeps[0 if is_first else 2]:
                places[count, 0] = j
                places[count, 1] = count - begin
                values[count] = a[i] if is_first else b[k]
                count += 1
            i += is_first
            k += is_second
    return count
