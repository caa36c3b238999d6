"""`tf.linalg.LinearOperatorIdentity` and `LinearOperatorScaledIdentity`."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, control_dependencies, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.linalg.linear_operator import LinearOperator, nothing
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops


def static_size(value: Any, what: str) -> tuple[Tensor, int | None]:
    """A dimension as a tensor, and its value if it is known.

    Raises:
      TypeError: it is not an integer.
      ValueError: it is not a scalar, or negative.
    """
    tensor = convert_to_tensor(value, name=what)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {what} must be integer type.  Found: {value}")
    known = constant_value(tensor)
    if known is None:
        return tensor, None
    if known.ndim:
        raise ValueError(f"Argument {what} must be a 0-D Tensor.  Found: {known}")
    if known < 0:
        raise ValueError(f"Argument {what} must be non-negative.  Found: {known}")
    return tensor, int(known)


def static_batch(batch_shape: Any) -> tuple[Tensor | None, TensorShape]:
    """A batch shape as a tensor (None when not given), and as a static shape.

    Raises:
      TypeError, ValueError: it is no shape.
    """
    if batch_shape is None:
        return None, TensorShape.of(())
    tensor = convert_to_tensor(batch_shape, name="batch_shape_arg", dtype=dtypes.int32)
    known = constant_value(tensor)
    if known is None:
        return tensor, TensorShape.of(None)
    if known.ndim != 1:
        raise ValueError(f"Argument batch_shape must be a 1-D Tensor.  Found: {known}")
    if (known < 0).any():
        raise ValueError(f"Argument batch_shape must be non-negative.  Found:{known}")
    return tensor, TensorShape.of(tuple(int(d) for d in np.ravel(known)))


@export("linalg.LinearOperatorIdentity")
class LinearOperatorIdentity(LinearOperator):
    """Identity matrices.

    Args:
      num_rows: an integer or scalar tensor.
      batch_shape: a vector; no batch when None.
      dtype: float32 when None.
      assert_proper_shapes: check at run time that arguments have the batch's shape.

    Raises:
      ValueError: a hint is False.
    """

    def __init__(
        self,
        num_rows: Any,
        batch_shape: Any = None,
        dtype: Any = None,
        is_non_singular: bool | None = True,
        is_self_adjoint: bool | None = True,
        is_positive_definite: bool | None = True,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorIdentity",
    ) -> None:
        dtype = dtypes.as_dtype(dtype or dtypes.float32)
        self._assert_proper_shapes = assert_proper_shapes
        for hint, what in (
            (is_self_adjoint, "self-adjoint"),
            (is_square, "square"),
            (is_non_singular, "non-singular"),
            (is_positive_definite, "positive-definite"),
        ):
            if not hint:
                raise ValueError(f"An identity operator is always {what}.")
        with name_scope(name):
            self._num_rows, self._static_rows = static_size(num_rows, "num_rows")
            self._batch, self._static_batch = static_batch(batch_shape)
        super().__init__(dtype, None, True, True, True, True, name)

    def _shape(self) -> TensorShape:
        square = TensorShape.of((self._static_rows, self._static_rows))
        return self._static_batch.concatenate(square)

    def _shape_tensor(self) -> Tensor:
        rows = math_ops.cast(self._num_rows, dtypes.int32)
        square = array_ops.stack([rows, rows])
        if self._batch is None:
            return square
        return array_ops.concat([self._batch, square], axis=0)

    def _in_batch(self, x: Tensor) -> Tensor:
        """x, broadcast over the batch."""
        if self._assert_proper_shapes:
            same = check_ops.assert_equal(
                array_ops.shape(x)[-2], self.range_dimension_tensor()
            )
            with control_dependencies([same]):
                x = array_ops.identity(x)
        if self._batch is None:
            return x
        if (
            self._static_batch.is_fully_defined()
            and x.shape[:-2].is_fully_defined()
            and array_ops.broadcast_static_shape(x.shape[:-2], self._static_batch)
            == x.shape[:-2]
        ):
            return x
        ones = array_ops.ones(
            array_ops.concat([self._batch, [1, 1]], axis=0), dtype=self._dtype
        )
        return x * ones

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._in_batch(matrix_solve_ops.adjoint(x) if adjoint_arg else x)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        return self._matmul(rhs, adjoint, adjoint_arg)

    def _ones(self, tail: list[Any]) -> Tensor:
        batch = self.batch_shape
        if batch.is_fully_defined() and None not in tail:
            return array_ops.ones([*batch.as_list(), *tail], dtype=self._dtype)
        shape = self.shape_tensor()
        if not tail:
            return array_ops.ones(shape[:-2], dtype=self._dtype)
        return array_ops.ones(shape[:-1], dtype=self._dtype)

    def _determinant(self) -> Tensor:
        return self._ones([])

    def _log_abs_determinant(self) -> Tensor:
        return array_ops.zeros_like(self._ones([]))

    def _diag_part(self) -> Tensor:
        return self._ones([self._static_rows])

    def _trace(self) -> Tensor:
        return self._ones([]) * math_ops.cast(  # type: ignore[no-any-return]
            self.domain_dimension_tensor(), self._dtype
        )

    # TensorFlow's name for the argument differs from that of the other operators.
    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """A + mat, written out."""
        return super().add_to_tensor(mat, name)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        x = self._in_batch(x)
        return matrix_diag_ops.matrix_set_diag(
            x, 1 + matrix_diag_ops.matrix_diag_part(x)
        )

    def _inverse(self) -> LinearOperator:
        return self

    def _cholesky(self) -> LinearOperator:
        return self

    def _assert_non_singular(self) -> Any:
        return nothing("assert_non_singular")

    def _assert_positive_definite(self) -> Any:
        return nothing("assert_positive_definite")

    def _assert_self_adjoint(self) -> Any:
        return nothing("assert_self_adjoint")


@export("linalg.LinearOperatorScaledIdentity")
class LinearOperatorScaledIdentity(LinearOperator):
    """Identity matrices times a number each.

    Args:
      num_rows: an integer or scalar tensor.
      multiplier: the numbers [B1, ..., Bb].

    Raises:
      ValueError: `is_square` is False.
    """

    def __init__(
        self,
        num_rows: Any,
        multiplier: Any,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = True,
        assert_proper_shapes: bool = False,
        name: str = "LinearOperatorScaledIdentity",
    ) -> None:
        self._assert_proper_shapes = assert_proper_shapes
        if not is_square:
            raise ValueError("A ScaledIdentity operator is always square.")
        with name_scope(name, values=[multiplier, num_rows]):
            self._multiplier: Tensor = convert_to_tensor(multiplier, name="multiplier")
            self._num_rows, self._static_rows = static_size(num_rows, "num_rows")
        if not self._multiplier.dtype.is_complex:
            if is_self_adjoint is False:
                raise ValueError("A real diagonal operator is always self adjoint.")
            is_self_adjoint = True
        super().__init__(
            self._multiplier.dtype,
            [self._multiplier],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            True,
            name,
        )

    @property
    def multiplier(self) -> Tensor:
        """The numbers."""
        return self._multiplier

    def _shape(self) -> TensorShape:
        square = TensorShape.of((self._static_rows, self._static_rows))
        return self._multiplier.shape.concatenate(square)

    def _shape_tensor(self) -> Tensor:
        rows = math_ops.cast(self._num_rows, dtypes.int32)
        square = array_ops.stack([rows, rows])
        return array_ops.concat([array_ops.shape(self._multiplier), square], axis=0)

    def _factors(self, adjoint: bool) -> Tensor:
        factor = math_ops.conj(self._multiplier) if adjoint else self._multiplier
        return array_ops.expand_dims(array_ops.expand_dims(factor, -1), -1)

    def _checked(self, x: Tensor) -> Tensor:
        if not self._assert_proper_shapes:
            return x
        same = check_ops.assert_equal(
            array_ops.shape(x)[-2], self.range_dimension_tensor()
        )
        with control_dependencies([same]):
            return array_ops.identity(x)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        x = matrix_solve_ops.adjoint(x) if adjoint_arg else x
        return self._checked(x) * self._factors(adjoint)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = matrix_solve_ops.adjoint(rhs) if adjoint_arg else rhs
        return self._checked(rhs) / self._factors(adjoint)

    def _rows(self, dtype: Any) -> Tensor:
        return math_ops.cast(self._num_rows, dtype)  # type: ignore[no-any-return]

    def _determinant(self) -> Tensor:
        return self._multiplier ** self._rows(self._dtype)

    def _log_abs_determinant(self) -> Tensor:
        real = self._dtype.real_dtype
        return self._rows(real) * math_ops.log(math_ops.abs(self._multiplier))

    def _diag_part(self) -> Tensor:
        ones = array_ops.ones(array_ops.stack([self._num_rows]), dtype=self._dtype)
        return array_ops.expand_dims(self._multiplier, -1) * ones

    def _trace(self) -> Tensor:
        return self._multiplier * self._rows(self._dtype)

    # TensorFlow's name for the argument differs from that of the other operators.
    def add_to_tensor(self, mat: Any, name: str = "add_to_tensor") -> Tensor:
        """A + mat, written out."""
        return super().add_to_tensor(mat, name)

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        diagonal = matrix_diag_ops.matrix_diag_part(x)
        total = diagonal + array_ops.expand_dims(self._multiplier, -1)
        return matrix_diag_ops.matrix_set_diag(x, total)

    def _with(self, multiplier: Tensor) -> LinearOperator:
        return LinearOperatorScaledIdentity(
            self._num_rows,
            multiplier,
            is_non_singular=self.is_non_singular,
            is_self_adjoint=self.is_self_adjoint,
            is_positive_definite=self.is_positive_definite,
            is_square=True,
        )

    def _inverse(self) -> LinearOperator:
        return self._with(1.0 / self._multiplier)

    def _adjoint(self) -> LinearOperator:
        return self._with(math_ops.conj(self._multiplier))

    def _cholesky(self) -> LinearOperator:
        return self._with(math_ops.sqrt(self._multiplier))

    def _assert_non_singular(self) -> Any:
        return check_ops.assert_positive(
            math_ops.abs(self._multiplier), message="LinearOperator was singular"
        )

    def _assert_positive_definite(self) -> Any:
        return check_ops.assert_positive(
            math_ops.real(self._multiplier),
            message="LinearOperator was not positive definite.",
        )

    def _assert_self_adjoint(self) -> Any:
        imaginary = math_ops.imag(self._multiplier)
        return check_ops.assert_equal(
            array_ops.zeros_like(imaginary),
            imaginary,
            message="LinearOperator was not self-adjoint",
        )
