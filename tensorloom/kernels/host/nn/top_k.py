"""The largest elements of rows, in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.nn.checks import check_in_top_k, check_top_k
from tensorloom.kernels.host.nn.packed_top_k import largest_with_places
from tensorloom.kernels.host.nn.unordered_top_k import correct_rows

_Array = NDArray[Any]


@host_kernel("TopKV2")
def top_k(c: OpKernelConstruction) -> Compute:
    """The k largest elements of each row; of equal ones the first come first."""
    index_type = c["index_type"].as_numpy_dtype

    def compute(value: _Array, k: Any) -> tuple[_Array, _Array]:
        array = np.asarray(k)
        count = int(array) if not array.ndim else 0
        check_top_k(np.shape(value), array.shape, count)
        values, indices = _largest(value, count)
        return values, indices.astype(index_type, copy=False)

    return compute


@host_kernel("TopK")
def top_k_v1(c: OpKernelConstruction) -> Compute:
    """TopKV2 with k as an attr."""
    count = c["k"]

    def compute(value: _Array) -> tuple[_Array, _Array]:
        check_top_k(np.shape(value), (), count)
        return _largest(value, count)

    return compute


def _largest(value: _Array, count: int) -> tuple[_Array, _Array]:
    found = largest_with_places(value, count)
    if found is not None:
        return found
    # A stable sort of the reversed row, read backwards: descending, and of equal
    # elements the first stays first. Negation would overflow for integers.
    size = value.shape[-1]
    ascending = np.argsort(value[..., ::-1], axis=-1, kind="stable")
    order = (size - 1 - ascending)[..., ::-1][..., :count]
    values, order = np.take_along_axis(value, order, -1), order.astype(np.int32)
    # NaN sorts as the largest: where there is one, it comes first.
    if count and values.dtype.kind not in "iub" and np.isnan(values[..., 0]).any():
        correct_rows(value, order, values)
    return values, order


@host_kernel("InTopKV2")
def in_top_k(c: OpKernelConstruction) -> Compute:
    """Whether each target is among the k largest of its row."""

    def compute(predictions: _Array, targets: _Array, k: Any) -> _Array:
        array = np.asarray(k)
        check_in_top_k(predictions.shape, targets.shape, array.shape)
        return _is_in_top(predictions, targets, int(array))

    return compute


@host_kernel("InTopK")
def in_top_k_v1(c: OpKernelConstruction) -> Compute:
    """InTopKV2 with k as an attr."""
    count = c["k"]

    def compute(predictions: _Array, targets: _Array) -> _Array:
        check_in_top_k(predictions.shape, targets.shape, ())
        return _is_in_top(predictions, targets, count)

    return compute


def _is_in_top(predictions: _Array, targets: _Array, count: int) -> _Array:
    """False also for targets that are no class, and rows that are not finite."""
    classes = predictions.shape[1]
    if not predictions.size:
        return np.zeros(targets.shape, np.bool_)
    valid = (targets >= 0) & (targets < classes)
    index = np.clip(targets, 0, classes - 1)[:, None]
    better = (predictions > np.take_along_axis(predictions, index, 1)).sum(1)
    return valid & np.isfinite(predictions).all(1) & (better < count)  # type: ignore[no-any-return]
