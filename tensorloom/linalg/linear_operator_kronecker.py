"""`tf.linalg.LinearOperatorKronecker`."""

from __future__ import annotations

import functools
import math
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
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor


@export("linalg.LinearOperatorKronecker")
class LinearOperatorKronecker(LinearOperator):
    """The Kronecker product of operators.

    Args:
      operators: of one dtype.
      is_non_singular and the other hints: True when None and all operators are.

    Raises:
      ValueError: there are no operators, or a hint contradicts theirs.
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
        hints = {
            "is_square": is_square,
            "is_non_singular": is_non_singular,
            "is_self_adjoint": is_self_adjoint,
            "is_positive_definite": is_positive_definite,
        }
        for hint, given in hints.items():
            if all_true(self._operators, hint):
                if given is False:
                    what = hint[3:].replace("_", "-")
                    raise ValueError(
                        f"The Kronecker product of {what} operators is always {what}."
                    )
                hints[hint] = True
        super().__init__(
            self._operators[0].dtype,
            graph_parents(self._operators),
            **hints,
            name=name or "_x_".join(operator.name for operator in self._operators),
        )

    @property
    def operators(self) -> list[LinearOperator]:
        """The operators."""
        return self._operators

    def _shape(self) -> TensorShape:
        sizes: list[int | None] = []
        for which in ("range_dimension", "domain_dimension"):
            parts = [getattr(o, which).value for o in self._operators]
            sizes.append(None if None in parts else math.prod(parts))
        return common_batch(self._operators).concatenate(TensorShape.of(tuple(sizes)))

    def _shape_tensor(self) -> Tensor:
        rows = functools.reduce(
            math_ops.multiply, [o.range_dimension_tensor() for o in self._operators]
        )
        columns = functools.reduce(
            math_ops.multiply, [o.domain_dimension_tensor() for o in self._operators]
        )
        batch = common_batch_tensor(self._operators)
        return array_ops.concat([batch, array_ops.stack([rows, columns])], axis=0)

    def _each(self, x: Tensor, adjoint: bool, solve: bool) -> Tensor:
        """Lets each operator act on the dimension of x that belongs to it.

        x [..., N, R] is seen as [..., n1, ..., nk, R]; one operator after the other
        takes the first of these dimensions and puts what it makes at their end.
        """
        shape = array_ops.shape(x)
        columns = shape[-1]
        batch = array_ops.broadcast_dynamic_shape(
            shape[:-2], common_batch_tensor(self._operators)
        )
        x = array_ops.broadcast_to(x, array_ops.concat([batch, shape[-2:]], axis=0))
        # The columns go to the front of the matrix, so that they are out of the way.
        x = array_ops.matrix_transpose(x)
        for operator in self._operators:
            takes_rows = adjoint != solve
            size = (
                operator.range_dimension_tensor()
                if takes_rows
                else operator.domain_dimension_tensor()
            )
            length = array_ops.shape(x)[-1]
            rest = length // size
            # [..., R, n, rest] -> act on n for all columns and the rest together.
            x = array_ops.reshape(
                x, array_ops.concat([batch, array_ops.stack([columns, size, rest])], 0)
            )
            wide = _swap(x, batch, columns, size, rest)
            act = operator.solve if solve else operator.matmul
            made = act(wide, adjoint=adjoint)
            new = array_ops.shape(made)[-2]
            made = array_ops.reshape(
                made,
                array_ops.concat([batch, array_ops.stack([new, columns, rest])], 0),
            )
            made = _move_first(made)
            x = array_ops.reshape(
                made,
                array_ops.concat([batch, array_ops.stack([columns, rest * new])], 0),
            )
        return array_ops.matrix_transpose(x)

    def _static(self, result: Tensor, x: Tensor, rows: Any) -> Tensor:
        batch = self.batch_shape
        if x.shape.rank is not None and batch.rank is not None:
            wide = array_ops.broadcast_static_shape(x.shape[:-2], batch)
            result.set_shape(wide.concatenate([rows.value, x.shape[-1].value]))
        return result

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = matrix_solve_ops.adjoint(x) if adjoint_arg else x
        rows = self.domain_dimension if adjoint else self.range_dimension
        return self._static(self._each(x, adjoint, solve=False), x, rows)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = matrix_solve_ops.adjoint(rhs) if adjoint_arg else rhs
        rows = self.range_dimension if adjoint else self.domain_dimension
        return self._static(self._each(rhs, adjoint, solve=True), rhs, rows)

    def _determinant(self) -> Tensor:
        total = self.domain_dimension_tensor()
        result = array_ops.ones(self.batch_shape_tensor(), dtype=self._dtype)
        for operator in self._operators:
            power = total // operator.domain_dimension_tensor()
            result *= operator.determinant() ** math_ops.cast(power, self._dtype)
        return result

    def _log_abs_determinant(self) -> Tensor:
        total = self.domain_dimension_tensor()
        result: Any = 0.0
        for operator in self._operators:
            value = operator.log_abs_determinant()
            power = total // operator.domain_dimension_tensor()
            result += value * math_ops.cast(power, value.dtype)
        return result  # type: ignore[no-any-return]

    def _trace(self) -> Tensor:
        return functools.reduce(
            math_ops.multiply, [operator.trace() for operator in self._operators]
        )


def _swap(x: Tensor, batch: Tensor, columns: Tensor, size: Tensor, rest: Tensor) -> Any:
    """[..., R, n, rest] as [..., n, R * rest]."""
    rank = array_ops.rank(x)
    front = math_ops.range(rank - 3)
    order = array_ops.concat(
        [front, array_ops.stack([rank - 2, rank - 3, rank - 1])], axis=0
    )
    swapped = array_ops.transpose(x, order)
    return array_ops.reshape(
        swapped,
        array_ops.concat([batch, array_ops.stack([size, columns * rest])], axis=0),
    )


def _move_first(x: Tensor) -> Tensor:
    """[..., m, R, rest] as [..., R, rest, m]."""
    rank = array_ops.rank(x)
    front = math_ops.range(rank - 3)
    order = array_ops.concat(
        [front, array_ops.stack([rank - 2, rank - 1, rank - 3])], axis=0
    )
    return array_ops.transpose(x, order)
