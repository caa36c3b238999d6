"""`tf.contrib.solvers.util`: matrices as operators, and norms."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tensorloom.framework.export import export
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.math.complex import conj
from tensorloom.ops.math.elementwise import sqrt
from tensorloom.ops.nn.loss import l2_loss
from tensorloom.ops.reductions.reductions import reduce_sum


class LinearOperator(NamedTuple):
    """A matrix by what it does to columns."""

    shape: Any
    dtype: Any
    apply: Callable[[Any], Any]
    apply_adjoint: Callable[[Any], Any]


def _shape(matrix: Any) -> Any:
    known = matrix.shape
    return known.as_list() if known.is_fully_defined() else shape_op(matrix)


@export("contrib.solvers.util.create_operator")
def create_operator(matrix: Any) -> LinearOperator:
    """The operator of a matrix, [m, n]."""
    return LinearOperator(
        _shape(matrix),
        matrix.dtype,
        lambda v: matmul(matrix, v, adjoint_a=False),
        lambda v: matmul(matrix, v, adjoint_a=True),
    )


@export("contrib.solvers.util.identity_operator")
def identity_operator(matrix: Any) -> LinearOperator:
    """The identity, with the shape and dtype of a matrix."""
    return LinearOperator(_shape(matrix), matrix.dtype, lambda v: v, lambda v: v)


@export("contrib.solvers.util.dot")
def dot(x: Any, y: Any) -> Any:
    """The product of two vectors, the first conjugated."""
    return reduce_sum(conj(x) * y)


@export("contrib.solvers.util.l2norm_squared")
def l2norm_squared(v: Any) -> Any:
    """The sum of squares."""
    return constant(2, dtype=v.dtype.base_dtype) * l2_loss(v)


@export("contrib.solvers.util.l2norm")
def l2norm(v: Any) -> Any:
    """The Euclidean norm."""
    return sqrt(l2norm_squared(v))


@export("contrib.solvers.util.l2normalize")
def l2normalize(v: Any) -> tuple[Any, Any]:
    """A vector of norm 1, and its norm before."""
    norm = l2norm(v)
    return v / norm, norm
