"""`tf.linalg.LinearOperatorDiag`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator import LinearOperator, assert_no_zeros, nothing
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops


@export("linalg.LinearOperatorDiag")
class LinearOperatorDiag(LinearOperator):
    """Diagonal matrices.

    Args:
      diag: the diagonals [B1, ..., Bb, N].
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see
        `LinearOperator`. Real diagonals are self-adjoint.
    """

    def __init__(
        self,
        diag: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorDiag",
    ) -> None:
        with name_scope(name, values=[diag]):
            self._diag: Tensor = convert_to_tensor(diag, name="diag")
        if self._diag.shape.rank is not None and self._diag.shape.rank < 1:
            raise ValueError(
                f"Argument diag must have at least 1 dimension.  Found: {self._diag}"
            )
        if not self._diag.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        if is_square is False:
            raise ValueError("Only square diagonal operators currently supported.")
        super().__init__(
            self._diag.dtype,
            [self._diag],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    @property
    def diag(self) -> Tensor:
        """The diagonals."""
        return self._diag

    def _shape(self) -> TensorShape:
        shape = self._diag.shape
        return shape.concatenate(shape[-1:]) if shape.rank else TensorShape.of(None)

    def _shape_tensor(self) -> Tensor:
        shape = array_ops.shape(self._diag)
        return array_ops.concat([shape, shape[-1:]], axis=0)

    def _factors(self, adjoint: bool) -> Tensor:
        diagonal = math_ops.conj(self._diag) if adjoint else self._diag
        return array_ops.expand_dims(diagonal, axis=-1)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = matrix_solve_ops.adjoint(x) if adjoint_arg else x
        return self._factors(adjoint) * x  # type: ignore[no-any-return]

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = matrix_solve_ops.adjoint(rhs) if adjoint_arg else rhs
        return rhs * (1.0 / self._factors(adjoint))

    def _determinant(self) -> Tensor:
        return math_ops.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self) -> Tensor:
        result = math_ops.reduce_sum(math_ops.log(math_ops.abs(self._diag)), axis=[-1])
        return math_ops.cast(result, self._dtype)  # type: ignore[no-any-return]

    def _to_dense(self) -> Tensor:
        return matrix_diag_ops.matrix_diag(self._diag)

    def _diag_part(self) -> Tensor:
        return self._diag

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        total = matrix_diag_ops.matrix_diag_part(x) + self._diag
        return matrix_diag_ops.matrix_set_diag(x, total)

    def _inverse(self) -> LinearOperator:
        return LinearOperatorDiag(
            1.0 / self._diag,
            is_non_singular=True,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
            is_square=True,
        )

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorDiag(
            math_ops.conj(self._diag),
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
            is_square=True,
        )

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorDiag(
            math_ops.sqrt(self._diag),
            is_non_singular=True,
            is_self_adjoint=True,
            is_positive_definite=True,
            is_square=True,
        )

    def _assert_non_singular(self) -> Any:
        return assert_no_zeros(self._diag)

    def _assert_positive_definite(self) -> Any:
        return check_ops.assert_positive(
            math_ops.real(self._diag),
            message="Operator is not positive definite: the diagonal has values that "
            "are not positive.",
        )

    def _assert_self_adjoint(self) -> Any:
        if not self._diag.dtype.is_complex:
            return nothing()
        imaginary = math_ops.imag(self._diag)
        return check_ops.assert_equal(
            imaginary,
            array_ops.zeros_like(imaginary),
            message="This diagonal operator contained non-zero imaginary values.  Thus "
            "it was not self-adjoint.",
        )
