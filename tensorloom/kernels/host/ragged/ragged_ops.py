"""Host kernels of ragged tensors: rows by index, places of values, empty rows."""

from __future__ import annotations

import itertools
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
from tensorloom.kernels.host.math.errors import shape_text

_Array = NDArray[Any]


def spread(starts: _Array, counts: _Array) -> _Array:
    """start, start + 1, ... of as many places as each row has, one after another."""
    ends = np.cumsum(counts)
    places = np.arange(int(ends[-1]) if len(ends) else 0, dtype=np.int64)
    places += np.repeat(np.asarray(starts) - (ends - counts), counts)
    return places


def splits_of(counts: _Array, dtype: Any = np.int64) -> _Array:
    """Row splits of row lengths."""
    result = np.zeros(len(counts) + 1, dtype)
    np.cumsum(counts, out=result[1:])
    return result


# --- RaggedGather ------------------------------------------------------------


@host_kernel("RaggedGather", large=True)
def ragged_gather(c: OpKernelConstruction) -> Compute:
    """Rows by index."""
    rank, out_rank = c["PARAMS_RAGGED_RANK"], c["OUTPUT_RAGGED_RANK"]

    def compute(*inputs: Any) -> tuple[Any, ...]:
        splits, values, indices = inputs[:rank], inputs[rank], np.asarray(inputs[-1])
        if np.ndim(values) < 1:
            raise invalid_argument("params.rank must be nonzero")
        if indices.ndim + rank - 1 != out_rank:
            raise invalid_argument(
                "OUTPUT_RAGGED_RANK must be equal to PARAMS_RAGGED_RANK + "
                "indices.ndims - 1"
            )
        _check_splits(splits, len(values))
        flat = indices.reshape(-1)
        _check_indices(flat, len(splits[0]) - 1)
        kind = splits[0].dtype
        outer = uniform_splits(indices.shape, kind)
        inner: list[Any] = []
        starts, ends = flat, flat + 1
        for level in splits:
            rows = spread(starts, ends - starts)
            starts, ends = level[rows], level[rows + 1]
            inner.append(splits_of(ends - starts, kind))
        if not indices.ndim:
            del inner[0]  # the rows of one row
        return (*outer, *inner, values[spread(starts, ends - starts)])

    return compute


def _check_splits(nested: tuple[Any, ...], count: int) -> None:
    check_vectors(nested)
    for level, splits in enumerate(nested):
        if not len(splits):
            raise invalid_argument("Ragged splits may not be empty.")
        below = count if level + 1 == len(nested) else len(nested[level + 1]) - 1
        if splits[0] < 0:
            raise invalid_argument("Ragged splits must be non-negative.")
        if splits[-1] > below:
            raise invalid_argument("Ragged splits must not point past values.")
        if (splits[1:] < splits[:-1]).any():
            raise invalid_argument("Ragged splits must be sorted in ascending order.")


def _check_indices(flat: _Array, rows: int) -> None:
    bad = (flat < 0) | (flat >= rows)
    if bad.any():
        i = int(np.argmax(bad))
        raise invalid_argument(f"indices[{i}] = {flat[i]} is not in [0, {rows})")


def uniform_splits(shape: tuple[int, ...], dtype: Any) -> list[Any]:
    """The splits of a dense tensor's dimensions but the first, the outermost first."""
    result, rows = [], 1
    for size, width in itertools.pairwise(shape):
        rows *= size
        result.append((np.arange(rows + 1) * width).astype(dtype))
    return result


# --- RaggedTensorToSparse ----------------------------------------------------


@host_kernel("RaggedTensorToSparse", large=True)
def ragged_tensor_to_sparse(c: OpKernelConstruction) -> Compute:
    """Values with their places."""
    rank = c["RAGGED_RANK"]

    def compute(*inputs: Any) -> tuple[Any, Any, Any]:
        splits, values = inputs[:rank], np.asarray(inputs[rank])
        check_whole_splits(splits, values)
        rows = np.arange(len(splits[0]) - 1)
        places = rows[:, None]
        shape = [len(splits[0]) - 1]
        for level in splits:
            counts = np.diff(level)
            columns = spread(np.zeros(len(counts), np.int64), counts)
            above = np.repeat(places, counts, axis=0)
            places = np.concatenate([above, columns[:, None]], axis=1)
            shape.append(int(counts.max()) if len(counts) else 0)
        inner = values.shape[1:]
        if inner:
            inside = np.indices(inner).reshape(len(inner), -1).T
            outside = np.repeat(places, len(inside), axis=0)
            tiled = np.tile(inside, (len(places), 1))
            places = np.concatenate([outside, tiled], axis=1)
        dense = np.array([*shape, *inner], np.int64)
        return places.astype(np.int64), values.reshape(-1), dense

    return compute


def check_vectors(nested: tuple[Any, ...]) -> None:
    """Raises InvalidArgumentError unless all splits are vectors."""
    for level, splits in enumerate(nested):
        if np.ndim(splits) != 1:
            raise invalid_argument(
                f"Ragged splits must have rank 1; those at index {level} have shape "
                f"{shape_text(np.shape(splits))}"
            )


def check_whole_splits(nested: tuple[Any, ...], values: _Array) -> None:
    """Raises InvalidArgumentError unless splits, outermost first, divide the values."""
    if values.ndim == 0:
        raise invalid_argument("values.rank must be nonzero")
    check_vectors(nested)
    for level, splits in enumerate(nested):
        if not len(splits) or splits[0] != 0:
            raise invalid_argument("First value of ragged splits must be 0.")
        below = len(values) if level + 1 == len(nested) else len(nested[level + 1]) - 1
        if splits[-1] != below:
            what = "values" if level + 1 == len(nested) else "inner splits"
            raise invalid_argument(
                "Final value of ragged splits must match the length the corresponding "
                f"ragged {what}."
            )
        if (splits[1:] < splits[:-1]).any():
            raise invalid_argument("Ragged splits must be sorted in ascending order.")


# --- RaggedFillEmptyRows -----------------------------------------------------


@host_kernel("RaggedFillEmptyRows", large=True)
def ragged_fill_empty_rows(c: OpKernelConstruction) -> Compute:
    """A default in each row that has no value."""

    def compute(rowids: Any, values: Any, rows: Any, default: Any) -> tuple[Any, ...]:
        for name, given in (("value_rowids", rowids), ("values", values)):
            if np.ndim(given) != 1:
                raise invalid_argument(
                    f"{name} must be a vector, saw: {shape_text(np.shape(given))}"
                )
        for name, given in (("nrows", rows), ("default_value", default)):
            if np.ndim(given):
                raise invalid_argument(
                    f"{name} must be a scalar, saw: {shape_text(np.shape(given))}"
                )
        count = int(rows)
        check_shape((count,), dtypes.int64, c.device)
        if len(rowids) != len(values):
            raise invalid_argument(
                "Values and value_rowids must be of the same length, got "
                f"{len(values)} and {len(rowids)}"
            )
        bad = (rowids < 0) | (rowids >= count)
        if bad.any():
            i = int(np.argmax(bad))
            raise invalid_argument(
                f"value_rowids({i}) is invalid: {rowids[i]} >= {count}"
            )
        is_empty = np.bincount(rowids, minlength=count)[:count] == 0
        every = np.concatenate([rowids, np.flatnonzero(is_empty)])
        order = np.argsort(every, kind="stable")
        reverse = np.empty(len(order), np.int64)
        reverse[order] = np.arange(len(order))
        filler = np.full(int(is_empty.sum()), np.asarray(default)[()], values.dtype)
        filled = np.concatenate([values, filler])[order]
        return every[order], filled, is_empty, reverse[: len(rowids)]

    return compute


@host_kernel("RaggedFillEmptyRowsGrad", large=True)
def ragged_fill_empty_rows_grad(c: OpKernelConstruction) -> Compute:
    """Gradients of the given values, and the sum of those that were added."""

    def compute(reverse: Any, grad: Any) -> tuple[Any, Any]:
        for name, given in (("reverse_index_map", reverse), ("d_values", grad)):
            if np.ndim(given) != 1:
                raise invalid_argument(
                    f"{name} must be a vector, saw: {shape_text(np.shape(given))}"
                )
        if len(reverse) and not 0 <= reverse.min() <= reverse.max() < len(grad):
            raise invalid_argument(
                f"Elements in reverse index must be in [0, {len(grad)})"
            )
        added = np.ones(len(grad), bool)
        added[reverse] = False
        return grad[reverse], grad[added].sum(dtype=grad.dtype)

    return compute
