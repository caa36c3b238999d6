"""Edit distances over NumPy values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from tensorloom.framework import dtypes
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.allocation import check_shape
from tensorloom.kernels.host.nn_ops_checks import invalid

_Rows = dict[tuple[int, ...], list[Any]]


def _distance(a: Sequence[Any], b: Sequence[Any]) -> int:
    """Levenshtein's distance, row by row."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            cost = min(row[j] + 1, row[j - 1] + 1, before + (x != y))
            before, row[j] = row[j], cost
    return row[-1]


def _rows(indices: Any, values: Any, shape: Any, what: str) -> _Rows:
    """The sequences of a sparse tensor by the indices before the last."""
    if indices.ndim != 2 or values.ndim != 1 or shape.ndim != 1:
        raise invalid(f"{what} must be a sparse tensor: indices, values and shape")
    if len(indices) != len(values) or indices.shape[1] != len(shape):
        raise invalid(f"{what} has {len(indices)} indices but {len(values)} values")
    if len(shape) < 2:
        raise invalid(f"{what}_shape should be at least rank 2")
    if ((indices < 0) | (indices >= shape)).any():
        raise invalid(f"{what}_indices are out of bounds")
    rows: _Rows = {}
    for index, value in zip(indices[:, :-1].tolist(), values.tolist(), strict=True):
        rows.setdefault(tuple(index), []).append(value)
    return rows


@host_kernel("EditDistance", large=True)
def edit_distance(c: OpKernelConstruction) -> Compute:
    """The distance for each pair of sequences; an empty truth is infinitely far."""
    normalize, device = c["normalize"], c.device

    def compute(*inputs: Any) -> Any:
        hypothesis = _rows(inputs[0], inputs[1], inputs[2], "hypothesis")
        truth = _rows(inputs[3], inputs[4], inputs[5], "truth")
        a, b = inputs[2], inputs[5]
        if len(a) != len(b):
            raise invalid(
                f"hypothesis_shape and truth_shape must have one rank: {a} vs. {b}"
            )
        shape = tuple(np.maximum(a, b)[:-1].tolist())
        check_shape(shape, dtypes.float32, device)
        result = np.zeros(shape, np.float32)
        for index in hypothesis.keys() | truth.keys():
            result[index] = _one(
                hypothesis.get(index, []), truth.get(index, []), normalize
            )
        return result

    return compute


def _one(hypothesis: list[Any], truth: list[Any], normalize: bool) -> float:
    distance = _distance(truth, hypothesis)
    if not normalize:
        return distance
    if not truth:
        return math.inf if hypothesis else 0.0
    return distance / len(truth)
