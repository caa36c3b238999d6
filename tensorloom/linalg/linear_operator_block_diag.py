"""`tf.linalg.LinearOperatorBlockDiag`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator import LinearOperator
from tensorloom.linalg.operator_lists import (
    all_true,
    broadcast_parts,
    check_operators,
    common_batch,
    common_batch_tensor,
    graph_parents,
)
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("linalg.LinearOperatorBlockDiag")
class LinearOperatorBlockDiag(LinearOperator):
    """Operators along the diagonal of one matrix.

    Args:
      operators: square ones of one dtype.
      is_non_singular and the other hints: True when None and all operators are.

    Raises:
      ValueError: there are no operators, or one is not square.
      TypeError: their dtypes differ.
    """

    def __init__(
        self,
        operators: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        name: str | None = None,
    ) -> None:
        self._operators = check_operators(operators)
        if all_true(self._operators, "is_non_singular"):
            if is_non_singular is False:
                raise ValueError(
                    "The direct sum of non-singular operators is always non-singular."
                )
            is_non_singular = True
        if all_true(self._operators, "is_self_adjoint"):
            if is_self_adjoint is False:
                raise ValueError(
                    "The direct sum of self-adjoint operators is always self-adjoint."
                )
            is_self_adjoint = True
        if all_true(self._operators, "is_positive_definite"):
            if is_positive_definite is False:
                raise ValueError(
                    "The direct sum of positive definite operators is always positive "
                    "definite."
                )
            is_positive_definite = True
        if not is_square or any(o.is_square is False for o in self._operators):
            raise ValueError("Can only represent a block-diagonal of square matrices.")
        super().__init__(
            self._operators[0].dtype,
            graph_parents(self._operators),
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name or "_ds_".join(operator.name for operator in self._operators),
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators along the diagonal."""
        return self._operators

    def _shape(self) -> TensorShape:
        sizes = [operator.domain_dimension.value for operator in self._operators]
        size = None if None in sizes else sum(sizes)
        return common_batch(self._operators).concatenate(TensorShape.of((size, size)))

    def _shape_tensor(self) -> Tensor:
        size = math_ops.add_n([o.domain_dimension_tensor() for o in self._operators])
        batch = common_batch_tensor(self._operators)
        return array_ops.concat([batch, array_ops.stack([size, size])], axis=0)

    def _split(self, x: Tensor) -> list[Tensor]:
        sizes = [operator.domain_dimension.value for operator in self._operators]
        if None in sizes:
            lengths = [o.domain_dimension_tensor() for o in self._operators]
            return array_ops.split(
                x, array_ops.stack(lengths), axis=-2, num=len(lengths)
            )
        return array_ops.split(x, sizes, axis=-2)

    def _join(self, x: Tensor, parts: list[Tensor]) -> Tensor:
        batch = array_ops.broadcast_dynamic_shape(
            array_ops.shape(x)[:-2], common_batch_tensor(self._operators)
        )
        result = array_ops.concat(broadcast_parts(parts, batch), axis=-2)
        if x.shape.rank is not None and self.batch_shape.rank is not None:
            wide = array_ops.broadcast_static_shape(x.shape[:-2], self.batch_shape)
            result.set_shape(wide.concatenate(x.shape[-2:]))
        return result

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = matrix_solve_ops.adjoint(x) if adjoint_arg else x
        parts = [
            operator.matmul(part, adjoint=adjoint)
            for operator, part in zip(self._operators, self._split(x), strict=True)
        ]
        return self._join(x, parts)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = matrix_solve_ops.adjoint(rhs) if adjoint_arg else rhs
        parts = [
            operator.solve(part, adjoint=adjoint)
            for operator, part in zip(self._operators, self._split(rhs), strict=True)
        ]
        return self._join(rhs, parts)

    def _determinant(self) -> Tensor:
        return functools.reduce(
            math_ops.multiply, [operator.determinant() for operator in self._operators]
        )

    def _log_abs_determinant(self) -> Tensor:
        return functools.reduce(
            math_ops.add, [o.log_abs_determinant() for o in self._operators]
        )

    def _trace(self) -> Tensor:
        return functools.reduce(
            math_ops.add, [operator.trace() for operator in self._operators]
        )

    def _inverse(self) -> LinearOperator:
        return LinearOperatorBlockDiag(
            [operator.inverse() for operator in self._operators],
            is_non_singular=True,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _adjoint(self) -> LinearOperator:
        return LinearOperatorBlockDiag(
            [operator.adjoint() for operator in self._operators],
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
        )

    def _cholesky(self) -> LinearOperator:
        return LinearOperatorBlockDiag(
            [operator.cholesky() for operator in self._operators],
            is_non_singular=True,
        )

    def _assert_non_singular(self) -> Any:
        return control_flow_ops.group(
            *[operator.assert_non_singular() for operator in self._operators]
        )
