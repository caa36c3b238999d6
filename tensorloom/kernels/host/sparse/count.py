"""Host kernels that count numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text


def row_of_values(splits: Any, count: int) -> Any:
    if not len(splits) or splits[0] != 0:
        raise invalid_argument(
            f"Splits must start with 0, not with {splits[0] if len(splits) else '[]'}"
        )
    if splits[-1] != count:
        raise invalid_argument(
            f"Splits must end with the number of values, got {splits[-1]} instead of "
            f"{count}"
        )
    lengths = np.diff(splits)
    if (lengths < 0).any():
        raise invalid_argument("Splits must be in ascending order")
    return np.repeat(np.arange(len(lengths)), lengths)


def _sparse_rows(indices: Any, values: Any, shape: Any) -> tuple[Any, int]:
    """(the row of each value, the number of rows); one row for a vector."""
    if indices.ndim != 2 or len(indices) != len(values):
        raise invalid_argument(
            f"Number of values must match first dimension of indices. Got "
            f"{len(values)} values, indices shape: {shape_text(indices.shape)}"
        )
    if len(shape) not in (1, 2) or indices.shape[1] != len(shape):
        raise invalid_argument(
            f"Dense shape must have one or two elements, got {shape_text(tuple(shape))}"
        )
    if len(indices) and ((indices < 0) | (indices >= shape)).any():
        raise invalid_argument("An index is out of bounds of the dense shape")
    if len(shape) == 1:
        return np.zeros(len(values), np.int64), 1
    return indices[:, 0], int(shape[0])


def _weights_of(weights: Any, values: Any) -> Any:
    if not weights.size:
        return None
    if weights.shape != values.shape:
        raise invalid_argument(
            f"Weights and values must have the same shape. Weight shape: "
            f"{shape_text(weights.shape)}; values shape: {shape_text(values.shape)}"
        )
    return weights.reshape(-1)


class _Counter:
    """Counts numbers by row, for outputs that are sparse."""

    def __init__(self, c: OpKernelConstruction) -> None:
        self.least, self.most = c["minlength"], c["maxlength"]
        self.binary, self.kind = c["binary_output"], c["output_type"].np_dtype

    def count(
        self, rows: Any, row_count: int, values: Any, weights: Any, is_vector: bool
    ) -> tuple[Any, Any, Any]:
        """(indices, counts or sums of weights, dense shape)."""
        if (values < 0).any():
            raise invalid_argument("Input values must all be non-negative")
        width = int(values.max()) + 1 if len(values) else 0
        if self.most >= 0:
            # The width is that of all values, cut to the most.
            width = min(width, self.most)
            kept = values < self.most
            rows, values = rows[kept], values[kept]
            weights = None if weights is None else weights[kept]
        width = max(width, self.least, 0)
        pairs = np.stack([rows, values.astype(np.int64)], axis=1)
        found, inverse = np.unique(pairs, axis=0, return_inverse=True)
        sums = np.zeros(len(found), self.kind)
        if self.binary:
            sums[:] = 1
        else:
            np.add.at(sums, inverse.reshape(-1), 1 if weights is None else weights)
        if is_vector:
            return found[:, 1:], sums, np.array([width], np.int64)
        return found, sums, np.array([row_count, width], np.int64)


@host_kernel("DenseCountSparseOutput", large=True)
def dense_count(c: OpKernelConstruction) -> Compute:
    """Counts in a vector or in the rows of a matrix."""
    counter = _Counter(c)

    def compute(values: Any, weights: Any) -> tuple[Any, Any, Any]:
        if values.ndim not in (1, 2):
            raise invalid_argument(
                "Input must be a 1 or 2-dimensional tensor. Got: "
                + shape_text(values.shape)
            )
        chosen = _weights_of(weights, values)
        count = len(values) if values.ndim == 2 else 1
        width = values.shape[-1]
        rows = np.repeat(np.arange(count), width)
        return counter.count(rows, count, values.reshape(-1), chosen, values.ndim == 1)

    return compute


@host_kernel("SparseCountSparseOutput", large=True)
def sparse_count(c: OpKernelConstruction) -> Compute:
    """Counts in a sparse vector or in the rows of a sparse matrix."""
    counter = _Counter(c)

    def compute(indices: Any, values: Any, shape: Any, weights: Any) -> Any:
        rows, count = _sparse_rows(indices, values, shape)
        chosen = _weights_of(weights, values)
        return counter.count(rows, count, values, chosen, len(shape) == 1)

    return compute


@host_kernel("RaggedCountSparseOutput", large=True)
def ragged_count(c: OpKernelConstruction) -> Compute:
    """Counts in rows."""
    counter = _Counter(c)

    def compute(splits: Any, values: Any, weights: Any) -> tuple[Any, Any, Any]:
        rows = row_of_values(splits, len(values))
        chosen = _weights_of(weights, values)
        return counter.count(rows, len(splits) - 1, values, chosen, False)

    return compute


def count_table(
    c: OpKernelConstruction, rows: Any, count: int, values: Any, size: Any, weights: Any
) -> Any:
    """A dense [rows, size] table of counts, without numbers from size on."""
    width = int(size)
    if width < 0:
        raise invalid_argument(f"size ({width}) must be non-negative")
    if (values < 0).any():
        raise invalid_argument("Input must be non-negative")
    check_shape((count, width), c["T"], c.device)
    table = np.zeros((count, width), c["T"].np_dtype)
    chosen = _weights_of(weights, values)
    kept = values < width
    places = rows[kept], values[kept]
    if c["binary_output"]:
        table[places] = 1
    else:
        np.add.at(table, places, 1 if chosen is None else chosen[kept])
    return table


@host_kernel("SparseBincount", large=True)
def sparse_bincount(c: OpKernelConstruction) -> Compute:
    """Counts as a dense tensor."""

    def compute(indices: Any, values: Any, shape: Any, size: Any, weights: Any) -> Any:
        rows, count = _sparse_rows(indices, values, shape)
        table = count_table(c, rows, count, values, size, weights)
        return table[0] if len(shape) == 1 else table

    return compute
