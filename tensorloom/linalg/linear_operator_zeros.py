"""`tf.linalg.LinearOperatorZeros`."""

from __future__ import annotations

from typing import Any

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator import LinearOperator, nothing
from tensorloom.linalg.linear_operator_identity import static_batch, static_size
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops


@export("linalg.LinearOperatorZeros")
class LinearOperatorZeros(LinearOperator):
    """Matrices of zeros.

    Args:
      num_rows, num_columns: integers or scalar tensors; square when one is given.
      batch_shape: a vector; no batch when None.
      dtype: float32 when None.

    Raises:
      ValueError: a hint says what no zero operator is.
    """

    def __init__(
        self,
        num_rows: Any,
        num_columns: Any = None,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = False,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = False,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorZeros",
    ) -> None:
        dtype = dtypes.as_dtype(dtype or dtypes.float32)
        if not is_self_adjoint and is_square:
            raise ValueError("A zero operator is always self-adjoint.")
        if is_non_singular:
            raise ValueError("A zero operator is always singular.")
        if is_positive_definite:
            raise ValueError("A zero operator is always not positive-definite.")
        with name_scope(name):
            self._rows, self._static_rows = static_size(num_rows, "num_rows")
            if num_columns is None:
                self._columns, self._static_columns = self._rows, self._static_rows
            else:
                self._columns, self._static_columns = static_size(
                    num_columns, "num_columns"
                )
            self._batch, self._static_batch = static_batch(batch_shape)
        super().__init__(
            dtype,
            None,
            is_non_singular,
            is_self_adjoint if is_square else None,
            is_positive_definite,
            is_square,
            name,
        )

    def _shape(self) -> TensorShape:
        matrix = TensorShape.of((self._static_rows, self._static_columns))
        return self._static_batch.concatenate(matrix)

    def _shape_tensor(self) -> Tensor:
        sizes = [math_ops.cast(n, dtypes.int32) for n in (self._rows, self._columns)]
        matrix = array_ops.stack(sizes)
        if self._batch is None:
            return matrix
        return array_ops.concat([self._batch, matrix], axis=0)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = matrix_solve_ops.adjoint(x) if adjoint_arg else x
        shape = array_ops.shape(x)
        mine = self.shape_tensor()
        batch = array_ops.broadcast_dynamic_shape(shape[:-2], mine[:-2])
        rows = mine[-1] if adjoint else mine[-2]
        full = array_ops.concat([batch, [rows, shape[-1]]], axis=0)
        return array_ops.zeros(full, dtype=x.dtype)

    def _to_dense(self) -> Tensor:
        return array_ops.zeros(self.shape_tensor(), dtype=self._dtype)

    def _zeros(self) -> Tensor:
        return array_ops.zeros(self.batch_shape_tensor(), dtype=self._dtype)

    def _determinant(self) -> Tensor:
        return self._zeros()

    def _trace(self) -> Tensor:
        return self._zeros()

    # TensorFlow's name for the argument differs from that of the other operators.
    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """A + mat, written out."""
        return super().add_to_tensor(mat, name)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return array_ops.zeros(self.batch_shape_tensor(), x.dtype)[..., None, None] + x

    def _assert_non_singular(self) -> Any:
        raise invalid_argument("Zero operators are always non-invertible.")

    def _assert_positive_definite(self) -> Any:
        raise invalid_argument("Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self) -> Any:
        return nothing("assert_self_adjoint")
