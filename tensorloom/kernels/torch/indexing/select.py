"""Kernels that pick by value: Where, searchsorted, labels, diagonals and bands."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.indexing.select import (
    check_bound_shapes,
    check_partitions,
    check_where_rank,
    stitch_plan,
)
from tensorloom.kernels.host.indexing.stable_order import stable_order
from tensorloom.kernels.host.linalg import matrix_diag as matrix
from tensorloom.kernels.torch.array.bits import as_numpy, as_signed, move_bits
from tensorloom.kernels.torch.math.dtypes import REALS, TORCH_DTYPES
from tensorloom.kernels.torch.math.quick_truths import places


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


# --- diagonals and bands ------------------------------------------------------------


@kernel("Diag")
def _diag(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(diagonal: torch.Tensor) -> torch.Tensor:
        shape = tuple(diagonal.shape)
        if not shape:
            raise invalid_argument("Input must be at least rank 1, got 0")
        check_shape(shape + shape, dtype, device)
        return torch.diag(diagonal.reshape(-1)).reshape(shape + shape)

    return compute


@kernel("DiagPart", aliases=True)
def _diag_part(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor) -> torch.Tensor:
        half = matrix.diag_half(value.shape)
        side = 1
        for size in half:
            side *= size
        return value.reshape(side, side).diagonal().reshape(half)

    return compute


@kernel("MatrixBandPart", host_inputs=("num_lower", "num_upper"))
def _matrix_band_part(c: OpKernelConstruction) -> Compute:
    on_cpu = c.device_type == "CPU"

    def compute(value: torch.Tensor, lower: Any, upper: Any) -> torch.Tensor:
        low, high = matrix.band_limits(value.shape, lower, upper)
        if on_cpu:
            # One pass for a band; torch's `tril` and `triu` branch for each element.
            array = matrix.matrix_band(as_numpy(value), low, high)
            return torch.from_numpy(array).view(value.dtype)

        def band(bits: torch.Tensor) -> torch.Tensor:
            lower_part = bits.tril(high)
            rows = bits.shape[-2]
            return lower_part if low >= rows - 1 else lower_part.triu_(-low)

        return move_bits(value, band)

    return compute


def _diagonals(
    value: torch.Tensor, lower: int, upper: int, padding: Any
) -> torch.Tensor:
    row, column, valid = matrix.diagonal_index(
        value.shape[-2], value.shape[-1], lower, upper
    )
    place = value.device
    mask = torch.from_numpy(valid).to(place)
    rows = torch.from_numpy(row * valid).to(place)
    columns = torch.from_numpy(column * valid).to(place)
    taken = move_bits(value, lambda v: v[..., rows, columns])
    if not bool(valid.all()):
        filler = torch.tensor(padding, dtype=value.dtype, device=place)
        taken = torch.where(mask, taken, filler)
    return taken[..., 0, :] if lower == upper else taken


@kernel("MatrixDiagPart")
def _matrix_diag_part(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor) -> torch.Tensor:
        matrix.check_diag_band(value.shape, 0, 0)
        return _diagonals(value, 0, 0, 0)

    return compute


@kernel("MatrixDiagPartV2", host_inputs=("k", "padding_value"))
def _matrix_diag_part_v2(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, k: Any, padding: Any) -> torch.Tensor:
        matrix.check_padding(padding)
        lower, upper = matrix.diag_band(k)
        matrix.check_diag_band(value.shape, lower, upper)
        return _diagonals(value, lower, upper, padding.item())

    return compute


def _put_diagonals(
    result: torch.Tensor, diagonal: torch.Tensor, lower: int, upper: int
) -> torch.Tensor:
    """Writes diagonals into matrices that are the caller's own."""
    row, column, valid = matrix.diagonal_index(
        result.shape[-2], result.shape[-1], lower, upper
    )
    place = result.device
    mask = torch.from_numpy(valid).to(place)
    packed = diagonal.unsqueeze(-2) if lower == upper else diagonal
    rows = torch.from_numpy(row[valid]).to(place)
    columns = torch.from_numpy(column[valid]).to(place)
    as_signed(result)[..., rows, columns] = as_signed(packed)[..., mask]
    return result


@kernel("MatrixDiag")
def _matrix_diag(c: OpKernelConstruction) -> Compute:
    def compute(diagonal: torch.Tensor) -> torch.Tensor:
        if not diagonal.dim():
            raise invalid_argument(
                "diagonal must be at least 1-dim, received shape: []"
            )
        check_shape((*diagonal.shape, diagonal.shape[-1]), c["T"], c.device)
        return torch.diag_embed(diagonal)

    return compute


@kernel("MatrixDiagV2", host_inputs=("k", "num_rows", "num_cols", "padding_value"))
def _matrix_diag_v2(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(
        diagonal: torch.Tensor, k: Any, rows: Any, columns: Any, padding: Any
    ) -> torch.Tensor:
        matrix.check_padding(padding)
        lower, upper = matrix.diag_band(k)
        batch, sides = matrix.diag_matrix_shape(
            diagonal.shape, lower, upper, rows, columns
        )
        check_shape((*batch, *sides), dtype, device)
        result = diagonal.new_full((*batch, *sides), padding.item())
        return _put_diagonals(result, diagonal, lower, upper)

    return compute


@kernel("MatrixSetDiag")
def _matrix_set_diag(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, diagonal: torch.Tensor) -> torch.Tensor:
        return _set_diag(value, diagonal, 0, 0)

    return compute


@kernel("MatrixSetDiagV2", host_inputs=("k",))
def _matrix_set_diag_v2(c: OpKernelConstruction) -> Compute:
    def compute(value: torch.Tensor, diagonal: torch.Tensor, k: Any) -> torch.Tensor:
        return _set_diag(value, diagonal, *matrix.diag_band(k))

    return compute


def _set_diag(
    value: torch.Tensor, diagonal: torch.Tensor, lower: int, upper: int
) -> torch.Tensor:
    matrix.check_set_diag(value.shape, diagonal.shape, lower, upper)
    return _put_diagonals(value.clone(), diagonal, lower, upper)
