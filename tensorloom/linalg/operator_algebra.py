"""Products of linear operators, simpler than a composition where they can be."""

from __future__ import annotations

from tensorloom.linalg.linear_operator import LinearOperator, makes
from tensorloom.linalg.linear_operator_composition import LinearOperatorComposition
from tensorloom.linalg.linear_operator_diag import LinearOperatorDiag
from tensorloom.linalg.linear_operator_identity import LinearOperatorIdentity


@makes("product")
def product(left: LinearOperator, right: LinearOperator) -> LinearOperator:
    """left @ right as an operator.

    Raises:
      ValueError: the dimensions do not fit.
    """
    inner, outer = left.domain_dimension, right.range_dimension
    if None not in (inner.value, outer.value) and inner != outer:
        raise ValueError(
            f"Operators are incompatible. Expected `x` to have dimension {inner} but "
            f"got {outer}."
        )
    if isinstance(left, LinearOperatorIdentity):
        return right
    if isinstance(right, LinearOperatorIdentity):
        return left
    if isinstance(left, LinearOperatorDiag) and isinstance(right, LinearOperatorDiag):
        return LinearOperatorDiag(
            left.diag * right.diag,
            is_non_singular=_both(left.is_non_singular, right.is_non_singular),
            is_self_adjoint=_both(left.is_self_adjoint, right.is_self_adjoint),
            is_positive_definite=None,
            is_square=True,
        )
    return LinearOperatorComposition([left, right])


def _both(a: bool | None, b: bool | None) -> bool | None:
    return True if a and b else None
