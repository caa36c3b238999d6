"""Host kernels of diagonals and bands, and of blocks of space."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import check_shape
from tensorloom.kernels.host.math.errors import shape_text

if TYPE_CHECKING:
    from tensorloom.framework.types import dtypes

# --- whole-tensor diagonals ---------------------------------------------------------


@host_kernel("Diag")
def _diag(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(diagonal: Any) -> Any:
        if not diagonal.ndim:
            raise invalid_argument("Input must be at least rank 1, got 0")
        shape = diagonal.shape
        check_shape(shape + shape, dtype, device)
        flat = diagonal.reshape(-1)
        result = np.zeros((flat.size, flat.size), flat.dtype)
        np.fill_diagonal(result, flat)
        return result.reshape(shape + shape)

    return compute


@host_kernel("DiagPart")
def _diag_part(c: OpKernelConstruction) -> Compute:
    def compute(value: Any) -> Any:
        half = diag_half(value.shape)
        side = int(np.prod(half, dtype=np.int64))
        return value.reshape(side, side).diagonal().reshape(half).copy()

    return compute


def diag_half(shape: Sequence[int]) -> tuple[int, ...]:
    """The first half of a shape that is some shape twice.

    Raises:
      InvalidArgumentError: it is not.
    """
    rank = len(shape)
    if rank == 0 or rank % 2:
        raise invalid_argument(
            f"The rank of the tensor should be even and positive, got shape "
            f"{shape_text(shape)}"
        )
    half = rank // 2
    for i in range(half):
        if shape[i] != shape[i + half]:
            raise invalid_argument(
                f"Invalid shape {shape_text(shape)}: dimensions {i} and {i + half} do "
                "not match."
            )
    return tuple(shape[:half])


# --- bands --------------------------------------------------------------------------


@host_kernel("MatrixBandPart")
def _matrix_band_part(c: OpKernelConstruction) -> Compute:
    def compute(value: Any, lower: Any, upper: Any) -> Any:
        low, high = band_limits(value.shape, lower, upper)
        return matrix_band(value, low, high)

    return compute


def matrix_band(value: Any, lower: int, upper: int) -> Any:
    """Matrices [..., rows, columns] of any plain dtype with 0 outside their band."""
    size = value.dtype.itemsize
    bits = np.ascontiguousarray(value).view(_WORDS[min(size, 8)])
    mask = _band_mask(*value.shape[-2:], lower, upper, size)
    if 0 < mask.size <= _SMALL_MATRIX < bits.size:
        # Short rows are not worth a loop each.
        bits, mask = bits.reshape(-1, mask.size), mask.reshape(-1)
    return np.bitwise_and(bits, mask).view(value.dtype).reshape(value.shape)


# Masks of so many words are cheaper to copy than to go through row by row.
_SMALL_MATRIX = 4096
_WORDS = {size: np.dtype(f"i{size}") for size in (1, 2, 4, 8)}


@lru_cache(64)
def _band_mask(rows: int, columns: int, lower: int, upper: int, size: int) -> Any:
    """All ones within the band of elements of `size` bytes; not to be written.

    Each row is the one above it, shifted: all of them are views of one strip.
    """
    words, width = size // 8 or 1, min(size, 8)
    strip = np.zeros(words * (rows + columns), _WORDS[width])
    strip[words * (rows - lower) : words * (rows + upper + 1)] = -1
    return np.ndarray(
        (rows, words * columns), strip.dtype, strip, size * rows, (-size, width)
    )


def band_limits(shape: Sequence[int], lower: Any, upper: Any) -> tuple[int, int]:
    """How many diagonals below and above the main one are kept.

    Raises:
      InvalidArgumentError: not matrices, or numbers out of range.
    """
    if len(shape) < 2:
        raise invalid_argument(
            f"input must be at least 2-dim, received shape: {shape_text(shape)}"
        )
    limits = []
    for name, number, size in (
        ("num_lower", lower, shape[-2]),
        ("num_upper", upper, shape[-1]),
    ):
        if number.shape != ():
            raise invalid_argument(
                f"{name} must be scalar, got shape {shape_text(number.shape)}"
            )
        if number > size:
            side = "rows" if name == "num_lower" else "columns"
            raise invalid_argument(
                f"{name} must be negative or less or equal to number of {side} "
                f"({size}) got: {int(number)}"
            )
        limits.append(size if number < 0 else int(number))
    return limits[0], limits[1]


# --- diagonals of matrices ----------------------------------------------------------


def diag_band(k: Any) -> tuple[int, int]:
    """(lowest, highest) diagonal.

    Raises:
      InvalidArgumentError: not one or two numbers in order.
    """
    numbers = np.reshape(k, -1).tolist()
    if k.ndim > 1 or len(numbers) not in (1, 2):
        raise invalid_argument(
            "diag_index must be a scalar or vector, received shape: "
            f"{shape_text(k.shape)}"
        )
    if numbers[0] > numbers[-1]:
        raise invalid_argument(
            "lower_diag_index must not be larger than upper_diag_index: "
            f"{numbers[0]} > {numbers[-1]}"
        )
    return numbers[0], numbers[-1]


def check_diag_band(shape: Sequence[int], lower: int, upper: int) -> None:
    """Raises InvalidArgumentError unless the diagonals are in the matrix."""
    if len(shape) < 2:
        raise invalid_argument(
            f"input must be at least 2-dim, received shape: {shape_text(shape)}"
        )
    rows, columns = shape[-2:]
    for name, number in (("lower_diag_index", lower), ("upper_diag_index", upper)):
        if number and not -rows < number < columns:
            raise invalid_argument(
                f"{name} is out of bound: {number}. It must be between {-rows} and "
                f"{columns}"
            )


def diagonal_index(
    rows: int, columns: int, lower: int, upper: int
) -> tuple[Any, Any, Any]:
    """(row, column, valid) for each place of the packed diagonals, highest first.

    Each is [number of diagonals, length]; shorter diagonals are packed to the left.
    """
    length = min(rows + min(upper, 0), columns - max(lower, 0))
    numbers = np.arange(upper, lower - 1, -1)[:, None]
    steps = np.arange(max(length, 0))[None, :]
    row = steps + np.maximum(-numbers, 0)
    column = steps + np.maximum(numbers, 0)
    valid = (row < rows) & (column < columns)
    return row, column, valid


@host_kernel(["MatrixDiagPart", "BatchMatrixDiagPart"])
def _matrix_diag_part(c: OpKernelConstruction) -> Compute:
    zero = np.zeros((), np.int32)
    return lambda value: diag_part(value, zero, value.dtype.type(0))


@host_kernel("MatrixDiagPartV2")
def _matrix_diag_part_v2(c: OpKernelConstruction) -> Compute:
    return lambda value, k, padding: diag_part(value, k, padding)


def check_padding(padding: Any) -> None:
    """Raises InvalidArgumentError unless what fills up diagonals is one value."""
    if padding.shape != ():
        raise invalid_argument(
            f"padding_value must be scalar, received shape {shape_text(padding.shape)}"
        )


def diag_part(value: Any, k: Any, padding: Any) -> Any:
    """The diagonals of a band, padded to one length."""
    check_padding(padding)
    lower, upper = diag_band(k)
    check_diag_band(value.shape, lower, upper)
    row, column, valid = diagonal_index(value.shape[-2], value.shape[-1], lower, upper)
    taken = value[..., np.where(valid, row, 0), np.where(valid, column, 0)]
    result = np.where(valid, taken, padding)
    return result[..., 0, :] if lower == upper else result


@host_kernel("MatrixDiag")
def _matrix_diag(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device
    zero, least = np.zeros((), np.int32), np.full((), -1, np.int32)

    def compute(diagonal: Any) -> Any:
        filler = diagonal.dtype.type(0)
        return diag_matrix(diagonal, zero, least, least, filler, dtype, device)

    return compute


@host_kernel("MatrixDiagV2")
def _matrix_diag_v2(c: OpKernelConstruction) -> Compute:
    dtype, device = c["T"], c.device

    def compute(diagonal: Any, k: Any, rows: Any, columns: Any, padding: Any) -> Any:
        return diag_matrix(diagonal, k, rows, columns, padding, dtype, device)

    return compute


def diag_matrix(
    diagonal: Any,
    k: Any,
    rows: Any,
    columns: Any,
    padding: Any,
    dtype: dtypes.DType,
    device: str,
) -> Any:
    """Matrices with the given diagonals, `padding` elsewhere.

    Args:
      diagonal: [..., diagonals, length], or [..., length] of one diagonal.
      k: the diagonal, or the lowest and the highest.
      rows, columns: of a matrix; -1: as many as the diagonals need.

    Raises:
      InvalidArgumentError: these do not fit.
      ResourceExhaustedError: the result is too large.
    """
    check_padding(padding)
    lower, upper = diag_band(k)
    batch, sides = diag_matrix_shape(diagonal.shape, lower, upper, rows, columns)
    check_shape((*batch, *sides), dtype, device)
    result = np.empty((*batch, *sides), diagonal.dtype)
    result[...] = padding
    return _put_diagonals(result, diagonal, lower, upper)


def _put_diagonals(result: Any, diagonal: Any, lower: int, upper: int) -> Any:
    """Writes diagonals into matrices that are the caller's own."""
    row, column, valid = diagonal_index(
        result.shape[-2], result.shape[-1], lower, upper
    )
    packed = diagonal[..., None, :] if lower == upper else diagonal
    result[..., row[valid], column[valid]] = packed[..., valid]
    return result


def diag_matrix_shape(
    shape: Sequence[int], lower: int, upper: int, rows: Any, columns: Any
) -> tuple[tuple[int, ...], tuple[int, int]]:
    """(batch, (rows, columns)) of MatrixDiagV2.

    Raises:
      InvalidArgumentError: the numbers do not fit the diagonals.
    """
    if not shape:
        raise invalid_argument(
            f"diagonal must be at least 1-dim, received shape: {shape_text(shape)}"
        )
    count = upper - lower + 1
    taken = 1 if count == 1 else 2
    if taken == 2 and (len(shape) < 2 or shape[-2] != count):
        raise invalid_argument(
            f"The number of diagonals provided in the input does not match the lower "
            f"and upper bounds: {shape_text(shape)}, {lower}, {upper}"
        )
    least_rows = shape[-1] - min(upper, 0)
    least_columns = shape[-1] + max(lower, 0)
    height, width = int(rows), int(columns)
    if height == -1 and width == -1:
        height = width = max(least_rows, least_columns)
    elif height == -1:
        height = least_rows
    elif width == -1:
        width = least_columns
    if height < least_rows or width < least_columns:
        raise invalid_argument("The number of rows or columns is too small")
    if height != least_rows and width != least_columns:
        raise invalid_argument(
            "The number of rows or columns is not consistent with the specified "
            "d_lower, d_upper, and diagonal."
        )
    return tuple(shape[:-taken]), (height, width)


@host_kernel("MatrixSetDiag")
def _matrix_set_diag(c: OpKernelConstruction) -> Compute:
    zero = np.zeros((), np.int32)
    return lambda value, diagonal: with_diagonal(value, diagonal, zero)


@host_kernel("MatrixSetDiagV2")
def _matrix_set_diag_v2(c: OpKernelConstruction) -> Compute:
    return with_diagonal


def with_diagonal(value: Any, diagonal: Any, k: Any) -> Any:
    """Copies of matrices with other diagonals.

    Raises:
      InvalidArgumentError: the diagonals do not fit.
    """
    lower, upper = diag_band(k)
    check_set_diag(value.shape, diagonal.shape, lower, upper)
    return _put_diagonals(value.copy(), diagonal, lower, upper)


def check_set_diag(
    shape: Sequence[int], diagonal: Sequence[int], lower: int, upper: int
) -> None:
    """Raises InvalidArgumentError unless the diagonals fit the matrices."""
    check_diag_band(shape, lower, upper)
    rows, columns = shape[-2:]
    length = min(rows + min(upper, 0), columns - max(lower, 0))
    count = upper - lower + 1
    wanted = (*shape[:-2], *(() if count == 1 else (count,)), length)
    if tuple(diagonal) != wanted:
        raise invalid_argument(
            "Either first dimensions of diagonal don't match input.shape[:-2], or "
            "diagonal.shape[:-1] is not equal to the longests diagonal in range "
            f"[lower_diag_index:upper_diag_index].\nInput shape: {shape_text(shape)}\n"
            f"Diagonal shape: {shape_text(diagonal)}\nExpected diagonal shape: "
            f"{shape_text(wanted)}"
        )
