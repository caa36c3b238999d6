"""Functions of matrices: square roots and logarithms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import builders as linalg_ops
from tensorloom.ops.linalg.matrix_solve import (
    MATRIX_TYPES,
    matrix_solve,
    square_matrices,
)
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor


@export("linalg.sqrtm", "matrix_square_root")
def matrix_square_root(input: Any, name: str | None = None) -> Any:
    """The principal square roots of invertible matrices [..., n, n]."""
    return apply_op("MatrixSquareRoot", input=input, name=name)


@export("linalg.logm")
def matrix_logarithm(input: Any, name: str | None = None) -> Any:
    """The principal logarithms of complex matrices [..., n, n]."""
    return apply_op("MatrixLogarithm", input=input, name=name)


def _leading(shape: Tensor) -> Tensor:
    """All but the last two elements of a shape vector."""
    count = math_ops.subtract(array_ops.size(shape), 2)
    return array_ops.slice(shape, [0], [count])


def _kronecker(a: Tensor, b: Tensor) -> Tensor:
    """The Kronecker products of square matrices of equal batches."""
    shape_a, shape_b = array_ops.shape(a), array_ops.shape(b)
    order_a, order_b = shape_a[-1], shape_b[-1]
    batch = _leading(shape_a)
    spread_a = array_ops.concat([batch, [order_a], [1], [order_a], [1]], 0)
    spread_b = array_ops.concat([batch, [1], [order_b], [1], [order_b]], 0)
    a, b = array_ops.reshape(a, spread_a), array_ops.reshape(b, spread_b)
    order = order_a * order_b
    shape = array_ops.concat([batch, [order], [order]], 0)
    return array_ops.reshape(a * b, shape)


def _square_root_grad(op: Operation, grad: Tensor) -> Tensor:
    """dR of dA = R dR + dR R, a Sylvester equation solved as one linear system."""
    root = op.outputs[0]
    shape = array_ops.shape(root)
    order = shape[-1]
    count = math_ops.reduce_prod(shape[0:-2])
    identity = array_ops.reshape(linalg_ops.eye(order, dtype=root.dtype), [-1])
    identity = array_ops.reshape(array_ops.tile(identity, [count]), shape)
    turned = array_ops.matrix_transpose(root)
    first = _kronecker(identity, turned)
    system = math_ops.add(first, _kronecker(root, identity))
    batch = _leading(shape)
    vector_shape = array_ops.concat([batch, [order * order], [1]], 0)
    vector = array_ops.reshape(array_ops.matrix_transpose(grad), vector_shape)
    solution = array_ops.reshape(matrix_solve(system, vector), shape)
    return array_ops.matrix_transpose(solution)


register_op(
    "MatrixSquareRoot",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[f"T: {{{MATRIX_TYPES}}}"],
    shape_fn=square_matrices,
    gradient=_square_root_grad,
    doc="The principal square root of each matrix.",
)

register_op(
    "MatrixExponential",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=[f"T: {{{MATRIX_TYPES}}}"],
    shape_fn=square_matrices,
    deprecated=(27, "Use tf.linalg.expm instead."),
    doc="The exponential of each matrix.",
)

register_op(
    "MatrixLogarithm",
    inputs=["input: T"],
    outputs=["output: T"],
    attrs=["T: {complex64, complex128}"],
    shape_fn=square_matrices,
    doc="The principal logarithm of each matrix.",
)
