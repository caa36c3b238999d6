"""Eig and BandedTriangularSolve in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.linalg.matrix_ops import (
    check_square,
    converging,
    substitute,
    wide,
)

_Array = NDArray[Any]


@host_kernel("Eig", large=True)
def eig(c: OpKernelConstruction) -> Compute:
    """Complex eigenvalues and eigenvectors, in LAPACK's order."""
    compute_v = c["compute_v"]
    dtype = np.dtype(c["Tout"].as_numpy_dtype)

    def compute(matrix: _Array) -> tuple[_Array, _Array]:
        check_square(matrix)
        if not np.isfinite(matrix).all():
            raise invalid_argument(
                "The decomposition was not successful: input is not finite."
            )
        if not compute_v:
            values = converging(np.linalg.eigvals, matrix)
            return values.astype(dtype), np.zeros((0,), dtype)
        values, vectors = converging(np.linalg.eig, matrix)
        return values.astype(dtype), vectors.astype(dtype)

    return compute


@host_kernel("BandedTriangularSolve", large=True)
def banded_triangular_solve(c: OpKernelConstruction) -> Compute:
    """Solutions of triangular systems whose matrices are given by bands."""
    lower, of_adjoint = c["lower"], c["adjoint"]

    def compute(bands: _Array, rhs: _Array) -> _Array:
        if bands.ndim < 2 or rhs.ndim < 2:
            raise invalid_argument("In[0] and In[1] ndims must be >= 2")
        for place, value in enumerate((bands, rhs)):
            if not value.size:
                raise invalid_argument(f"In[{place}] must not be an empty tensor")
        if bands.shape[-2] > bands.shape[-1]:
            raise invalid_argument(
                f"The matrix has {bands.shape[-2]} bands, more than its size "
                f"{bands.shape[-1]}"
            )
        if bands.shape[-1] != rhs.shape[-2]:
            raise invalid_argument(
                "The matrix and the right-hand side have different numbers of rows: "
                f"{bands.shape[-1]} and {rhs.shape[-2]}"
            )
        outer = np.broadcast_shapes(bands.shape[:-2], rhs.shape[:-2])
        main = bands[..., 0 if lower else -1, :]
        if (main == 0).any():
            raise invalid_argument("Input matrix is not invertible.")
        matrix = wide(_matrix_of(bands, lower))
        is_lower = lower
        if of_adjoint:
            matrix, is_lower = np.conj(np.swapaxes(matrix, -1, -2)), not lower
        full = np.broadcast_to(wide(rhs), (*outer, *rhs.shape[-2:]))
        return substitute(matrix, full, is_lower).astype(rhs.dtype, copy=False)

    return compute


def _matrix_of(bands: _Array, lower: bool) -> _Array:
    """The matrices [..., n, n] of bands [..., d, n].

    Lower: the main diagonal is the first band, and band i begins at column i of it
    with i places unused. Upper: the main one is the last, unused places at the end.
    """
    count, size = bands.shape[-2:]
    matrix = np.zeros((*bands.shape[:-2], size, size), bands.dtype)
    for band in range(count):
        offset = band if lower else count - 1 - band
        at = np.arange(size - offset)
        if lower:
            matrix[..., at + offset, at] = bands[..., band, offset:]
        else:
            matrix[..., at, at + offset] = bands[..., band, : size - offset]
    return matrix
