"""The QR decomposition."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg.matrix_solve import adjoint, matrix_triangular_solve
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext


def _qr_shape(c: InferenceContext) -> list[TensorShape]:
    dims = c.with_rank_at_least(0, 2).dims_tuple
    if dims is None:
        return [TensorShape.of(None), TensorShape.of(None)]
    batch, rows, columns = dims[:-2], dims[-2], dims[-1]
    if c.attrs["full_matrices"]:
        inner = rows
    else:
        inner = None if rows is None or columns is None else min(rows, columns)
    return [
        TensorShape.of((*batch, rows, inner)),
        TensorShape.of((*batch, inner, columns)),
    ]


def _solve_right(x: Tensor, r: Tensor) -> Tensor:
    """x times the adjoint of the inverse of an upper triangular r."""
    return adjoint(matrix_triangular_solve(r, adjoint(x), lower=False, adjoint=False))


def _qr_grad(op: Operation, grad_q: Tensor, grad_r: Tensor) -> Tensor:
    """Of Walter and Lehmann, arXiv:1009.6112."""
    q, r = op.outputs
    if q.dtype.is_complex:
        raise NotImplementedError("The gradient of Qr takes real matrices only.")
    dims = r.shape.dims_tuple
    if dims is None or dims[-2] is None or dims[-1] is None:
        raise NotImplementedError(
            "The gradient of Qr needs to know the inner dimensions of its input."
        )
    if dims[-2] != dims[-1]:
        raise NotImplementedError(
            "The gradient of Qr takes no wide matrices, nor full_matrices with "
            "matrices that are not square."
        )
    turned_q = math_ops.matmul(q, grad_q, adjoint_a=True)
    skew_q = turned_q - adjoint(turned_q)
    turned_r = math_ops.matmul(r, grad_r, adjoint_b=True)
    skew_r = turned_r - adjoint(turned_r)
    lower = array_ops.matrix_band_part(skew_q + skew_r, -1, 0)
    inside = math_ops.matmul(q, grad_r + _solve_right(lower, r))
    outside = _solve_right(grad_q - math_ops.matmul(q, turned_q), r)
    return inside + outside


register_op(
    "Qr",
    inputs=["input: T"],
    outputs=["q: T", "r: T"],
    attrs=[
        "full_matrices: bool = false",
        "T: {double, float, half, complex64, complex128}",
    ],
    shape_fn=_qr_shape,
    gradient=_qr_grad,
    doc="input = q @ r with orthonormal columns of q and upper triangular r.",
)


@export("qr", "linalg.qr")
def qr(input: Any, full_matrices: bool = False, name: str | None = None) -> Any:
    """(q, r) of the innermost matrices [..., rows, columns]."""
    return apply_op("Qr", input=input, full_matrices=full_matrices, name=name)
