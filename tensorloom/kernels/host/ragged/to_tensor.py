"""Host kernels between ragged and dense tensors: `RaggedTensorToTensor`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework import errors
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.ragged.ragged_ops import spread

_Array = NDArray[Any]


@host_kernel("RaggedTensorToTensor", large=True)
def ragged_tensor_to_tensor(c: OpKernelConstruction) -> Compute:
    """A dense tensor, cut or padded to a shape."""
    kinds = [kind.decode(errors="replace") for kind in c["row_partition_types"]]
    dtype, device = c["T"], c.device

    def compute(shape: Any, values: Any, default: Any, *partitions: Any) -> Any:
        values, default = np.asarray(values), np.asarray(default)
        dims, kept, places = _layout(kinds, shape, values, partitions, device)
        check_shape(dims, dtype, device)
        outer = dims[: len(dims) - values.ndim + 1]
        result = np.empty(dims, values.dtype)
        try:
            # Never over rows: no default is longer than one of the values.
            result[...] = np.broadcast_to(default, values.shape[1:])
        except ValueError:
            raise invalid_argument(
                f"default_value shape {shape_text(default.shape)} is not compatible "
                f"with values of shape {shape_text(values.shape)}"
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
        dims, kept, places = _layout(kinds, wanted, values, partitions, c.device)
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
    kinds: list[str],
    shape: Any,
    values: _Array,
    partitions: tuple[Any, ...],
    device: str,
) -> tuple[tuple[int, ...], _Array, _Array]:
    """(the dense shape, the values that fit, their places in its outer part)."""
    counts = _row_counts(kinds, values, partitions, device)
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
    kinds: list[str], values: _Array, partitions: tuple[Any, ...], device: str
) -> list[_Array]:
    """The row lengths of each ragged dimension.

    Raises:
      InvalidArgumentError: partitions that are no partitions.
      InternalError: partitions of another number of values.
    """
    if not values.ndim:
        raise invalid_argument("Ragged values must have rank >= 1")
    counts: list[_Array] = []
    rows: int | None = None
    for kind, partition in zip(kinds, partitions, strict=True):
        if kind == "FIRST_DIM_SIZE":
            if np.ndim(partition):
                raise invalid_argument("The first dimension's size must be a scalar")
            rows = int(partition)
            check_shape((rows,), dtypes.int64, device)
            continue
        if np.ndim(partition) != 1:
            raise invalid_argument("A row partition must be a vector")
        if kind == "ROW_SPLITS":
            found = _checked_lengths(partition)
        elif kind == "VALUE_ROWIDS":
            assert rows is not None  # the shape function refuses it
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
        raise errors.InternalError(
            None,
            None,
            "Values and indices must be equal: the row partitions describe "
            f"{rows} values, but there are {len(values)}",
        )
    return counts


def _checked_lengths(splits: _Array) -> _Array:
    if not len(splits) or splits[0] != 0:
        raise invalid_argument("Invalid row splits: they start with 0")
    lengths = np.diff(splits)
    if (lengths < 0).any():
        raise invalid_argument("Invalid row splits: not in ascending order")
    return lengths
