"""Host kernels that pick by value: Where, Unique, ListDiff, searchsorted, labels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.array.fill import base_dtype
from tensorloom.kernels.host.indexing.stable_order import starts_of_runs
from tensorloom.kernels.host.math.errors import shape_text


@host_kernel("Where")
def _where(c: OpKernelConstruction) -> Compute:
    def compute(value: Any) -> Any:
        check_where_rank(value.ndim)
        return np.argwhere(value)

    return compute


def check_where_rank(rank: int) -> None:
    """Raises InvalidArgumentError for a scalar: it has no coordinates."""
    if not rank:
        raise invalid_argument("WhereOp : Unhandled input dimensions: 0")


# --- unique -------------------------------------------------------------------------


@host_kernel(["Unique", "UniqueWithCounts"])
def _unique(c: OpKernelConstruction) -> Compute:
    to = c["out_idx"].np_dtype
    counts = c.op == "UniqueWithCounts"

    def compute(x: Any) -> tuple[Any, ...]:
        if x.ndim != 1:
            raise invalid_argument("unique expects a 1D vector.")
        return _in_order(x, x, 0, to, counts)

    return compute


def _in_order(
    values: Any, keys: Any, axis: int, to: Any, counts: bool
) -> tuple[Any, ...]:
    """(unique slices in order of appearance, which each is, how often).

    The slices of `values` along the axis are told apart by `keys`: a vector, or a list
    of what can be hashed.
    """
    if not len(keys):
        nothing = np.zeros(0, to)
        return (values, nothing, nothing) if counts else (values, nothing)
    first, index = _first_places(keys)
    result, numbers = values.take(first, axis), index.astype(to)
    if not counts:
        return result, numbers
    return result, numbers, np.bincount(index).astype(to)


def _first_places(keys: Any) -> tuple[Any, Any]:
    """(first places in order of appearance, which of these each key is), [n]."""
    if isinstance(keys, list):
        return _objects_in_order(keys)
    if keys.dtype == object:
        return _objects_in_order(keys.tolist())
    if keys.dtype.kind == "V":  # NaN does not go last among bfloat16 values
        keys = keys.astype(np.float32)
    found = integers_in_order(keys) if keys.dtype.kind in "iub" else None
    return found or _sorted_in_order(keys)


def _objects_in_order(keys: list[Any]) -> tuple[Any, Any]:
    seen: dict[Any, int] = {}
    numbers = [seen.setdefault(key, len(seen)) for key in keys]
    index = np.fromiter(numbers, np.int64, len(keys))
    return np.flatnonzero(np.diff(np.maximum.accumulate(index), prepend=-1)), index


def _sorted_in_order(keys: Any) -> tuple[Any, Any]:
    # A third of the time that a stable sort takes. No NaN is another's equal.
    order = keys.argsort()
    ordered = keys.take(order)
    is_start = starts_of_runs(ordered)
    least = np.minimum.reduceat(order, is_start.nonzero()[0])
    first = np.empty_like(order)
    first[order] = least.take(is_start.cumsum() - 1)
    return _numbered(first, np.arange(len(keys)))


def _numbered(first: Any, places: Any) -> tuple[Any, Any]:
    """(first places in order, which of these each key has), of the first place of each.

    `places`: 0, 1, ... of the keys.
    """
    order = (first == places).nonzero()[0]
    numbers = np.empty(len(places), np.int64)
    numbers[order] = places[: len(order)]
    return order, numbers.take(first)


# The table is not filled, so that its size costs memory that is never touched; one far
# larger than the processor's caches costs what sorting does.
_LEAST_TABLE: Final = 1 << 20
_GREATEST_TABLE: Final = 16


def integers_in_order(keys: Any) -> tuple[Any, Any] | None:
    """(first places in order of appearance, which of these each key is), [n].

    By a table of all integers from the least key to the greatest, 3 to 8 times as fast
    as sorting; None where it would be much larger than the keys.
    """
    # As methods in C these take a third of the time of what finds the two themselves.
    least, greatest = int(keys.item(keys.argmin())), int(keys.item(keys.argmax()))
    longest = _GREATEST_TABLE * len(keys) + _LEAST_TABLE
    if greatest - least >= longest:
        return None
    if least >= 0 and greatest < longest:
        offsets = keys.astype(np.int64, copy=False)
        least = 0
    elif keys.dtype == np.uint64:
        offsets = (keys - keys.dtype.type(least)).astype(np.int64)
    else:
        offsets = keys.astype(np.int64) - least
    places = np.arange(len(keys))
    table = np.empty(greatest - least + 1, np.int64)
    # Of several places the one that is written last stays: the first key's.
    table[offsets[::-1]] = places[::-1]
    return _numbered(table.take(offsets), places)


@host_kernel(["UniqueV2", "UniqueWithCountsV2"])
def _unique_v2(c: OpKernelConstruction) -> Compute:
    to = c["out_idx"].np_dtype
    counts = c.op == "UniqueWithCountsV2"

    def compute(x: Any, axis: Any) -> tuple[Any, ...]:
        at = _unique_axis(x, axis)
        keys = x if x.ndim == 1 else _row_keys(np.moveaxis(x, at, 0))
        return _in_order(x, keys, at, to, counts)

    return compute


def _row_keys(parts: Any) -> Any:
    """Keys that are equal for slices [n, ...] whose elements are."""
    rows = parts.reshape(len(parts), math.prod(parts.shape[1:]))
    if rows.dtype == object:
        return list(map(tuple, rows.tolist()))
    if rows.shape[1] < 2:
        return rows[:, 0] if rows.shape[1] else np.zeros(len(rows), np.int8)
    is_exact = rows.dtype.kind in "iub"
    plain = np.ascontiguousarray(rows if is_exact else rows + rows.dtype.type(0))
    keys = plain.view(f"V{plain.itemsize * plain.shape[1]}")[:, 0].tolist()
    if not is_exact:
        for place in np.flatnonzero((rows != rows).any(axis=1)).tolist():
            keys[place] = place  # no row with a NaN is another's equal
    return keys


def _unique_axis(x: Any, axis: Any) -> int:
    if axis.ndim != 1 or axis.size > 1:
        raise invalid_argument(
            f"axis expects a 1D vector with at most one element, got shape "
            f"{shape_text(axis.shape)}"
        )
    if axis.size == 0:
        if x.ndim != 1:
            raise invalid_argument("unique expects a 1D vector.")
        return 0
    return checks.positive_axis(axis[0], x.ndim)


@host_kernel("ListDiff")
def _list_diff(c: OpKernelConstruction) -> Compute:
    to = c["out_idx"].np_dtype

    def compute(x: Any, y: Any) -> tuple[Any, Any]:
        for name, value in (("x", x), ("y", y)):
            if value.ndim != 1:
                raise invalid_argument(f"{name} should be a 1D vector.")
        kept = np.flatnonzero(~_is_in(x, y))
        return x[kept], kept.astype(to)

    return compute


def _is_in(x: Any, y: Any) -> Any:
    """Which elements of a vector are in the other."""
    if x.dtype != object:
        return np.isin(x, y)
    # NumPy would sort the strings.
    is_one = map(set(y.tolist()).__contains__, x.tolist())
    return np.fromiter(is_one, np.bool_, len(x))


# --- bounds -------------------------------------------------------------------------


@host_kernel(["LowerBound", "UpperBound"])
def _bound(c: OpKernelConstruction) -> Compute:
    to = c["out_type"].np_dtype
    side: Any = "left" if c.op == "LowerBound" else "right"

    def compute(rows: Any, values: Any) -> Any:
        check_bound_shapes(rows.shape, values.shape)
        result = np.empty(values.shape, to)
        for i, row in enumerate(rows):
            result[i] = np.searchsorted(row, values[i], side)
        return result

    return compute


def check_bound_shapes(rows: Sequence[int], values: Sequence[int]) -> None:
    """Raises InvalidArgumentError unless both are matrices of as many rows."""
    if len(rows) != 2 or len(values) != 2 or rows[0] != values[0]:
        raise invalid_argument("Leading dim_size of both tensors must match.")


# --- labels -------------------------------------------------------------------------


@host_kernel("DynamicPartition")
def _dynamic_partition(c: OpKernelConstruction) -> Compute:
    count = c["num_partitions"]

    def compute(data: Any, partitions: Any) -> tuple[Any, ...]:
        check_partitions(data.shape, partitions, count)
        labels = np.reshape(partitions, -1)
        rows = np.reshape(data, (labels.size, *data.shape[partitions.ndim :]))
        return tuple([rows[labels == i] for i in range(count)])

    return compute


def check_partitions(shape: Sequence[int], partitions: Any, count: int) -> None:
    """Checks the labels of a DynamicPartition.

    Raises:
      InvalidArgumentError: a label out of range, or shapes that do not fit.
    """
    prefix = tuple(partitions.shape)
    if tuple(shape[: len(prefix)]) != prefix:
        raise invalid_argument(
            "data.shape must start with partitions.shape, got data.shape = "
            f"{shape_text(shape)}, partitions.shape = {shape_text(prefix)}"
        )
    bad = np.argwhere((partitions < 0) | (partitions >= count))
    if len(bad):
        place = tuple(bad[0].tolist())
        at = f"[{','.join(map(str, place))}]" if place else ""
        label = np.asarray(partitions)[place]
        raise invalid_argument(f"partitions{at} = {label} is not in [0, {count})")


@host_kernel(["DynamicStitch", "ParallelDynamicStitch"])
def _dynamic_stitch(c: OpKernelConstruction) -> Compute:
    count = c["N"]
    to = base_dtype(c["T"])

    def compute(*inputs: Any) -> Any:
        indices, data = inputs[:count], inputs[count:]
        rows, inner = stitch_plan(indices, [part.shape for part in data])
        result = np.zeros((rows, *inner), to)
        if to == np.dtype(object):
            result[...] = b""
        for index, part in zip(indices, data, strict=True):
            flat = np.reshape(index, -1)
            result[flat] = np.reshape(part, (flat.size, *inner))
        return result

    return compute


def stitch_plan(
    indices: Sequence[Any], shapes: Sequence[Sequence[int]]
) -> tuple[int, tuple[int, ...]]:
    """(rows of the result, shape of a row).

    Raises:
      InvalidArgumentError: a negative index, or shapes that do not fit.
    """
    rows = 0
    inner: tuple[int, ...] | None = None
    for i, (index, shape) in enumerate(zip(indices, shapes, strict=True)):
        rank = index.ndim
        if tuple(shape[:rank]) != tuple(index.shape):
            raise invalid_argument(
                f"data[{i}].shape = {shape_text(shape)} does not start with "
                f"indices[{i}].shape = {shape_text(index.shape)}"
            )
        rest = tuple(shape[rank:])
        if inner is None:
            inner = rest
        elif rest != inner:
            raise invalid_argument(
                f"Need data[0].shape[{indices[0].ndim}:] = data[{i}].shape[{rank}:], "
                f"got data[0].shape = {shape_text(shapes[0])}, data[{i}].shape = "
                f"{shape_text(shape)}"
            )
        if index.size:
            bad = np.argwhere(index < 0)
            if len(bad):
                place = ",".join(map(str, bad[0].tolist()))
                raise invalid_argument(f"indices[{place}] is out of range")
            rows = max(rows, int(np.max(index)) + 1)
    return rows, inner or ()
