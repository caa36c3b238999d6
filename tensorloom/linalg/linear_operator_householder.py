"""`tf.linalg.LinearOperatorHouseholder`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator import LinearOperator, nothing
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops


@export("linalg.LinearOperatorHouseholder")
class LinearOperatorHouseholder(LinearOperator):
    """Reflections at hyperplanes: I - 2 v v^T, for v of length 1.

    Args:
      reflection_axis: [B1, ..., Bb, N], of any length.

    Raises:
      ValueError: a hint says what no reflection is.
    """

    def __init__(
        self,
        reflection_axis: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorHouseholder",
    ) -> None:
        with name_scope(name, values=[reflection_axis]):
            self._axis: Tensor = convert_to_tensor(
                reflection_axis, name="reflection_axis"
            )
        rank = self._axis.shape.rank
        if rank is not None and rank < 1:
            raise ValueError(
                "Argument reflection_axis must have at least 1 dimension.  Found: "
                f"{self._axis}"
            )
        if is_self_adjoint is False:
            raise ValueError("A Householder operator is always self adjoint.")
        if is_positive_definite is True:
            raise ValueError("A Householder operator is always non-positive definite.")
        if is_square is False:
            raise ValueError("A Householder operator is always square.")
        super().__init__(
            self._axis.dtype, [self._axis], is_non_singular, True, False, True, name
        )

    @property
    def reflection_axis(self) -> Tensor:
        """The axes that are turned around."""
        return self._axis

    def _shape(self) -> TensorShape:
        shape = self._axis.shape
        return shape.concatenate(shape[-1:]) if shape.rank else TensorShape.of(None)

    def _shape_tensor(self) -> Tensor:
        shape = array_ops.shape(self._axis)
        return array_ops.concat([shape, shape[-1:]], axis=0)

    def _normal(self) -> Tensor:
        squares = math_ops.reduce_sum(
            self._axis * math_ops.conj(self._axis), axis=-1, keepdims=True
        )
        return array_ops.expand_dims(self._axis / math_ops.sqrt(squares), axis=-1)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = matrix_solve_ops.adjoint(x) if adjoint_arg else x
        normal = self._normal()
        along = math_ops.matmul(normal, x, adjoint_a=True)
        return x - 2 * normal * along  # type: ignore[no-any-return]

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _determinant(self) -> Tensor:
        return -array_ops.ones(self.batch_shape_tensor(), dtype=self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self._dtype)

    def _diag_part(self) -> Tensor:
        normal = array_ops.squeeze(self._normal(), axis=-1)
        return 1.0 - 2 * normal * math_ops.conj(normal)

    def _trace(self) -> Tensor:
        size = math_ops.cast(self.domain_dimension_tensor(), self._dtype)
        ones = array_ops.ones(self.batch_shape_tensor(), dtype=self._dtype)
        return (size - 2) * ones  # type: ignore[no-any-return]

    def _inverse(self) -> LinearOperator:
        return self

    def _assert_non_singular(self) -> Any:
        return nothing("assert_non_singular")

    def _assert_positive_definite(self) -> Any:
        from tensorloom.framework.errors import InvalidArgumentError

        raise InvalidArgumentError(
            None, None, "Householder operators are always non-positive definite."
        )

    def _assert_self_adjoint(self) -> Any:
        return nothing("assert_self_adjoint")
