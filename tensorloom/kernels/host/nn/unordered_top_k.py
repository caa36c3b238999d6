"""The largest elements of rows with NaN in them, where TensorFlow's algorithm decides.

NaN is neither less nor greater than any number, so which elements come out, and in
which order, follows from the comparisons that are made: those of a heap, or of
libstdc++'s sort (introsort) where all elements are asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

_Array = NDArray[Any]
_Before = Callable[[int, int], bool]
# libstdc++ sorts so few elements by insertion.
_FEW: Final = 16


def order_with_nan(row: list[float], count: int) -> list[int]:
    """The places of the `count` largest, as TensorFlow's TopK finds them."""
    if count == 1:
        return [_largest(row)]
    if count == len(row):
        return _sorted(row)

    def before(a: int, b: int) -> bool:
        if row[b] < row[a]:
            return True
        return False if row[b] > row[a] else a < b

    heap = list(range(count + 1))
    _make_heap(heap, count + 1, before)
    _pop(heap, count + 1, before)
    for i in range(count + 1, len(row)):
        if before(i, heap[0]):
            heap[count] = i
            _pop(heap, count + 1, before)
    for size in range(count, 1, -1):
        _pop(heap, size, before)
    return heap[:count]


def correct_rows(values: _Array, order: _Array, found: _Array) -> None:
    """Puts right what was found for rows of [..., n] with NaN, in place.

    Args:
      values: [..., n], the rows.
      order: [..., k], places; those of rows with NaN are replaced.
      found: [..., k], their values.
    """
    count = order.shape[-1]
    rows = values.reshape(-1, values.shape[-1])
    orders, tops = order.reshape(-1, count), found.reshape(-1, count)
    for i in np.flatnonzero(np.isnan(rows).any(axis=1)):
        orders[i] = order_with_nan(rows[i].tolist(), count)
        tops[i] = rows[i][orders[i]]


def _largest(row: list[float]) -> int:
    numbers = [value for value in row if value == value]
    return row.index(max(numbers)) if numbers else 0


# --- heaps ---------------------------------------------------------------------


def _adjust(heap: list[int], hole: int, size: int, item: int, before: _Before) -> None:
    """Moves a hole down to a leaf, then the item up from there."""
    top = child = hole
    while child < (size - 1) // 2:
        child = 2 * (child + 1)
        if before(heap[child], heap[child - 1]):
            child -= 1
        heap[hole] = heap[child]
        hole = child
    if size % 2 == 0 and child == (size - 2) // 2:
        child = 2 * child + 1
        heap[hole] = heap[child]
        hole = child
    while hole > top and before(heap[(hole - 1) // 2], item):
        heap[hole] = heap[(hole - 1) // 2]
        hole = (hole - 1) // 2
    heap[hole] = item


def _make_heap(heap: list[int], size: int, before: _Before) -> None:
    for parent in range((size - 2) // 2, -1, -1):
        _adjust(heap, parent, size, heap[parent], before)


def _pop(heap: list[int], size: int, before: _Before) -> None:
    """Moves the first element to the end of the heap's `size`."""
    if size > 1:
        item, heap[size - 1] = heap[size - 1], heap[0]
        _adjust(heap, 0, size - 1, item, before)


# --- sorting -------------------------------------------------------------------


def _sorted(row: list[float]) -> list[int]:
    """All places; runs of equal elements in their order."""

    def before(a: int, b: int) -> bool:
        return row[b] < row[a]

    items = list(range(len(row)))
    _introsort(items, 0, len(items), 2 * (len(items).bit_length() - 1), before)
    _insert(items, 0, min(len(items), _FEW), before)
    for i in range(_FEW, len(items)):
        _insert_unguarded(items, i, before)
    start = 0
    for i in range(1, len(items) + 1):
        if i == len(items) or row[items[start]] != row[items[i]]:
            items[start:i] = sorted(items[start:i])
            start = i
    return items


def _introsort(items: list[int], first: int, last: int, depth: int, b: _Before) -> None:
    while last - first > _FEW:
        if depth == 0:
            part = items[first:last]
            _make_heap(part, len(part), b)
            for size in range(len(part), 1, -1):
                _pop(part, size, b)
            items[first:last] = part
            return
        depth -= 1
        cut = _partition(items, first, last, b)
        _introsort(items, cut, last, depth, b)
        last = cut


def _partition(items: list[int], first: int, last: int, before: _Before) -> int:
    _median_to_first(items, first, first + (last - first) // 2, last - 1, before)
    pivot, low, high = items[first], first + 1, last
    # The bounds are for NaN, whose comparisons guard neither end.
    while True:
        while low < last and before(items[low], pivot):
            low += 1
        high -= 1
        while high > first and before(pivot, items[high]):
            high -= 1
        if low >= high:
            return low
        items[low], items[high] = items[high], items[low]
        low += 1


def _median_to_first(
    items: list[int], first: int, middle: int, last: int, before: _Before
) -> None:
    a, b, c = first + 1, middle, last
    if before(items[a], items[b]):
        if before(items[b], items[c]):
            chosen = b
        else:
            chosen = c if before(items[a], items[c]) else a
    elif before(items[a], items[c]):
        chosen = a
    else:
        chosen = c if before(items[b], items[c]) else b
    items[first], items[chosen] = items[chosen], items[first]


def _insert(items: list[int], first: int, last: int, before: _Before) -> None:
    for i in range(first + 1, last):
        if before(items[i], items[first]):
            items.insert(first, items.pop(i))
        else:
            _insert_unguarded(items, i, before)


def _insert_unguarded(items: list[int], at: int, before: _Before) -> None:
    item, place = items[at], at
    while place > 0 and before(item, items[place - 1]):
        items[place] = items[place - 1]
        place -= 1
    items[place] = item
