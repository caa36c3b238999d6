"""Batches of matrices, checked and broadcast to each other (`linear_operator_util`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tensorloom.framework.runtime.scopes import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg import broadcast_solve
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.shape import broadcast_static_shape, shape
from tensorloom.ops.debugging import check
from tensorloom.ops.debugging.check_type import assert_proper_iterable
from tensorloom.ops.linalg.matrix_solve import cholesky_solve, matrix_triangular_solve
from tensorloom.ops.math.complex import imag
from tensorloom.ops.math.elementwise import abs as absolute


def assert_no_entries_with_modulus_zero(
    x: Any,
    message: str | None = None,
    name: str = "assert_no_entries_with_modulus_zero",
) -> Any:
    """An operation that fails if an element of `x` is zero."""
    with name_scope(name, None, [x]):
        x = convert_to_tensor(x, name="x")
        zero = convert_to_tensor(0, dtype=x.dtype.real_dtype)
        return check.assert_less(zero, absolute(x), message=message)


def assert_zero_imag_part(
    x: Any, message: str | None = None, name: str = "assert_zero_imag_part"
) -> Any:
    """An operation that fails if an element of `x` has an imaginary part."""
    from tensorloom.ops.control_flow.builders import no_op

    with name_scope(name, None, [x]):
        x = convert_to_tensor(x, name="x")
        if x.dtype.is_floating:
            return no_op()
        zero = convert_to_tensor(0, dtype=x.dtype.real_dtype)
        return check.assert_equal(zero, imag(x), message=message)


def assert_compatible_matrix_dimensions(operator: Any, x: Any) -> Any:
    """An operation that fails unless an operator can multiply matrices `x`."""
    return check.assert_equal(
        array_ops.shape(x)[-2],
        operator.domain_dimension_tensor(),
        message=(
            "Dimensions are not compatible.  shape[-2] of argument to be the same as "
            "this operator"
        ),
    )


def assert_is_batch_matrix(tensor: Any) -> None:
    """Raises ValueError if a tensor is known to have fewer than two dimensions."""
    if tensor.shape.ndims is not None and tensor.shape.ndims < 2:
        raise ValueError(
            f"Expected [batch] matrix to have at least two dimensions.  Found: {tensor}"
        )


def shape_tensor(shape: Any, name: str | None = None) -> Any:
    """A shape as a tensor: int32 if nothing else says otherwise."""
    given = isinstance(shape, tuple | list)
    dtype = dtypes.int32 if given and not shape else None
    return convert_to_tensor(shape, dtype=dtype, name=name)


def broadcast_matrix_batch_dims(
    batch_matrices: Sequence[Any], name: str | None = None
) -> list[Any]:
    """Batches of matrices, each broadcast to the batch of all.

    Args:
      batch_matrices: tensors `[..., rows, columns]`.
      name: of the operations.

    Raises:
      ValueError: one has fewer than two dimensions, or they do not fit.
    """
    with name_scope(name, "broadcast_matrix_batch_dims", list(batch_matrices)):
        assert_proper_iterable(batch_matrices)
        matrices = [convert_to_tensor(matrix) for matrix in batch_matrices]
        for matrix in matrices:
            assert_is_batch_matrix(matrix)
        if len(matrices) < 2:
            return matrices
        static = matrices[0].shape[:-2]
        for matrix in matrices[1:]:
            static = broadcast_static_shape(static, matrix.shape[:-2])
        if static.is_fully_defined():
            return [
                matrix
                if matrix.shape[:-2] == static
                else _broadcast(matrix, static.as_list())
                for matrix in matrices
            ]
        batch = shape(matrices[0])[:-2]
        for matrix in matrices[1:]:
            batch = array_ops.broadcast_dynamic_shape(batch, shape(matrix)[:-2])
        return [_broadcast(matrix, batch) for matrix in matrices]


def _broadcast(matrix: Any, batch: Any) -> Any:
    full = array_ops.concat([batch, shape(matrix)[-2:]], axis=0)
    return array_ops.broadcast_to(matrix, full)


def cholesky_solve_with_broadcast(chol: Any, rhs: Any, name: str | None = None) -> Any:
    """`tf.linalg.cholesky_solve` of batches that are broadcast to each other."""
    with name_scope(name, "CholeskySolveWithBroadcast", [chol, rhs]):
        return cholesky_solve(*broadcast_matrix_batch_dims([chol, rhs]))


def matrix_solve_with_broadcast(
    matrix: Any, rhs: Any, adjoint: bool = False, name: str | None = None
) -> Any:
    """`tf.linalg.solve` of batches that are broadcast to each other."""
    with name_scope(name, "MatrixSolveWithBroadcast", [matrix, rhs]):
        first, second = convert_to_tensor(matrix), convert_to_tensor(rhs)
        return broadcast_solve.matrix_solve(first, second, adjoint=adjoint)


def matrix_triangular_solve_with_broadcast(
    matrix: Any,
    rhs: Any,
    lower: bool = True,
    adjoint: bool = False,
    name: str | None = None,
) -> Any:
    """`tf.linalg.triangular_solve` of batches that are broadcast to each other."""
    with name_scope(name, "MatrixTriangularSolveWithBroadcast", [matrix, rhs]):
        a, b = broadcast_matrix_batch_dims([matrix, rhs])
        return matrix_triangular_solve(a, b, lower=lower, adjoint=adjoint)


def use_operator_or_provided_hint_unless_contradicting(
    operator: Any, hint_attr_name: str, provided_hint_value: Any, message: str
) -> Any:
    """What an operator says of itself, or else the hint; None if neither says.

    Raises:
      ValueError: they contradict each other.
    """
    said = {getattr(operator, hint_attr_name), provided_hint_value} - {None}
    if len(said) > 1:
        raise ValueError(message)
    return said.pop() if said else None
