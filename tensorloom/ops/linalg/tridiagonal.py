"""Tridiagonal matrices: systems and products."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tensorloom.framework.export import export
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.framework.registry.op_registry import register_op
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.dimension import dimension_value
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Operation, Tensor
    from tensorloom.framework.registry.shape_inference import InferenceContext

_T: Final = "T: {double, float, complex64, complex128}"


@export("linalg.tridiagonal_solve")
def tridiagonal_solve(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    transpose_rhs: bool = False,
    conjugate_rhs: bool = False,
    name: str | None = None,
    partial_pivoting: bool = True,
) -> Tensor:
    """x with matrix @ x = rhs for tridiagonal matrices.

    Args:
      diagonals: [..., 3, n] (upper, main, lower) in the format "compact"; three
        tensors [..., n] or [..., n - 1] in "sequence"; [..., n, n] in "matrix".
      rhs: [..., n] or [..., n, k].
      transpose_rhs, conjugate_rhs: what to do to rhs first.

    Raises:
      ValueError: unknown format, or shapes that do not fit.
    """
    if diagonals_format == "sequence":
        diagonals = _joined(diagonals)
    elif diagonals_format == "matrix":
        diagonals = _extracted(diagonals)
    elif diagonals_format != "compact":
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    return _solve_compact(
        diagonals, rhs, transpose_rhs, conjugate_rhs, partial_pivoting, name
    )


def _joined(diagonals: Any) -> Tensor:
    if not isinstance(diagonals, (tuple, list)) or len(diagonals) != 3:
        raise ValueError("Expected diagonals to be a sequence of length 3.")
    upper, main, lower = diagonals
    batch = main.shape[:-1]
    if not (
        lower.shape[:-1].is_compatible_with(batch)
        and upper.shape[:-1].is_compatible_with(batch)
    ):
        raise ValueError(
            "Tensors representing the three diagonals must have the same shape,"
            f"except for the last dimension, got {lower.shape}, {main.shape}, "
            f"{upper.shape}"
        )
    size = dimension_value(main.shape[-1])
    lower = _padded(lower, "subdiagonal", size, [1, 0])
    upper = _padded(upper, "superdiagonal", size, [0, 1])
    return array_ops.stack((upper, main, lower), axis=-2)


def _padded(diagonal: Tensor, name: str, size: int | None, amounts: list[int]) -> Any:
    length = dimension_value(diagonal.shape[-1])
    if not length or length == size:
        return diagonal
    if size is not None and length == size - 1:
        leading = [[0, 0] for _ in range(len(diagonal.shape) - 1)]
        return array_ops.pad(diagonal, [*leading, amounts])
    least = None if size is None else size - 1
    raise ValueError(
        f"Expected {name} to be have length {size} or {least}, got {length}."
    )


def _extracted(matrix: Any) -> Tensor:
    columns = dimension_value(matrix.shape[-1])
    rows = dimension_value(matrix.shape[-2])
    _check_square(rows, columns)
    size = columns or rows
    if not size:
        raise ValueError(
            'The size of the matrix needs to be known for diagonals_format="matrix"'
        )
    unused = [0, 0]
    indices = [
        [
            [i + 1, i] if i + 1 < size else unused,
            [i, i],
            [i - 1, i] if i else unused,
        ]
        for i in range(size)
    ]
    picked = array_ops.gather_nd(array_ops.transpose(matrix), indices)
    return array_ops.transpose(picked)


def _check_square(rows: int | None, columns: int | None) -> None:
    if rows and columns and rows != columns:
        raise ValueError(
            "Expected last two dimensions of diagonals to be same, got "
            f"{columns} and {rows}"
        )


def _solve_compact(
    diagonals: Any,
    rhs: Any,
    transpose_rhs: bool,
    conjugate_rhs: bool,
    pivoting: bool,
    name: str | None,
) -> Tensor:
    rank = len(diagonals.shape)
    _check_shapes(diagonals, rhs, rank)
    if len(rhs.shape) == rank - 1:
        if conjugate_rhs:
            rhs = math_ops.conj(rhs)
        rhs = array_ops.expand_dims(rhs, -1)
        _check_rows(diagonals, rhs)
        return array_ops.squeeze(_solve(diagonals, rhs, pivoting, name), -1)
    if transpose_rhs:
        rhs = array_ops.matrix_transpose(rhs, conjugate=conjugate_rhs)
    elif conjugate_rhs:
        rhs = math_ops.conj(rhs)
    _check_rows(diagonals, rhs)
    result = _solve(diagonals, rhs, pivoting, name)
    return array_ops.matrix_transpose(result) if transpose_rhs else result


def _check_shapes(diagonals: Any, rhs: Any, rank: int) -> None:
    if rank < 2:
        raise ValueError(f"Expected diagonals to have rank at least 2, got {rank}")
    rhs_rank = len(rhs.shape)
    if rhs_rank not in (rank, rank - 1):
        raise ValueError(
            f"Expected the rank of rhs to be {rank - 1} or {rank}, got {rhs_rank}"
        )
    if dimension_value(diagonals.shape[-2]) not in (None, 3):
        raise ValueError(f"Expected 3 diagonals got {diagonals.shape[-2]}")
    batch, rhs_batch = diagonals.shape[:-2], rhs.shape[: rank - 2]
    if not batch.is_compatible_with(rhs_batch):
        raise ValueError(f"Batch shapes {batch} and {rhs_batch} are incompatible")


def _check_rows(diagonals: Any, rhs: Any) -> None:
    left = dimension_value(diagonals.shape[-1])
    right = dimension_value(rhs.shape[-2])
    if left and right and left != right:
        raise ValueError(
            "Expected number of left-hand sided and right-hand sides to be equal, "
            f"got {left} and {right}"
        )


def _solve(diagonals: Any, rhs: Any, pivoting: bool, name: str | None = None) -> Tensor:
    result: Tensor = apply_op(
        "TridiagonalSolve",
        diagonals=diagonals,
        rhs=rhs,
        partial_pivoting=pivoting,
        name=name,
    )
    return result


@export("linalg.tridiagonal_matmul")
def tridiagonal_matmul(
    diagonals: Any,
    rhs: Any,
    diagonals_format: str = "compact",
    name: str | None = None,
) -> Tensor:
    """The product of tridiagonal matrices with rhs [..., n, k].

    Args:
      diagonals: as `tridiagonal_solve` takes them.

    Raises:
      ValueError: unknown format, or a matrix of unknown size.
    """
    if diagonals_format == "compact":
        upper, main, lower = (diagonals[..., i, :] for i in range(3))
    elif diagonals_format == "sequence":
        upper, main, lower = diagonals
    elif diagonals_format == "matrix":
        upper, main, lower = _diagonals_of(diagonals)
    else:
        raise ValueError(f"Unrecognized diagonals_format: {diagonals_format}")
    upper = array_ops.expand_dims(upper, -2)
    main = array_ops.expand_dims(main, -2)
    lower = array_ops.expand_dims(lower, -2)
    result: Tensor = apply_op(
        "TridiagonalMatMul",
        superdiag=upper,
        maindiag=main,
        subdiag=lower,
        rhs=rhs,
        name=name,
    )
    return result


def _diagonals_of(matrix: Any) -> tuple[Tensor, Tensor, Tensor]:
    columns = dimension_value(matrix.shape[-1])
    rows = dimension_value(matrix.shape[-2])
    if not columns or not rows:
        raise ValueError(
            'The size of the matrix needs to be known for diagonals_format="matrix"'
        )
    _check_square(rows, columns)
    main = array_ops.matrix_diag_part(matrix)
    turned = array_ops.transpose(matrix)
    above = [[i + 1, i] for i in range(rows - 1)] + [[0, 0]]
    below = [[0, 0]] + [[i - 1, i] for i in range(1, rows)]
    upper = array_ops.transpose(array_ops.gather_nd(turned, above))
    lower = array_ops.transpose(array_ops.gather_nd(turned, below))
    return upper, main, lower


# --- gradients ---------------------------------------------------------------


def _shift(x: Tensor, up: bool) -> Tensor:
    """Rows moved up or down by one, with zeros in the row that is left free."""
    zeros = array_ops.zeros((array_ops.rank(x) - 2, 2), dtype=dtypes.int32)
    free = array_ops.constant([[0, 1] if up else [1, 0], [0, 0]])
    pads = array_ops.concat([zeros, free], axis=0)
    return array_ops.pad(x[..., 1:, :] if up else x[..., :-1, :], pads)


def _mat_mul_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    upper, main, lower = (
        array_ops.matrix_transpose(x, conjugate=True) for x in op.inputs[:3]
    )
    rhs = math_ops.conj(op.inputs[3])
    grad_upper = math_ops.reduce_sum(_shift(rhs, up=True) * grad, axis=-1)
    grad_main = math_ops.reduce_sum(rhs * grad, axis=-1)
    grad_lower = math_ops.reduce_sum(_shift(rhs, up=False) * grad, axis=-1)
    grad_rhs = _shift(upper * grad, up=False) + main * grad
    grad_rhs = grad_rhs + _shift(lower * grad, up=True)
    return [
        array_ops.expand_dims(grad_upper, -2),
        array_ops.expand_dims(grad_main, -2),
        array_ops.expand_dims(grad_lower, -2),
        grad_rhs,
    ]


def _solve_grad(op: Operation, grad: Tensor) -> list[Tensor]:
    turned = _transposed(op.inputs[0])
    grad_rhs = _solve(turned, grad, op.get_attr("partial_pivoting"))
    return [-_three_diagonals(grad_rhs, op.outputs[0]), grad_rhs]


def _transposed(diagonals: Tensor) -> Tensor:
    main = diagonals[..., 1, :]
    if diagonals.shape.is_fully_defined():
        batch = list(diagonals.shape[:-2])
        zeros = array_ops.zeros([*batch, 1], dtype=diagonals.dtype)
        upper = array_ops.concat((diagonals[..., 2, 1:], zeros), axis=-1)
        lower = array_ops.concat((zeros, diagonals[..., 0, :-1]), axis=-1)
    else:
        rank = array_ops.rank(diagonals)
        zeros = array_ops.zeros((rank - 2, 2), dtype=dtypes.int32)
        end = array_ops.concat((zeros, array_ops.constant([[0, 1]])), axis=0)
        upper = array_ops.pad(diagonals[..., 2, 1:], end)
        start = array_ops.concat((zeros, array_ops.constant([[1, 0]])), axis=0)
        lower = array_ops.pad(diagonals[..., 0, :-1], start)
    return array_ops.stack([upper, main, lower], axis=-2)


def _three_diagonals(x: Tensor, y: Tensor) -> Tensor:
    """The diagonals [..., 3, n] of x @ transpose(y), without the rest of it."""
    main = math_ops.reduce_sum(x * y, axis=-1)
    if y.shape.is_fully_defined():
        shape = [*list(x.shape[:-2]), 1, x.shape[-1]]
        zeros = array_ops.zeros(shape, dtype=x.dtype)
        above = array_ops.concat((y[..., 1:, :], zeros), axis=-2)
        upper = math_ops.reduce_sum(x * above, axis=-1)
        below = array_ops.concat((zeros, y[..., :-1, :]), axis=-2)
        lower = math_ops.reduce_sum(x * below, axis=-1)
    else:
        rank = array_ops.rank(y)
        zeros = array_ops.zeros((rank - 2, 2), dtype=dtypes.int32)
        pads = array_ops.concat((zeros, array_ops.constant([[0, 1], [0, 0]])), axis=0)
        upper = math_ops.reduce_sum(x * array_ops.pad(y[..., 1:, :], pads), axis=-1)
        pads = array_ops.concat((zeros, array_ops.constant([[1, 0], [0, 0]])), axis=0)
        lower = math_ops.reduce_sum(x * array_ops.pad(y[..., :-1, :], pads), axis=-1)
    return array_ops.stack([upper, main, lower], axis=-2)


# --- ops ---------------------------------------------------------------------


def _solve_shape(c: InferenceContext) -> TensorShape:
    diagonals = c.with_rank_at_least(0, 2).dims_tuple
    rhs = c.with_rank_at_least(1, 2).dims_tuple
    if diagonals is None or rhs is None:
        return TensorShape.of(rhs)
    if len(diagonals) != len(rhs):
        c.fail(f"Shapes must be equal rank, but are {len(diagonals)} and {len(rhs)}")
    c.with_value(diagonals[-2], 3)
    batch = c.merge(TensorShape.of(diagonals[:-2]), TensorShape.of(rhs[:-2]))
    assert batch.dims_tuple is not None
    rows = c.merge_dim(diagonals[-1], rhs[-2])
    return TensorShape.of((*batch.dims_tuple, rows, rhs[-1]))


def _mat_mul_shape(c: InferenceContext) -> TensorShape:
    diagonal = c.with_rank_at_least(0, 2)
    for i in (1, 2):
        diagonal = c.merge(diagonal, c.with_rank_at_least(i, 2))
    dims, rhs = diagonal.dims_tuple, c.with_rank_at_least(3, 2)
    if dims is None:
        return rhs
    c.with_value(dims[-2], 1)
    if rhs.dims_tuple is not None:
        c.merge(TensorShape.of(dims[:-2]), TensorShape.of(rhs.dims_tuple[:-2]))
        c.merge_dim(dims[-1], rhs.dims_tuple[-2])
    return rhs


register_op(
    "TridiagonalSolve",
    inputs=["diagonals: T", "rhs: T"],
    outputs=["output: T"],
    attrs=["partial_pivoting: bool = true", _T],
    shape_fn=_solve_shape,
    gradient=_solve_grad,
    doc="x with matrix @ x = rhs; diagonals [..., 3, n] are upper, main and lower.",
)

register_op(
    "TridiagonalMatMul",
    inputs=["superdiag: T", "maindiag: T", "subdiag: T", "rhs: T"],
    outputs=["output: T"],
    attrs=[_T],
    shape_fn=_mat_mul_shape,
    gradient=_mat_mul_grad,
    doc="The product of tridiagonal matrices, diagonals [..., 1, n], with rhs.",
)
