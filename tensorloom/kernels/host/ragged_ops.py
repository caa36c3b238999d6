"""Host kernels of ragged tensors."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.allocation import check_shape
from tensorloom.kernels.host.math_ops_errors import shape_text

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
        outer = _uniform_splits(indices.shape, kind)
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


def _uniform_splits(shape: tuple[int, ...], kind: Any) -> list[Any]:
    """The splits of the dimensions of the indices but the last."""
    result, rows = [], 1
    for size, width in itertools.pairwise(shape):
        rows *= size
        result.append((np.arange(rows + 1) * width).astype(kind))
    return result


# --- RaggedTensorToSparse ----------------------------------------------------


@host_kernel("RaggedTensorToSparse", large=True)
def ragged_tensor_to_sparse(c: OpKernelConstruction) -> Compute:
    """Values with their places."""
    rank = c["RAGGED_RANK"]

    def compute(*inputs: Any) -> tuple[Any, Any, Any]:
        splits, values = inputs[:rank], np.asarray(inputs[rank])
        _check_whole_splits(splits, values)
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


def _check_whole_splits(nested: tuple[Any, ...], values: _Array) -> None:
    if values.ndim == 0:
        raise invalid_argument("values.rank must be nonzero")
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


# --- RaggedTensorToTensor ----------------------------------------------------


@host_kernel("RaggedTensorToTensor", large=True)
def ragged_tensor_to_tensor(c: OpKernelConstruction) -> Compute:
    """A dense tensor, cut or padded to a shape."""
    kinds = [kind.decode(errors="replace") for kind in c["row_partition_types"]]
    dtype, device = c["T"], c.device

    def compute(shape: Any, values: Any, default: Any, *partitions: Any) -> Any:
        values, default = np.asarray(values), np.asarray(default)
        dims, kept, places = _layout(kinds, shape, values, partitions)
        check_shape(dims, dtype, device)
        outer = dims[: len(dims) - values.ndim + 1]
        result = np.empty(dims, values.dtype)
        try:
            result[...] = default
        except ValueError:
            raise invalid_argument(
                f"default_value shape {shape_text(default.shape)} is not compatible "
                f"with {shape_text(dims)}"
            ) from None
        flat = result.reshape(math.prod(outer), *dims[len(outer) :])
        flat[places] = values[kept]
        return result

    return compute


@host_kernel("_RaggedTensorToTensorGrad", large=True)
def ragged_tensor_to_tensor_grad(c: OpKernelConstruction) -> Compute:
    """Gradients of the values, zero where they were cut, and of the default."""
    kinds = [kind.decode(errors="replace") for kind in c["row_partition_types"]]

    def compute(grad: Any, values: Any, default: Any, *partitions: Any) -> Any:
        values, default = np.asarray(values), np.asarray(default)
        wanted = np.array(grad.shape, np.int64)
        dims, kept, places = _layout(kinds, wanted, values, partitions)
        outer = dims[: len(dims) - values.ndim + 1]
        flat = np.asarray(grad).reshape(math.prod(outer), *dims[len(outer) :]).copy()
        found = np.zeros_like(values)
        found[kept] = flat[places]
        flat[places] = 0
        extra = flat.ndim - default.ndim
        total = flat.sum(axis=tuple(range(extra)), dtype=flat.dtype)
        for axis, size in enumerate(default.shape):
            if size == 1 and total.shape[axis] != 1:
                total = total.sum(axis=axis, keepdims=True, dtype=flat.dtype)
        return found, total

    return compute


def _layout(
    kinds: list[str], shape: Any, values: _Array, partitions: tuple[Any, ...]
) -> tuple[tuple[int, ...], _Array, _Array]:
    """(the dense shape, the values that fit, their places in its outer part)."""
    counts = _row_counts(kinds, values, partitions)
    wanted = np.asarray(shape)
    rank = len(counts) + values.ndim
    if wanted.ndim == 0 and wanted != -1:
        raise invalid_argument(
            "The only valid scalar shape tensor is the fully unknown shape specified "
            "as -1."
        )
    given = [-1] * rank if wanted.ndim == 0 else wanted.tolist()
    if min(given, default=0) < -1:
        raise invalid_argument(f"Dimension {min(given)} must be >= -1")
    if len(given) != rank:
        raise invalid_argument(
            f"Requested shape has rank {len(given)}, but the ragged tensor has {rank}"
        )
    longest = [int(n.max()) if len(n) else 0 for n in counts]
    own = [len(counts[0]), *longest, *values.shape[1:]]
    dims = tuple(b if a < 0 else a for a, b in zip(given, own, strict=True))
    if dims[len(counts) + 1 :] != values.shape[1:]:
        raise invalid_argument(
            f"Inner shape {shape_text(values.shape[1:])} does not match the requested "
            f"shape {shape_text(dims)}"
        )
    rows = np.arange(len(counts[0]))
    places, fits = rows, rows < dims[0]
    for level, row_counts in enumerate(counts):
        columns = spread(np.zeros(len(row_counts), np.int64), row_counts)
        fits = np.repeat(fits, row_counts) & (columns < dims[level + 1])
        places = np.repeat(places, row_counts) * dims[level + 1] + columns
    kept = np.flatnonzero(fits)
    return dims, kept, places[kept]


def _row_counts(
    kinds: list[str], values: _Array, partitions: tuple[Any, ...]
) -> list[_Array]:
    """The row lengths of each ragged dimension.

    Raises:
      InvalidArgumentError: partitions that are no partitions.
    """
    counts: list[_Array] = []
    rows: int | None = None
    for kind, partition in zip(kinds, partitions, strict=True):
        if kind == "FIRST_DIM_SIZE":
            rows = int(partition)
            continue
        if np.ndim(partition) != 1:
            raise invalid_argument("A row partition must be a vector")
        if kind == "ROW_SPLITS":
            found = _checked_lengths(partition)
        elif kind == "VALUE_ROWIDS":
            assert rows is not None
            if (np.diff(partition) < 0).any() or (
                len(partition) and not 0 <= partition[0] <= partition[-1] < rows
            ):
                raise invalid_argument(
                    f"Expected value_rowids to be sorted and below nrows = {rows}"
                )
            found = np.bincount(partition, minlength=rows)
        else:
            raise invalid_argument(f"Unsupported row partition type {kind}")
        if rows is not None and len(found) != rows:
            raise invalid_argument(
                f"Row partition size is greater than the dimension: {len(found)} != "
                f"{rows}"
            )
        counts.append(found)
        rows = int(found.sum())
    if rows != len(values):
        raise invalid_argument(
            f"The row partitions describe {rows} values, but there are {len(values)}"
        )
    return counts


def _checked_lengths(splits: _Array) -> _Array:
    if not len(splits) or splits[0] != 0:
        raise invalid_argument("Invalid row splits: they start with 0")
    lengths = np.diff(splits)
    if (lengths < 0).any():
        raise invalid_argument("Invalid row splits: not in ascending order")
    return lengths


# --- variants ----------------------------------------------------------------


@dataclass(frozen=True)
class RaggedVariant:
    """A ragged tensor in a variant: its splits, the outermost first, and values."""

    splits: tuple[Any, ...]
    values: Any


@host_kernel("RaggedTensorToVariant", large=True)
def ragged_tensor_to_variant(c: OpKernelConstruction) -> Compute:
    """One variant, or one for each row."""
    rank, batched = c["RAGGED_RANK"], c["batched_input"]

    def compute(*inputs: Any) -> Any:
        splits, values = inputs[:rank], np.asarray(inputs[rank])
        if not batched:
            return RaggedVariant(tuple(splits), values)
        _check_whole_splits(splits, values)
        rows = np.empty(len(splits[0]) - 1, object)
        for i in range(len(rows)):
            start, end = int(splits[0][i]), int(splits[0][i + 1])
            inner = []
            for level in splits[1:]:
                part = level[start : end + 1]
                inner.append(part - part[0])
                start, end = int(part[0]), int(part[-1])
            rows[i] = RaggedVariant(tuple(inner), values[start:end])
        return rows

    return compute


@host_kernel("RaggedTensorFromVariant", large=True)
def ragged_tensor_from_variant(c: OpKernelConstruction) -> Compute:
    """A ragged tensor of a variant, or of a batch of them."""
    rank = c["output_ragged_rank"]
    kind, values_type = c["Tsplits"].np_dtype, c["Tvalues"]

    def compute(encoded: Any) -> Any:
        shape = encoded.shape if isinstance(encoded, np.ndarray) else ()
        parts = encoded.reshape(-1).tolist() if shape else [_only(encoded)]
        for part in parts:
            if not isinstance(part, RaggedVariant):
                raise invalid_argument(
                    "Input Variant element at index 0 doesn't hold a RaggedTensor"
                )
            if len(part.splits) != rank - len(shape):
                raise invalid_argument(
                    f"Expected input ragged rank {rank - len(shape)}, but found "
                    f"{len(part.splits)}"
                )
        if not rank:
            return (parts[0].values,)
        if not shape:
            return (*(s.astype(kind) for s in parts[0].splits), parts[0].values)
        outer = _uniform_splits(shape, kind)
        inner = _joined_splits(parts, rank - len(shape), kind)
        values = [part.values for part in parts]
        if values:
            joined = np.concatenate(values)
        else:
            joined = np.empty(0, values_type.as_numpy_dtype)
        rows = [len(p.splits[0]) - 1 if p.splits else len(p.values) for p in parts]
        return (*outer, splits_of(np.array(rows, np.int64), kind), *inner, joined)

    return compute


def _only(encoded: Any) -> Any:
    return encoded.item() if isinstance(encoded, np.ndarray) else encoded


def _joined_splits(parts: list[RaggedVariant], rank: int, kind: Any) -> list[Any]:
    result = []
    for level in range(rank):
        lengths = [np.diff(part.splits[level]) for part in parts]
        every = np.concatenate(lengths) if lengths else np.zeros(0, np.int64)
        result.append(splits_of(every, kind))
    return result


@host_kernel("RaggedTensorToVariantGradient", large=True)
def ragged_tensor_to_variant_gradient(c: OpKernelConstruction) -> Compute:
    """The values of a batch of variants, zeros for those that are none."""
    dtype, device = c["Tvalues"], c.device

    def compute(encoded: Any, splits: Any, shape: Any) -> Any:
        dims = tuple(np.asarray(shape).tolist())
        check_shape(dims, dtype, device)
        if splits.ndim != 1 or not len(splits) or splits[0] != 0:
            raise invalid_argument("Invalid ragged splits: they must begin with 0")
        if (splits[1:] < splits[:-1]).any():
            raise invalid_argument("Invalid ragged splits: they must not decrease")
        parts = encoded.reshape(-1).tolist() if isinstance(encoded, np.ndarray) else []
        found = [p.values for p in parts if isinstance(p, RaggedVariant)]
        if isinstance(encoded, RaggedVariant):
            found = [encoded.values]
        if not found or sum(map(len, found)) != (dims[0] if dims else 1):
            return np.zeros(dims, dtype.as_numpy_dtype)
        return np.concatenate(found).reshape(dims)

    return compute


# --- empty rows, counts ------------------------------------------------------


@host_kernel("RaggedFillEmptyRows", large=True)
def ragged_fill_empty_rows(c: OpKernelConstruction) -> Compute:
    """A default in each row that has no value."""

    def compute(rowids: Any, values: Any, rows: Any, default: Any) -> tuple[Any, ...]:
        count = int(rows)
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
        if len(reverse) and not 0 <= reverse.min() <= reverse.max() < len(grad):
            raise invalid_argument(
                f"Elements in reverse index must be in [0, {len(grad)})"
            )
        added = np.ones(len(grad), bool)
        added[reverse] = False
        return grad[reverse], grad[added].sum(dtype=grad.dtype)

    return compute
