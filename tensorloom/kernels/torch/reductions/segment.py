"""Kernels of the segment reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dtypes import DType
from tensorloom.kernels.host.reductions.segment import (
    check_sorted,
    check_unsorted,
    extrema_after_nan,
)
from tensorloom.kernels.host.state.array_scatter import are_inside
from tensorloom.kernels.torch.math.dtypes import NUMBERS, REAL_FLOATS
from tensorloom.kernels.torch.reductions.segment_rows import (
    COMPILED,
    combine_rows,
    count_rows,
)
from tensorloom.kernels.torch.reductions.segment_sums import sum_segments
from tensorloom.kernels.torch.state.variable_value import to_host, to_tensor

_Start = Callable[[DType], Any]
# How values of a segment come together, in `combine_rows` and in torch.
_SCATTERED: Final = {
    "multiply": "prod",
    **{"maxima": "amax", "minima": "amin"},
    **{"latest_maxima": "amax", "latest_minima": "amin"},
}
_WITHOUT_COUNTS: Final = ("SegmentSum", "SegmentProd")
_LATEST: Final = {"latest_maxima": np.maximum, "latest_minima": np.minimum}


def _combine(
    data: torch.Tensor, ids: Any, rows: int, how: str, first: Any
) -> torch.Tensor:
    """Brings the rows of `data` together with `first` in the rows `ids` of [rows, ...].

    Args:
      ids: NumPy's or torch's, [n], each less than rows; what has a negative one is left
        out.
      how: see `combine_rows`. Sums begin with zeros.
    """
    if data.is_cpu and data.dtype in COMPILED:
        values = data.numpy()
        combined = np.empty((rows, *values.shape[1:]), values.dtype)
        combined.fill(first)
        combine_rows(how, combined, values, to_host(ids))
        return torch.from_numpy(combined)
    if not are_inside(ids, rows):
        kept = ids >= 0
        ids, data = ids[kept], data[to_tensor(kept, data.device)]
    if how == "add":
        return sum_segments(data, ids, rows)
    out = _scatter(data, ids, rows, how, first)
    if how == "multiply" or not bool(out.isnan().any()):
        return out
    if how in _LATEST:
        parts = to_host(data), to_host(ids), rows, first
        return to_tensor(extrema_after_nan(_LATEST[how], *parts), data.device)
    return _scatter(data.masked_fill(data.isnan(), first), ids, rows, how, first)


def _scatter(
    data: torch.Tensor, ids: Any, rows: int, how: str, first: Any
) -> torch.Tensor:
    shape = (rows, *data.shape[1:])
    out = torch.full(shape, first, dtype=data.dtype, device=data.device)
    places = to_tensor(ids, data.device).long()
    wide = places.reshape((-1,) + (1,) * (data.dim() - 1)).expand_as(data)
    return out.scatter_reduce_(0, wide, data, _SCATTERED[how])


def least(dtype: DType) -> int | float:
    """The least finite value, as a Python number."""
    return float(dtype.min) if dtype.is_floating else int(dtype.min)


def greatest(dtype: DType) -> int | float:
    """The greatest finite value, as a Python number."""
    return float(dtype.max) if dtype.is_floating else int(dtype.max)


def _counts(ids: torch.Tensor, rows: int, rank: int) -> torch.Tensor:
    """How many of the ids there are of each segment, [rows, 1, ...]."""
    if ids.is_cpu:
        counts = torch.from_numpy(count_rows(ids.numpy(), rows))
    else:
        counts = torch.bincount(ids, minlength=rows)
    return counts.reshape((-1,) + (1,) * (rank - 1))


def _sorted_segments(op: str, how: str, start: _Start, gap: int) -> None:
    @kernel(op, types={"T": NUMBERS})
    def _factory(c: OpKernelConstruction) -> Compute:
        first = start(c["T"])

        def compute(data: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
            # NumPy compares in a third of the time.
            checked = to_host(ids) if ids.is_cpu else ids
            check_sorted(data.shape, checked, checked.shape)
            rows = int(checked[-1]) + 1 if ids.numel() else 0
            out = _combine(data, checked, rows, how, first)
            if op in _WITHOUT_COUNTS:
                return out
            counts = _counts(ids, rows, data.dim())
            if op == "SegmentMean":
                return _mean(out, counts, data.dtype)
            return out.masked_fill_(counts == 0, gap)

        return compute


def _mean(sums: torch.Tensor, counts: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    counts = counts.clamp_(min=1)
    if sums.is_floating_point() or sums.is_complex():
        return sums.div_(counts)
    return torch.div(sums, counts, rounding_mode="trunc").to(dtype)


_sorted_segments("SegmentSum", "add", lambda dtype: 0, 0)
_sorted_segments("SegmentMean", "add", lambda dtype: 0, 0)
_sorted_segments("SegmentProd", "multiply", lambda dtype: 1, 1)
_sorted_segments(
    "SegmentMax", "maxima", lambda t: -math.inf if t.is_floating else least(t), 0
)
_sorted_segments(
    "SegmentMin", "minima", lambda t: math.inf if t.is_floating else greatest(t), 0
)


def _unsorted_segments(op: str, how: str, start: _Start) -> None:
    @kernel(op, types={"T": NUMBERS}, host_inputs=("num_segments",))
    def _factory(c: OpKernelConstruction) -> Compute:
        first = start(c["T"])

        def compute(
            data: torch.Tensor, ids: torch.Tensor, num_segments: Any
        ) -> torch.Tensor:
            # NumPy compares in a third of the time.
            flat: Any = ids.numpy() if ids.is_cpu else ids
            rows = check_unsorted(data.shape, flat, ids.shape, num_segments)
            if ids.dim() != 1:
                flat = flat.reshape(-1)
                data = data.reshape((len(flat), *data.shape[ids.dim() :]))
            return _combine(data, flat, rows, how, first)

        return compute


_unsorted_segments("UnsortedSegmentSum", "add", lambda dtype: 0)
_unsorted_segments("UnsortedSegmentProd", "multiply", lambda dtype: 1)
_unsorted_segments("UnsortedSegmentMax", "latest_maxima", least)
_unsorted_segments("UnsortedSegmentMin", "latest_minima", greatest)


# --- segments of gathered rows -----------------------------------------------


def _check_sparse_sizes(indices: Any, ids: Any) -> None:
    if ids.ndim != 1:
        raise invalid_argument("segment_ids should be a vector.")
    if indices.ndim != 1:
        raise invalid_argument("indices should be a vector.")
    if indices.shape != ids.shape:
        raise invalid_argument("segment_ids and indices should have same size.")


def _check_sparse(indices: Any, ids: Any) -> None:
    _check_sparse_sizes(indices, ids)
    if not len(ids):
        return
    # The kernel takes the last id for the largest, then it walks the rows.
    first, last = int(ids[0]), int(ids[-1])
    if last < 0:
        raise invalid_argument("segment ids must be >= 0")
    if first < 0:
        raise invalid_argument(
            f"Segment id {first} out of range [0, {last + 1}), possibly because "
            "'segment_ids' input is not sorted."
        )
    if not bool((ids[1:] >= ids[:-1]).all()):
        raise invalid_argument("segment ids are not increasing")


def _check_indices(data: torch.Tensor, indices: Any) -> None:
    if not are_inside(indices, data.shape[0]):
        bad = (indices < 0) | (indices >= data.shape[0])
        place = int(bad.nonzero()[0][0])
        raise invalid_argument(
            f"Bad: indices[{place}] == {int(indices[place])} "
            f"out of range [0, {data.shape[0]})"
        )


def divisor(ids: torch.Tensor, rows: int, root: bool, rank: int) -> torch.Tensor:
    """How many of the ids there are of each row, at least one; or the root of that."""
    counts = _counts(ids, rows, rank).clamp_(min=1)
    if not root:
        return counts
    if counts.is_cpu:
        # Torch's root is not the nearest number on each processor.
        return torch.from_numpy(np.sqrt(counts.numpy()))
    return counts.double().sqrt()


def _sparse_segments(op: str, kind: str) -> None:
    def compute(
        data: torch.Tensor,
        indices: torch.Tensor,
        ids: torch.Tensor,
        num_segments: Any = None,
    ) -> torch.Tensor:
        if data.dtype is torch.uint16:  # torch does not add those
            return compute(data.int(), indices, ids, num_segments).to(torch.uint16)
        # NumPy compares in a third of the time.
        checked: Any = (ids.numpy(), indices.numpy()) if ids.is_cpu else (ids, indices)
        _check_sparse(checked[1], checked[0])
        rows = int(checked[0][-1]) + 1 if ids.numel() else 0
        if num_segments is not None:
            if rows > int(num_segments):
                raise invalid_argument("segment ids must be < num_segments")
            rows = int(num_segments)
        _check_indices(data, checked[1])
        out = sum_segments(data, ids, rows, indices=indices)
        if kind == "sum":
            return out
        by = divisor(ids, rows, kind == "sqrt_n", data.dim())
        return (out / by).to(data.dtype)

    types = {"T": NUMBERS | {dtypes.uint16}}
    kernel(op, types=types)(lambda c: compute)
    kernel(op + "WithNumSegments", types=types, host_inputs=("num_segments",))(
        lambda c: compute
    )


_sparse_segments("SparseSegmentSum", "sum")
_sparse_segments("SparseSegmentMean", "mean")
_sparse_segments("SparseSegmentSqrtN", "sqrt_n")


def _check_inside(what: str, values: Any, limit: int) -> None:
    """Raises InvalidArgumentError for the first that is negative or too large."""
    if not are_inside(values, limit):
        bad = (values < 0) | (values >= limit)
        found = int(values[int(bad.nonzero()[0][0])])
        raise invalid_argument(f"{what} {found} out of range [0, {limit}).")


def _sparse_segment_grads(op: str, root: bool) -> None:
    @kernel(op, types={"T": REAL_FLOATS}, host_inputs=("output_dim0",))
    def _factory(c: OpKernelConstruction) -> Compute:
        def compute(
            grad: torch.Tensor, indices: torch.Tensor, ids: torch.Tensor, size: Any
        ) -> torch.Tensor:
            rows = int(size)
            checked: Any = (
                (ids.numpy(), indices.numpy()) if ids.is_cpu else (ids, indices)
            )
            _check_sparse_sizes(checked[1], checked[0])
            # The last id is taken for the largest; then come the elements in order.
            if len(checked[0]) and int(checked[0][-1]) >= grad.shape[0]:
                raise invalid_argument("Invalid number of segments")
            _check_inside("Segment id", checked[0], grad.shape[0])
            _check_inside("Index", checked[1], rows)
            scaled = grad / divisor(ids, grad.shape[0], root, grad.dim())
            return sum_segments(scaled.to(grad.dtype), indices, rows, indices=ids)

        return compute


_sparse_segment_grads("SparseSegmentMeanGrad", root=False)
_sparse_segment_grads("SparseSegmentSqrtNGrad", root=True)
