"""`tf.linalg.LinearOperatorLowerTriangular`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg.broadcast_solve import triangular_solve
from tensorloom.linalg.linear_operator import LinearOperator, assert_no_zeros, makes
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("linalg.LinearOperatorLowerTriangular")
@makes("lower_triangular")
class LinearOperatorLowerTriangular(LinearOperator):
    """Lower triangular matrices.

    Args:
      tril: [B1, ..., Bb, N, N]; what is above the diagonal is not looked at.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see
        `LinearOperator`.
    """

    def __init__(
        self,
        tril: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowerTriangular",
    ) -> None:
        if is_square is False:
            raise ValueError(
                "Only square lower triangular operators supported at this time."
            )
        with name_scope(name, values=[tril]):
            self._tril: Tensor = convert_to_tensor(tril, name="tril")
            rank = self._tril.shape.rank
            if rank is not None and rank < 2:
                raise ValueError(
                    "Argument tril must have at least 2 dimensions.  Found: "
                    f"{self._tril}"
                )
        super().__init__(
            self._tril.dtype,
            [self._tril],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    # Made where they are asked for, as TensorFlow makes them: the seeds of random
    # operations count the operations before.
    def _lower(self) -> Tensor:
        return matrix_diag_ops.matrix_band_part(self._tril, -1, 0)

    def _diag(self) -> Tensor:
        return matrix_diag_ops.matrix_diag_part(self._tril)

    def _shape(self) -> TensorShape:
        return self._tril.shape

    def _shape_tensor(self) -> Tensor:
        return array_ops.shape(self._tril)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return math_ops.matmul(
            self._lower(), x, adjoint_a=adjoint, adjoint_b=adjoint_arg
        )

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = matrix_solve_ops.adjoint(rhs) if adjoint_arg else rhs
        return triangular_solve(self._lower(), rhs, adjoint)

    def _determinant(self) -> Tensor:
        return math_ops.reduce_prod(self._diag(), axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        return math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag())), axis=[-1])

    def _to_dense(self) -> Tensor:
        return self._lower()

    def _assert_non_singular(self) -> Any:
        return assert_no_zeros(self._diag())
