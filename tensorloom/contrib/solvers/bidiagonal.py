"""Lanczos' bidiagonalization of an operator (Golub and Kahan, 1965)."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.client.control_flow.cond import cond
from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.contrib.solvers.operators import l2norm, l2normalize
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.concat import concat
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import zeros as zeros_op
from tensorloom.ops.array.permute import matrix_transpose
from tensorloom.ops.array.reshape import expand_dims, squeeze
from tensorloom.ops.array.shape import shape as shape_op
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.lists.tensor_array import TensorArray
from tensorloom.ops.random.random_ops import random_uniform


class LanczosBidiagState(NamedTuple):
    """A V = U B: two bases, and the two diagonals of B."""

    u: Any
    v: Any
    alpha: Any
    beta: Any


def _column(array: Any, i: Any) -> Any:
    return expand_dims(array.read(i), -1)


def _orthogonalized_once(i: Any, basis: Any, v: Any) -> Any:
    """A vector without its parts along basis vectors 0 ... i - 1, and its norm."""
    shape = v.shape

    def step(j: Any, v: Any) -> Any:
        direction = _column(basis, j)
        v = v - matmul(direction, v, adjoint_a=True) * direction
        v.set_shape(shape)
        return j + 1, v

    zero = constant(0, dtype=dtypes.int32)
    _, v = while_loop(lambda j, v: j < i, step, [zero, v])
    return l2normalize(v)


def _orthogonalized(i: Any, basis: Any, v: Any) -> Any:
    """Once more where most of the vector was taken off (Kahan: twice is enough)."""
    once, norm = _orthogonalized_once(i, basis, v)
    return cond(
        norm < 0.7071 * l2norm(v),
        lambda: _orthogonalized_once(i, basis, v),
        lambda: (once, norm),
    )


@export("contrib.solvers.lanczos.lanczos_bidiag")
def lanczos_bidiag(
    operator: Any,
    k: int,
    orthogonalize: bool = True,
    starting_vector: Any = None,
    name: str = "lanczos_bidiag",
) -> Any:
    """k steps of A * V = U * B with orthonormal U and V and a lower bidiagonal B.

    Args:
      operator: A, [m, n]; see `tf.contrib.solvers.util.create_operator`.
      k: how many steps.
      orthogonalize: keep the bases orthogonal in spite of rounding.
      starting_vector: [m, 1]; drawn when None.
      name: of the operations.

    Returns:
      A named tuple of `u` [m, k + 1], `v` [n, k], and the diagonals `alpha` and `beta`
      of B, [k].
    """

    def array(size: Any, name: str) -> Any:
        return TensorArray(
            dtype=operator.dtype,
            size=size,
            tensor_array_name=name,
            clear_after_read=False,
        )

    def step(i: Any, state: Any) -> Any:
        u = _column(state.u, i)
        r = operator.apply_adjoint(u)
        shape = r.shape
        r = cond(
            i > 0,
            lambda: r - state.beta.read(i - 1) * _column(state.v, i - 1),
            lambda: r,
        )
        r.set_shape(shape)
        if orthogonalize:
            v, alpha = _orthogonalized(i - 1, state.v, r)
        else:
            v, alpha = l2normalize(r)
        p = operator.apply(v) - alpha * u
        if orthogonalize:
            u, beta = _orthogonalized(i, state.u, p)
        else:
            u, beta = l2normalize(p)
        return i + 1, LanczosBidiagState(
            state.u.write(i + 1, squeeze(u)),
            state.v.write(i, squeeze(v)),
            state.alpha.write(i, alpha),
            state.beta.write(i, beta),
        )

    with name_scope(name):
        start = starting_vector
        if start is None:
            start = random_uniform(operator.shape[:1], -1, 1, dtype=operator.dtype)
        first, _ = l2normalize(start)
        state = LanczosBidiagState(
            array(k + 1, "u").write(0, squeeze(first)),
            array(k, "v"),
            array(k, "alpha"),
            array(k, "beta"),
        )
        zero = constant(0, dtype=dtypes.int32)
        _, last = while_loop(lambda i, _: i < k, step, [zero, state])
        return LanczosBidiagState(
            matrix_transpose(last.u.stack()),
            matrix_transpose(last.v.stack()),
            last.alpha.stack(),
            last.beta.stack(),
        )


@export("contrib.solvers.lanczos.bidiag_matmul")
def bidiag_matmul(
    matrix: Any,
    alpha: Any,
    beta: Any,
    adjoint_b: bool = False,
    name: str = "bidiag_matmul",
) -> Any:
    """A matrix times a lower bidiagonal one.

    Args:
      matrix: [m, k + 1]; [m, k] with `adjoint_b`.
      alpha, beta: the diagonal and the one below it, [k].
      adjoint_b: times the transposed upper part, [k, k].
      name: of the operations.
    """
    with name_scope(name):
        diagonal = expand_dims(alpha, 0)
        if not adjoint_b:
            return matrix[:, :-1] * diagonal + matrix[:, 1:] * expand_dims(beta, 0)
        zeros = zeros_op(shape_op(matrix)[:1], dtype=matrix.dtype)
        shifted = matrix[:, :-1] * expand_dims(beta[:-1], 0)
        return matrix * diagonal + concat([expand_dims(zeros, 1), shifted], 1)
