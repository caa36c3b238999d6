"""Kernels that pick by value: Where, searchsorted, partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.indexing.select import (
    check_bound_shapes,
    check_partitions,
    check_where_rank,
    stitch_plan,
)
from tensorloom.kernels.host.indexing.stable_order import stable_order
from tensorloom.kernels.torch.array.bits import as_numpy, as_signed, move_bits
from tensorloom.kernels.torch.math.dtypes import REALS, TORCH_DTYPES
from tensorloom.kernels.torch.math.vectorized_comparisons import places


@kernel("Where")
def _where(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor) -> torch.Tensor:
        check_where_rank(value.dim())
        return places(as_signed(value))

    return compute


@kernel(["LowerBound", "UpperBound"], types={"T": REALS - {dtypes.bfloat16}})
def _bound(c: OpKernelConstruction) -> Compute:
    to = TORCH_DTYPES[c["out_type"]]
    right = c.op == "UpperBound"

    def compute(rows: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
        check_bound_shapes(rows.shape, values.shape)
        return torch.searchsorted(
            rows.contiguous(), values.contiguous(), right=right
        ).to(to)

    return compute


# --- labels -------------------------------------------------------------------------


@kernel("DynamicPartition", host_inputs=("partitions",))
def _dynamic_partition(c: OpKernelConstruction) -> Compute:
    count = c["num_partitions"]

    def compute(data: torch.Tensor, partitions: Any) -> tuple[torch.Tensor, ...]:
        check_partitions(data.shape, partitions, count)
        labels = partitions.reshape(-1)
        rows = data.reshape((labels.size, *data.shape[partitions.ndim :]))
        return tuple([_rows_at(rows, some) for some in _places(labels, count)])

    return compute


# Looking for each of so many labels costs less than sorting them.
_FEW_LABELS = 8


def _places(labels: Any, count: int) -> list[Any]:
    """For each of `count` labels where it is."""
    if count <= _FEW_LABELS:
        return [np.flatnonzero(labels == label) for label in range(count)]
    ends = np.bincount(labels, minlength=count).cumsum()
    if count <= 1 << 16:  # NumPy has a radix sort for 16 bits
        order = labels.astype(np.uint16).argsort(kind="stable")
    else:
        order = stable_order(labels)[1]
    return np.split(order, ends[:-1])


def _rows_at(rows: torch.Tensor, places: Any) -> torch.Tensor:
    index = torch.from_numpy(places).to(rows.device)
    return move_bits(rows, lambda bits: bits.index_select(0, index))


@kernel(["DynamicStitch", "ParallelDynamicStitch"], host_inputs=("indices",))
def _dynamic_stitch(c: OpKernelConstruction) -> Compute:
    count = c["N"]
    to = TORCH_DTYPES[c["T"]]

    def compute(*inputs: Any) -> torch.Tensor:
        indices, data = inputs[:count], inputs[count:]
        rows, inner = stitch_plan(indices, [part.shape for part in data])
        given = sum(index.size for index in indices)
        # Where most rows are missing, only memory that is zero already costs nothing.
        if inner and data[0].is_cpu and rows <= 2 * given:
            return _stitched_rows(indices, data, rows, inner)
        result = torch.zeros((rows, *inner), dtype=to, device=data[0].device)
        for index, part in zip(indices, data, strict=True):
            flat = index.reshape(-1)
            values = part.reshape((flat.size, *inner))
            if result.is_cpu:  # NumPy takes a fifth of torch's time
                as_numpy(result)[flat] = as_numpy(values)
            elif flat.size:
                to_rows = torch.tensor(flat, device=result.device).long()
                as_signed(result)[to_rows] = as_signed(values)
        return result

    return compute


def _stitched_rows(
    indices: Any, data: Any, rows: int, inner: tuple[int, ...]
) -> torch.Tensor:
    """Rows in the order that their indices say, the last of equal ones; else zeros.

    Taking rows is many times as fast as putting them: only their numbers are put.
    """
    order, parts, first = np.full(rows, -1), [], 0
    for index, part in zip(indices, data, strict=True):
        order[index.reshape(-1)] = np.arange(first, first + index.size)
        parts.append(as_signed(part).reshape((index.size, *inner)))
        first += index.size
    missing = np.flatnonzero(order < 0)
    order[missing] = 0
    result = torch.cat(parts).index_select(0, torch.from_numpy(order))
    result[torch.from_numpy(missing)] = 0
    return result.view(data[0].dtype)
