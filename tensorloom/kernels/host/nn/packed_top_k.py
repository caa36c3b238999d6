"""The largest elements of rows as one sort of integers: the element above its place.

NumPy and torch order pairs, and in a stable way, 10 to 20 times as slowly as NumPy
orders 64-bit integers. With an element in the upper bits, and the place, counted from
the end, in the lower ones, no two keys are equal, and of equal elements the first is
the largest. Elements of up to 32 bits always fit, and wider integers where they are not
too far from each other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

# (elements, int32 places), each [..., count].
_Found = tuple["NDArray[Any]", "NDArray[np.int32]"]
# Below, calls are what counts.
_FEWEST: Final = 1024
# Of so few, and of so many times as many, each is compared with those found so far.
_MOST_FOUND: Final = 32
_RATIO: Final = 16


def largest_with_places(values: NDArray[Any], count: int) -> _Found | None:
    """The largest elements of each row and where they are, [..., count], descending.

    Args:
      values: [..., n], of any real dtype, 0 < count <= n.

    Returns:
      None where this is no way to go: few elements, wide ones, or NaN among them.
    """
    size = values.shape[-1]
    if values.size < _FEWEST or not count:
        return None
    is_plain = values.dtype.kind in "iuf"
    if 1 < count <= _MOST_FOUND and _RATIO * count <= size and is_plain:
        return _found(values, count)
    by = _place_of_largest if count == 1 and is_plain else _places_by_sorting
    places = by(values, count)
    return None if places is None else (np.take_along_axis(values, places, -1), places)


def _places_by_sorting(values: NDArray[Any], count: int) -> NDArray[np.int32] | None:
    """Where they are; None if there is NaN, or if elements are too wide."""
    size = values.shape[-1]
    place_bits = size.bit_length()
    keys = _ordered(values, 63 - place_bits)
    if keys is None:
        return None
    keys <<= place_bits
    keys += np.arange(size - 1, -1, -1)
    if 2 * count < size:
        keys = np.partition(keys, size - count, axis=-1)[..., size - count :]
    keys.sort(axis=-1)
    keys = keys[..., : -count - 1 : -1]
    places: NDArray[np.int32] = (size - 1 - (keys & ((1 << place_bits) - 1))).astype(
        np.int32
    )
    return places


def _found(values: NDArray[Any], count: int) -> _Found | None:
    """By a loop that passes over all elements once; None if there is NaN."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.nn.top_k import find_largest

    rows = np.ascontiguousarray(values).reshape(-1, values.shape[-1])
    if rows.dtype.kind != "f" and rows.itemsize < 8:  # few dtypes are compiled for
        rows = rows.astype(np.int64)
    elif rows.itemsize < 4:
        rows = rows.astype(np.float32)
    places = np.empty((len(rows), count), np.int32)
    best = np.empty((len(rows), count), rows.dtype)
    if not find_largest(rows, best, places):
        return None
    shape = *values.shape[:-1], count
    return best.reshape(shape).astype(values.dtype, copy=False), places.reshape(shape)


def _place_of_largest(values: NDArray[Any], _: int) -> NDArray[np.int32] | None:
    """Where the first of the largest elements is, [..., 1]; None if there is NaN."""
    places = values.argmax(axis=-1, keepdims=True)
    found = np.take_along_axis(values, places, -1)
    return None if (found != found).any() else places.astype(np.int32)


def _ordered(values: NDArray[Any], bits: int) -> NDArray[np.int64] | None:
    """Integers of so many bits and a sign that compare as the values do.

    None if there is NaN, or if they need more bits.
    """
    if values.dtype.kind in "iub":
        if values.dtype.itemsize > 4:
            return _from_least(values, bits)
        return values.astype(np.int64)
    if values.dtype.itemsize > 4:
        return None
    # The sum makes one zero of the two.
    floats = values.astype(np.float32) + np.float32(0)
    total = np.vdot(floats, floats)
    if total != total:
        return None
    bits_of = floats.view(np.int32).astype(np.int64)
    # The larger the bits of a negative number, the smaller it is.
    bits_of ^= (bits_of >> 31) & 0x7FFFFFFF
    return bits_of


def _from_least(values: NDArray[Any], bits: int) -> NDArray[np.int64] | None:
    """64-bit integers less the least of them."""
    least = values.min()
    if int(values.max()) - int(least) >> bits:
        return None
    offsets: NDArray[np.int64] = (values - least).astype(np.int64, copy=False)
    return offsets
