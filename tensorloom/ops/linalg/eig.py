"""Eigenvalues of matrices that need not be self-adjoint, and banded solves."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tensorloom.framework.graph.graph import control_dependencies
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.registry.shape_inference import broadcast_shapes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg.matrix_decomposition import eig_shape
from tensorloom.ops.linalg.matrix_solve import adjoint, matrix_solve
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_TINY = 1e-20  # keeps the reciprocal of equal eigenvalues' gap finite


# --- eigenvalues -------------------------------------------------------------


def _gap_reciprocals(values: Tensor) -> Tensor:
    gaps = array_ops.expand_dims(values, -2) - array_ops.expand_dims(values, -1)
    inverse = gaps * math_ops.reciprocal(gaps * gaps + _TINY)
    return array_ops.matrix_set_diag(inverse, array_ops.zeros_like(values))


def _eig_grad(op: Operation, grad_e: Tensor, grad_v: Tensor) -> Tensor:
    """Of Boeddeker et al., "On the computation of complex-valued gradients", 2017."""
    source = op.inputs[0]
    with control_dependencies([grad_e, grad_v]):
        if op.get_attr("compute_v"):
            values, vectors = op.outputs
            turned = adjoint(vectors)
            factors = math_ops.conj(_gap_reciprocals(values))
            inner = math_ops.matmul(turned, grad_v)
            own = array_ops.matrix_diag_part(
                math_ops.cast(math_ops.real(inner), inner.dtype)
            )
            # The vectors are of length one: what would stretch them goes.
            free = inner - math_ops.matmul(
                math_ops.matmul(turned, vectors), array_ops.matrix_diag(own)
            )
            middle = array_ops.matrix_diag(grad_e) + factors * free
        else:
            _, vectors = apply_op("Eig", input=source, Tout=op.outputs[0].dtype)
            turned = adjoint(vectors)
            middle = array_ops.matrix_diag(grad_e)
        result = matrix_solve(turned, math_ops.matmul(middle, turned))
        cast: Tensor = math_ops.cast(result, source.dtype)
        return cast


register_op(
    "Eig",
    inputs=["input: T"],
    outputs=["e: Tout", "v: Tout"],
    attrs=[
        "compute_v: bool = true",
        "T: {float, double, complex64, complex128}",
        "Tout: {complex64, complex128}",
    ],
    shape_fn=eig_shape,
    gradient=_eig_grad,
    doc="Eigenvalues, and eigenvectors of length one, of square matrices.",
)

# --- banded solves -----------------------------------------------------------


def _banded_shape(c: InferenceContext) -> TensorShape:
    """[..., n, k] for bands [..., d, n] and right-hand sides [..., n, k]."""
    bands = c.with_rank_at_least(0, 2).dims_tuple
    rhs = c.with_rank_at_least(1, 2).dims_tuple
    if bands is None or rhs is None:
        return TensorShape.of(None)
    if bands[-2] == 0:
        c.fail("The matrix must have at least one band")
    size = c.merge_dim(bands[-1], rhs[-2])
    batches = TensorShape.of(bands[:-2]), TensorShape.of(rhs[:-2])
    outer = broadcast_shapes(c, *batches).dims_tuple
    return TensorShape.of(None if outer is None else (*outer, size, rhs[-1]))


def _banded_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    bands, rhs = op.inputs
    count = array_ops.shape(bands)[-2]
    is_adjoint, lower = op.get_attr("adjoint"), op.get_attr("lower")
    grad_rhs = apply_op(
        "BandedTriangularSolve",
        matrix=bands,
        rhs=grad,
        lower=lower,
        adjoint=not is_adjoint,
    )
    left, right = grad_rhs, op.outputs[0]
    if is_adjoint:
        left, right = right, left
    whole = -math_ops.matmul(left, right, adjoint_b=True)
    limits = [-(count - 1), 0] if lower else [0, count - 1]
    grad_bands = apply_op(
        "MatrixDiagPartV3",
        input=whole,
        k=array_ops.stack(limits),
        padding_value=array_ops.zeros([], whole.dtype),
        align="LEFT_RIGHT",
    )
    shapes = [bands.shape[:-2], rhs.shape[:-2]]
    if shapes[0].is_fully_defined() and shapes[0].as_list() == shapes[1].as_list():
        return [grad_bands, grad_rhs]
    axes = array_ops.broadcast_gradient_args(
        array_ops.shape(bands)[:-2], array_ops.shape(rhs)[:-2]
    )
    return [
        array_ops.reshape(math_ops.reduce_sum(g, axis), array_ops.shape(x))
        for g, axis, x in ((grad_bands, axes[0], bands), (grad_rhs, axes[1], rhs))
    ]


register_op(
    "BandedTriangularSolve",
    inputs=["matrix: T", "rhs: T"],
    outputs=["output: T"],
    attrs=[
        "lower: bool = true",
        "adjoint: bool = false",
        "T: {double, float, half, complex64, complex128}",
    ],
    shape_fn=_banded_shape,
    gradient=_banded_grad,
    doc="x with A @ x = rhs, where A is triangular and given by its bands [..., d, n].",
)
