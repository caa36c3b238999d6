"""`tf.linalg.LinearOperatorComposition`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator import LinearOperator
from tensorloom.linalg.operator_lists import (
    all_true,
    check_operators,
    common_batch,
    common_batch_tensor,
    graph_parents,
)
from tensorloom.ops.array import array_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("linalg.LinearOperatorComposition")
class LinearOperatorComposition(LinearOperator):
    """The product of operators: the last acts first.

    Args:
      operators: of one dtype, whose dimensions fit each other.
      is_non_singular: True when None and all operators are.

    Raises:
      ValueError: there are no operators, or they do not fit.
      TypeError: their dtypes differ.
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        self._operators = check_operators(operators)
        if all_true(self._operators, "is_non_singular"):
            if is_non_singular is False:
                raise ValueError(
                    "The composition of non-singular operators is always non-singular."
                )
            is_non_singular = True
        super().__init__(
            self._operators[0].dtype,
            graph_parents(self._operators),
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name or "_o_".join(operator.name for operator in self._operators),
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators, the outermost first."""
        return self._operators

    def _shape(self) -> TensorShape:
        for left, right in zip(self._operators, self._operators[1:], strict=False):
            left.domain_dimension.assert_is_compatible_with(right.range_dimension)
        rows = self._operators[0].range_dimension.value
        columns = self._operators[-1].domain_dimension.value
        return common_batch(self._operators).concatenate(
            TensorShape.of((rows, columns))
        )

    def _shape_tensor(self) -> Tensor:
        rows = self._operators[0].range_dimension_tensor()
        columns = self._operators[-1].domain_dimension_tensor()
        batch = common_batch_tensor(self._operators)
        return array_ops.concat([batch, array_ops.stack([rows, columns])], axis=0)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        order = self._operators if adjoint else self._operators[::-1]
        result: Tensor = order[0].matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.matmul(result, adjoint=adjoint)
        return result

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        order = self._operators[::-1] if adjoint else self._operators
        result: Tensor = order[0].solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        for operator in order[1:]:
            result = operator.solve(result, adjoint=adjoint)
        return result

    def _determinant(self) -> Tensor:
        result = self._operators[0].determinant()
        for operator in self._operators[1:]:
            result *= operator.determinant()
        return result

    def _log_abs_determinant(self) -> Tensor:
        result = self._operators[0].log_abs_determinant()
        for operator in self._operators[1:]:
            result += operator.log_abs_determinant()
        return result
