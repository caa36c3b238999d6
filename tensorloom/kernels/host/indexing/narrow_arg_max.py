"""Where the largest or least elements are, of many short rows at once.

NumPy's `argmax` takes 35 ns to begin with each row, and copies what is not one row
after the other. Going through the places of all rows together costs a few calls for
each place, whose loops are vectors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# So many rows at a time stay in the cache.
_BLOCK: Final = 16384
# Nanoseconds of NumPy's `argmax` for each row, and of the calls for each place here.
_ROW: Final = 32
_PLACE: Final = 4000
# Longer rows that lie one after the other are not worth turning.
_LONGEST_ROW: Final = 14


def is_narrow(shape: tuple[int, ...], axis: int) -> bool:
    """Whether going through the places is the faster way for a shape and an axis."""
    size = shape[axis]
    inner = 1
    for length in shape[axis + 1 :]:
        inner *= length
    rows = inner
    for length in shape[:axis]:
        rows *= length
    if inner < _LONGEST_ROW:
        return size <= _LONGEST_ROW and rows * (_ROW - size) > _PLACE * size
    return rows * (_ROW + size // 2) > _PLACE * size


def narrow_arg(values: NDArray[Any], axis: int, largest: bool) -> NDArray[np.int64]:
    """Where the first of the extreme elements is along an axis that is not empty.

    A comparison with NaN is false, so it is never the extreme one.

    Args:
      values: any shape, integers or floats of 32 or 64 bits.
    """
    places = np.moveaxis(values, axis, 0)
    result = np.empty(places.shape[1:], np.int64)
    flat = places.reshape(len(places), -1)
    is_row = flat.strides[1] == flat.itemsize
    found = result.reshape(-1)
    for begin in range(0, len(found), _BLOCK):
        rows = flat[:, begin : begin + _BLOCK]
        rows = rows if is_row else np.ascontiguousarray(rows)
        found[begin : begin + _BLOCK] = _in_columns(rows, largest)
    return result


def _in_columns(rows: NDArray[Any], largest: bool) -> NDArray[Any]:
    """The first extreme row of each column of rows [n, columns]."""
    is_better, extreme = (np.greater, np.fmax) if largest else (np.less, np.fmin)
    best = rows[0].copy()
    if best.dtype.kind == "f":
        best[best != best] = -np.inf if largest else np.inf
    found = np.zeros(len(best), np.uint8 if len(rows) <= 256 else np.int32)
    better, place = np.empty(len(best), np.bool_), np.empty_like(found)
    for j in range(1, len(rows)):
        is_better(rows[j], best, out=better)
        extreme(best, rows[j], out=best)
        # Later places are greater: a maximum needs no branch.
        np.multiply(better, found.dtype.type(j), out=place)
        np.maximum(found, place, out=found)
    return found
