"""Inverses, determinants and solutions of linear systems, matrix by matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

MATRIX_TYPES: Final = "double, float, half, complex64, complex128"


# --- shapes ------------------------------------------------------------------


def square_matrices(c: InferenceContext) -> TensorShape:
    """The shape of input 0, [..., n, n], with all that is known of n."""
    dims = c.with_rank_at_least(0, 2).dims_tuple
    if dims is None:
        return TensorShape.of(None)
    size = c.merge_dim(dims[-2], dims[-1])
    return TensorShape.of((*dims[:-2], size, size))


def _batch_of_squares(c: InferenceContext) -> TensorShape:
    dims = square_matrices(c).dims_tuple
    return TensorShape.of(None if dims is None else dims[:-2])


def _sign_and_log(c: InferenceContext) -> list[TensorShape]:
    batch = _batch_of_squares(c)
    return [batch, batch]


def solution_shape(c: InferenceContext, square: bool = True) -> TensorShape:
    """[..., n, k] for matrices [..., m, n] and right-hand sides [..., m, k].

    One that is known alone gives the batch, and what it has of n and k.
    """
    matrix = (square_matrices(c) if square else c.with_rank_at_least(0, 2)).dims_tuple
    rhs = c.with_rank_at_least(1, 2).dims_tuple
    if matrix is None and rhs is None:
        return TensorShape.of(None)
    if matrix is None:
        assert rhs is not None
        matrix = (*rhs[:-2], None, None)
    if rhs is None:
        rhs = (*matrix[:-2], None, None)
    batch = c.merge(TensorShape.of(matrix[:-2]), TensorShape.of(rhs[:-2])).dims_tuple
    assert batch is not None
    rows = c.merge_dim(matrix[-2], rhs[-2])
    return TensorShape.of((*batch, rows if square else matrix[-1], rhs[-1]))


# --- builders ----------------------------------------------------------------


@export("linalg.inv", "matrix_inverse")
def matrix_inverse(input: Any, adjoint: bool = False, name: str | None = None) -> Any:
    """The inverses (or their adjoints) of square matrices [..., n, n]."""
    return apply_op("MatrixInverse", input=input, adjoint=adjoint, name=name)


@export("linalg.det", "matrix_determinant")
def matrix_determinant(input: Any, name: str | None = None) -> Any:
    """The determinants [...] of square matrices [..., n, n]."""
    return apply_op("MatrixDeterminant", input=input, name=name)


@export("linalg.slogdet")
def log_matrix_determinant(input: Any, name: str | None = None) -> Any:
    """(sign, log of the absolute value) of the determinants."""
    return apply_op("LogMatrixDeterminant", input=input, name=name)


@export("linalg.solve", "matrix_solve")
def matrix_solve(
    matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None
) -> Any:
    """x [..., n, k] with matrix @ x = rhs (or adjoint(matrix) @ x = rhs)."""
    return apply_op("MatrixSolve", matrix=matrix, rhs=rhs, adjoint=adjoint, name=name)


@export("linalg.triangular_solve", "matrix_triangular_solve")
def matrix_triangular_solve(
    matrix: Any,
    rhs: Any,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Any:
    """x with matrix @ x = rhs, where only one triangle of the matrix is read."""
    return apply_op(
        "MatrixTriangularSolve",
        matrix=matrix,
        rhs=rhs,
        lower=lower,
        adjoint=adjoint,
        name=name,
    )


@export("linalg.adjoint")
def adjoint(matrix: Any, name: str | None = None) -> Tensor:
    """The conjugate transposes of matrices [..., m, n]."""
    with name_scope(name, "adjoint", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        return array_ops.matrix_transpose(matrix, conjugate=True)


@export("linalg.cholesky_solve", "cholesky_solve")
def cholesky_solve(chol: Any, rhs: Any, name: str | None = None) -> Tensor:
    """x with A @ x = rhs, given the Cholesky factor of A."""
    with name_scope(name, "cholesky_solve", [chol, rhs]):
        half_way = matrix_triangular_solve(chol, rhs, lower=True, adjoint=False)
        solution: Tensor = matrix_triangular_solve(
            chol, half_way, lower=True, adjoint=True
        )
        return solution


# --- gradients ---------------------------------------------------------------


def _inverse_grad(op: Operation, grad: Tensor) -> Tensor:
    inverse = op.outputs[0]
    inner = math_ops.matmul(grad, inverse, adjoint_b=True)
    return -math_ops.matmul(inverse, inner, adjoint_a=True)


def _times_adjoint_inverse(op: Operation, scale: Tensor, like: Tensor) -> Tensor:
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    # The order in which TensorFlow makes these nodes decides their names.
    shape = array_ops.concat([array_ops.shape(like), [1, 1]], 0)
    return array_ops.reshape(scale, shape) * inverse  # type: ignore[no-any-return]


def _determinant_grad(op: Operation, grad: Tensor) -> Tensor:
    determinant = op.outputs[0]
    inverse = matrix_inverse(op.inputs[0], adjoint=True)
    product = grad * determinant
    shape = array_ops.concat([array_ops.shape(determinant), [1, 1]], 0)
    return array_ops.reshape(product, shape) * inverse  # type: ignore[no-any-return]


def _log_determinant_grad(op: Operation, _: Tensor, grad: Tensor) -> Tensor:
    return _times_adjoint_inverse(op, grad, op.outputs[1])


def _matrix_grad(solution: Tensor, grad_rhs: Tensor, adjoint: bool) -> Tensor:
    """The gradient of the matrix, from that of the right-hand side."""
    if adjoint:
        return -math_ops.matmul(solution, grad_rhs, adjoint_b=True)
    return -math_ops.matmul(grad_rhs, solution, adjoint_b=True)


def _solve_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    adjoint = op.get_attr("adjoint")
    grad_rhs = matrix_solve(op.inputs[0], grad, adjoint=not adjoint)
    return [_matrix_grad(op.outputs[0], grad_rhs, adjoint), grad_rhs]


def _triangular_solve_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    adjoint, lower = op.get_attr("adjoint"), op.get_attr("lower")
    grad_rhs = matrix_triangular_solve(
        op.inputs[0], grad, lower=lower, adjoint=not adjoint
    )
    whole = _matrix_grad(op.outputs[0], grad_rhs, adjoint)
    band = (-1, 0) if lower else (0, -1)
    return [array_ops.matrix_band_part(whole, *band), grad_rhs]


# --- ops ---------------------------------------------------------------------

_T = f"T: {{{MATRIX_TYPES}}}"

register_op(
    "MatrixInverse",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["adjoint: bool = false", _T],
    shape_fn=square_matrices,
    gradient=_inverse_grad,
    doc="The inverse of each matrix [..., n, n], or the adjoint of it.",
)

register_op(
    "MatrixDeterminant",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: {half, float, double, complex64, complex128}"],
    shape_fn=_batch_of_squares,
    gradient=_determinant_grad,
    doc="The determinant of each matrix [..., n, n].",
)

register_op(
    "LogMatrixDeterminant",
    inputs=["input: T"],
    outputs=["sign: T", "log_abs_determinant: T"],
    attrs=["T: {half, float, double, complex64, complex128}"],
    shape_fn=_sign_and_log,
    gradient=_log_determinant_grad,
    doc="Sign and logarithm of the absolute value of each determinant.",
)

register_op(
    "MatrixSolve",
    inputs=["matrix: T", "rhs: T"],
    outputs=["output: T"],
    attrs=["adjoint: bool = false", _T],
    shape_fn=solution_shape,
    gradient=_solve_grad,
    doc="x with matrix @ x = rhs; adjoint takes the matrix's conjugate transpose.",
)

register_op(
    "MatrixTriangularSolve",
    inputs=["matrix: T", "rhs: T"],
    outputs=["output: T"],
    attrs=[
        "lower: bool = true",
        "adjoint: bool = false",
        f"T: {{{MATRIX_TYPES}, bfloat16}}",
    ],
    shape_fn=solution_shape,
    gradient=_triangular_solve_grad,
    doc="x with matrix @ x = rhs for triangular matrices.",
)


def _solve_ls_shape(c: InferenceContext) -> TensorShape:
    c.with_rank(2, 0)
    return solution_shape(c, square=False)


register_op(
    "MatrixSolveLs",
    inputs=["matrix: T", "rhs: T", "l2_regularizer: double"],
    outputs=["output: T"],
    attrs=[f"T: {{{MATRIX_TYPES}}}", "fast: bool = true"],
    shape_fn=_solve_ls_shape,
    doc="x with the least squares of matrix @ x - rhs, and l2 times those of x.",
)
