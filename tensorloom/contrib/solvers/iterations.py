"""Conjugate gradients, for systems of equations and for least squares."""

from __future__ import annotations

from typing import Any, NamedTuple

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.contrib.solvers.operators import dot, l2norm_squared
from tensorloom.framework.export import export
from tensorloom.framework.graph.graph import name_scope
from tensorloom.framework.types import dtypes
from tensorloom.ops.array.constant import constant
from tensorloom.ops.array.fill import zeros as zeros_op
from tensorloom.ops.array.reshape import expand_dims, squeeze
from tensorloom.ops.linalg.norm import norm
from tensorloom.ops.math.comparison import logical_and


class CGLSState(NamedTuple):
    """Where least squares are: step, solution, rest, direction, squared norm."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


class CGState(NamedTuple):
    """Where the equations are: step, solution, rest, direction, product."""

    i: Any
    x: Any
    r: Any
    p: Any
    gamma: Any


def _squeezed(state: Any) -> Any:
    return state._replace(x=squeeze(state.x), r=squeeze(state.r), p=squeeze(state.p))


@export("contrib.solvers.least_squares.cgls")
def cgls(
    operator: Any, rhs: Any, tol: float = 1e-6, max_iter: int = 20, name: str = "cgls"
) -> Any:
    """The x that makes A x nearest to a right-hand side.

    Args:
      operator: A, [m, n]; see `tf.contrib.solvers.util.create_operator`.
      rhs: [m].
      tol: how small the gradient becomes beside the first.
      max_iter: how many steps at most.
      name: of the operations.

    Returns:
      A named tuple: `i` steps, the solution `x` [n], the rest `r` [m], the last
      direction `p` and the squared norm `gamma` of the gradient.
    """
    with name_scope(name):
        rhs = expand_dims(rhs, -1)
        s0 = operator.apply_adjoint(rhs)
        gamma0 = l2norm_squared(s0)
        limit = tol * tol * gamma0
        zeros = zeros_op(operator.shape[1:], dtype=rhs.dtype.base_dtype)
        i = constant(0, dtype=dtypes.int32)

        def step(i: Any, state: Any) -> Any:
            q = operator.apply(state.p)
            alpha = state.gamma / l2norm_squared(q)
            x, r = state.x + alpha * state.p, state.r - alpha * q
            s = operator.apply_adjoint(r)
            gamma = l2norm_squared(s)
            p = s + gamma / state.gamma * state.p
            return i + 1, CGLSState(i + 1, x, r, p, gamma)

        first = CGLSState(i, expand_dims(zeros, -1), rhs, s0, gamma0)
        _, last = while_loop(
            lambda i, state: logical_and(i < max_iter, state.gamma > limit),
            step,
            [i, first],
        )
        return _squeezed(last)


@export("contrib.solvers.linear_equations.conjugate_gradient")
def conjugate_gradient(
    operator: Any,
    rhs: Any,
    preconditioner: Any = None,
    x: Any = None,
    tol: float = 1e-4,
    max_iter: int = 20,
    name: str = "conjugate_gradient",
) -> Any:
    """Solves A x = rhs for a positive definite A.

    Args:
      operator: A, [n, n]; see `tf.contrib.solvers.util.create_operator`.
      rhs: [n].
      preconditioner: an operator near the inverse of A.
      x: where to begin, [n]; zeros when None.
      tol: how small the rest becomes beside the first.
      max_iter: how many steps at most.
      name: of the operations.

    Returns:
      A named tuple: `i` steps, the solution `x`, the rest `r`, the last direction `p`
      and the product `gamma` of the rest with it preconditioned.
    """

    def conditioned(r: Any) -> Any:
        return r if preconditioner is None else preconditioner.apply(r)

    with name_scope(name):
        rhs = expand_dims(rhs, -1)
        if x is None:
            start = zeros_op(operator.shape[1:], dtype=rhs.dtype.base_dtype)
            start, r0 = expand_dims(start, -1), rhs
        else:
            start = expand_dims(x, -1)
            r0 = rhs - operator.apply(start)
        p0 = conditioned(r0)
        limit = tol * norm(r0)
        i = constant(0, dtype=dtypes.int32)

        def step(i: Any, state: Any) -> Any:
            z = operator.apply(state.p)
            alpha = state.gamma / dot(state.p, z)
            x, r = state.x + alpha * state.p, state.r - alpha * z
            q = conditioned(r)
            gamma = dot(r, q)
            p = q + gamma / state.gamma * state.p
            return i + 1, CGState(i + 1, x, r, p, gamma)

        _, last = while_loop(
            lambda i, state: logical_and(i < max_iter, norm(state.r) > limit),
            step,
            [i, CGState(i, start, r0, p0, dot(r0, p0))],
        )
        return _squeezed(last)
