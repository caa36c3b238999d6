"""Square roots, logarithms and exponentials of matrices, tridiagonal systems."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.linalg.matrix_ops import check_square, wide
from tensorloom.kernels.host.math.errors import shape_text

_Array = NDArray[Any]
_TAYLOR_TERMS = 20


@host_kernel("MatrixSquareRoot", large=True)
def matrix_square_root(c: OpKernelConstruction) -> Compute:
    """Principal square roots, by the Denman-Beavers iteration in double precision."""

    def compute(matrix: _Array) -> _Array:
        check_square(matrix)
        complex_ = np.iscomplexobj(matrix)
        source = matrix.astype(np.complex128 if complex_ else np.float64)
        return square_root(source).astype(matrix.dtype)

    return compute


def square_root(matrix: _Array) -> _Array:
    """The principal square roots (Higham, "Functions of Matrices", 6.3)."""
    if matrix.size == 0:
        return matrix
    root = matrix
    inverse = np.broadcast_to(np.eye(matrix.shape[-1], dtype=matrix.dtype), root.shape)
    try:
        for _ in range(60):
            following = 0.5 * (root + np.linalg.inv(inverse))
            inverse = 0.5 * (inverse + np.linalg.inv(root))
            change = np.abs(following - root).max()
            root = following
            if change <= 1e-15 * np.abs(root).max():
                break
    except np.linalg.LinAlgError:
        return _root_by_eigenvectors(matrix)
    return root


def _root_by_eigenvectors(matrix: _Array) -> _Array:
    """For singular matrices, whose iteration meets no inverse."""
    values, vectors = np.linalg.eig(matrix)
    roots = np.sqrt(values.astype(np.complex128))
    result = vectors * roots[..., None, :] @ np.linalg.pinv(vectors)
    return result if np.iscomplexobj(matrix) else result.real


@host_kernel("MatrixExponential", large=True)
def matrix_exponential(c: OpKernelConstruction) -> Compute:
    """Exponentials, by scaling and squaring of a Taylor polynomial."""

    def compute(matrix: _Array) -> _Array:
        check_square(matrix)
        if matrix.size == 0:
            return matrix
        source = wide(matrix)
        norm = float(np.abs(source).sum(axis=-2).max())
        squarings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0 else 0
        scaled = source / source.dtype.type(2**squarings)
        identity = np.eye(source.shape[-1], dtype=source.dtype)
        result = np.broadcast_to(identity, source.shape)
        for term in range(_TAYLOR_TERMS, 0, -1):
            result = identity + scaled @ result / source.dtype.type(term)
        for _ in range(squarings):
            result = result @ result
        return result.astype(matrix.dtype, copy=False)

    return compute


@host_kernel("MatrixLogarithm", large=True)
def matrix_logarithm(c: OpKernelConstruction) -> Compute:
    """Principal logarithms, by inverse scaling and squaring."""

    def compute(matrix: _Array) -> _Array:
        check_square(matrix)
        if matrix.size == 0:
            return matrix
        root = matrix.astype(np.complex128)
        identity = np.eye(root.shape[-1], dtype=root.dtype)
        halvings = 0
        while np.abs(root - identity).sum(axis=-2).max() > 0.25 and halvings < 60:
            root = square_root(root)
            halvings += 1
        # log(A) = 2 artanh((A - I) (A + I)^-1), whose series converges fast here.
        ratio = np.linalg.solve(root + identity, root - identity)
        square = ratio @ ratio
        total, power = ratio, ratio
        for k in range(3, 2 * _TAYLOR_TERMS, 2):
            power = power @ square
            total = total + power / k
        result: _Array = (2.0 * 2.0**halvings * total).astype(matrix.dtype)
        return result

    return compute


@host_kernel("TridiagonalSolve", large=True)
def tridiagonal_solve(c: OpKernelConstruction) -> Compute:
    """Solutions of tridiagonal systems, given as [..., 3, n] diagonals."""
    pivoting = c["partial_pivoting"]

    def compute(diagonals: _Array, rhs: _Array) -> _Array:
        _check_tridiagonal(diagonals.shape, rhs.shape)
        upper, main, lower = (diagonals[..., i, :].copy() for i in range(3))
        if rhs.size == 0:
            return np.zeros_like(rhs)
        if pivoting:
            return _solve_with_pivots(upper, main, lower, rhs)
        return _thomas(upper, main, lower, rhs.copy())

    return compute


def _check_tridiagonal(diagonals: Sequence[int], rhs: Sequence[int]) -> None:
    if len(diagonals) < 2:
        raise invalid_argument(
            f"Input tensor 0 must have rank >= 2, got shape {shape_text(diagonals)}"
        )
    if len(diagonals) != len(rhs):
        raise invalid_argument("All input tensors must have the same rank.")
    if diagonals[:-2] != rhs[:-2]:
        raise invalid_argument("All input tensors must have the same outer dimensions.")
    if diagonals[-2] != 3:
        raise invalid_argument(f"Expected 3 diagonals got {diagonals[-2]}")
    if diagonals[-1] != rhs[-2]:
        raise invalid_argument(
            "Expected the same number of left-hand sides and right-hand sides, got "
            f"{diagonals[-1]} and {rhs[-2]}."
        )


def _thomas(upper: _Array, main: _Array, lower: _Array, rhs: _Array) -> _Array:
    size = main.shape[-1]
    for i in range(size):
        if np.any(main[..., i] == 0):
            raise invalid_argument(
                "The first element of diagonals is zero."
                if i == 0
                else "Input matrix is not invertible."
            )
        if i + 1 < size:
            factor = lower[..., i + 1] / main[..., i]
            main[..., i + 1] -= factor * upper[..., i]
            rhs[..., i + 1, :] -= factor[..., None] * rhs[..., i, :]
    for i in range(size - 1, -1, -1):
        if i + 1 < size:
            rhs[..., i, :] -= upper[..., i, None] * rhs[..., i + 1, :]
        rhs[..., i, :] /= main[..., i, None]
    return rhs


def _solve_with_pivots(
    upper: _Array, main: _Array, lower: _Array, rhs: _Array
) -> _Array:
    """Elimination where two neighbouring rows may change places."""
    size = main.shape[-1]
    second = np.zeros_like(upper)
    rhs = rhs.copy()
    for i in range(size - 1):
        swap = np.abs(lower[..., i + 1]) > np.abs(main[..., i])
        # Row i holds (main, upper, second); row i + 1 (lower, main, upper).
        following = [lower[..., i + 1], main[..., i + 1], upper[..., i + 1].copy()]
        if i + 2 >= size:
            following[2] = np.zeros_like(following[2])
        current = [main[..., i], upper[..., i], second[..., i]]
        top = [np.where(swap, f, t) for t, f in zip(current, following, strict=True)]
        low = [np.where(swap, t, f) for t, f in zip(current, following, strict=True)]
        rhs_top = np.where(swap[..., None], rhs[..., i + 1, :], rhs[..., i, :])
        rhs_low = np.where(swap[..., None], rhs[..., i, :], rhs[..., i + 1, :])
        if np.any(top[0] == 0):
            raise invalid_argument("Input matrix is not invertible.")
        factor = low[0] / top[0]
        main[..., i], upper[..., i], second[..., i] = top
        main[..., i + 1] = low[1] - factor * top[1]
        upper[..., i + 1] = low[2] - factor * top[2]
        rhs[..., i, :] = rhs_top
        rhs[..., i + 1, :] = rhs_low - factor[..., None] * rhs_top
    if np.any(main[..., -1] == 0):
        raise invalid_argument("Input matrix is not invertible.")
    for i in range(size - 1, -1, -1):
        if i + 1 < size:
            rhs[..., i, :] -= upper[..., i, None] * rhs[..., i + 1, :]
        if i + 2 < size:
            rhs[..., i, :] -= second[..., i, None] * rhs[..., i + 2, :]
        rhs[..., i, :] /= main[..., i, None]
    return rhs


@host_kernel("TridiagonalMatMul", large=True)
def tridiagonal_mat_mul(c: OpKernelConstruction) -> Compute:
    """Products of tridiagonal matrices, given by diagonals [..., 1, n]."""

    def compute(upper: _Array, main: _Array, lower: _Array, rhs: _Array) -> _Array:
        expected = (*rhs.shape[:-2], 1, *rhs.shape[-2:-1])
        for name, found in (("super", upper), ("main", main), ("sub", lower)):
            if rhs.ndim < 2 or found.shape != expected:
                raise invalid_argument(f"Invalid {name}diagonal shape.")
        result = np.swapaxes(main, -1, -2) * rhs
        above = np.swapaxes(upper, -1, -2)[..., :-1, :]
        below = np.swapaxes(lower, -1, -2)[..., 1:, :]
        result[..., :-1, :] += above * rhs[..., 1:, :]
        result[..., 1:, :] += below * rhs[..., :-1, :]
        return result

    return compute
