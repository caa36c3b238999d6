"""Cholesky, LU and eigenvalue decompositions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import control_dependencies, name_scope
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import builders as linalg_ops
from tensorloom.ops.linalg.matrix_solve import (
    MATRIX_TYPES,
    adjoint,
    matrix_triangular_solve,
    square_matrices,
)
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext
    from tensorloom.framework.types.dtypes import DType


@export("linalg.cholesky", "cholesky")
def cholesky(input: Any, name: str | None = None) -> Any:
    """Lower triangular L with L @ adjoint(L) = input, of matrices [..., n, n]."""
    return apply_op("Cholesky", input=input, name=name)


@export("linalg.eigh", "self_adjoint_eig")
def self_adjoint_eig(tensor: Any, name: str | None = None) -> tuple[Tensor, Tensor]:
    """(eigenvalues [..., n] in rising order, eigenvectors in the columns [..., n, n]).

    Only the lower triangles of the matrices are read.
    """
    values, vectors = apply_op(
        "SelfAdjointEigV2", input=tensor, compute_v=True, name=name
    )
    return values, vectors


@export("linalg.eigvalsh", "self_adjoint_eigvals")
def self_adjoint_eigvals(tensor: Any, name: str | None = None) -> Tensor:
    """The eigenvalues [..., n] of self-adjoint matrices, in rising order."""
    values: Tensor
    values, _ = apply_op("SelfAdjointEigV2", input=tensor, compute_v=False, name=name)
    return values


@export("linalg.lu")
def lu(
    input: Any, output_idx_type: DType = dtypes.int32, name: str | None = None
) -> Any:
    """(both factors in one matrix, the permutation of the rows) of [..., n, n]."""
    return apply_op("Lu", input=input, output_idx_type=output_idx_type, name=name)


@export("linalg.logdet")
def logdet(matrix: Any, name: str | None = None) -> Tensor:
    """The logarithms of the determinants of positive definite matrices."""
    with name_scope(name, "logdet", [matrix]):
        diagonal = math_ops.real(array_ops.matrix_diag_part(cholesky(matrix)))
        return 2.0 * math_ops.reduce_sum(math_ops.log(diagonal), axis=[-1])


# --- gradients ---------------------------------------------------------------


def _cholesky_grad(op: Operation, grad: Tensor) -> Tensor:
    """Of Murray, "Differentiation of the Cholesky decomposition", 2016."""
    factor = op.outputs[0]
    rows = array_ops.shape(factor)[-1]
    batch = array_ops.shape(factor)[:-2]
    identity = linalg_ops.eye(rows, batch_shape=batch, dtype=factor.dtype)
    inverse = matrix_triangular_solve(factor, identity)
    middle = math_ops.matmul(factor, grad, adjoint_a=True)
    halved = 0.5 * array_ops.matrix_diag_part(middle)
    middle = array_ops.matrix_set_diag(middle, halved)
    middle = array_ops.matrix_band_part(middle, -1, 0)
    result = math_ops.matmul(math_ops.matmul(inverse, middle, adjoint_a=True), inverse)
    result += adjoint(result)
    return result * 0.5


def _with_eigenvectors(op: Operation, grad_e: Tensor, grad_v: Tensor) -> Tensor:
    values, vectors = op.outputs
    gaps = array_ops.expand_dims(values, -2) - array_ops.expand_dims(values, -1)
    # Equal eigenvalues make this infinite: their eigenvectors are not determined.
    factors = array_ops.matrix_set_diag(
        math_ops.reciprocal(gaps), array_ops.zeros_like(values)
    )
    diagonal = array_ops.matrix_diag(grad_e)
    turned = factors * math_ops.matmul(vectors, grad_v, adjoint_a=True)
    inner = math_ops.matmul(diagonal + turned, vectors, adjoint_b=True)
    return math_ops.matmul(vectors, inner)


def _eig_grad(op: Operation, grad_e: Tensor, grad_v: Tensor) -> Tensor:
    with control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            result = _with_eigenvectors(op, grad_e, grad_v)
        else:
            _, vectors = self_adjoint_eig(op.inputs[0])
            diagonal = array_ops.matrix_diag(grad_e)
            inner = math_ops.matmul(diagonal, vectors, adjoint_b=True)
            result = math_ops.matmul(vectors, inner)
        # The op reads the lower triangle alone, which stands for the upper one too.
        result = array_ops.matrix_band_part(result + adjoint(result), -1, 0)
        halved = 0.5 * array_ops.matrix_diag_part(result)
        return array_ops.matrix_set_diag(result, halved)


# --- ops ---------------------------------------------------------------------


def eig_shape(c: InferenceContext) -> list[TensorShape]:
    """The shapes of eigenvalues, and of eigenvectors where they are computed."""
    matrices = square_matrices(c)
    dims = matrices.dims_tuple
    values = TensorShape.of(None if dims is None else dims[:-1])
    return [values, matrices if c.attrs["compute_v"] else TensorShape.of((0,))]


def _eig_v1_shape(c: InferenceContext) -> TensorShape:
    dims = square_matrices(c).dims_tuple
    if dims is None:
        return TensorShape.of(None)
    rows = None if dims[-1] is None else dims[-1] + 1
    return TensorShape.of((*dims[:-2], rows, dims[-1]))


def _lu_shape(c: InferenceContext) -> list[TensorShape]:
    matrices = square_matrices(c)
    dims = matrices.dims_tuple
    return [matrices, TensorShape.of(None if dims is None else dims[:-1])]


register_op(
    "Cholesky",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[f"T: {{{MATRIX_TYPES}}}"],
    shape_fn=square_matrices,
    gradient=_cholesky_grad,
    doc="The lower Cholesky factor of each matrix; upper triangles are not read.",
)

register_op(
    "CholeskyGrad",
    inputs=["l: T", "grad: T"],
    outputs=["output: T"],
    attrs=["T: {half, float, double}"],
    shape_fn=square_matrices,
    doc="The gradient of the input of Cholesky, from that of its output.",
)

register_op(
    "SelfAdjointEigV2",
    inputs=["input: T"],
    outputs=["e: T", "v: T"],
    attrs=["compute_v: bool = true", f"T: {{{MATRIX_TYPES}}}"],
    shape_fn=eig_shape,
    gradient=_eig_grad,
    doc="Eigenvalues in rising order, and eigenvectors, of self-adjoint matrices.",
)

register_op(
    "SelfAdjointEig",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: {double, float, half}"],
    shape_fn=_eig_v1_shape,
    deprecated=(11, "Use SelfAdjointEigV2 instead."),
    doc="Eigenvalues in the first row, eigenvectors in the columns below it.",
)

register_op(
    "Lu",
    inputs=["input: T"],
    outputs=["lu: T", "p: output_idx_type"],
    attrs=[f"T: {{{MATRIX_TYPES}}}", "output_idx_type: {int32, int64} = DT_INT32"],
    shape_fn=_lu_shape,
    doc="Unit lower and upper factors in one matrix; p[i] is the source of row i.",
)
