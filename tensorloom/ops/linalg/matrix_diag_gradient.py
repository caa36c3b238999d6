"""Gradients of the diagonal and band ops."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.graph.graph import Operation, Tensor, colocate_with
from tensorloom.framework.registry.gradient_registry import RegisterGradient
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.ops.array import concat as concat_ops
from tensorloom.ops.array import fill as fill_ops
from tensorloom.ops.array import reshape as reshape_ops
from tensorloom.ops.array import shape as shape_ops
from tensorloom.ops.array import stack as stack_ops
from tensorloom.ops.indexing import slice as slice_ops

Grads = list[Tensor | None]


@RegisterGradient("Diag")
def diag_grad(op: Operation, grad: Tensor) -> Tensor:
    """Gradient of Diag: the diagonal."""
    return apply_op("DiagPart", input=grad)  # type: ignore[no-any-return]


@RegisterGradient("DiagPart")
def diag_part_grad(op: Operation, grad: Tensor) -> Tensor:
    """Gradient of DiagPart: zeros off the diagonal."""
    return apply_op("Diag", diagonal=grad)  # type: ignore[no-any-return]


@RegisterGradient("MatrixBandPart")
def matrix_band_part_grad(op: Operation, grad: Tensor) -> Grads:
    """Gradient of MatrixBandPart: the same band."""
    _, lower, upper = op.inputs
    band = apply_op("MatrixBandPart", input=grad, num_lower=lower, num_upper=upper)
    return [band, None, None]


@RegisterGradient("MatrixDiag")
def matrix_diag_grad(op: Operation, grad: Tensor) -> Tensor:
    """Gradient of MatrixDiag: the diagonals."""
    return _diag_part(grad)


@RegisterGradient("MatrixDiagV2")
def matrix_diag_v2_grad(op: Operation, grad: Tensor) -> Grads:
    """Gradient of MatrixDiagV2: the same diagonals."""
    return [_diag_part(grad, op.inputs[1]), None, None, None, None]


@RegisterGradient("MatrixDiagPart")
def matrix_diag_part_grad(op: Operation, grad: Tensor) -> Tensor:
    """Gradient of MatrixDiagPart: matrices with `grad` on the diagonals."""
    sides = op.inputs[0].shape[-2:]
    if sides.is_fully_defined() and sides[0] == sides[1]:
        return _diag(grad)
    return _set_diag(fill_ops.zeros_like(op.inputs[0]), grad)


@RegisterGradient("MatrixDiagPartV2")
def matrix_diag_part_v2_grad(op: Operation, grad: Tensor) -> Grads:
    """Gradient of MatrixDiagPartV2: matrices with `grad` on the diagonals."""
    value, k, _ = op.inputs
    sides = value.shape[-2:]
    if sides.is_fully_defined():
        result = _diag(grad, k, sides[0], sides[1])
    else:
        result = _set_diag(fill_ops.zeros_like(value), grad, k)
    return [result, None, None]


@RegisterGradient("MatrixSetDiag")
def matrix_set_diag_grad(op: Operation, grad: Tensor) -> Grads:
    """Gradient of MatrixSetDiag: `grad` without, and only, the diagonals."""
    whole = op.inputs[0].shape.merge_with(grad.shape)
    batch = whole[:-2].merge_with(op.inputs[1].shape[:-1])
    sides = whole[-2:]
    diag_shape: Any
    if batch.is_fully_defined() and sides.is_fully_defined():
        sizes = [size for size in sides.as_list() if size is not None]
        diag_shape = [*batch.as_list(), min(sizes)]
    else:
        diag_shape = _dynamic_diag_shape(grad)
    zeros = fill_ops.zeros(diag_shape, dtype=grad.dtype)
    return [_set_diag(grad, zeros), _diag_part(grad)]


def _dynamic_diag_shape(grad: Tensor) -> Tensor:
    from tensorloom.ops.math import math_ops

    with colocate_with(grad):
        shape = shape_ops.shape(grad)
        rank = shape_ops.rank(grad)
        batch = slice_ops.slice(shape, [0], [rank - 2])
        sides = slice_ops.slice(shape, [rank - 2], [2])
        return concat_ops.concat([batch, [math_ops.reduce_min(sides)]], 0)


@RegisterGradient("MatrixSetDiagV2")
def matrix_set_diag_v2_grad(op: Operation, grad: Tensor) -> Grads:
    """Gradient of MatrixSetDiagV2: `grad` without, and only, the diagonals."""
    _, diagonal, k = op.inputs
    diag_shape: Any = diagonal.shape
    if not diag_shape.is_fully_defined():
        diag_shape = _dynamic_band_shape(diagonal, grad, k)
    zeros = fill_ops.zeros(diag_shape, dtype=grad.dtype)
    return [_set_diag(grad, zeros, k), _diag_part(grad, k), None]


def _dynamic_band_shape(diagonal: Tensor, grad: Tensor, k: Tensor) -> Tensor:
    """Shape of the diagonals, from the matrices' shape and the band."""
    from tensorloom.ops.math import math_ops

    shape = shape_ops.shape(grad)
    sides = shape[-2:]
    numbers = reshape_ops.reshape(k, [-1])
    lower, upper = numbers[0], numbers[-1]
    length = math_ops.minimum(
        sides[0] + math_ops.minimum(upper, 0), sides[1] - math_ops.maximum(lower, 0)
    )
    static = constant_value(k)
    if static is not None and static.reshape(-1)[0] == static.reshape(-1)[-1]:
        tail = stack_ops.stack([length])
    elif static is not None:
        tail = stack_ops.stack([upper - lower + 1, length])
    else:
        # Whether there is an axis of diagonals is known only at run time; then the
        # shape of what was set is the shape of its gradient.
        return shape_ops.shape(diagonal)
    return concat_ops.concat([shape[:-2], tail], 0)


def _diag(diagonal: Tensor, k: Any = 0, rows: Any = -1, columns: Any = -1) -> Tensor:
    from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops

    return matrix_diag_ops.matrix_diag(diagonal, k=k, num_rows=rows, num_cols=columns)


def _diag_part(matrices: Tensor, k: Any = 0) -> Tensor:
    from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops

    return matrix_diag_ops.matrix_diag_part(matrices, k=k)


def _set_diag(matrices: Tensor, diagonal: Tensor, k: Any = 0) -> Tensor:
    from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops

    return matrix_diag_ops.matrix_set_diag(matrices, diagonal, k=k)
