"""Host kernels of feature crosses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product
from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, host_kernel
from tensorloom.kernels.host.allocation import check_memory
from tensorloom.kernels.host.example_columns import ragged_indices, sparse_shape
from tensorloom.kernels.host.math_ops_errors import shape_text
from tensorloom.kernels.host.string_arrays import to_strings
from tensorloom.kernels.host.string_hashes import fingerprint64, siphash

_MASK = 2**64 - 1
_FACTOR = 0xC6A4A7935BD1E995
_MOST = 2**63 - 1

# The features of each row of a batch.
Rows = list[list[Any]]


def fingerprint_cat(first: int, second: int) -> int:
    """One fingerprint of two."""
    mixed = second * _FACTOR & _MASK
    result = first ^ _FACTOR
    result ^= (mixed ^ (mixed >> 47)) * _FACTOR & _MASK
    result = result * _FACTOR & _MASK
    result = (result ^ (result >> 47)) * _FACTOR & _MASK
    return result ^ (result >> 47)


# --- columns -----------------------------------------------------------------


def _sparse_rows(indices: Any, values: Any, batch: int) -> Rows:
    rows: Rows = [[] for _ in range(batch)]
    places = indices[:, 0]
    if len(places) and not 0 <= places.min() <= places.max() < batch:
        raise invalid_argument(f"Row index {places.max()} is outside of [0, {batch})")
    for row, value in zip(places.tolist(), values.tolist(), strict=True):
        rows[row].append(value)
    return rows


def _ragged_rows(values: Any, splits: Any) -> Rows:
    ends, flat = splits.tolist(), values.tolist()
    if not ends or ends[0] != 0 or ends[-1] != len(flat):
        raise invalid_argument("Invalid row_splits of a ragged feature")
    return [flat[a:b] for a, b in pairwise(ends)]


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


def _groups(inputs: Sequence[Any], count: int) -> list[Sequence[Any]]:
    return [
        inputs[:count],
        inputs[count : 2 * count],
        inputs[2 * count : 3 * count],
        inputs[3 * count :],
    ]


def _columns(groups: list[Sequence[Any]]) -> tuple[int, list[Rows]]:
    """(the batch size, the rows of each feature, sparse ones first)."""
    indices, values, shapes, dense = groups
    batch = _check_sparse(indices, values, shapes, dense)
    columns = [_sparse_rows(i, v, batch) for i, v in zip(indices, values, strict=True)]
    return batch, columns + [matrix.tolist() for matrix in dense]


# --- crossing ----------------------------------------------------------------


def _cross(
    batch: int, columns: list[Rows], join: Callable[[Sequence[Any]], Any], device: str
) -> tuple[list[Any], Any]:
    """(all crosses, how many each row has)."""
    from tensorloom.framework import dtypes

    counts = np.ones(batch, np.float64)
    for rows in columns:
        counts *= [len(row) for row in rows]
    check_memory((int(counts.sum()),), dtypes.int64, device)
    found = [
        join(choice)
        for row in range(batch)
        for choice in product(*[rows[row] for rows in columns])
    ]
    return found, counts.astype(np.int64)


def _joined(separator: bytes) -> Callable[[Sequence[Any]], bytes]:
    def join(choice: Sequence[Any]) -> bytes:
        return separator.join(
            [x if isinstance(x, bytes) else b"%d" % x for x in choice]
        )

    return join


def _number(value: Any) -> int:
    return fingerprint64(value) if isinstance(value, bytes) else value & _MASK


def _hashed(key: int, buckets: int) -> Callable[[Sequence[Any]], int]:
    def join(choice: Sequence[Any]) -> int:
        result = key & _MASK
        for value in choice:
            result = fingerprint_cat(result, _number(value))
        return result % (buckets or _MOST)

    return join


def _sparse_result(found: list[Any], counts: Any, is_text: bool) -> tuple[Any, ...]:
    values = to_strings(found, (len(found),)) if is_text else np.array(found, np.int64)
    return ragged_indices(counts), values, sparse_shape(counts)


@host_kernel(["SparseCross", "SparseFeatureCrossV2"], large=True)
def sparse_cross(c: OpKernelConstruction) -> Compute:
    """Crosses as strings with "_X_", or hashed."""
    count, hashed, device = c["N"], c["hashed_output"], c.device
    if c.op == "SparseFeatureCrossV2":  # which does not read that attr
        hashed = c["out_type"].name == "int64"
    join: Callable[[Sequence[Any]], Any]
    join = _hashed(c["hash_key"], c["num_buckets"]) if hashed else _joined(b"_X_")

    def compute(*inputs: Any) -> tuple[Any, ...]:
        batch, columns = _columns(_groups(inputs, count))
        return _sparse_result(*_cross(batch, columns, join, device), not hashed)

    return compute


@host_kernel("SparseCrossV2", large=True)
def sparse_cross_v2(c: OpKernelConstruction) -> Compute:
    """Crosses as strings."""
    count, device = c["N"], c.device

    def compute(*inputs: Any) -> tuple[Any, ...]:
        batch, columns = _columns(_groups(inputs[:-1], count))
        join = _joined(inputs[-1].item())
        return _sparse_result(*_cross(batch, columns, join, device), True)

    return compute


@host_kernel("SparseCrossHashed", large=True)
def sparse_cross_hashed(c: OpKernelConstruction) -> Compute:
    """Hashes of crosses."""
    count, device = c["N"], c.device

    def compute(*inputs: Any) -> tuple[Any, ...]:
        buckets, strong, salt = inputs[-3:]
        batch, columns = _columns(_groups(inputs[:-3], count))
        key = tuple(int(x) & _MASK for x in salt)
        if len(key) != 2:
            raise invalid_argument("salt must have two elements")

        def number(value: Any, is_sparse: bool) -> int:
            if not isinstance(value, bytes):
                if not (strong or is_sparse):
                    return int(value & _MASK)
                # TensorFlow hashes four bytes of the eight.
                value = (value & 0xFFFFFFFF).to_bytes(4, "little")
            return siphash(value, key) if strong else fingerprint64(value)

        for i, rows in enumerate(columns):
            columns[i] = [[number(x, i < count) for x in row] for row in rows]

        def join(choice: Sequence[Any]) -> int:
            result: int = choice[0]
            for other in choice[1:]:
                result = fingerprint_cat(result, other)
            return result % (int(buckets) if buckets > 0 else _MOST)

        return _sparse_result(*_cross(batch, columns, join, device), False)

    return compute


@host_kernel("RaggedCross", large=True)
def ragged_cross(c: OpKernelConstruction) -> Compute:
    """Crosses of ragged, sparse and dense features, as a ragged matrix."""
    ragged, sparse = len(c["ragged_values_types"]), c["Nsparse"]
    order = c["input_order"].decode()
    counted = {"R": ragged, "S": sparse, "D": len(c["dense_types"])}
    if len(order) != sum(counted.values()):
        raise invalid_argument("Invalid length for input_order")
    if any(order.count(kind) != n for kind, n in counted.items()):
        raise invalid_argument(
            f"input_order '{order}' must name {ragged} R, {sparse} S and "
            f"{counted['D']} D"
        )
    hashed, device = c["hashed_output"], c.device
    splits_type = c["out_row_splits_type"].np_dtype
    join: Callable[[Sequence[Any]], Any]
    join = _hashed(c["hash_key"], c["num_buckets"]) if hashed else _joined(b"_X_")

    def compute(*inputs: Any) -> tuple[Any, Any]:
        values, splits = inputs[:ragged], inputs[ragged : 2 * ragged]
        rest = _groups(inputs[2 * ragged :], sparse)
        batch, others = _columns(rest)
        waiting = {
            "R": [_ragged_rows(v, s) for v, s in zip(values, splits, strict=True)],
            "S": others[:sparse],
            "D": others[sparse:],
        }
        if not others and ragged:
            batch = len(splits[0]) - 1
        columns = [waiting[kind].pop(0) for kind in order]
        if any(len(rows) != batch for rows in columns):
            raise invalid_argument(
                "inputs must all have the same batch dimension size."
            )
        found, counts = _cross(batch, columns, join, device)
        result = np.zeros(batch + 1, splits_type)
        np.cumsum(counts, out=result[1:])
        if hashed:
            return np.array(found, np.int64), result
        return to_strings(found, (len(found),)), result

    return compute
