"""Host kernels of feature crosses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_memory
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.parsing.example_columns import ragged_indices, sparse_shape
from tensorloom.kernels.host.strings.arrays import to_strings
from tensorloom.kernels.host.strings.hash_arrays import (
    fingerprints64,
    fingerprints_at,
    siphashes_at,
)
from tensorloom.kernels.host.strings.hashes import HASH64_SEED
from tensorloom.kernels.host.strings.spans import even_spans, spans_of

_MASK = 2**64 - 1
_FACTOR = 0xC6A4A7935BD1E995
_COMBINE = 0x9E3779B97F4A7800
_MOST = 2**63 - 1


def fingerprint_cat(first: Any, second: Any) -> Any:
    """One fingerprint of two: integers, or arrays uint64."""
    mixed = second * _FACTOR & _MASK
    result = first ^ _FACTOR
    result ^= (mixed ^ (mixed >> 47)) * _FACTOR & _MASK
    result = result * _FACTOR & _MASK
    result = (result ^ (result >> 47)) * _FACTOR & _MASK
    return result ^ (result >> 47)


def _hash64_combine(first: Any, second: Any) -> Any:
    """One hash of two, as TensorFlow had it before: an integer or array, and an array.

    Both are uint64, but the shift to the right is one of signed numbers.
    """
    first = np.asarray(first, np.uint64)
    shifted = (first.view(np.int64) >> 4).view(np.uint64)
    return first ^ (second + np.uint64(_COMBINE) + (first << np.uint64(10)) + shifted)


# --- columns -----------------------------------------------------------------


@dataclass
class FeatureColumn:
    """A feature of the rows of a batch."""

    values: Any  # [n] int64 or strings, those of each row together
    starts: Any  # [batch], where the values of each row begin
    counts: Any  # [batch], how many they are


# So many values are counted by a loop.
_MANY: Final = 64


def _of_sparse(indices: Any, values: Any, batch: int) -> FeatureColumn:
    if len(indices) >= _MANY:
        # Loaded here: it takes some tenths of a second.
        from tensorloom.kernels.loops.sparse.cross import rows_in_order

        starts, counts = np.empty(batch, np.int64), np.zeros(batch, np.int64)
        if rows_in_order(np.ascontiguousarray(indices), starts, counts):
            return FeatureColumn(values, starts, counts)
    rows = indices[:, 0]
    if len(rows) and not 0 <= rows.min() <= rows.max() < batch:
        raise invalid_argument(f"Row index {rows.max()} is outside of [0, {batch})")
    if (rows[1:] < rows[:-1]).any():
        values = values[np.argsort(rows, kind="stable")]
    counts = np.bincount(rows, minlength=batch)
    return FeatureColumn(values, counts.cumsum() - counts, counts)


def _of_dense(matrix: Any) -> FeatureColumn:
    batch, width = matrix.shape
    starts = np.arange(batch) * width
    return FeatureColumn(matrix.reshape(-1), starts, np.full(batch, width))


def _check_sparse(indices: Any, values: Any, shapes: Any, dense: Any) -> int:
    """The batch size that all inputs have."""
    for i, (place, value, shape) in enumerate(
        zip(indices, values, shapes, strict=True)
    ):
        if place.ndim != 2 or (shape.ndim == 1 and place.shape[1] != 2):
            raise invalid_argument(
                f"Input indices should be a matrix but received shape "
                f"{shape_text(place.shape)} at position {i}"
            )
        if value.ndim != 1 or len(value) != len(place):
            raise invalid_argument(
                f"Expected size of values to be {len(place)} got {value.size} at "
                f"position {i}"
            )
        if shape.ndim != 1 or len(shape) != 2:
            raise invalid_argument(
                f"Input shapes should be a vector of two but received shape "
                f"{shape_text(shape.shape)} at position {i}"
            )
    for i, matrix in enumerate(dense):
        if matrix.ndim != 2:
            raise invalid_argument(
                f"Dense inputs should be a matrix but received shape "
                f"{shape_text(matrix.shape)} at position {i}"
            )
    sizes = [int(shape[0]) for shape in shapes] + [len(matrix) for matrix in dense]
    if not sizes:
        return 0
    for i, size in enumerate(sizes):
        if size != sizes[0]:
            where = i if i < len(shapes) else i - len(shapes)
            raise invalid_argument(
                f"Expected batch size {sizes[0]} got {size} at "
                f"{'position' if i < len(shapes) else 'dense tensor'} {where}"
            )
    return sizes[0]


def value_groups(inputs: Sequence[Any], count: int) -> list[Sequence[Any]]:
    return [
        inputs[:count],
        inputs[count : 2 * count],
        inputs[2 * count : 3 * count],
        inputs[3 * count :],
    ]


def feature_columns(groups: list[Sequence[Any]]) -> tuple[int, list[FeatureColumn]]:
    """(the batch size, the features, sparse ones first)."""
    indices, values, shapes, dense = groups
    batch = _check_sparse(indices, values, shapes, dense)
    columns = [_of_sparse(i, v, batch) for i, v in zip(indices, values, strict=True)]
    return batch, columns + [_of_dense(matrix) for matrix in dense]


# --- crossing ----------------------------------------------------------------


# From the features' values, and for each feature which of them each cross takes.
_Join = Callable[[Sequence[Any], Sequence[Any]], Any]


def cross_values(
    batch: int, columns: list[FeatureColumn], join: _Join, device: str
) -> tuple[Any, Any]:
    """(all crosses, how many each row has)."""
    sizes = np.ones(batch, np.float64)
    for column in columns:
        sizes *= column.counts
    check_memory((int(sizes.sum()),), dtypes.int64, device)
    counts = sizes.astype(np.int64)
    rows = np.repeat(np.arange(batch), counts)
    # The number of each cross in its row, whose digits are the choices.
    rest = np.arange(len(rows)) - (counts.cumsum() - counts)[rows]
    places = []
    for column in reversed(columns):
        rest, choice = np.divmod(rest, column.counts[rows])
        places.append(column.starts[rows] + choice)
    return join([column.values for column in columns], places[::-1]), counts


def joined_values(separator: bytes) -> _Join:
    def join(values: Sequence[Any], places: Sequence[Any]) -> Any:
        if not values:
            return to_strings([], (0,))
        texts = [
            _texts(x).take(at).tolist() for x, at in zip(values, places, strict=True)
        ]
        joined = list(map(separator.join, zip(*texts, strict=True)))
        return to_strings(joined, (len(joined),))

    return join


def _texts(values: Any) -> Any:
    if values.dtype == object:
        return values
    return to_strings([b"%d" % x for x in values.tolist()], values.shape)


def _numbers(values: Any) -> Any:
    """A number for each value, uint64; not to be changed."""
    if values.dtype == object:
        return fingerprints64(values)
    return values.astype(np.int64).view(np.uint64)


def _buckets(numbers: Any, count: int) -> Any:
    return (numbers % np.uint64(count or _MOST)).astype(np.int64)


def hashed_values(
    key: int, buckets: int, combine: Callable[[Any, Any], Any] = fingerprint_cat
) -> _Join:
    def join(values: Sequence[Any], places: Sequence[Any]) -> Any:
        result: Any = key & _MASK
        for value, at in zip(values, places, strict=True):
            result = combine(result, _numbers(value).take(at))
        return _buckets(result, buckets) if values else np.zeros(0, np.int64)

    return join


def _sparse_result(found: Any, counts: Any) -> tuple[Any, ...]:
    return ragged_indices(counts), found, sparse_shape(counts)


@host_kernel(["SparseCross", "SparseFeatureCross", "SparseFeatureCrossV2"], large=True)
def sparse_cross(c: OpKernelConstruction) -> Compute:
    """Crosses as strings with "_X_", or hashed."""
    count, hashed, device = c["N"], c["hashed_output"], c.device
    if c.op != "SparseCross":  # the others do not read that attr
        hashed = c["out_type"].name == "int64"
    if not hashed:
        join = joined_values(b"_X_")
    elif c.op == "SparseFeatureCross":
        join = hashed_values(HASH64_SEED, c["num_buckets"], _hash64_combine)
    else:
        return _hashed_cross(count, c["hash_key"], c["num_buckets"], device)

    def compute(*inputs: Any) -> tuple[Any, ...]:
        batch, columns = feature_columns(value_groups(inputs, count))
        return _sparse_result(*cross_values(batch, columns, join, device))

    return compute


def _hashed_cross(count: int, key: int, buckets: int, device: str) -> Compute:
    # Loaded here: it takes some tenths of a second.
    from tensorloom.kernels.loops.sparse.cross import (
        count_crosses,
        cross_even,
        cross_hashed,
    )

    key_word, bucket_count = np.uint64(key & _MASK), np.uint64(buckets or _MOST)

    def of_dense(matrices: Sequence[Any], batch: int) -> tuple[Any, ...]:
        widths = [matrix.shape[1] for matrix in matrices]
        widest = math.prod(widths)
        total = batch * widest
        check_memory((total,), dtypes.int64, device)
        places, hashes = np.empty((total, 2), np.int64), np.empty(total, np.int64)
        numbers = [_numbers(matrix.reshape(-1)) for matrix in matrices]
        cross_even(
            np.concatenate(numbers),
            np.array(widths),
            key_word,
            bucket_count,
            places,
            hashes,
        )
        return places, hashes, np.array([batch, widest if batch else 0], np.int64)

    def compute(*inputs: Any) -> tuple[Any, ...]:
        if not count and inputs:
            return of_dense(inputs, _check_sparse((), (), (), inputs))
        batch, columns = feature_columns(value_groups(inputs, count))
        if not columns:
            return _sparse_result(np.zeros(0, np.int64), np.ones(batch, np.int64))
        counts, starts = np.empty((2, len(columns), batch), np.int64)
        begin = 0
        for i, column in enumerate(columns):
            counts[i] = column.counts
            np.add(column.starts, begin, starts[i])
            begin += len(column.values)
        crosses, widest = count_crosses(counts)
        total = int(crosses)
        check_memory((total,), dtypes.int64, device)
        places, hashes = np.empty((total, 2), np.int64), np.empty(total, np.int64)
        cross_hashed(
            np.concatenate([_numbers(column.values) for column in columns]),
            starts,
            counts,
            key_word,
            bucket_count,
            places,
            hashes,
        )
        return places, hashes, np.array([batch, int(widest)], np.int64)

    return compute


@host_kernel("SparseCrossV2", large=True)
def sparse_cross_v2(c: OpKernelConstruction) -> Compute:
    """Crosses as strings."""
    count, device = c["N"], c.device

    def compute(*inputs: Any) -> tuple[Any, ...]:
        batch, columns = feature_columns(value_groups(inputs[:-1], count))
        join = joined_values(inputs[-1].item())
        return _sparse_result(*cross_values(batch, columns, join, device))

    return compute


@host_kernel("SparseCrossHashed", large=True)
def sparse_cross_hashed(c: OpKernelConstruction) -> Compute:
    """Hashes of crosses."""
    count, device = c["N"], c.device

    def compute(*inputs: Any) -> tuple[Any, ...]:
        buckets, strong, salt = inputs[-3:]
        batch, columns = feature_columns(value_groups(inputs[:-3], count))
        if salt.size != 2:
            raise invalid_argument("salt must have two elements")
        first, second = salt.reshape(-1).tolist()
        key = first & _MASK, second & _MASK

        def numbers(values: Any, is_sparse: bool) -> Any:
            if values.dtype == object:
                spans = spans_of(values)
            elif strong or is_sparse:
                # TensorFlow hashes four bytes of the eight.
                spans = even_spans(values.astype("<u4").reshape(-1, 1))
            else:
                return _numbers(values)
            return siphashes_at(spans, key) if strong else fingerprints_at(spans)

        def join(values: Sequence[Any], places: Sequence[Any]) -> Any:
            result: Any = None
            for i, (value, at) in enumerate(zip(values, places, strict=True)):
                chosen = numbers(value, i < count).take(at)
                result = chosen if not i else fingerprint_cat(result, chosen)
            if result is None:
                return np.zeros(0, np.int64)
            return _buckets(result, max(int(buckets), 0))

        return _sparse_result(*cross_values(batch, columns, join, device))

    return compute
