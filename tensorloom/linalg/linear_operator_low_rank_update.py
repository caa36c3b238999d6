"""`tf.linalg.LinearOperatorLowRankUpdate`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.linalg.broadcast_solve import matrix_solve
from tensorloom.linalg.linear_operator import LinearOperator
from tensorloom.linalg.linear_operator_diag import LinearOperatorDiag
from tensorloom.linalg.linear_operator_identity import LinearOperatorIdentity
from tensorloom.ops.array import array_ops
from tensorloom.ops.linalg import matrix_decomposition as matrix_decomposition_ops
from tensorloom.ops.linalg import matrix_diag as matrix_diag_ops
from tensorloom.ops.linalg import matrix_solve as matrix_solve_ops
from tensorloom.ops.math import math_ops

if TYPE_CHECKING:
    from tensorloom.framework.types.tensor_shape import TensorShape


@export("linalg.LinearOperatorLowRankUpdate")
class LinearOperatorLowRankUpdate(LinearOperator):
    """L + U D V^H: an operator and an update of low rank.

    Solves by the Woodbury formula, and takes determinants by the matrix determinant
    lemma, so with matrices of the rank K of the update.

    Args:
      base_operator: L, [..., M, N].
      u: [..., M, K].
      diag_update: the diagonal of D, [..., K]; the identity when None.
      v: [..., N, K]; u when None.
      is_diag_update_positive: whether D is known to be positive.

    Raises:
      ValueError: the shapes do not fit.
    """

    def __init__(
        self,
        base_operator: LinearOperator,
        u: Any,
        diag_update: Any = None,
        v: Any = None,
        is_diag_update_positive: bool | None = None,
        is_non_singular: bool | None = None,
        is_self_adjoint: bool | None = None,
        is_positive_definite: bool | None = None,
        is_square: bool | None = None,
        name: str = "LinearOperatorLowRankUpdate",
    ) -> None:
        dtype = base_operator.dtype
        if diag_update is None:
            if is_diag_update_positive is False:
                raise ValueError(
                    "Default diagonal is the identity, which is positive.  However, "
                    "user set 'is_diag_update_positive' to False."
                )
            is_diag_update_positive = True
        self._base = base_operator
        with name_scope(name, values=[u, diag_update, v]):
            self._u: Tensor = convert_to_tensor(u, name="u", dtype=dtype)
            self._v: Tensor = (
                self._u if v is None else convert_to_tensor(v, name="v", dtype=dtype)
            )
            self._diag_update: Tensor | None = None
            if diag_update is not None:
                self._diag_update = convert_to_tensor(
                    diag_update, name="diag_update", dtype=dtype
                )
            self._diag_operator = self._make_diag(is_diag_update_positive)
        self._is_diag_update_positive = is_diag_update_positive
        # L positive definite and self-adjoint, U = V, D positive: so is the sum.
        self._is_symmetric = bool(
            base_operator.is_self_adjoint and v is None and not dtype.is_complex
        )
        self._use_cholesky = bool(
            self._is_symmetric
            and base_operator.is_positive_definite
            and is_diag_update_positive
        )
        if self._use_cholesky:
            is_positive_definite = is_self_adjoint = True
        elif self._is_symmetric:
            is_self_adjoint = True
        parents = [self._u, self._v, self._diag_update]
        super().__init__(
            dtype,
            [*base_operator.graph_parents, *(p for p in parents if p is not None)],
            is_non_singular,
            is_self_adjoint,
            is_positive_definite,
            is_square,
            name,
        )
        self._check_shapes()

    def _make_diag(self, is_positive: bool | None) -> LinearOperator:
        if self._diag_update is not None:
            return LinearOperatorDiag(
                self._diag_update, is_positive_definite=is_positive
            )
        rank = self._u.shape[-1].value
        return LinearOperatorIdentity(
            num_rows=array_ops.shape(self._u)[-1] if rank is None else rank,
            dtype=self._u.dtype,
        )

    def _check_shapes(self) -> None:
        self._base.range_dimension.assert_is_compatible_with(self._u.shape[-2])
        self._base.domain_dimension.assert_is_compatible_with(self._v.shape[-2])
        self._u.shape[-1].assert_is_compatible_with(self._v.shape[-1])
        if self._diag_update is not None:
            self._u.shape[-1].assert_is_compatible_with(self._diag_update.shape[-1])

    @property
    def u(self) -> Tensor:
        """U."""
        return self._u

    @property
    def v(self) -> Tensor:
        """V."""
        return self._v

    @property
    def is_diag_update_positive(self) -> bool | None:
        """Whether D is known to be positive."""
        return self._is_diag_update_positive

    @property
    def diag_update(self) -> Tensor | None:
        """The diagonal of D."""
        return self._diag_update

    @property
    def diag_operator(self) -> LinearOperator:
        """D."""
        return self._diag_operator

    @property
    def base_operator(self) -> LinearOperator:
        """L."""
        return self._base

    def _shape(self) -> TensorShape:
        batch = array_ops.broadcast_static_shape(
            self._base.batch_shape, self._u.shape[:-2]
        )
        return batch.concatenate(self._base.shape[-2:])

    def _shape_tensor(self) -> Tensor:
        base = self._base.shape_tensor()
        batch = array_ops.broadcast_dynamic_shape(
            base[:-2], array_ops.shape(self._u)[:-2]
        )
        return array_ops.concat([batch, base[-2:]], axis=0)

    def _matmul(self, x: Any, adjoint: bool, adjoint_arg: bool) -> Tensor:
        first, last = (self._u, self._v) if adjoint else (self._v, self._u)
        base = self._base.matmul(x, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = math_ops.matmul(first, x, adjoint_a=True, adjoint_b=adjoint_arg)
        scaled = self._diag_operator.matmul(inner, adjoint=adjoint)
        return base + math_ops.matmul(last, scaled)  # type: ignore[no-any-return]

    def _capacitance(self) -> Tensor:
        """D^-1 + V^H L^-1 U."""
        inner = math_ops.matmul(self._v, self._base.solve(self._u), adjoint_a=True)
        return self._diag_operator.inverse().add_to_tensor(inner)

    def _solve(self, rhs: Tensor, adjoint: bool, adjoint_arg: bool) -> Tensor:
        first, last = (self._u, self._v) if adjoint else (self._v, self._u)
        base = self._base.solve(rhs, adjoint=adjoint, adjoint_arg=adjoint_arg)
        inner = math_ops.matmul(first, base, adjoint_a=True)
        solved = matrix_solve(
            self._capacitance(), inner, adjoint, use_cholesky=self._use_cholesky
        )
        correction = self._base.solve(math_ops.matmul(last, solved), adjoint=adjoint)
        return base - correction  # type: ignore[no-any-return]

    def _determinant(self) -> Tensor:
        if self._use_cholesky:
            return math_ops.exp(self.log_abs_determinant())
        capacitance = matrix_solve_ops.matrix_determinant(self._capacitance())
        return (  # type: ignore[no-any-return]
            capacitance * self._diag_operator.determinant() * self._base.determinant()
        )

    def _log_abs_determinant(self) -> Tensor:
        outer = (
            self._base.log_abs_determinant() + self._diag_operator.log_abs_determinant()
        )
        capacitance = self._capacitance()
        if self._use_cholesky:
            factor = matrix_decomposition_ops.cholesky(capacitance)
            diagonal = matrix_diag_ops.matrix_diag_part(factor)
            inner: Any = 2 * math_ops.reduce_sum(math_ops.log(diagonal), axis=[-1])
        else:
            inner = matrix_solve_ops.log_matrix_determinant(capacitance)[1]
        return inner + outer  # type: ignore[no-any-return]
