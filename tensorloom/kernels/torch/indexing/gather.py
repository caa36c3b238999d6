"""Kernels that take and put elements by index: Gather, GatherNd, ScatterNd.

On a CPU an index out of range is an error, as in TensorFlow. On a GPU, where the
indices cannot be looked at without waiting for the device, such a row reads as zeros
and is not written: that too is TensorFlow's behaviour.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.array import checks
from tensorloom.kernels.host.indexing import gather as host
from tensorloom.kernels.torch.array.bits import as_signed, move_bits
from tensorloom.kernels.torch.math.dtypes import TORCH_DTYPES
from tensorloom.kernels.torch.state.row_updates import add_rows

# --- gather -------------------------------------------------------------------------


def gather_rows(
    params: torch.Tensor, indices: torch.Tensor, axis: int = 0, batch: int = 0
) -> torch.Tensor:
    """Slices of a tensor along an axis, for each member of a batch.

    Raises:
      InvalidArgumentError: on a CPU, an index out of range.
    """
    if not batch and indices.is_cpu and params.numel():
        try:  # torch checks the indices, too
            return move_bits(params, lambda p: _selected(p, indices, axis))
        except (IndexError, RuntimeError):
            host.check_indices(indices.numpy(), params.shape[axis])
            raise
    indices = indices.long()
    known = _checked(indices, params.shape[axis])
    return move_bits(params, lambda p: _gather_known(p, known, indices, axis, batch))


def _selected(params: torch.Tensor, indices: torch.Tensor, axis: int) -> torch.Tensor:
    if indices.dim() == 1:
        return params.index_select(axis, indices)
    shape = params.shape
    flat = params.index_select(axis, indices.reshape(-1))
    return flat.reshape((*shape[:axis], *indices.shape, *shape[axis + 1 :]))


def _gather_known(
    params: torch.Tensor,
    known: torch.Tensor,
    indices: torch.Tensor,
    axis: int,
    batch: int,
) -> torch.Tensor:
    """Gathers at `known`; zeros where that is not what `indices` said."""
    if batch:
        result = _gather_batch(params, known, axis, batch)
    elif indices.dim() == 1:
        result = params.index_select(axis, known)
    else:
        shape = params.shape
        flat = params.index_select(axis, known.reshape(-1))
        result = flat.reshape((*shape[:axis], *indices.shape, *shape[axis + 1 :]))
    if known is not indices:
        outer = (1,) * (axis - batch)
        inner = (1,) * (params.dim() - axis - 1)
        mask = (known == indices).reshape(
            (*indices.shape[:batch], *outer, *indices.shape[batch:], *inner)
        )
        result = result.masked_fill(~mask, 0)
    return result


def _checked(indices: torch.Tensor, limit: int) -> torch.Tensor:
    """The indices, clamped on a device whose values cannot be looked at."""
    if not indices.numel():
        return indices
    if indices.is_cpu:
        low, high = torch.aminmax(indices)
        if low < 0 or high >= limit:
            host.check_indices(indices.numpy(), limit)
        return indices
    return indices.clamp(0, max(limit - 1, 0))


def _gather_batch(
    params: torch.Tensor, indices: torch.Tensor, axis: int, batch: int
) -> torch.Tensor:
    moved = params.movedim(axis, batch)
    rank = indices.dim()
    grid = [
        torch.arange(size, device=params.device).reshape(
            (1,) * i + (size,) + (1,) * (rank - i - 1)
        )
        for i, size in enumerate(params.shape[:batch])
    ]
    taken = moved[(*grid, indices)]
    inner = rank - batch
    source = list(range(batch, batch + inner))
    return taken.movedim(source, list(range(axis, axis + inner)))


@kernel("Gather")
def _gather(c: OpKernelConstruction) -> Compute:
    def compute(params: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
        return gather_rows(params, indices)

    return compute


@kernel("GatherV2", host_inputs=("axis",))
def _gather_v2(c: OpKernelConstruction) -> Compute:
    batch_dims = c["batch_dims"]

    def compute(params: torch.Tensor, indices: torch.Tensor, axis: Any) -> torch.Tensor:
        at, batch = host.gather_axes(params.shape, indices.shape, axis, batch_dims)
        return gather_rows(params, indices, at, batch)

    return compute


# --- coordinates --------------------------------------------------------------------


def _flat_rows(
    indices: torch.Tensor, shape: Sequence[int], gathers: bool = False
) -> tuple[torch.Tensor, torch.Tensor | None]:
    """(flat row numbers, mask of those in range on a GPU, else None)."""
    if indices.is_cpu:
        return torch.from_numpy(host.flat_rows(indices.numpy(), shape, gathers)), None
    depth = indices.shape[-1]
    coordinates = indices.long().reshape(math.prod(indices.shape[:-1]), depth)
    place = indices.device
    limits = torch.tensor(shape[:depth], dtype=torch.int64, device=place)
    inside = ((coordinates >= 0) & (coordinates < limits)).all(dim=1)
    strides = [math.prod(shape[i + 1 : depth]) for i in range(depth)]
    rows = (coordinates * torch.tensor(strides, dtype=torch.int64, device=place)).sum(1)
    return rows * inside, inside


@kernel("GatherNd")
def _gather_nd(c: OpKernelConstruction) -> Compute:
    def gather_slices(params: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
        shape = tuple(params.shape)
        wanted = math.prod(indices.shape[:-1])
        is_wrong = not indices.dim() or indices.shape[-1] > len(shape)
        if is_wrong or (wanted and not math.prod(shape)):
            host.gather_nd_plan(shape, indices.cpu().numpy())
        depth = indices.shape[-1]
        rows, inside = _flat_rows(indices, shape, gathers=True)
        flat = params.reshape((math.prod(shape[:depth]), *shape[depth:]))
        taken = flat.index_select(0, rows) if rows.numel() else flat[:0]
        if inside is not None:
            mask = inside.reshape((-1,) + (1,) * (taken.dim() - 1))
            taken = taken.masked_fill(~mask, 0)
        return taken.reshape((*indices.shape[:-1], *shape[depth:]))

    def compute(params: torch.Tensor, indices: torch.Tensor) -> torch.Tensor:
        return move_bits(params, lambda p: gather_slices(p, indices))

    return compute


# --- scatter ------------------------------------------------------------------------


def _put(target: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> None:
    target.index_copy_(0, rows, values)


def _add(target: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> None:
    add_rows(target, rows, values)


def _sub(target: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> None:
    add_rows(target, rows, values, -1)


def _rows_like(rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Row numbers for scatter_reduce_; index_reduce_ warns that it is in beta."""
    return rows.reshape(-1, *[1] * (values.dim() - 1)).expand(values.shape)


def _min(target: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> None:
    target.scatter_reduce_(0, _rows_like(rows, values), values, "amin")


def _max(target: torch.Tensor, rows: torch.Tensor, values: torch.Tensor) -> None:
    target.scatter_reduce_(0, _rows_like(rows, values), values, "amax")


_Combine = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], None]


def _scatter(
    result: torch.Tensor,
    indices: torch.Tensor,
    updates: torch.Tensor,
    combine: _Combine,
) -> torch.Tensor:
    """Combines updates into a tensor that is the caller's own."""
    shape = tuple(result.shape)
    depth = indices.shape[-1]
    if not updates.numel():
        return result
    rows, inside = _flat_rows(indices, shape)
    values = updates.reshape((rows.numel(), *shape[depth:]))
    if inside is not None and combine in (_add, _sub):
        # To leave rows out would wait for their number.
        mask = inside.reshape((-1,) + (1,) * (values.dim() - 1))
        values = as_signed(values).masked_fill(~mask, 0)
    elif inside is not None:
        rows, values = rows[inside], values[inside]
    flat = result.view((math.prod(shape[:depth]), *shape[depth:]))
    combine(as_signed(flat), rows, as_signed(values))
    return result


@kernel("ScatterNd", host_inputs=("shape",))
def _scatter_nd(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device
    to = TORCH_DTYPES[dtype]

    def compute(
        indices: torch.Tensor, updates: torch.Tensor, shape: Any
    ) -> torch.Tensor:
        sizes = checks.shape_vector(shape, dtype, device, "Shape")
        host.check_scatter(sizes, _ShapeOnly(indices), updates.shape)
        result = torch.zeros(sizes, dtype=to, device=updates.device)
        return _scatter(result, indices, updates, _add)

    return compute


class _ShapeOnly:
    """A tensor as the checks want it: its shape and rank."""

    __slots__ = ("ndim", "shape")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.shape = tuple(tensor.shape)
        self.ndim = tensor.dim()


def _tensor_scatter(combine: _Combine) -> Callable[[OpKernelConstruction], Compute]:
    def factory(c: OpKernelConstruction) -> Compute:
        def compute(
            tensor: torch.Tensor, indices: torch.Tensor, updates: torch.Tensor
        ) -> torch.Tensor:
            host.check_scatter(tensor.shape, _ShapeOnly(indices), updates.shape)
            own = tensor.clone(memory_format=torch.contiguous_format)
            return _scatter(own, indices, updates, combine)

        return compute

    return factory


for _name, _combine in (
    ("TensorScatterUpdate", _put),
    ("TensorScatterAdd", _add),
    ("TensorScatterSub", _sub),
    ("TensorScatterMin", _min),
    ("TensorScatterMax", _max),
    ("ScatterNdNonAliasingAdd", _add),
):
    kernel(_name)(_tensor_scatter(_combine))
