"""Host kernels of the gradients of sparse segment ops."""

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


def _scales(op: str, ids: Any, rows: int) -> Any:
    """What each segment's gradient is multiplied with."""
    counts = np.maximum(np.bincount(ids, minlength=rows), 1)
    if op.startswith("SparseSegmentMean"):
        return 1.0 / counts
    if op.startswith("SparseSegmentSqrtN"):
        return 1.0 / np.sqrt(counts)
    return np.ones(len(counts))


def _check(grad: Any, indices: Any, ids: Any, count: int) -> None:
    if indices.shape != ids.shape or indices.ndim != 1:
        raise invalid_argument("segment_ids and indices should have same size.")
    if not len(ids):
        return
    # The last id is taken for the largest; then come the elements in their order.
    if ids[-1] + 1 > len(grad):
        raise invalid_argument("Invalid number of segments")
    bad = (ids < 0) | (ids >= len(grad))
    if bad.any():
        found = ids[int(np.argmax(bad))]
        raise invalid_argument(f"Segment id {found} out of range [0, {len(grad)}).")
    if (np.diff(ids) < 0).any():
        raise invalid_argument("segment ids are not increasing")
    bad = (indices < 0) | (indices >= count)
    if bad.any():
        found = indices[int(np.argmax(bad))]
        raise invalid_argument(f"Index {found} out of range [0, {count}).")


def _terms(op: str, grad: Any, ids: Any) -> Any:
    scale = _scales(op, ids, len(grad))[ids]
    shape = (-1,) + (1,) * (grad.ndim - 1)
    return grad[ids] * scale.reshape(shape)


@host_kernel("SparseSegmentSumGrad", large=True)
def sparse_segment_sum_grad(c: OpKernelConstruction) -> Compute:
    """Each segment's gradient at the rows that it took."""

    def compute(grad: Any, indices: Any, ids: Any, rows: Any) -> Any:
        count = int(rows)
        _check(grad, indices, ids, count)
        check_shape((count, *grad.shape[1:]), c["T"], c.device)
        result = np.zeros((count, *grad.shape[1:]), grad.dtype)
        np.add.at(result, indices, grad[ids])
        return result

    return compute


@host_kernel(
    [f"SparseSegment{kind}GradV2" for kind in ("Sum", "Mean", "SqrtN")], large=True
)
def sparse_segment_grad_v2(c: OpKernelConstruction) -> Compute:
    """The rows that are not zero, and their places."""

    def compute(grad: Any, indices: Any, ids: Any, rows: Any) -> tuple[Any, Any]:
        _check(grad, indices, ids, int(rows))
        places, inverse = np.unique(indices, return_inverse=True)
        result = np.zeros((len(places), *grad.shape[1:]), grad.dtype)
        terms = _terms(c.op, grad, ids).astype(grad.dtype)
        np.add.at(result, inverse.reshape(-1), terms)
        return result, places.astype(indices.dtype)

    return compute
