"""Edit distances over NumPy values."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import dtypes
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.allocation import check_shape

_Array = NDArray[Any]
# Pairs are compared together while their tables of one row have so many elements.
_TOGETHER = 1 << 16
# Shorter sequences count as similar in size, unless so many are more alike.
_SHORT = 32
_MANY = 256
# So many elements are compared at once.
_AT_ONCE = 1 << 18
# Tables of so few elements are computed one by one.
_FEW = 256


@dataclass(frozen=True)
class _Sequences:
    """The sequences of a sparse tensor, one behind the other."""

    values: _Array
    starts: NDArray[np.int64]  # where each begins, by its place in the result
    lengths: NDArray[np.int64]

    def one(self, place: int) -> list[Any]:
        """The sequence of a place."""
        begin, length = int(self.starts[place]), int(self.lengths[place])
        found: list[Any] = self.values[begin : begin + length].tolist()
        return found

    def padded(self, places: _Array, length: int) -> _Array:
        """The sequences of some places [places, length]; any value behind the end."""
        if not len(self.values):
            return np.empty((len(places), length), self.values.dtype)
        at = self.starts[places][:, None] + np.arange(length)
        return self.values.take(at, mode="clip")


def _check(indices: Any, values: Any, shape: Any, what: str) -> None:
    if indices.ndim != 2 or values.ndim != 1 or shape.ndim != 1:
        raise invalid_argument(
            f"{what} must be a sparse tensor: indices, values and shape"
        )
    if len(indices) != len(values) or indices.shape[1] != len(shape):
        raise invalid_argument(
            f"{what} has {len(indices)} indices but {len(values)} values"
        )
    if len(shape) < 2:
        raise invalid_argument(f"{what}_shape should be at least rank 2")
    if ((indices < 0) | (indices >= shape)).any():
        raise invalid_argument(f"{what}_indices are out of bounds")


def _sequences(indices: Any, values: Any, shape: tuple[int, ...]) -> _Sequences:
    """By the indices before the last, which are places of a result of that shape."""
    places = np.zeros(len(indices), np.int64)
    for axis, size in enumerate(shape):
        places = places * size + indices[:, axis]
    if (places[1:] < places[:-1]).any():
        order = np.argsort(places, kind="stable")
        places, values = places[order], values[order]
    lengths = np.bincount(places, minlength=math.prod(shape))
    return _Sequences(values, lengths.cumsum() - lengths, lengths)


def _distance(a: list[Any], b: list[Any]) -> int:
    """Levenshtein's distance, row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            cost = min(row[j] + 1, row[j - 1] + 1, before + (x != y))
            before, row[j] = row[j], cost
    return row[-1]


def _distances(a: _Sequences, b: _Sequences) -> NDArray[np.int64]:
    """Levenshtein's distance of each sequence of `a` to the one of `b`."""
    # Where one of the two is empty, the other one's elements are missing.
    result = np.maximum(a.lengths, b.lengths)
    both = np.flatnonzero((a.lengths > 0) & (b.lengths > 0))
    if a.lengths[both] @ b.lengths[both] <= _FEW:
        result[both] = [_distance(a.one(i), b.one(i)) for i in both.tolist()]
        return result
    a, b = _coded(a, b)
    # Pairs of similar size are compared together.
    both = both[np.lexsort((a.lengths[both], b.lengths[both]))]
    begin = 0
    while begin < len(both):
        width = int(b.lengths[both[begin]]) + 1
        similar = int(np.searchsorted(b.lengths[both[begin:]], 2 * width))
        if similar < _MANY:
            width = max(width, _SHORT)
            similar = int(np.searchsorted(b.lengths[both[begin:]], 2 * width))
        end = begin + min(similar, max(1, _TOGETHER // (2 * width)))
        some = both[begin : max(end, begin + 1)]
        result[some] = _together(a, b, some)
        begin += len(some)
    return result


def _coded(a: _Sequences, b: _Sequences) -> tuple[_Sequences, _Sequences]:
    """The sequences with small numbers for the same elements, if they have such."""
    first, second = a.values, b.values
    if first.dtype == object:
        codes: dict[Any, int] = {}
        for value in itertools.chain(first.tolist(), second.tolist()):
            codes.setdefault(value, len(codes))
        first, second = (
            np.fromiter(map(codes.__getitem__, x.tolist()), np.int64, len(x))
            for x in (first, second)
        )
    elif first.dtype.kind not in "iu":
        return a, b
    least = min(int(first.min()), int(second.min()))
    most = max(int(first.max()), int(second.max())) - least
    if most < 1 << 16:
        small = np.uint8 if most < 1 << 8 else np.uint16
        # Differences that wrap around are right in the lower bits.
        first, second = (
            (x - x.dtype.type(least)).astype(small) for x in (first, second)
        )
    return replace(a, values=first), replace(b, values=second)


def _together(a: _Sequences, b: _Sequences, places: _Array) -> NDArray[np.int64]:
    """The distances of some pairs, row by row of their tables.

    Neighbours in a row differ by at most one: a row is the bits where it rises and
    those where it falls, and the next one follows by a few operations on all bits
    (Hyyro, "A bit-vector algorithm for computing Levenshtein and Damerau edit
    distances", 2003). One number holds the rows of all pairs, each in bytes of its
    own, with a bit between two of them that takes the carry of an addition.
    """
    rows, columns = a.lengths[places], b.lengths[places]
    height, width = int(rows.max()), int(columns.max())
    size = width // 8 + 1  # bytes of a pair
    bits = np.zeros((len(places), 8 * size), bool)
    bits[:, 0] = True
    first = _number(bits)
    bits[:, :width] = True
    every = _number(bits)
    rises, falls = every, 0
    lasts, at = np.unique(rows, return_inverse=True)
    wanted = set(lasts.tolist())
    count = len(places) * size
    # Of the last rows of any pairs: where they rise, and where they fall.
    ends: list[bytes] = []
    equals = _equal_rows(a.padded(places, height), b.padded(places, width), size)
    for row, equal in enumerate(equals, 1):
        # Where a step along both sequences costs nothing.
        free = ((((equal & rises) + rises) ^ rises) | equal | falls) & every
        # Where the next row is above this one, and where below; one column on.
        above = (((falls | (every ^ (free | rises))) << 1) & every) | first
        below = ((free & rises) << 1) & every
        rises, falls = below | (every ^ (free | above)), above & free
        if row in wanted:
            ends += rises.to_bytes(count, "little"), falls.to_bytes(count, "little")
    # Of the last row of each pair, up to its last column.
    data = np.frombuffer(b"".join(ends), np.uint8)
    last = data.reshape(-1, 2, len(places), size)[at, :, np.arange(len(places))]
    steps = np.unpackbits(last, axis=2, bitorder="little")
    steps &= (np.arange(8 * size) < columns[:, None])[:, None]
    rising, falling = steps.sum(axis=2, dtype=np.int64).T
    result: NDArray[np.int64] = rows + rising - falling
    return result


def _equal_rows(wanted: _Array, given: _Array, size: int) -> Iterator[int]:
    """Which of the elements given equal the first one that is wanted, then the second.

    Args:
      wanted: [pairs, height].
      given: [pairs, width].
      size: how many bytes of a number a pair has.
    """
    pairs, width = given.shape
    height = wanted.shape[1]
    step = max(1, _AT_ONCE // max(1, given.size))
    bits = np.zeros((step, pairs, 8 * size), bool)
    for begin in range(0, height, step):
        some = wanted[:, begin : begin + step].T[:, :, None]
        part = bits[: len(some)]
        np.equal(given, some, out=part[:, :, :width])
        packed = np.packbits(part, bitorder="little").tobytes()
        for at in range(0, len(packed), pairs * size):
            yield int.from_bytes(packed[at : at + pairs * size], "little")


def _number(bits: NDArray[np.bool_]) -> int:
    """The bits, the first one lowest."""
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


@host_kernel("EditDistance", large=True)
def edit_distance(c: OpKernelConstruction) -> Compute:
    """The distance for each pair of sequences; an empty truth is infinitely far."""
    normalize, device = c["normalize"], c.device

    def compute(*inputs: Any) -> Any:
        _check(inputs[0], inputs[1], inputs[2], "hypothesis")
        _check(inputs[3], inputs[4], inputs[5], "truth")
        a, b = inputs[2], inputs[5]
        if len(a) != len(b):
            raise invalid_argument(
                f"hypothesis_shape and truth_shape must have one rank: {a} vs. {b}"
            )
        shape = tuple(np.maximum(a, b)[:-1].tolist())
        check_shape(shape, dtypes.float32, device)
        hypothesis = _sequences(inputs[0], inputs[1], shape)
        truth = _sequences(inputs[3], inputs[4], shape)
        result = _distances(truth, hypothesis).astype(np.float32)
        if normalize:
            missing = (truth.lengths == 0) & (hypothesis.lengths > 0)
            result /= np.maximum(truth.lengths, 1)
            result[missing] = np.inf
        return result.reshape(shape)

    return compute
