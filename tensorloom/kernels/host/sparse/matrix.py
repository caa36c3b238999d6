"""Sparse matrices in compressed rows, in host memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.framework.types import dtypes
from tensorloom.kernels.host.array.allocation import check_memory
from tensorloom.kernels.host.math.errors import shape_text
from tensorloom.kernels.host.ragged.ragged_ops import splits_of, spread

_Array = NDArray[Any]
_HOST = "CPU"


@dataclass(frozen=True, slots=True)
class CSRSparseMatrix:
    """Sparse matrices of one shape, row by row."""

    dense_shape: tuple[int, ...]  # [rows, columns] or [batch, rows, columns]
    # All rows of all matrices, one after another: where the elements of each begin.
    splits: _Array
    columns: _Array  # int32, of each element
    values: _Array  # of each element
    shape: tuple[int, ...] = ()  # of the variant

    @property
    def rows(self) -> _Array:
        """The row of each element, counted through all matrices."""
        return np.repeat(np.arange(len(self.splits) - 1), np.diff(self.splits))

    @property
    def batch(self) -> int:
        """How many matrices there are."""
        return self.dense_shape[0] if len(self.dense_shape) == 3 else 1


def _csr(
    shape: Sequence[int], rows: _Array, columns: _Array, values: _Array
) -> CSRSparseMatrix:
    """From elements in the order of their rows, which count through all matrices.

    Rows in another order only tell how many elements each row has.
    """
    total = int(np.prod(shape[:-1], dtype=np.int64))
    check_memory((total + 1,), dtypes.int64, _HOST)
    splits = splits_of(np.bincount(rows, minlength=total))
    return CSRSparseMatrix(tuple(shape), splits, columns.astype(np.int32), values)


def _given(value: Any, dtype: np.dtype[Any] | None = None) -> CSRSparseMatrix:
    if not isinstance(value, CSRSparseMatrix):
        raise invalid_argument("Unable to retrieve sparse matrix from a variant")
    if not value.batch:
        raise invalid_argument("A batch of no sparse matrices is not valid")
    if dtype is not None and value.values.dtype != dtype:
        raise invalid_argument(
            f"The matrix holds {value.values.dtype}, and {dtype} was asked for"
        )
    return value


def _transposed(matrix: CSRSparseMatrix, conjugate: bool) -> CSRSparseMatrix:
    *batch, height, width = matrix.dense_shape
    numbers, rows = np.divmod(matrix.rows, max(height, 1))
    order = np.lexsort((rows, matrix.columns, numbers))
    values = matrix.values[order]
    return _csr(
        (*batch, width, height),
        (numbers * width + matrix.columns)[order],
        rows[order],
        values.conj() if conjugate else values,
    )


# --- making them ------------------------------------------------------------------


def _of_elements(indices: _Array, values: _Array, shape: list[int]) -> CSRSparseMatrix:
    rank = len(shape)
    if rank not in (2, 3):
        raise invalid_argument(f"A sparse matrix must have rank 2 or 3, but not {rank}")
    if values.ndim != 1 or indices.shape != (len(values), rank):
        raise invalid_argument(
            f"values must have shape [N] and indices [N,{rank}], got "
            f"{shape_text(values.shape)} and {shape_text(indices.shape)}"
        )
    if min(shape) < 0 or max(shape) > np.iinfo(np.int32).max:
        raise invalid_argument(f"Dimensions must be of 0 to 2^31 - 1, got {shape}")
    outside = ((indices < 0) | (indices >= shape)).any(axis=1)
    if outside.any():
        place = indices[outside.argmax()].tolist()
        raise invalid_argument(f"index {place} is out of bounds of shape {shape}")
    rows = indices[:, -2]
    if rank == 3:
        rows = rows + indices[:, 0] * shape[1]
    # As in TensorFlow, indices are taken to be in the order of the dimensions.
    return _csr(shape, rows, indices[:, -1], values)


@host_kernel("SparseTensorToCSRSparseMatrix", large=True)
def of_sparse_tensor(c: OpKernelConstruction) -> Compute:
    """From the parts of a sparse tensor."""
    return lambda indices, values, shape: _of_elements(indices, values, shape.tolist())


@host_kernel("DenseToCSRSparseMatrix", large=True)
def of_dense(c: OpKernelConstruction) -> Compute:
    """From a tensor and the places of the elements."""

    def compute(dense: _Array, indices: _Array) -> CSRSparseMatrix:
        if indices.ndim != 2 or indices.shape[1] != dense.ndim:
            raise invalid_argument(
                f"indices must have shape [?,{dense.ndim}], got "
                f"{shape_text(indices.shape)}"
            )
        if ((indices < 0) | (indices >= dense.shape)).any():
            raise invalid_argument(
                f"indices are out of bounds of {shape_text(dense.shape)}"
            )
        values = dense[tuple(indices.T)]
        return _of_elements(indices, values, list(dense.shape))

    return compute


# --- taking them apart ------------------------------------------------------------


@host_kernel("CSRSparseMatrixToDense", large=True)
def to_dense(c: OpKernelConstruction) -> Compute:
    """All elements."""
    dtype = c["type"].as_numpy_dtype

    def compute(value: Any) -> _Array:
        matrix = _given(value, np.dtype(dtype))
        check_memory(matrix.dense_shape, c["type"], _HOST)
        result: _Array = np.zeros(matrix.dense_shape, dtype)
        flat = result.reshape(len(matrix.splits) - 1, matrix.dense_shape[-1])
        flat[matrix.rows, matrix.columns] = matrix.values
        return result

    return compute


@host_kernel("CSRSparseMatrixToSparseTensor", large=True)
def to_sparse_tensor(c: OpKernelConstruction) -> Compute:
    """The parts of a sparse tensor."""
    dtype = np.dtype(c["type"].as_numpy_dtype)

    def compute(value: Any) -> tuple[_Array, _Array, _Array]:
        matrix = _given(value, dtype)
        places = [matrix.rows, matrix.columns]
        if len(matrix.dense_shape) == 3:
            places[:1] = np.divmod(matrix.rows, max(matrix.dense_shape[1], 1))
        indices = np.stack(places, axis=1).astype(np.int64)
        return indices, matrix.values, np.array(matrix.dense_shape, np.int64)

    return compute


@host_kernel("CSRSparseMatrixComponents", large=True)
def components(c: OpKernelConstruction) -> Compute:
    """One matrix of the batch: where its rows begin, columns, values."""
    dtype = np.dtype(c["type"].as_numpy_dtype)

    def compute(value: Any, index: Any) -> tuple[_Array, _Array, _Array]:
        matrix = _given(value, dtype)
        if np.ndim(index) or not 0 <= int(index) < matrix.batch:
            raise invalid_argument(
                f"index must be a scalar in [0, {matrix.batch}), got {index}"
            )
        height = matrix.dense_shape[-2]
        first = int(index) * height
        splits = matrix.splits[first : first + height + 1]
        part = slice(int(splits[0]), int(splits[-1]))
        starts = (splits - splits[0]).astype(np.int32)
        return starts, matrix.columns[part], matrix.values[part]

    return compute


@host_kernel("SparseMatrixNNZ", large=True)
def count(c: OpKernelConstruction) -> Compute:
    """The number of elements of each matrix."""

    def compute(value: Any) -> Any:
        matrix = _given(value)
        height = matrix.dense_shape[-2]
        ends = np.arange(matrix.batch + 1) * height
        counts = np.diff(matrix.splits[ends]).astype(np.int32)
        return counts if len(matrix.dense_shape) == 3 else counts[0]

    return compute


@host_kernel("SparseMatrixTranspose", large=True)
def transpose(c: OpKernelConstruction) -> Compute:
    """The transposed matrices."""
    dtype, conjugate = np.dtype(c["type"].as_numpy_dtype), c["conjugate"]
    return lambda value: _transposed(_given(value, dtype), conjugate)


# --- products ---------------------------------------------------------------------


def _left(value: Any, c: OpKernelConstruction, side: str) -> CSRSparseMatrix:
    """A sparse factor, transposed as the attrs of its side say."""
    adjoint = c[f"adjoint_{side}"]
    if adjoint or c[f"transpose_{side}"]:
        return _transposed(value, adjoint)
    matrix: CSRSparseMatrix = value
    return matrix


def _repeated(matrix: CSRSparseMatrix, batch: int) -> CSRSparseMatrix:
    """A batch of one as a batch of several."""
    if matrix.batch != 1 or batch == 1:
        return matrix
    count = len(matrix.values)
    check_memory((batch, count + len(matrix.splits)), dtypes.complex128, _HOST)
    ends = matrix.splits[1:] + count * np.arange(batch)[:, None]
    return CSRSparseMatrix(
        (batch, *matrix.dense_shape[1:]),
        np.concatenate([matrix.splits[:1], ends.reshape(-1)]),
        np.tile(matrix.columns, batch),
        np.tile(matrix.values, batch),
    )


def _check_factors(a: Sequence[int], b: Sequence[int]) -> None:
    if len(a) != len(b) or a[:-2] != b[:-2] or a[-1] != b[-2]:
        raise invalid_argument(
            f"Matrices of shapes {shape_text(tuple(a))} and {shape_text(tuple(b))} "
            "have no product"
        )


def _row_sums(splits: _Array, products: _Array) -> _Array:
    """The sums of the rows of products that belong to each row of a matrix."""
    result: _Array = np.zeros((len(splits) - 1, products.shape[1]), products.dtype)
    filled = np.flatnonzero(np.diff(splits))
    if len(filled):
        result[filled] = np.add.reduceat(products, splits[filled], axis=0)
    return result


@host_kernel("SparseMatrixMatMul", large=True)
def dense_product(c: OpKernelConstruction) -> Compute:
    """The product with dense matrices."""
    dtype = np.dtype(c["T"].as_numpy_dtype)

    def compute(value: Any, b: _Array) -> _Array:
        matrix = _left(_given(value, dtype), c, "a")
        if c["transpose_b"] or c["adjoint_b"]:
            b = b.swapaxes(-1, -2)
            b = b.conj() if c["adjoint_b"] else b
        _check_factors(matrix.dense_shape, b.shape)
        *batch, height, inner = matrix.dense_shape
        places = matrix.columns + matrix.rows // max(height, 1) * inner
        rows = b.reshape(matrix.batch * inner, b.shape[-1])[places]
        product = _row_sums(matrix.splits, rows * matrix.values[:, None])
        product = product.reshape(*batch, height, b.shape[-1])
        if c["transpose_output"]:
            product = product.swapaxes(-1, -2)
        return product.conj() if c["conjugate_output"] else product

    return compute


@host_kernel("SparseMatrixSparseMatMul", large=True)
def sparse_product(c: OpKernelConstruction) -> Compute:
    """The product of sparse matrices (Gustavson, 1978): rows of b, row by row of a."""
    dtype = np.dtype(c["type"].as_numpy_dtype)

    def compute(first: Any, second: Any) -> CSRSparseMatrix:
        a = _left(_given(first, dtype), c, "a")
        b = _left(_given(second, dtype), c, "b")
        if len(a.dense_shape) == len(b.dense_shape) == 3:  # one matrix goes with all
            a, b = _repeated(a, b.batch), _repeated(b, a.batch)
        _check_factors(a.dense_shape, b.dense_shape)
        *batch, height, inner = a.dense_shape
        width = b.dense_shape[-1]
        from_rows = a.columns + a.rows // max(height, 1) * inner
        counts = np.diff(b.splits)[from_rows]
        check_memory((int(counts.sum()),), dtypes.int64, _HOST)
        elements = spread(b.splits[from_rows], counts)
        products = np.repeat(a.values, counts) * b.values[elements]
        places = np.repeat(a.rows, counts) * width + b.columns[elements]
        places, of_place = np.unique(places, return_inverse=True)
        values = np.zeros(len(places), dtype)
        np.add.at(values, of_place, products)
        rows, columns = np.divmod(places, max(width, 1))
        return _csr((*batch, height, width), rows, columns, values)

    return compute
