"""`tf.linalg.LinearOperator`: matrices that are never written out.

A subclass says its shape and how it multiplies, and whatever else it can do better than
by `to_dense`. What is known of it is in `operator_properties.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from tensorloom.framework.export import export
from tensorloom.framework.registry import late_modules
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg import operator_registry
from tensorloom.linalg.broadcast_solve import matrix_solve
from tensorloom.linalg.operator_properties import OperatorProperties
from tensorloom.ops.array import array_ops
from tensorloom.ops.control_flow import builders as control_flow_ops
from tensorloom.ops.debugging import check as check_ops
from tensorloom.ops.linalg import builders as linalg_ops
from tensorloom.ops.linalg import matrix_decomposition as matrix_decomposition_ops
from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.graph.graph import Tensor

_Maker = TypeVar("_Maker", bound=Callable[..., Any])
# What makes an operator of others ("adjoint", "product"); their modules register it.
_MAKERS: dict[str, Callable[..., Any]] = {}


def makes(result: str) -> Callable[[_Maker], _Maker]:
    """Registers a class or function that makes an operator of other ones.

    The module is named in `tensorloom/__init__.py`, and loaded when it is needed.
    """

    def register(maker: _Maker) -> _Maker:
        _MAKERS[result] = maker
        return maker

    return register


def _make(result: str, *arguments: Any, **hints: bool) -> LinearOperator:
    if result not in _MAKERS:
        late_modules.load("linear_operator", result)
    made: LinearOperator = _MAKERS[result](*arguments, **hints)
    return made


@export("linalg.LinearOperator")
class LinearOperator(OperatorProperties):
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
            left = self.adjoint() if adjoint else self
            right = x.adjoint() if adjoint_arg else x
            multiply = operator_registry.registered_matmul(type(left), type(right))
            if multiply is not None:
                return multiply(left, right)
            return _make("product", left, right)
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
            left = self.adjoint() if adjoint else self
            right = rhs.adjoint() if adjoint_arg else rhs
            divide = operator_registry.registered_solve(type(left), type(right))
            if divide is not None:
                return divide(left, right)
            return _make("product", left.inverse(), right)
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
        made = operator_registry.registered_adjoint(type(self))
        with self._scope(name):
            return self._adjoint() if made is None else made(self)

    def _adjoint(self) -> LinearOperator:
        return _make("adjoint", self)

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
        made = operator_registry.registered_inverse(type(self))
        with self._scope(name):
            return self._inverse() if made is None else made(self)

    def _inverse(self) -> LinearOperator:
        return _make("inverse", self)

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
        made = operator_registry.registered_cholesky(type(self))
        with self._scope(name):
            return self._cholesky() if made is None else made(self)

    def _cholesky(self) -> LinearOperator:
        return _make(
            "lower_triangular",
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
        from tensorloom.ops.linalg import svd as svd_ops

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


def assert_no_zeros(diagonal: Tensor) -> Any:
    """An operation that fails if a diagonal, of a singular operator, has a zero."""
    zero = array_ops.zeros([], dtype=diagonal.dtype.real_dtype)
    return check_ops.assert_less(
        zero,
        math_ops.abs(diagonal),
        message="Singular operator:  Diagonal contained zero values.",
    )


def nothing(name: str = "no_op") -> Any:
    """The check of what is always true."""
    return control_flow_ops.no_op(name)
