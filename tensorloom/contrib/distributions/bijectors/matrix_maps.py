"""Functions of matrices: triangles, Cholesky factors, inverses, diagonals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from tensorloom.contrib.distributions.bijectors.affine_maps import AffineScalar
from tensorloom.contrib.distributions.bijectors.compositions import Chain
from tensorloom.contrib.distributions.bijectors.scalar_maps import Softplus
from tensorloom.distributions.bijector import Bijector
from tensorloom.distributions.parameters import checked
from tensorloom.distributions.triangular import fill_triangular, fill_triangular_inverse
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.debugging import check_rank
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matrix_decomposition import cholesky
from tensorloom.ops.linalg.matrix_solve import matrix_triangular_solve
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


def _square_checks(x: Tensor, rank: str, square: str) -> list[Any]:
    shape = array_ops.shape(x)
    return [
        check_rank.assert_rank_at_least(x, 2, message=rank),
        check_ops.assert_equal(shape[-2], shape[-1], message=square),
    ]


@export("contrib.distributions.bijectors.CholeskyOuterProduct")
class CholeskyOuterProduct(Bijector):
    """`y = x x^T`, of a lower triangular x of positive diagonal.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self, validate_args: bool = False, name: str = "cholesky_outer_product"
    ) -> None:
        super().__init__(
            forward_min_event_ndims=2, validate_args=validate_args, name=name
        )

    def _square(self, x: Tensor) -> Any:
        if not self.validate_args:
            return x
        rank = "Input must be a (batch of) matrix."
        square = "Input must be a (batch of) square matrix."
        return checked(x, _square_checks(x, rank, square))

    def _forward(self, x: Tensor) -> Any:
        x = array_ops.matrix_band_part(self._square(x), -1, 0)
        return math_ops.matmul(x, x, adjoint_b=True)

    def _inverse(self, y: Tensor) -> Any:
        return cholesky(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        # Row i of the factor is in i + 1 of the numbers of the product: the logarithm
        # of the determinant is n log 2 + sum_i (n - i) log x_ii, over i from 0.
        diagonal = array_ops.matrix_diag_part(self._square(x))
        if self.validate_args:
            message = "Input must be positive definite."
            check = check_ops.assert_positive(diagonal, message=message)
            diagonal = checked(diagonal, [check])
        size = array_ops.shape(x)[-1]
        weights = math_ops.cast(math_ops.range(size, 0, -1), x.dtype)
        logs = math_ops.reduce_sum(math_ops.log(diagonal) * weights, axis=-1)
        return math_ops.cast(size, x.dtype) * math.log(2.0) + logs


@export("contrib.distributions.bijectors.FillTriangular")
class FillTriangular(Bijector):
    """From vectors of n (n + 1) / 2 numbers to triangular n x n matrices.

    Args:
      upper: whether to upper triangles; else to lower ones.
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self,
        upper: bool = False,
        validate_args: bool = False,
        name: str = "fill_triangular",
    ) -> None:
        self._upper = upper
        super().__init__(
            forward_min_event_ndims=1,
            inverse_min_event_ndims=2,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Tensor) -> Any:
        return fill_triangular(x, upper=self._upper)

    def _inverse(self, y: Tensor) -> Any:
        return fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return array_ops.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return array_ops.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape: TensorShape) -> TensorShape:
        count = input_shape.as_list()[-1]
        if count is None:
            return input_shape[:-1].concatenate([None, None])
        size = (math.isqrt(1 + 8 * count) - 1) // 2
        if size * (size + 1) // 2 != count:
            raise ValueError("Vector length is not a triangular number.")
        return input_shape[:-1].concatenate([size, size])

    def _inverse_event_shape(self, output_shape: TensorShape) -> TensorShape:
        rows, columns = output_shape.as_list()[-2:]
        if rows is None or columns is None:
            return output_shape[:-2].concatenate([None])
        if rows != columns:
            raise ValueError(f"Matrix must be square. (saw [{rows}, {columns}])")
        return output_shape[:-2].concatenate([rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape: Any) -> Any:
        count = math_ops.cast(input_shape[-1], "float32")
        size = math_ops.cast((math_ops.sqrt(1 + 8.0 * count) - 1.0) / 2.0, "int32")
        return array_ops.concat([input_shape[:-1], [size, size]], axis=0)

    def _inverse_event_shape_tensor(self, output_shape: Any) -> Any:
        size = output_shape[-1]
        if self.validate_args:
            message = "Matrix must be square."
            check = check_ops.assert_equal(output_shape[-2], size, message=message)
            size = checked(size, [check])
        count = math_ops.floordiv(size * (size + 1), 2)
        return array_ops.concat([output_shape[:-2], [count]], axis=0)


@export("contrib.distributions.bijectors.MatrixInverseTriL")
class MatrixInverseTriL(Bijector):
    """The inverse of lower triangular matrices.

    Args:
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self, validate_args: bool = False, name: str = "matrix_inverse_tril"
    ) -> None:
        super().__init__(
            forward_min_event_ndims=2, validate_args=validate_args, name=name
        )

    def _forward(self, x: Tensor) -> Any:
        with control_dependencies(self._checks_of(x)):
            shape = array_ops.shape(x)
            identity = eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype.base_dtype)
            return matrix_triangular_solve(x, identity, lower=True)

    def _inverse(self, y: Tensor) -> Any:
        return self._forward(y)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        with control_dependencies(self._checks_of(x)):
            size = math_ops.cast(array_ops.shape(x)[-1], x.dtype.base_dtype)
            diagonal = math_ops.abs(array_ops.matrix_diag_part(x))
            return -2.0 * size * math_ops.reduce_sum(math_ops.log(diagonal), axis=-1)

    def _checks_of(self, x: Tensor) -> list[Any]:
        if not self.validate_args:
            return []
        diagonal = array_ops.matrix_diag_part(x)
        above = array_ops.matrix_band_part(
            array_ops.matrix_set_diag(x, array_ops.zeros_like(diagonal)), 0, -1
        )
        is_lower = "Input must be lower triangular."
        is_regular = "Input must have all diagonal entries nonzero."
        return [
            *_square_checks(
                x,
                "Input must have rank at least 2.",
                "Input must be a square matrix.",
            ),
            check_ops.assert_equal(
                above, array_ops.zeros_like(above), message=is_lower
            ),
            check_ops.assert_none_equal(
                diagonal, array_ops.zeros_like(diagonal), message=is_regular
            ),
        ]


@export("contrib.distributions.bijectors.TransformDiagonal")
class TransformDiagonal(Bijector):
    """A bijector of the diagonals of matrices; the rest stays.

    Args:
      diag_bijector: the bijector, of vectors.
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self,
        diag_bijector: Bijector,
        validate_args: bool = False,
        name: str = "transform_diagonal",
    ) -> None:
        self._diag_bijector = diag_bijector
        super().__init__(
            forward_min_event_ndims=2,
            inverse_min_event_ndims=2,
            validate_args=validate_args,
            name=name,
        )

    def _forward(self, x: Tensor) -> Any:
        diagonal = self._diag_bijector.forward(array_ops.matrix_diag_part(x))
        return array_ops.matrix_set_diag(x, diagonal)

    def _inverse(self, y: Tensor) -> Any:
        diagonal = self._diag_bijector.inverse(array_ops.matrix_diag_part(y))
        return array_ops.matrix_set_diag(y, diagonal)

    def _forward_log_det_jacobian(self, x: Tensor) -> Any:
        return self._diag_bijector.forward_log_det_jacobian(
            array_ops.matrix_diag_part(x), event_ndims=1
        )

    def _inverse_log_det_jacobian(self, y: Tensor) -> Any:
        return self._diag_bijector.inverse_log_det_jacobian(
            array_ops.matrix_diag_part(y), event_ndims=1
        )


@export("contrib.distributions.bijectors.ScaleTriL")
class ScaleTriL(Chain):
    """From vectors to lower triangular matrices of positive diagonal.

    Args:
      diag_bijector: makes the diagonal positive; `Softplus` if None.
      diag_shift: is added to the diagonal after it, so that it is not too small.
      validate_args: whether steps check arguments.
      name: of its operations.
    """

    def __init__(
        self,
        diag_bijector: Bijector | None = None,
        diag_shift: Any = 1e-05,
        validate_args: bool = False,
        name: str = "scale_tril",
    ) -> None:
        if diag_bijector is None:
            diag_bijector = Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = Chain([AffineScalar(shift=diag_shift), diag_bijector])
        parts = [TransformDiagonal(diag_bijector), FillTriangular()]
        super().__init__(parts, validate_args=validate_args, name=name)
