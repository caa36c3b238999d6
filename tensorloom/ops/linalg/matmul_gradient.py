"""Gradients of the matrix products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg.matmul import mat_mul, matmul
from tensorloom.ops.math import math_ops
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.complex import conj

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@RegisterGradient("MatMul")
def _mat_mul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    transpose_a = op.get_attr("transpose_a")
    transpose_b = op.get_attr("transpose_b")
    a, b = conj(op.inputs[0]), conj(op.inputs[1])
    if transpose_a:
        grad_a = mat_mul(b, grad, transpose_a=transpose_b, transpose_b=True)
    else:
        grad_a = mat_mul(grad, b, transpose_b=not transpose_b)
    if transpose_b:
        grad_b = mat_mul(grad, a, transpose_a=True, transpose_b=transpose_a)
    else:
        grad_b = mat_mul(a, grad, transpose_a=not transpose_a)
    return [grad_a, grad_b]


@RegisterGradient("BatchMatMul")
def _batch_mat_mul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    x, y = op.inputs
    adj_x, adj_y = op.get_attr("adj_x"), op.get_attr("adj_y")
    if adj_x:
        grad_x = matmul(y, grad, adjoint_a=adj_y, adjoint_b=True)
    else:
        grad_x = matmul(grad, y, adjoint_b=not adj_y)
    if adj_y:
        grad_y = matmul(grad, x, adjoint_a=True, adjoint_b=adj_x)
    else:
        grad_y = matmul(x, grad, adjoint_a=not adj_x)
    return [grad_x, grad_y]


@RegisterGradient("BatchMatMulV2")
@RegisterGradient("BatchMatMulV3")
def _batch_mat_mul_v2_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    """The gradients of both, added up along broadcast batch dimensions."""
    x, y = op.inputs
    grad_x, grad_y = _batch_mat_mul_grad(op, grad)
    if (
        x.shape.is_fully_defined()
        and y.shape.is_fully_defined()
        and x.shape.dims_tuple == y.shape.dims_tuple
    ):
        return [grad_x, grad_y]
    shape_x = array_ops.shape(x)
    shape_y = array_ops.shape(y)
    axes_x, axes_y = array_ops.broadcast_gradient_args(shape_x[:-2], shape_y[:-2])
    return [
        array_ops.reshape(math_ops.reduce_sum(grad_x, axes_x), shape_x),
        array_ops.reshape(math_ops.reduce_sum(grad_y, axes_y), shape_y),
    ]


@RegisterGradient("SparseMatMul")
def _sparse_mat_mul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    a, b = op.inputs
    transpose_a = op.get_attr("transpose_a")
    transpose_b = op.get_attr("transpose_b")
    sparse = {
        a: op.get_attr("a_is_sparse"),
        b: op.get_attr("b_is_sparse"),
        grad: grad.op.type == "ReluGrad",
    }

    def product(
        x: Tensor, y: Tensor, dtype: Any, transpose_x: bool, transpose_y: bool
    ) -> Tensor:
        x_is_sparse, y_is_sparse = sparse[x], sparse[y]
        if transpose_y:
            y = array_ops.transpose(y)
        out = matmul(
            x,
            y,
            transpose_a=transpose_x,
            a_is_sparse=x_is_sparse,
            b_is_sparse=y_is_sparse,
        )
        return cast(out, dtype)  # type: ignore[no-any-return]

    if transpose_a:
        grad_a = product(b, grad, a.dtype, transpose_b, True)
    else:
        grad_a = product(grad, b, a.dtype, False, not transpose_b)
    if transpose_b:
        grad_b = product(grad, a, b.dtype, True, transpose_a)
    else:
        grad_b = product(a, grad, b.dtype, not transpose_a, False)
    return [grad_a, grad_b]
