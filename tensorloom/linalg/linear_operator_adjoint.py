"""`tf.linalg.LinearOperatorAdjoint`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator import LinearOperator, makes
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("linalg.LinearOperatorAdjoint")
@makes("adjoint")
class LinearOperatorAdjoint(LinearOperator):
    """The adjoint of an operator.

    Args:
      operator: the operator.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: those of the
        operator when None.
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
        super().__init__(
            operator.dtype,
            operator.graph_parents,
            inherited("is_non_singular", is_non_singular, operator),
            inherited("is_self_adjoint", is_self_adjoint, operator),
            inherited("is_positive_definite", is_positive_definite, operator),
            inherited("is_square", is_square, operator),
            name or f"{operator.name}_adjoint",
        )

    @property
    def operator(self) -> LinearOperator:
        """The operator whose adjoint this is."""
        return self._operator

    def _shape(self) -> TensorShape:
        shape = self._operator.shape
        if shape.rank is None:
            return shape
        dims = shape.dims_tuple
        assert dims is not None
        return TensorShape.of((*dims[:-2], dims[-1], dims[-2]))

    def _shape_tensor(self) -> Tensor:
        shape = self._operator.shape_tensor()
        return array_ops.concat([shape[:-2], [shape[-1], shape[-2]]], axis=0)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._operator.matmul(  # type: ignore[no-any-return]
            x, adjoint=not adjoint, adjoint_arg=adjoint_arg
        )

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._operator.solve(  # type: ignore[no-any-return]
            rhs, adjoint=not adjoint, adjoint_arg=adjoint_arg
        )

    def _determinant(self) -> Tensor:
        value = self._operator.determinant()
        return math_ops.conj(value) if self.is_self_adjoint is not True else value

    def _log_abs_determinant(self) -> Tensor:
        return self._operator.log_abs_determinant()

    def _trace(self) -> Tensor:
        return math_ops.conj(self._operator.trace())

    def _to_dense(self) -> Tensor:
        return matrix_solve_ops.adjoint(self._operator.to_dense())

    def _adjoint(self) -> LinearOperator:
        return self._operator


def inherited(hint: str, given: bool | None, operator: LinearOperator) -> bool | None:
    """A hint, or the operator's where none is given.

    Raises:
      ValueError: they contradict each other.
    """
    theirs: bool | None = getattr(operator, hint)
    if given is None:
        return theirs
    if theirs is not None and given != theirs:
        raise ValueError(
            f"The hint {hint} was {given}, but that of the operator {theirs}."
        )
    return given
