"""`tf.linalg.LinearOperatorToeplitz`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg.linear_operator import LinearOperator
from tensorloom.linalg.linear_operator_circulant import to_complex
from tensorloom.ops.array import array_ops
from tensorloom.ops.array.shape import axis_size
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops
from tensorloom.ops.signal import fft_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("linalg.LinearOperatorToeplitz")
class LinearOperatorToeplitz(LinearOperator):
    """Matrices whose diagonals are constant; multiplies by FFT.

    Args:
      col: the first columns [B1, ..., Bb, N].
      row: the first rows [B1, ..., Bb, N]; their first elements are not looked at.

    Raises:
      ValueError: `is_square` is False.
    """

    def __init__(
        self,
        col: Any,
        row: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorToeplitz",
    ) -> None:
        with name_scope(name, values=[row, col]):
            self._row: Tensor = convert_to_tensor(row, name="row")
            self._col: Tensor = convert_to_tensor(col, name="col")
        for what, tensor in (("row", self._row), ("col", self._col)):
            if tensor.shape.rank is not None and tensor.shape.rank < 1:
                raise ValueError(
                    f"Argument {what} must have at least 1 dimension.  Found: {tensor}"
                )
        if is_square is False:
            raise ValueError("Only square Toeplitz operators currently supported.")
        super().__init__(
            self._row.dtype,
            [self._row, self._col],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    @property
    def col(self) -> Tensor:
        """The first columns."""
        return self._col

    @property
    def row(self) -> Tensor:
        """The first rows."""
        return self._row

    def _shape(self) -> TensorShape:
        shape = array_ops.broadcast_static_shape(self._row.shape, self._col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self) -> Tensor:
        shape = array_ops.broadcast_dynamic_shape(
            array_ops.shape(self._row), array_ops.shape(self._col)
        )
        return array_ops.concat([shape, shape[-1:]], axis=0)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        """The matrix is a corner of a circulant one of twice its size."""
        x = matrix_solve_ops.adjoint(x) if adjoint_arg else x
        wide = to_complex(array_ops.concat([x, array_ops.zeros_like(x)], axis=-2))
        row, col = self._row, self._col
        if adjoint:
            row, col = math_ops.conj(col), math_ops.conj(row)
        # The corner of both is that of the column; an adjoint's that of the row.
        corner = math_ops.conj(self._col[..., :1]) if adjoint else col[..., :1]
        middle = array_ops.zeros_like(corner)
        circle = array_ops.concat(
            [
                corner,
                col[..., 1:],
                middle,
                array_ops.reverse(row[..., 1:], axis=[-1]),
            ],
            axis=-1,
        )
        spectrum = array_ops.expand_dims(fft_ops.fft(to_complex(circle)), -1)
        columns = array_ops.matrix_transpose(wide)
        transformed = array_ops.matrix_transpose(fft_ops.fft(columns)) * spectrum
        back = fft_ops.ifft(array_ops.matrix_transpose(transformed))
        result = array_ops.matrix_transpose(back)[..., : axis_size(x, -2), :]
        return math_ops.cast(  # type: ignore[no-any-return]
            result if self._dtype.is_complex else math_ops.real(result), self._dtype
        )

    def _to_dense(self) -> Tensor:
        size = self.domain_dimension_tensor()
        diagonals = array_ops.concat(
            [array_ops.reverse(self._row[..., 1:], axis=[-1]), self._col], axis=-1
        )
        places = math_ops.range(size)
        index = places[:, None] - places[None, :] + size - 1
        return array_ops.gather(diagonals, index, axis=-1)

    def _trace(self) -> Tensor:
        size = math_ops.cast(self.domain_dimension_tensor(), self._dtype)
        return size * self._col[..., 0]  # type: ignore[no-any-return]

    def _diag_part(self) -> Tensor:
        ones = array_ops.ones(
            array_ops.stack([self.domain_dimension_tensor()]), dtype=self._dtype
        )
        return self._col[..., :1] * ones
