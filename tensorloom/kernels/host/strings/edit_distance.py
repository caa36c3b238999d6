"""Edit distances over NumPy values."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape

_Array = NDArray[Any]


@dataclass(frozen=True)
class _Sequences:
    """The sequences of a sparse tensor, one behind the other."""

    values: _Array
    starts: NDArray[np.int64]  # where each begins, by its place in the result; the end
    lengths: NDArray[np.int64]


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
    return _Sequences(values, np.append(0, lengths.cumsum()), lengths)


def _distances(a: _Sequences, b: _Sequences) -> NDArray[np.int64]:
    """Levenshtein's distance of each sequence of `a` to the one of `b`."""
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.strings import edit_distance

    result = np.empty(len(a.lengths), np.int64)
    row = np.empty(int(b.lengths.max(initial=0)) + 1, np.int64)
    first, second = _comparable(a.values, b.values)
    edit_distance.distances(first, a.starts, second, b.starts, row, result)
    return result


def _comparable(first: _Array, second: _Array) -> tuple[_Array, _Array]:
    """The values as numbers of one of three dtypes, equal where the values are."""
    if first.dtype == object:
        codes: dict[Any, int] = {}
        for value in itertools.chain(first.tolist(), second.tolist()):
            codes.setdefault(value, len(codes))
        coded = (
            np.fromiter(map(codes.__getitem__, x.tolist()), np.int64, len(x))
            for x in (first, second)
        )
        return next(coded), next(coded)
    kind = first.dtype.kind
    to = np.int64 if kind in "iub" else np.complex128 if kind == "c" else np.float64
    return np.ascontiguousarray(first, to), np.ascontiguousarray(second, to)


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
