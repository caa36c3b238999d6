"""Solving with matrices and right-hand sides whose batches broadcast."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import matrix_decomposition as matrix_decomposition_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


def with_same_batch(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Two batches of matrices, broadcast to the same batch."""
    batch_a, batch_b = a.shape[:-2], b.shape[:-2]
    if batch_a.is_fully_defined() and batch_a == batch_b:
        return a, b
    shape_a, shape_b = array_ops.shape(a), array_ops.shape(b)
    batch = array_ops.broadcast_dynamic_shape(shape_a[:-2], shape_b[:-2])
    results = []
    for tensor, shape in ((a, shape_a), (b, shape_b)):
        full = array_ops.concat([batch, shape[-2:]], axis=0)
        wide = array_ops.broadcast_to(tensor, full)
        if batch_a.is_fully_defined() and batch_b.is_fully_defined():
            static = array_ops.broadcast_static_shape(batch_a, batch_b)
            wide.set_shape(static.concatenate(tensor.shape[-2:]))
        results.append(wide)
    return results[0], results[1]


def matrix_solve(
    matrix: Tensor, rhs: Tensor, adjoint: bool = False, use_cholesky: bool = False
) -> Tensor:
    """x with matrix x = rhs.

    Args:
      use_cholesky: the matrix is self-adjoint and positive definite.
    """
    matrix, rhs = with_same_batch(matrix, rhs)
    solution: Any
    if use_cholesky:
        factor = matrix_decomposition_ops.cholesky(matrix)
        solution = matrix_solve_ops.cholesky_solve(factor, rhs)
    else:
        solution = matrix_solve_ops.matrix_solve(matrix, rhs, adjoint=adjoint)
    return solution  # type: ignore[no-any-return]


def triangular_solve(matrix: Tensor, rhs: Tensor, adjoint: bool) -> Tensor:
    """x with matrix x = rhs, for a lower triangular matrix."""
    matrix, rhs = with_same_batch(matrix, rhs)
    solution: Tensor = matrix_solve_ops.matrix_triangular_solve(
        matrix, rhs, lower=True, adjoint=adjoint
    )
    return solution
