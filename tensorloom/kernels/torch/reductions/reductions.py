"""Kernels of the reductions, ArgMax and ArgMin, and the scans."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.indexing.narrow_arg_max import is_narrow, narrow_arg
from tensorloom.kernels.host.reductions.reductions import (
    arg_axis,
    highest,
    keep_last_axes,
    lowest,
    scan_axis,
)
from tensorloom.kernels.torch.math.dtypes import (
    FLOATS,
    INTEGERS,
    NUMBERS,
    REAL_FLOATS,
    REALS,
    TORCH_DTYPES,
)

Axes = tuple[int, ...]
_Reduce = Callable[[torch.Tensor, Axes, bool], torch.Tensor]


def _compute(reduce: _Reduce, keep: bool) -> Compute:
    axes_of = keep_last_axes()

    def compute(x: torch.Tensor, indices: Any) -> torch.Tensor:
        axes = axes_of(x.shape, indices)
        # No axes means no reduction here; torch would reduce them all.
        return reduce(x, axes, keep) if axes else x

    return compute


def _reduction(
    op: str, types: frozenset[Any] | None
) -> Callable[[Callable[[OpKernelConstruction], _Reduce]], None]:
    def register(build: Callable[[OpKernelConstruction], _Reduce]) -> None:
        @kernel(
            op,
            types=None if types is None else {"T": types},
            host_inputs=("reduction_indices",),
            aliases=True,
        )
        def _factory(c: OpKernelConstruction) -> Compute:
            return _compute(build(c), c["keep_dims"])

    return register


@_reduction("Sum", FLOATS)
def _sum(c: OpKernelConstruction) -> _Reduce:
    return torch.sum


@_reduction("Sum", INTEGERS)
def _integer_sum(c: OpKernelConstruction) -> _Reduce:
    to = TORCH_DTYPES[c["T"]]  # torch would widen to int64
    return lambda x, axes, keep: torch.sum(x, axes, keep, dtype=to)


@_reduction("Mean", FLOATS)
def _mean(c: OpKernelConstruction) -> _Reduce:
    if not c["T"].is_complex:
        return torch.mean

    def reduce(x: torch.Tensor, axes: Axes, keep: bool) -> torch.Tensor:
        # Of no elements zero, not NaN: so does TensorFlow.
        return torch.mean(x, axes, keep) if x.numel() else torch.sum(x, axes, keep)

    return reduce


@_reduction("Mean", INTEGERS)
def _integer_mean(c: OpKernelConstruction) -> _Reduce:
    to = TORCH_DTYPES[c["T"]]

    def reduce(x: torch.Tensor, axes: Axes, keep: bool) -> torch.Tensor:
        # The sum wraps in the dtype itself and the quotient is truncated.
        total = torch.sum(x, axes, keep, dtype=to)
        count = max(x.numel() // max(total.numel(), 1), 1)
        return torch.div(total, count, rounding_mode="trunc").to(to)

    return reduce


@_reduction("Prod", NUMBERS)
def _prod(c: OpKernelConstruction) -> _Reduce:
    to = TORCH_DTYPES[c["T"]]

    def reduce(x: torch.Tensor, axes: Axes, keep: bool) -> torch.Tensor:
        if len(axes) == x.dim() and not keep:
            return torch.prod(x, dtype=to)
        # torch takes one axis at a time.
        for axis in sorted(axes, reverse=True):
            x = torch.prod(x, axis, keep, dtype=to)
        return x

    return reduce


# torch takes rows of this many elements in vectors, and narrow ones one by one.
_FOLDED = 512


def _over_rows(function: Callable[..., torch.Tensor]) -> _Reduce:
    """A reduction whose order does not matter, of narrow rows many at a time."""

    def reduce(x: torch.Tensor, axes: Axes, keep: bool) -> torch.Tensor:
        shape = x.shape[len(axes) :]
        width = shape.numel()
        fold = _FOLDED // width
        is_narrow = fold > 1 and shape and x.is_contiguous() and x.is_cpu
        if not is_narrow or x.numel() < 4 * _FOLDED or max(axes) >= len(axes):
            return function(x, axes, keep)
        rows = x.view(-1, width)
        whole = len(rows) // fold * fold
        parts = function(rows[:whole].view(-1, fold * width), 0).view(fold, width)
        out = function(torch.cat([parts, rows[whole:]]), 0)
        return out.view([1] * len(axes) + [*shape] if keep else shape)

    return reduce


def _extreme(op: str, function: _Reduce, start: Callable[[Any], Any]) -> None:
    def empty(x: torch.Tensor, axes: Axes, keep: bool, value: Any) -> torch.Tensor:
        shape = [1 if i in axes else n for i, n in enumerate(x.shape)]
        out = torch.full(shape, value, dtype=x.dtype, device=x.device)
        return out if keep else out.squeeze(axes)

    @_reduction(op, REALS)
    def _build(c: OpKernelConstruction) -> _Reduce:
        value = start(c["T"])
        has_nan = c["T"].is_floating and c.device_type == "CPU"

        def reduce(x: torch.Tensor, axes: Axes, keep: bool) -> torch.Tensor:
            if x.numel() == 0:
                return empty(x, axes, keep, value)
            out = function(x, axes, keep)
            # TensorFlow's comparison passes over NaN, torch's result is NaN then.
            if has_nan and bool(out.isnan().any()):
                out = function(x.masked_fill(x.isnan(), value), axes, keep)
            return out

        return reduce


_extreme("Max", _over_rows(torch.amax), lowest)
_extreme("Min", _over_rows(torch.amin), highest)


@_reduction("EuclideanNorm", NUMBERS)
def _euclidean_norm(c: OpKernelConstruction) -> _Reduce:
    to, is_complex = TORCH_DTYPES[c["T"]], c["T"].is_complex

    def reduce(x: torch.Tensor, axes: Axes, keep: bool) -> torch.Tensor:
        if all(x.shape[axis] == 1 for axis in axes):
            # TensorFlow then copies, signs and all.
            return x.clone() if keep else x.squeeze(tuple(axes)).clone()
        squares = x * torch.conj_physical(x) if is_complex else x * x
        return torch.sqrt(torch.sum(squares, axes, keep, dtype=to)).to(to)

    return reduce


def _as_bytes(reduce: _Reduce, general: _Reduce) -> _Reduce:
    """The least or greatest byte: torch's own `all` and `any` take 40 times as long."""

    def compute(x: torch.Tensor, axes: Axes, keep: bool) -> torch.Tensor:
        if not x.numel():
            return general(x, axes, keep)
        return reduce(x.view(torch.uint8), axes, keep).view(torch.bool)

    return compute


@_reduction("All", None)
def _all(c: OpKernelConstruction) -> _Reduce:
    if c.device_type != "CPU":
        return torch.all
    return _as_bytes(torch.amin, torch.all)


@_reduction("Any", None)
def _any(c: OpKernelConstruction) -> _Reduce:
    if c.device_type != "CPU":
        return torch.any
    return _as_bytes(torch.amax, torch.any)


# --- positions ---------------------------------------------------------------


def _on_cpu(function: Callable[..., Any]) -> Callable[..., torch.Tensor]:
    """NumPy's function on the same memory: 2 to 20 times as fast as torch's."""
    return lambda x, axis: torch.from_numpy(np.asarray(function(x.numpy(), axis)))


def _has_nan(x: torch.Tensor, axis: int, extremes: torch.Tensor) -> bool:
    """Whether NaN is among the extreme elements, whose positions are given."""
    return bool(x.gather(axis, extremes.unsqueeze(axis)).isnan().any())


# Up to so many elements one pass over all costs less than picking some.
_FEW_ELEMENTS = 1 << 14


def _quick_arg(
    name: str, output_type: dtypes.DType, general: Callable[..., torch.Tensor]
) -> Callable[..., torch.Tensor]:
    """argmax or argmin of few elements on a CPU without NaN; else the general one."""
    to = output_type.as_numpy_dtype

    def compute(x: torch.Tensor, dimension: Any) -> torch.Tensor:
        array = x.numpy()
        if not 0 < array.size <= _FEW_ELEMENTS:
            return general(x, dimension)
        largest = array.max()
        if largest != largest:  # NumPy hands NaN on
            return general(x, dimension)
        axis = arg_axis(dimension, array.shape)
        return torch.from_numpy(np.asarray(getattr(array, name)(axis), to))

    return compute


_HALVES = frozenset([dtypes.float16, dtypes.bfloat16])


def _arg(
    op: str,
    function: Callable[..., torch.Tensor],
    numpy_function: Callable[..., Any],
    value: float,
) -> None:
    @kernel(op, types={"T": REALS}, host_inputs=("dimension",))
    def _factory(c: OpKernelConstruction) -> Compute:
        to = TORCH_DTYPES[c["output_type"]]
        on_cpu = c.device_type == "CPU"
        mask_always = c["T"].is_floating and not on_cpu
        mask_if_met = c["T"].is_floating and on_cpu
        is_half = on_cpu and c["T"] in _HALVES
        find = _on_cpu(numpy_function) if on_cpu else function
        largest = op == "ArgMax"

        def compute(x: torch.Tensor, dimension: Any) -> torch.Tensor:
            axis = arg_axis(dimension, x.shape)
            if is_half:
                x = x.float()
            if on_cpu and is_narrow(x.shape, axis):
                out = torch.from_numpy(narrow_arg(x.numpy(), axis, largest))
                return out if to is torch.int64 else out.to(to)
            # A comparison with NaN is false in TensorFlow, so it is never the extreme
            # one; here it always is. On a GPU looking first would wait for it.
            if mask_always:
                x = x.masked_fill(x.isnan(), value)
            out = find(x, axis)
            if mask_if_met and _has_nan(x, axis, out):
                out = find(x.masked_fill(x.isnan(), value), axis)
            return out if to is torch.int64 else out.to(to)

        if not on_cpu or c["T"] == dtypes.bfloat16:
            return compute
        return _quick_arg(numpy_function.__name__, c["output_type"], compute)


_arg("ArgMax", torch.argmax, np.argmax, float("-inf"))
_arg("ArgMin", torch.argmin, np.argmin, float("inf"))


# --- scans -------------------------------------------------------------------


def _scan(
    op: str,
    accumulate: Callable[..., torch.Tensor],
    start: Callable[[Any], float],
    types: frozenset[Any],
) -> None:
    @kernel(op, types={"T": types}, host_inputs=("axis",))
    def _factory(c: OpKernelConstruction) -> Compute:
        exclusive, reverse = c["exclusive"], c["reverse"]
        first = start(c["T"])

        def compute(x: torch.Tensor, axis: Any) -> torch.Tensor:
            dim = scan_axis(axis, x.dim())
            if reverse:
                x = x.flip(dim)
            out = accumulate(x, dim)
            if out.dtype is not x.dtype:  # torch widens integers
                out = out.to(x.dtype)
            if exclusive and out.shape[dim]:
                shifted = torch.empty_like(out)
                shifted.narrow(dim, 0, 1).fill_(first)
                last = out.shape[dim] - 1
                shifted.narrow(dim, 1, last).copy_(out.narrow(dim, 0, last))
                out = shifted
            return out.flip(dim) if reverse else out

        return compute


_scan("Cumsum", torch.cumsum, lambda dtype: 0, NUMBERS)
_scan("Cumprod", torch.cumprod, lambda dtype: 1, NUMBERS)
_scan("CumulativeLogsumexp", torch.logcumsumexp, lambda dtype: dtype.min, REAL_FLOATS)
