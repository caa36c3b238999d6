"""`tf.linalg.LinearOperatorFullMatrix`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg.linear_operator import LinearOperator
from tensorloom.ops.array import array_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("linalg.LinearOperatorFullMatrix")
class LinearOperatorFullMatrix(LinearOperator):
    """Matrices that are written out.

    Args:
      matrix: [B1, ..., Bb, M, N].
      is_non_singular, is_self_adjoint, is_positive_definite, is_square, name: see
        `LinearOperator`.
    """

    def __init__(
        self,
        matrix: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorFullMatrix",
    ) -> None:
        with name_scope(name, values=[matrix]):
            self._matrix: Tensor = convert_to_tensor(matrix, name="matrix")
        rank = self._matrix.shape.rank
        if rank is not None and rank < 2:
            raise ValueError(
                "Argument matrix must have at least 2 dimensions.  Found: "
                f"{self._matrix}"
            )
        super().__init__(
            self._matrix.dtype,
            [self._matrix],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
        )

    def _shape(self) -> TensorShape:
        return self._matrix.shape

    def _shape_tensor(self) -> Tensor:
        return array_ops.shape(self._matrix)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return math_ops.matmul(
            self._matrix, x, adjoint_a=adjoint, adjoint_b=adjoint_arg
        )

    def _to_dense(self) -> Tensor:
        return self._matrix
