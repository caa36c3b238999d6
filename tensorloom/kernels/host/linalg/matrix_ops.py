"""Linear algebra in host memory: solving, decomposing, functions of matrices.

All of it is LAPACK's work, through NumPy. Half precision is computed in single.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.array.allocation import shape_text

_Array = NDArray[Any]
_NOT_INVERTIBLE: Final = "Input matrix is not invertible."


def check_square(matrix: _Array) -> None:
    """Refuses what is not [..., n, n]."""
    if matrix.ndim < 2:
        raise invalid_argument(f"Input tensor 0 must have rank >= 2, got {matrix.ndim}")
    if matrix.shape[-1] != matrix.shape[-2]:
        raise invalid_argument(
            f"Input matrix must be square, got {shape_text(matrix.shape[-2:])}"
        )


def adjoint(matrix: _Array) -> _Array:
    """The conjugate transposes."""
    return np.conj(np.swapaxes(matrix, -1, -2))


def wide(value: _Array) -> _Array:
    """The value in a type that LAPACK has."""
    return value.astype(np.float32) if value.dtype.itemsize == 2 else value


def _solve(matrix: _Array, rhs: _Array) -> _Array:
    try:
        return np.linalg.solve(matrix, rhs)
    except np.linalg.LinAlgError:
        raise invalid_argument(_NOT_INVERTIBLE) from None


def check_right_side(matrix: _Array, rhs: _Array) -> None:
    """Refuses right-hand sides of another number of rows, or of other batches."""
    if rhs.ndim < 2 or matrix.shape[:-2] != rhs.shape[:-2]:
        raise invalid_argument(
            "Input tensors must have the same batch dimensions, got "
            f"{shape_text(matrix.shape)} and {shape_text(rhs.shape)}"
        )
    if matrix.shape[-2] != rhs.shape[-2]:
        raise invalid_argument(
            "Input matrix and rhs are incompatible: "
            f"{shape_text(matrix.shape)} and {shape_text(rhs.shape)}"
        )


@host_kernel("MatrixInverse", large=True)
def matrix_inverse(c: OpKernelConstruction) -> Compute:
    """Inverses, or their adjoints."""
    wants_adjoint = c["adjoint"]

    def compute(matrix: _Array) -> _Array:
        check_square(matrix)
        source = adjoint(matrix) if wants_adjoint else matrix
        if _starts_with_nan(source):
            raise invalid_argument("Input is not invertible.")
        try:
            result = np.linalg.inv(wide(source))
        except np.linalg.LinAlgError:
            raise invalid_argument("Input is not invertible.") from None
        return result.astype(matrix.dtype, copy=False)

    return compute


def _starts_with_nan(matrix: _Array) -> bool:
    """Whether elimination has NaN for its first pivot, which TensorFlow refuses."""
    return bool(np.isnan(matrix[..., :, :1]).any())


def _log_determinant(matrix: _Array) -> tuple[_Array, _Array]:
    """Signs and logarithms; where no logarithm is finite, TensorFlow's sign is 0."""
    sign, log = map(np.asarray, np.linalg.slogdet(matrix))
    endless = ~np.isfinite(log)
    if endless.any():
        sign = np.where(endless, 0, sign)
        log = np.where(endless, np.where(log > 0, np.inf, -np.inf), log)
    return sign, log


@host_kernel("MatrixDeterminant", large=True)
def matrix_determinant(c: OpKernelConstruction) -> Compute:
    """Determinants."""

    def compute(matrix: _Array) -> _Array:
        check_square(matrix)
        result = np.asarray(np.linalg.det(wide(matrix)))
        if not np.isfinite(result).all():
            sign, log = _log_determinant(wide(matrix))
            result = np.where(np.isfinite(result), result, sign * np.exp(log))
        return result.astype(matrix.dtype)[()]

    return compute


@host_kernel("LogMatrixDeterminant", large=True)
def log_matrix_determinant(c: OpKernelConstruction) -> Compute:
    """Signs and logarithms of determinants."""

    def compute(matrix: _Array) -> tuple[_Array, _Array]:
        check_square(matrix)
        sign, log = _log_determinant(wide(matrix))
        return sign.astype(matrix.dtype)[()], log.astype(matrix.dtype)[()]

    return compute


@host_kernel("MatrixSolve", large=True)
def matrix_solve(c: OpKernelConstruction) -> Compute:
    """Solutions of linear systems."""
    of_adjoint = c["adjoint"]

    def compute(matrix: _Array, rhs: _Array) -> _Array:
        check_square(matrix)
        check_right_side(matrix, rhs)
        if rhs.size == 0:
            return np.zeros_like(rhs)
        source = wide(adjoint(matrix) if of_adjoint else matrix)
        if _starts_with_nan(source):
            raise invalid_argument(_NOT_INVERTIBLE)
        return _solve(source, wide(rhs)).astype(rhs.dtype, copy=False)

    return compute


@host_kernel("MatrixTriangularSolve", large=True)
def matrix_triangular_solve(c: OpKernelConstruction) -> Compute:
    """Solutions of triangular systems, by substitution."""
    lower, of_adjoint = c["lower"], c["adjoint"]

    def compute(matrix: _Array, rhs: _Array) -> _Array:
        check_square(matrix)
        check_right_side(matrix, rhs)
        if rhs.size == 0:
            return np.zeros_like(rhs)
        singular = np.any(np.diagonal(matrix, axis1=-2, axis2=-1) == 0)
        if singular or np.isnan(matrix[..., :1, :1]).any():
            raise invalid_argument(_NOT_INVERTIBLE)
        source = wide(np.tril(matrix) if lower else np.triu(matrix))
        is_lower = lower
        if of_adjoint:
            source, is_lower = adjoint(source), not lower
        return substitute(source, wide(rhs), is_lower).astype(rhs.dtype, copy=False)

    return compute


def substitute(matrix: _Array, rhs: _Array, lower: bool) -> _Array:
    """Forward or backward substitution in blocks, one product for each."""
    size, block = matrix.shape[-1], 32
    result = np.empty(rhs.shape, np.result_type(matrix, rhs))
    starts = range(0, size, block)
    for start in starts if lower else reversed(starts):
        end = min(start + block, size)
        part = rhs[..., start:end, :]
        if lower and start:
            known = matrix[..., start:end, :start]
            part = part - known @ result[..., :start, :]
        elif not lower and end < size:
            known = matrix[..., start:end, end:]
            part = part - known @ result[..., end:, :]
        square = matrix[..., start:end, start:end]
        result[..., start:end, :] = np.linalg.solve(square, part)
    return result


@host_kernel("MatrixSolveLs", large=True)
def matrix_solve_ls(c: OpKernelConstruction) -> Compute:
    """Least squares, by the normal equations or by the pseudo-inverse."""
    fast = c["fast"]

    def compute(matrix: _Array, rhs: _Array, l2_regularizer: Any) -> _Array:
        if matrix.ndim < 2:
            raise invalid_argument(
                f"Input tensor 0 must have rank >= 2, got {matrix.ndim}"
            )
        check_right_side(matrix, rhs)
        regularizer = float(l2_regularizer)
        if not regularizer >= 0:
            raise invalid_argument(f"l2_regularizer must be >= 0, got {regularizer}")
        a, b = wide(matrix), wide(rhs)
        if fast:
            result = _normal_equations(a, b, regularizer)
        else:
            result = converging(np.linalg.pinv, a, rcond=_epsilon(a)) @ b
        return result.astype(rhs.dtype, copy=False)

    return compute


def _epsilon(a: _Array) -> float:
    return float(np.finfo(a.dtype).eps) * max(a.shape[-2:])  # type: ignore[no-any-return]


def _normal_equations(a: _Array, b: _Array, regularizer: float) -> _Array:
    rows, columns = a.shape[-2:]
    turned = adjoint(a)
    is_tall = rows >= columns
    gramian = turned @ a if is_tall else a @ turned
    gramian = gramian + np.asarray(regularizer, a.dtype) * np.eye(
        gramian.shape[-1], dtype=a.dtype
    )
    try:
        np.linalg.cholesky(gramian)
    except np.linalg.LinAlgError:
        raise invalid_argument(
            "Input matrix was rank deficient or ill-conditioned."
        ) from None
    if is_tall:
        return _solve(gramian, turned @ b)
    return turned @ _solve(gramian, b)


@host_kernel("Cholesky", large=True)
def cholesky(c: OpKernelConstruction) -> Compute:
    """Lower factors."""

    def compute(matrix: _Array) -> _Array:
        check_square(matrix)
        try:
            factor = np.linalg.cholesky(wide(matrix))
        except np.linalg.LinAlgError:
            raise invalid_argument(
                "Cholesky decomposition was not successful. The input might not be "
                "valid."
            ) from None
        return factor.astype(matrix.dtype, copy=False)

    return compute


@host_kernel("CholeskyGrad", large=True)
def cholesky_grad(c: OpKernelConstruction) -> Compute:
    """The gradient of Cholesky's input, symmetric."""

    def compute(factor: _Array, grad: _Array) -> _Array:
        check_square(factor)
        if factor.ndim != grad.ndim:
            raise invalid_argument("All input tensors must have the same rank.")
        if factor.shape != grad.shape:
            raise invalid_argument("Inputs L and grad must have same dimension.")
        lower = np.tril(wide(factor))
        middle = np.tril(np.swapaxes(lower, -1, -2) @ np.tril(wide(grad)))
        diagonal = np.einsum("...ii->...i", middle)
        diagonal *= 0.5
        inverse = np.linalg.inv(lower)
        result = np.swapaxes(inverse, -1, -2) @ middle @ inverse
        symmetric = 0.5 * (result + np.swapaxes(result, -1, -2))
        return symmetric.astype(factor.dtype, copy=False)  # type: ignore[no-any-return]

    return compute


@host_kernel("SelfAdjointEigV2", large=True)
def self_adjoint_eig(c: OpKernelConstruction) -> Compute:
    """Eigenvalues and eigenvectors."""
    compute_v = c["compute_v"]

    def compute(matrix: _Array) -> tuple[_Array, _Array]:
        check_square(matrix)
        if not compute_v:
            values = converging(np.linalg.eigvalsh, wide(matrix))
            return values.astype(matrix.dtype), np.zeros((0,), matrix.dtype)
        values, vectors = converging(np.linalg.eigh, wide(matrix))
        return values.astype(matrix.dtype), vectors.astype(matrix.dtype, copy=False)

    return compute


def converging(decompose: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """`decompose(*args)`.

    Raises:
      InvalidArgumentError: it does not converge.
    """
    try:
        # LAPACK may iterate for ever over an infinity.
        if not np.isfinite(args[0]).all():
            raise np.linalg.LinAlgError
        return decompose(*args, **options)
    except np.linalg.LinAlgError:
        raise invalid_argument(
            "The decomposition was not successful. The input might not be valid."
        ) from None


@host_kernel("SelfAdjointEig", large=True)
def self_adjoint_eig_v1(c: OpKernelConstruction) -> Compute:
    """Eigenvalues above eigenvectors."""

    def compute(matrix: _Array) -> _Array:
        check_square(matrix)
        values, vectors = converging(np.linalg.eigh, wide(matrix))
        stacked = np.concatenate([values[..., None, :], vectors], axis=-2)
        return stacked.astype(matrix.dtype, copy=False)

    return compute


@host_kernel("Svd", large=True)
def svd(c: OpKernelConstruction) -> Compute:
    """Singular values and vectors."""
    compute_uv, full = c["compute_uv"], c["full_matrices"]

    def compute(matrix: _Array) -> tuple[_Array, _Array, _Array]:
        if matrix.ndim < 2:
            raise invalid_argument(
                f"Input tensor 0 must have rank >= 2, got {matrix.ndim}"
            )
        dtype, source = matrix.dtype, wide(matrix)
        if not compute_uv:
            values = converging(np.linalg.svd, source, compute_uv=False)
            empty = np.zeros((0,), dtype)
            return values.astype(dtype), empty, empty
        u, values, v = converging(np.linalg.svd, source, full_matrices=full)
        return (
            values.astype(dtype),
            u.astype(dtype, copy=False),
            np.ascontiguousarray(adjoint(v)).astype(dtype, copy=False),
        )

    return compute


@host_kernel("Lu", large=True)
def lu(c: OpKernelConstruction) -> Compute:
    """Both factors with partial pivoting, and the permutation."""
    index_type = np.dtype(c["output_idx_type"].as_numpy_dtype)

    def compute(matrix: _Array) -> tuple[_Array, _Array]:
        check_square(matrix)
        size = matrix.shape[-1]
        count = math.prod(matrix.shape[:-2])
        factors = wide(matrix).reshape(count, size, size).copy()
        rows = np.empty(factors.shape[:2], index_type)
        for one, order in zip(factors, rows, strict=True):
            _factorize(one, order)
        return (
            factors.reshape(matrix.shape).astype(matrix.dtype, copy=False),
            rows.reshape(matrix.shape[:-1]),
        )

    return compute


def _factorize(matrix: _Array, order: _Array) -> None:
    """LU in place, column by column."""
    size = len(matrix)
    order[:] = np.arange(size)
    for k in range(size):
        pivot = k + int(np.argmax(np.abs(matrix[k:, k])))
        if not abs(matrix[pivot, k]) > 0:
            raise invalid_argument(_NOT_INVERTIBLE)
        if pivot != k:
            matrix[[k, pivot]] = matrix[[pivot, k]]
            order[[k, pivot]] = order[[pivot, k]]
        matrix[k + 1 :, k] /= matrix[k, k]
        matrix[k + 1 :, k + 1 :] -= np.outer(matrix[k + 1 :, k], matrix[k, k + 1 :])
