"""`tf.linalg.LinearOperator`: matrices that are never written out.

A subclass says its shape and how it multiplies, and whatever else it can do better than
by `to_dense`. Hints (`is_self_adjoint` and so on) are taken on trust.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework import dtypes
from tensorloom.framework.export import export
from tensorloom.framework.graph import Tensor, name_scope
from tensorloom.framework.tensor_conversion import convert_to_tensor
from tensorloom.linalg.broadcast_solve import matrix_solve
from tensorloom.ops import (
    array_ops,
    check_ops,
    control_flow_ops,
    linalg_ops,
    math_ops,
    matrix_decomposition_ops,
    matrix_diag_ops,
    matrix_solve_ops,
)

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from tensorloom.framework.tensor_shape import TensorShape


@export("linalg.LinearOperator")
class LinearOperator:
    """A batch of matrices [B1, ..., Bb, M, N] as an operator on vectors.

    Args:
      dtype: of the matrices, and of what they act on.
      graph_parents: tensors that the operator is made of.
      is_non_singular, is_self_adjoint, is_positive_definite, is_square: what is known
        of the matrices; None where nothing is. Positive definite is meant as
        x^H A x > 0, and does not imply self-adjoint.
      name: of the operator, and of the scope of its ops.

    Raises:
      ValueError: the hints contradict each other.
    """

    def __init__(
        self,
        dtype: Any,
        graph_parents: Any = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str | None = None,
    ) -> None:
        if is_positive_definite:
            if is_non_singular is False:
                raise ValueError("A positive definite matrix is always non-singular.")
            is_non_singular = True
        if is_non_singular:
            if is_square is False:
                raise ValueError("A non-singular operator is always square.")
            is_square = True
        if is_self_adjoint:
            if is_square is False:
                raise ValueError("A self-adjoint operator is always square.")
            is_square = True
        self._graph_parents = list(graph_parents or ())
        self._dtype: Any = None if dtype is None else dtypes.as_dtype(dtype)
        self._is_non_singular = is_non_singular
        self._is_self_adjoint = is_self_adjoint
        self._is_positive_definite = is_positive_definite
        self._is_square_hint = is_square
        self._name = name or type(self).__name__

    # --- what it is ------------------------------------------------------------------

    @property
    def dtype(self) -> Any:
        """The dtype of the matrices."""
        return self._dtype

    @property
    def name(self) -> str:
        """The name of the operator."""
        return self._name

    @property
    def graph_parents(self) -> list[Tensor]:
        """The tensors that the operator is made of."""
        return self._graph_parents

    @property
    def is_non_singular(self) -> bool | None:
        """Whether the matrices are invertible, if known."""
        return self._is_non_singular

    @property
    def is_self_adjoint(self) -> bool | None:
        """Whether the matrices are their own adjoints, if known."""
        return self._is_self_adjoint

    @property
    def is_positive_definite(self) -> bool | None:
        """Whether x^H A x > 0 for all x but 0, if known."""
        return self._is_positive_definite

    @property
    def is_square(self) -> bool | None:
        """Whether the matrices are square, if known.

        Raises:
          ValueError: the hint given for it is wrong.
        """
        rows, columns = self.range_dimension.value, self.domain_dimension.value
        if rows is not None and columns is not None:
            square: bool = rows == columns
            if self._is_square_hint is not None and self._is_square_hint != square:
                what = "square" if square else "not square"
                raise ValueError(
                    f"User set is_square hint to {self._is_square_hint}, but the "
                    f"operator was {what}."
                )
            return square
        return self._is_square_hint

    @property
    def name_scope(self) -> AbstractContextManager[Any]:
        """A scope of the operator's name."""
        return name_scope(self._name)

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that are attributes of the operator or its parts."""
        from tensorloom.client.variables import Variable

        found = [v for v in vars(self).values() if isinstance(v, Variable)]
        for part in self.submodules:
            found += [v for v in vars(part).values() if isinstance(v, Variable)]
        return tuple(dict.fromkeys(found))

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """The variables that are trained."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def submodules(self) -> tuple[LinearOperator, ...]:
        """The operators that this one is made of."""
        parts: list[LinearOperator] = []
        for value in vars(self).values():
            for item in value if isinstance(value, list | tuple) else [value]:
                if isinstance(item, LinearOperator):
                    parts += [item, *item.submodules]
        return tuple(dict.fromkeys(parts))

    @classmethod
    def with_name_scope(cls, method: Callable[..., Any]) -> Callable[..., Any]:
        """A method that enters the operator's name scope."""

        def scoped(self: LinearOperator, *args: Any, **kwargs: Any) -> Any:
            with self.name_scope:
                return method(self, *args, **kwargs)

        return scoped

    def _scope(self, name: str) -> AbstractContextManager[Any]:
        return name_scope(f"{self._name}/{name}")

    # --- shapes ----------------------------------------------------------------------

    def _shape(self) -> TensorShape:
        raise NotImplementedError("_shape is not implemented.")

    def _shape_tensor(self) -> Tensor:
        raise NotImplementedError("_shape_tensor is not implemented.")

    @property
    def shape(self) -> TensorShape:
        """The static shape [B1, ..., Bb, M, N]."""
        return self._shape()

    @property
    def batch_shape(self) -> TensorShape:
        """The static shape of the batch."""
        return self.shape[:-2]

    @property
    def tensor_rank(self) -> int | None:
        """The rank b + 2, if known."""
        return self.shape.rank

    @property
    def domain_dimension(self) -> Any:
        """N, the dimension of what it acts on."""
        return self.shape[-1] if self.shape.rank is not None else _unknown_dimension()

    @property
    def range_dimension(self) -> Any:
        """M, the dimension of what it gives."""
        return self.shape[-2] if self.shape.rank is not None else _unknown_dimension()

    def shape_tensor(self, name: str = "shape_tensor") -> Tensor:
        """The shape as an int32 vector, determined at run time where it must be."""
        with self._scope(name):
            if self.shape.is_fully_defined():
                shape: Tensor = convert_to_tensor(
                    self.shape.as_list(), dtypes.int32, name="shape"
                )
                return shape
            return self._shape_tensor()

    def batch_shape_tensor(self, name: str = "batch_shape_tensor") -> Tensor:
        """The shape of the batch as an int32 vector."""
        with self._scope(name):
            return self.shape_tensor()[:-2]

    def tensor_rank_tensor(self, name: str = "tensor_rank_tensor") -> Tensor:
        """The rank as an int32 scalar."""
        with self._scope(name):
            return array_ops.size(self.shape_tensor())

    def domain_dimension_tensor(self, name: str = "domain_dimension_tensor") -> Tensor:
        """N as an int32 scalar."""
        with self._scope(name):
            return self.shape_tensor()[-1]

    def range_dimension_tensor(self, name: str = "range_dimension_tensor") -> Tensor:
        """M as an int32 scalar."""
        with self._scope(name):
            return self.shape_tensor()[-2]

    # --- products --------------------------------------------------------------------

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        raise NotImplementedError("_matmul is not implemented.")

    def matmul(
        self,
        x: Any,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "matmul",
    ) -> Any:
        """A x for matrices x [..., N, R], or the composition with an operator.

        Args:
          adjoint: take A^H.
          adjoint_arg: take x^H.

        Raises:
          ValueError: the dimensions do not fit.
        """
        if isinstance(x, LinearOperator):
            from tensorloom.linalg.operator_algebra import product

            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            return product(left, right)
        with self._scope(name):
            x = self._converted(x)
            mine = self.range_dimension if adjoint else self.domain_dimension
            mine.assert_is_compatible_with(x.shape[-1 if adjoint_arg else -2])
            return self._matmul(x, adjoint, adjoint_arg)

    def matvec(self, x: Any, adjoint: bool = False, name: str = "matvec") -> Tensor:
        """A x for vectors x [..., N]."""
        with self._scope(name):
            columns = array_ops.expand_dims(self._converted(x), axis=-1)
            return array_ops.squeeze(self.matmul(columns, adjoint=adjoint), axis=-1)

    def _converted(self, x: Any) -> Tensor:
        tensor: Tensor = convert_to_tensor(x, dtype=self._dtype, name="x")
        return tensor

    def _to_dense(self) -> Tensor:
        batch = self.batch_shape
        shape = (
            batch.as_list() if batch.is_fully_defined() else self.batch_shape_tensor()
        )
        columns = self.domain_dimension.value
        if columns is None:
            columns = self.domain_dimension_tensor()
        return self._matmul(
            linalg_ops.eye(columns, batch_shape=shape, dtype=self._dtype), False, False
        )

    def to_dense(self, name: str = "to_dense") -> Tensor:
        """The matrices, written out."""
        with self._scope(name):
            return self._to_dense()

    def add_to_tensor(self, x: Any, name: str = "add_to_tensor") -> Tensor:
        """A + x, written out."""
        with self._scope(name):
            return self._add_to_tensor(self._converted(x))

    def _add_to_tensor(self, x: Tensor) -> Tensor:
        return self.to_dense() + x

    # --- solving ---------------------------------------------------------------------

    def _can_use_cholesky(self) -> bool:
        return bool(self.is_self_adjoint and self.is_positive_definite)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        rhs = matrix_solve_ops.adjoint(rhs) if adjoint_arg else rhs
        return matrix_solve(
            self.to_dense(), rhs, adjoint, use_cholesky=self._can_use_cholesky()
        )

    def solve(
        self,
        rhs: Any,
        adjoint: bool = False,
        adjoint_arg: bool = False,
        name: str = "solve",
    ) -> Any:
        """x with A x = rhs, for matrices rhs [..., M, R], or an operator.

        Raises:
          NotImplementedError: the operator is known to be singular or not square.
        """
        if self.is_non_singular is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to be "
                "singular."
            )
        if self.is_square is False:
            raise NotImplementedError(
                "Exact solve not implemented for an operator that is expected to not "
                "be square."
            )
        if isinstance(rhs, LinearOperator):
            from tensorloom.linalg.operator_algebra import product

            left = self.adjoint() if adjoint else self
            return product(left.inverse(), rhs.adjoint() if adjoint_arg else rhs)
        with self._scope(name):
            rhs = self._converted(rhs)
            mine = self.domain_dimension if adjoint else self.range_dimension
            mine.assert_is_compatible_with(rhs.shape[-1 if adjoint_arg else -2])
            return self._solve(rhs, adjoint, adjoint_arg)

    def solvevec(self, rhs: Any, adjoint: bool = False, name: str = "solve") -> Tensor:
        """x with A x = rhs, for vectors rhs [..., M]."""
        with self._scope(name):
            columns = array_ops.expand_dims(self._converted(rhs), axis=-1)
            return array_ops.squeeze(self.solve(columns, adjoint=adjoint), axis=-1)

    # --- numbers of it ---------------------------------------------------------------

    def _check_square(self, what: str) -> None:
        if self.is_square is False:
            raise NotImplementedError(
                f"{what} not implemented for an operator that is expected to not be "
                "square."
            )

    def _determinant(self) -> Tensor:
        if self._can_use_cholesky():
            return math_ops.exp(self.log_abs_determinant())
        return matrix_solve_ops.matrix_determinant(self.to_dense())  # type: ignore[no-any-return]

    def determinant(self, name: str = "det") -> Tensor:
        """The determinants [B1, ..., Bb]."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._determinant()

    def _log_abs_determinant(self) -> Tensor:
        if self._can_use_cholesky():
            factor = matrix_decomposition_ops.cholesky(self.to_dense())
            diagonal = matrix_diag_ops.matrix_diag_part(factor)
            return 2 * math_ops.reduce_sum(math_ops.log(diagonal), axis=[-1])
        return matrix_solve_ops.log_matrix_determinant(self.to_dense())[1]  # type: ignore[no-any-return]

    def log_abs_determinant(self, name: str = "log_abs_det") -> Tensor:
        """The logarithms of the absolute determinants [B1, ..., Bb]."""
        self._check_square("Determinant")
        with self._scope(name):
            return self._log_abs_determinant()

    def _diag_part(self) -> Tensor:
        return matrix_diag_ops.matrix_diag_part(self.to_dense())

    def diag_part(self, name: str = "diag_part") -> Tensor:
        """The diagonals [B1, ..., Bb, min(M, N)]."""
        with self._scope(name):
            return self._diag_part()

    def _trace(self) -> Tensor:
        return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def trace(self, name: str = "trace") -> Tensor:
        """The sums of the diagonals [B1, ..., Bb]."""
        with self._scope(name):
            return self._trace()

    # --- operators of it -------------------------------------------------------------

    def adjoint(self, name: str = "adjoint") -> LinearOperator:
        """A^H as an operator."""
        if self.is_self_adjoint is True:
            return self
        with self._scope(name):
            return self._adjoint()

    def _adjoint(self) -> LinearOperator:
        from tensorloom.linalg.linear_operator_adjoint import LinearOperatorAdjoint

        return LinearOperatorAdjoint(self)

    @property
    def H(self) -> LinearOperator:
        """A^H as an operator."""
        return self.adjoint()

    def inverse(self, name: str = "inverse") -> LinearOperator:
        """A^-1 as an operator.

        Raises:
          ValueError: the operator is known to be singular or not square.
        """
        if self.is_square is False:
            raise ValueError(
                "Cannot take the Inverse: This operator represents a non square matrix."
            )
        if self.is_non_singular is False:
            raise ValueError(
                "Cannot take the Inverse: This operator represents a singular matrix."
            )
        with self._scope(name):
            return self._inverse()

    def _inverse(self) -> LinearOperator:
        from tensorloom.linalg.linear_operator_inversion import LinearOperatorInversion

        return LinearOperatorInversion(self)

    def cholesky(self, name: str = "cholesky") -> LinearOperator:
        """The lower triangular L with L L^H = A.

        Raises:
          ValueError: the operator is not known to be positive definite and
            self-adjoint.
        """
        if not self._can_use_cholesky():
            raise ValueError(
                "Cannot take the Cholesky decomposition: Not a positive definite self "
                "adjoint matrix."
            )
        with self._scope(name):
            return self._cholesky()

    def _cholesky(self) -> LinearOperator:
        from tensorloom.linalg.linear_operator_lower_triangular import (
            LinearOperatorLowerTriangular,
        )

        return LinearOperatorLowerTriangular(
            matrix_decomposition_ops.cholesky(self.to_dense()),
            is_non_singular=True,
            is_self_adjoint=False,
            is_square=True,
        )

    # --- checks at run time ----------------------------------------------------------

    def assert_non_singular(self, name: str = "assert_non_singular") -> Any:
        """An operation that fails if the matrices are singular."""
        with self._scope(name):
            return self._assert_non_singular()

    def _assert_non_singular(self) -> Any:
        from tensorloom.ops import svd_ops

        singular = svd_ops.svd(self.to_dense(), compute_uv=False)
        largest = math_ops.reduce_max(singular, axis=-1)
        smallest = math_ops.reduce_min(singular, axis=-1)
        epsilon = float(dtypes.as_dtype(singular.dtype).np_dtype.type(1e-6))
        return check_ops.assert_less(
            largest * epsilon,
            smallest,
            message="Singular matrix up to precision epsilon.",
        )

    def assert_positive_definite(self, name: str = "assert_positive_definite") -> Any:
        """An operation that fails if the matrices are not positive definite."""
        with self._scope(name):
            return self._assert_positive_definite()

    def _assert_positive_definite(self) -> Any:
        if not self.is_self_adjoint:
            raise NotImplementedError("assert_positive_definite is not implemented.")
        factor = matrix_decomposition_ops.cholesky(self.to_dense())
        diagonal = math_ops.real(matrix_diag_ops.matrix_diag_part(factor))
        return check_ops.assert_positive(
            diagonal, message="Matrix was not positive definite."
        )

    def assert_self_adjoint(self, name: str = "assert_self_adjoint") -> Any:
        """An operation that fails if the matrices are not self-adjoint."""
        with self._scope(name):
            return self._assert_self_adjoint()

    def _assert_self_adjoint(self) -> Any:
        dense = self.to_dense()
        return check_ops.assert_equal(
            dense,
            matrix_solve_ops.adjoint(dense),
            message="Matrix was not equal to its adjoint.",
        )

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self._name!r} shape={self.shape} "
            f"dtype={self._dtype.name if self._dtype else None}>"
        )


def nothing(name: str = "no_op") -> Any:
    """The check of what is always true."""
    return control_flow_ops.no_op(name)


def _unknown_dimension() -> Any:
    from tensorloom.framework.dimension import Dimension

    return Dimension(None)
