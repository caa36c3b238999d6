"""Kernels of the segment reductions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
import torch

from tensorloom.framework import dtypes
from tensorloom.framework.dtypes import DType
from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.op_kernel import Compute, OpKernelConstruction, kernel
from tensorloom.kernels.host.math_ops_segment import (
    check_sorted,
    check_unsorted,
    extrema_after_nan,
)
from tensorloom.kernels.host.scatter_ops import are_inside
from tensorloom.kernels.math_ops_dtypes import NUMBERS, REAL_FLOATS
from tensorloom.kernels.segment_sums import sum_segments
from tensorloom.kernels.variable_value import to_host, to_tensor

_Start = Callable[[DType], Any]
# How values of a segment come together: the name of scatter_reduce, or "sum".
_SUM = "sum"
_EXTREMA: Final = ("amax", "amin")


def _combine(
    data: torch.Tensor, ids: Any, rows: int, how: str, first: Any
) -> torch.Tensor:
    """Brings the rows of `data` together with `first` in the rows `ids` of [rows, ...].

    The ids are NumPy's or torch's. Sums begin with zeros.
    """
    if how == _SUM:
        return sum_segments(data, ids, rows, is_sorted=False)
    shape = (rows, *data.shape[1:])
    out = torch.full(shape, first, dtype=data.dtype, device=data.device)
    wide = (
        to_tensor(ids, data.device)
        .long()
        .reshape((-1,) + (1,) * (data.dim() - 1))
        .expand_as(data)
    )
    return out.scatter_reduce_(0, wide, data, how)


def _has_nan(extrema: torch.Tensor) -> bool:
    return extrema.is_floating_point() and bool(extrema.isnan().any())


def least(dtype: DType) -> int | float:
    """The least finite value, as a Python number."""
    return float(dtype.min) if dtype.is_floating else int(dtype.min)


def greatest(dtype: DType) -> int | float:
    """The greatest finite value, as a Python number."""
    return float(dtype.max) if dtype.is_floating else int(dtype.max)


def _counts(ids: torch.Tensor, rows: int, rank: int) -> torch.Tensor:
    """How many of the ids there are of each segment, [rows, 1, ...]."""
    counts = torch.bincount(ids, minlength=rows)
    return counts.reshape((-1,) + (1,) * (rank - 1))


# torch scatters rows of at least so many elements faster than it reduces segments.
_WIDE: Final = 16
_REDUCED: Final = (torch.float32, torch.float64)
# NumPy reduces the rows of one segment after the other, in vectors if there are many:
# of integers, in a fourth of the time of torch's scattering, and of narrow floats.
_LONG: Final = 12
_ON_HOST: Final = {"amax": np.maximum, "amin": np.minimum, "prod": np.multiply}
_INTEGERS: Final = (torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64)


def _combine_sorted(
    data: torch.Tensor, ids: torch.Tensor, counts: torch.Tensor, how: str, first: Any
) -> torch.Tensor:
    """As `_combine`, of sorted ids; what stands for empty segments is not defined."""
    width = math.prod(data.shape[1:])
    if not data.is_cpu or not width or not len(ids):
        return _combine(data, ids, len(counts), how, first)
    reduced = data.dtype in _REDUCED and width < _WIDE
    lengths, name = counts.reshape(-1), how.removeprefix("a")
    if (reduced or data.dtype in _INTEGERS) and len(ids) >= _LONG * len(counts):
        rows = _reduced(to_host(data), lengths.numpy(), _ON_HOST[how])
        return torch.from_numpy(rows)
    if not reduced:
        return _combine(data, ids, len(counts), how, first)
    return torch.segment_reduce(data, name, lengths=lengths, axis=0, unsafe=True)


def _reduced(data: Any, counts: Any, ufunc: np.ufunc) -> Any:
    """The rows of each segment of so many, which follow each other."""
    starts = counts.cumsum() - counts
    is_there = counts > 0
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        if is_there.all():
            return ufunc.reduceat(data, starts, 0)
        out = np.zeros((len(counts), *data.shape[1:]), data.dtype)
        out[is_there] = ufunc.reduceat(data, starts[is_there], 0)
    return out


def _sorted_segments(op: str, how: str, start: _Start, gap: int) -> None:
    @kernel(op, types={"T": NUMBERS})
    def _factory(c: OpKernelConstruction) -> Compute:
        first = start(c["T"])

        def compute(data: torch.Tensor, ids: torch.Tensor) -> torch.Tensor:
            # NumPy compares in a third of the time.
            checked = to_host(ids) if ids.is_cpu else ids
            check_sorted(data.shape, checked, checked.shape)
            rows = int(checked[-1]) + 1 if ids.numel() else 0
            if op == "SegmentSum":
                return sum_segments(data, ids, rows)
            counts = _counts(ids, rows, data.dim())
            if op == "SegmentMean":
                return _mean(sum_segments(data, ids, rows), counts, data.dtype)
            out = _combine_sorted(data, ids, counts, how, first)
            if how in _EXTREMA and _has_nan(out):
                # TensorFlow's passes over those.
                data = data.masked_fill(data.isnan(), first)
                out = _combine_sorted(data, ids, counts, how, first)
            return out.masked_fill_(counts == 0, gap)

        return compute


def _mean(sums: torch.Tensor, counts: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    counts = counts.clamp_(min=1)
    if sums.is_floating_point() or sums.is_complex():
        return sums.div_(counts)
    return torch.div(sums, counts, rounding_mode="trunc").to(dtype)


_sorted_segments("SegmentSum", _SUM, lambda dtype: 0, 0)
_sorted_segments("SegmentMean", _SUM, lambda dtype: 0, 0)
_sorted_segments("SegmentProd", "prod", lambda dtype: 1, 1)
_sorted_segments(
    "SegmentMax", "amax", lambda t: -math.inf if t.is_floating else least(t), 0
)
_sorted_segments(
    "SegmentMin", "amin", lambda t: math.inf if t.is_floating else greatest(t), 0
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
            if not are_inside(flat, rows):  # rows of no segment
                kept = flat >= 0
                flat, data = flat[kept], data[to_tensor(kept)]
            out = _combine(data, flat, rows, how, first)
            if how in _EXTREMA and _has_nan(out):
                parts = to_host(data), to_host(flat)
                out = to_tensor(extrema_after_nan(op, *parts, rows, first), data.device)
            return out

        return compute


_unsorted_segments("UnsortedSegmentSum", _SUM, lambda dtype: 0)
_unsorted_segments("UnsortedSegmentProd", "prod", lambda dtype: 1)
_unsorted_segments("UnsortedSegmentMax", "amax", least)
_unsorted_segments("UnsortedSegmentMin", "amin", greatest)


# --- segments of gathered rows -----------------------------------------------


def _check_sparse(indices: torch.Tensor, ids: torch.Tensor) -> None:
    if ids.dim() != 1:
        raise invalid_argument("segment_ids should be a vector.")
    if indices.dim() != 1:
        raise invalid_argument("indices should be a vector.")
    if indices.shape != ids.shape:
        raise invalid_argument("segment_ids and indices should have same size.")
    if not ids.numel():
        return
    if not bool((ids[1:] >= ids[:-1]).all()):
        raise invalid_argument("segment ids are not increasing")
    if int(ids[0]) < 0:
        raise invalid_argument("segment ids must be >= 0")


def _check_indices(data: torch.Tensor, indices: torch.Tensor) -> None:
    bad = (indices < 0) | (indices >= data.shape[0])
    if bool(bad.any()):
        place = int(bad.nonzero()[0])
        raise invalid_argument(
            f"Bad: indices[{place}] == {int(indices[place])} "
            f"out of range [0, {data.shape[0]})"
        )


def _divisor(ids: torch.Tensor, rows: int, root: bool, rank: int) -> torch.Tensor:
    counts = _counts(ids, rows, rank).clamp_(min=1)
    return counts.double().sqrt() if root else counts


def _sparse_segments(op: str, kind: str) -> None:
    def compute(
        data: torch.Tensor,
        indices: torch.Tensor,
        ids: torch.Tensor,
        num_segments: Any = None,
    ) -> torch.Tensor:
        if data.dtype is torch.uint16:  # torch does not add those
            return compute(data.int(), indices, ids, num_segments).to(torch.uint16)
        _check_sparse(indices, ids)
        rows = int(ids[-1]) + 1 if ids.numel() else 0
        if num_segments is not None:
            if rows > int(num_segments):
                raise invalid_argument("segment ids must be < num_segments")
            rows = int(num_segments)
        _check_indices(data, indices)
        out = sum_segments(data, ids, rows, indices=indices)
        if kind == "sum":
            return out
        divisor = _divisor(ids, rows, kind == "sqrt_n", data.dim())
        return (out / divisor).to(data.dtype)

    types = {"T": NUMBERS | {dtypes.uint16}}
    kernel(op, types=types)(lambda c: compute)
    kernel(op + "WithNumSegments", types=types, host_inputs=("num_segments",))(
        lambda c: compute
    )


_sparse_segments("SparseSegmentSum", "sum")
_sparse_segments("SparseSegmentMean", "mean")
_sparse_segments("SparseSegmentSqrtN", "sqrt_n")


def _sparse_segment_grads(op: str, root: bool) -> None:
    @kernel(op, types={"T": REAL_FLOATS}, host_inputs=("output_dim0",))
    def _factory(c: OpKernelConstruction) -> Compute:
        def compute(
            grad: torch.Tensor, indices: torch.Tensor, ids: torch.Tensor, size: Any
        ) -> torch.Tensor:
            rows = int(size)
            if ids.numel() and int(ids.max()) >= grad.shape[0]:
                raise invalid_argument(
                    f"Segment id {int(ids.max())} out of range [0, {grad.shape[0]})."
                )
            if indices.numel() and not 0 <= int(indices.max()) < rows:
                raise invalid_argument(
                    f"Index {int(indices.max())} out of range [0, {rows})."
                )
            scaled = grad / _divisor(ids, grad.shape[0], root, grad.dim())
            out = torch.zeros(
                (rows, *grad.shape[1:]), dtype=grad.dtype, device=grad.device
            )
            return out.index_add_(
                0, indices, scaled.to(grad.dtype).index_select(0, ids)
            )

        return compute


_sparse_segment_grads("SparseSegmentMeanGrad", root=False)
_sparse_segment_grads("SparseSegmentSqrtNGrad", root=True)
