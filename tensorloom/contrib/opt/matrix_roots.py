"""Roots of positive definite matrices by iteration, without a decomposition."""

from __future__ import annotations

from typing import Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.framework.types import dtypes
from tensorloom.ops.linalg.builders import eye
from tensorloom.ops.linalg.matmul import matmul
from tensorloom.ops.linalg.norm import norm as norm_op
from tensorloom.ops.math.binary import pow as pow_op
from tensorloom.ops.math.cast import cast
from tensorloom.ops.math.comparison import logical_and
from tensorloom.ops.math.elementwise import abs as abs_op
from tensorloom.ops.math.elementwise import sqrt
from tensorloom.ops.reductions.reductions import reduce_max, reduce_sum


def matrix_square_root(
    mat_a: Any, mat_a_size: Any, iter_count: int = 100, ridge_epsilon: float = 1e-4
) -> Any:
    """The square root, by Newton and Schulz's iteration.

    Args:
      mat_a: float32, [n, n], symmetric.
      mat_a_size: n.
      iter_count: how often at most; it ends where the error grows.
      ridge_epsilon: added to the diagonal.
    """
    identity = eye(cast(mat_a_size, dtypes.int32))
    mat_a = mat_a + ridge_epsilon * identity
    norm = sqrt(reduce_sum(mat_a * mat_a))

    def goes_on(i: Any, y: Any, y0: Any, z: Any, error: Any, error0: Any) -> Any:
        return logical_and(i < iter_count, error < error0)

    def step(i: Any, y: Any, y0: Any, z: Any, error: Any, error0: Any) -> Any:
        factor = 0.5 * (3.0 * identity - matmul(z, y))
        next_y, next_z = matmul(y, factor), matmul(factor, z)
        root = next_y * sqrt(norm)
        rest = mat_a - matmul(root, root)
        next_error = sqrt(reduce_sum(rest * rest)) / norm
        return i + 1, next_y, y, next_z, next_error, error

    # The last step made it worse: the one before is the root.
    start = mat_a / norm
    _, _, before, _, _, _ = while_loop(
        goes_on, step, [0, start, start, identity, norm, norm + 1.0]
    )
    return before * sqrt(norm)


def matrix_inverse_pth_root(
    mat_g: Any,
    mat_g_size: Any,
    alpha: float,
    iter_count: int = 100,
    epsilon: float = 1e-6,
    ridge_epsilon: float = 1e-6,
) -> Any:
    """mat_g ** alpha, where alpha is -1 / p for an integer p (Guo and Higham, 2006).

    Args:
      mat_g: float32, [n, n], symmetric.
      mat_g_size: n.
      alpha: the exponent, negative.
      iter_count: how often at most.
      epsilon: the error at which it ends.
      ridge_epsilon: added to the diagonal.

    Raises:
      AssertionError: p is no integer above 0.
    """
    identity = eye(cast(mat_g_size, dtypes.int32))

    def power(matrix: Any, p: float) -> Any:
        if p != int(p) or p <= 0:
            raise AssertionError(f"-1 / alpha must be a positive integer, got {p}")
        result, left = None, int(p)
        while left:
            if left % 2:
                result = matrix if result is None else matmul(matrix, result)
            left //= 2
            matrix = matmul(matrix, matrix)
        return result

    def goes_on(i: Any, m: Any, x: Any) -> Any:
        far = reduce_max(abs_op(m - identity)) > epsilon
        return logical_and(i < iter_count, far)

    def step(i: Any, m: Any, x: Any) -> Any:
        mixed = (1 - alpha) * identity + alpha * m
        return i + 1, matmul(power(mixed, -1.0 / alpha), m), matmul(x, mixed)

    if mat_g_size == 1:
        return pow_op(mat_g + ridge_epsilon, alpha)
    damped = mat_g + ridge_epsilon * identity
    z = (1 - 1 / alpha) / (2 * norm_op(damped))
    _, _, root = while_loop(
        goes_on, step, [0, damped * z, identity * pow_op(z, -alpha)]
    )
    return root
