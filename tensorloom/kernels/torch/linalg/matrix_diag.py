"""Kernels of the diagonal and band ops."""

from __future__ import annotations

from typing import Any

import torch

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    kernel,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.linalg import matrix_diag as matrix
from tensorloom.kernels.torch.array.bits import as_numpy, as_signed, move_bits


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
