"""Edit distances over NumPy values."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
    # Pairs of similar size are compared together.
    both = both[np.lexsort((a.lengths[both], b.lengths[both]))]
    begin = 0
    while begin < len(both):
        width = int(b.lengths[both[begin]]) + 1
        end = begin + max(1, _TOGETHER // (2 * width))
        end = min(end, begin + int(np.searchsorted(b.lengths[both[begin:]], 2 * width)))
        some = both[begin : max(end, begin + 1)]
        result[some] = _together(a, b, some)
        begin += len(some)
    return result


def _together(a: _Sequences, b: _Sequences, places: _Array) -> NDArray[np.int64]:
    """The distances of some pairs, row by row of their tables.

    Neighbours in a row differ by at most one: a row is the bits where it rises and
    those where it falls, and the next one follows by a few operations on all bits
    (Hyyro, "A bit-vector algorithm for computing Levenshtein and Damerau edit
    distances", 2003). One number holds the rows of all pairs, with a bit between two
    of them that takes the carry of an addition.
    """
    rows, columns = a.lengths[places], b.lengths[places]
    height, width = int(rows.max()), int(columns.max())
    wanted, given = a.padded(places, height), b.padded(places, width)
    bits = np.zeros((len(places), width + 1), bool)
    bits[:, 0] = True
    first = _number(bits)
    bits[:, :width] = True
    every = _number(bits)
    within = np.arange(width + 1) < columns[:, None]
    rises, falls = every, 0
    last_rises = last_falls = 0  # of the last row of each pair, up to its last column
    for i in range(height):
        np.equal(given, wanted[:, i : i + 1], out=bits[:, :width])
        equal = _number(bits)
        # Where a step along both sequences costs nothing.
        free = ((((equal & rises) + rises) ^ rises) | equal | falls) & every
        # Where the next row is above this one, and where below; one column on.
        above = (((falls | (every ^ (free | rises))) << 1) & every) | first
        below = ((free & rises) << 1) & every
        rises, falls = below | (every ^ (free | above)), above & free
        done = rows == i + 1
        if done.any():
            last = _number(within & done[:, None])
            last_rises |= rises & last
            last_falls |= falls & last
    steps = _bits(last_rises, bits.shape) - _bits(last_falls, bits.shape)
    result: NDArray[np.int64] = rows + steps.sum(axis=1, dtype=np.int64)
    return result


def _number(bits: NDArray[np.bool_]) -> int:
    """The bits, the first one lowest."""
    return int.from_bytes(np.packbits(bits, bitorder="little").tobytes(), "little")


def _bits(number: int, shape: tuple[int, ...]) -> NDArray[np.int8]:
    """The inverse of `_number`."""
    count = math.prod(shape)
    data = np.frombuffer(number.to_bytes(-(-count // 8), "little"), np.uint8)
    found = np.unpackbits(data, count=count, bitorder="little")
    return found.view(np.int8).reshape(shape)


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
