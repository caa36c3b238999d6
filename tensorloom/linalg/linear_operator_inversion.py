"""`tf.linalg.LinearOperatorInversion`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.linalg.linear_operator import LinearOperator, makes
from tensorloom.linalg.linear_operator_adjoint import inherited

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("linalg.LinearOperatorInversion")
@makes("inverse")
class LinearOperatorInversion(LinearOperator):
    """The inverse of an operator: multiplies by solving.

    Args:
      operator: the operator.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: those of the
        operator when None.

    Raises:
      ValueError: the operator is known to be singular or not square.
    """

    def __init__(
        self,
        operator: LinearOperator,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operator = operator
        if operator.is_square is False or is_square is False:
            raise ValueError(f"operator {operator.name} must be square.")
        if operator.is_non_singular is False or is_non_singular is False:
            raise ValueError(f"operator {operator.name} must be non-singular.")
        super().__init__(
            operator.dtype,
            operator.graph_parents,
            True,
            inherited("is_self_adjoint", is_self_adjoint, operator),
            inherited("is_positive_definite", is_positive_definite, operator),
            True,
            name or f"{operator.name}_inv",
        )

    @property
    def operator(self) -> LinearOperator:
        """The operator whose inverse this is."""
        return self._operator

    def _shape(self) -> TensorShape:
        return self._operator.shape

    def _shape_tensor(self) -> Tensor:
        return self._operator.shape_tensor()

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._operator.solve(x, adjoint=adjoint, adjoint_arg=adjoint_arg)  # type: ignore[no-any-return]

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._operator.matmul(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)  # type: ignore[no-any-return]

    def _determinant(self) -> Tensor:
        return 1.0 / self._operator.determinant()

    def _log_abs_determinant(self) -> Tensor:
        return -self._operator.log_abs_determinant()

    def _inverse(self) -> LinearOperator:
        return self._operator
