"""Projections onto the weights that are allowed, and the eigenvector of a matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tensorloom.client.control_flow.while_loop import while_loop
from tensorloom.ops.array import fill, reshape
from tensorloom.ops.array.constant import constant
from tensorloom.ops.linalg import matmul
from tensorloom.ops.linalg import norm as norm_ops
from tensorloom.ops.math import binary, cast, comparison, elementwise
from tensorloom.ops.reductions import reductions

if TYPE_CHECKING:
    from tensorloom.framework.graph.tensor import Tensor


def project_multipliers(multipliers: Tensor, radius: float) -> Tensor:
    """The nearest vector of elements of at least zero that sum to at most `radius`.

    Raises:
      ValueError: it is not of floating point, or not a vector of known size.
    """
    _check_floating(multipliers)
    shape = multipliers.get_shape()
    if shape.ndims is None:
        raise ValueError("multipliers must have known shape")
    if shape.ndims != 1:
        raise ValueError(
            "multipliers must be one dimensional (instead is "
            f"{shape.ndims}-dimensional)"
        )
    if shape[0].value is None:
        raise ValueError("multipliers must have fully-known shape")

    def scale(values: Tensor, inactive: Tensor) -> Tensor:
        spare = radius - reductions.reduce_sum(values)
        count = binary.maximum(1.0, reductions.reduce_sum(inactive))
        return binary.minimum(0.0, spare / count)

    return _projected(multipliers, shape[0].value, scale)


def project_stochastic_matrix(matrix: Tensor) -> Tensor:
    """The nearest matrix whose columns are of elements from zero that sum to one.

    Raises:
      ValueError: it is not of floating point, or not a square matrix of known size.
    """
    _check_floating(matrix)
    shape = matrix.get_shape()
    if shape.ndims is None:
        raise ValueError("matrix must have known shape")
    if shape.ndims != 2:
        raise ValueError(
            f"matrix must be two dimensional (instead is {shape.ndims}-dimensional)"
        )
    if shape[0] != shape[1]:
        raise ValueError(f"matrix must be square (instead has shape {shape})")
    if shape[0].value is None:
        raise ValueError("matrix must have fully-known shape")

    def column(values: Tensor) -> Tensor:
        return reductions.reduce_sum(values, axis=0, keepdims=True)

    def scale(values: Tensor, inactive: Tensor) -> Tensor:
        return (1.0 - column(values)) / binary.maximum(1.0, column(inactive))

    return _projected(matrix, shape[0].value, scale)


def _check_floating(tensor: Tensor) -> None:
    if not tensor.dtype.is_floating:
        raise ValueError("multipliers must have a floating-point dtype")


def _projected(values: Tensor, dimension: int, scale: Any) -> Tensor:
    """Shifts what is above zero and cuts off what falls below, until nothing does."""

    def goes_on(step: Any, values: Any, inactive: Any, before: Any) -> Tensor:
        changed = reductions.reduce_any(comparison.not_equal(inactive, before))
        return comparison.logical_and(step < dimension, changed)

    def body(step: Any, values: Any, inactive: Any, before: Any) -> tuple[Any, ...]:
        values = values + scale(values, inactive) * inactive
        positive = cast.cast(values > 0, values.dtype)
        return step + 1, values * positive, positive, inactive

    ones = fill.ones_like(values, dtype=values.dtype)
    first = body(constant(0), values, ones, ones)
    result: Tensor = while_loop(
        goes_on, body, loop_vars=first, name="euclidean_projection"
    )[1]
    return result


def project_log_stochastic_matrix(log_matrix: Tensor) -> Tensor:
    """Logarithms, less in each column what makes the exponentials sum to one."""
    log_matrix = log_matrix - reductions.reduce_max(log_matrix, axis=0, keepdims=True)
    total = reductions.reduce_sum(elementwise.exp(log_matrix), axis=0, keepdims=True)
    return log_matrix - elementwise.log(total)


def maximal_eigenvector(
    matrix: Tensor, epsilon: float = 1e-6, maximum_iterations: int = 100
) -> Tensor:
    """The right eigenvector of the largest eigenvalue, of length 1, by powers.

    Args:
      matrix: square, of floating point.
      epsilon: stop where a step changes the vector by no more than this.
      maximum_iterations: stop after as many steps.

    Raises:
      ValueError: the matrix is not of floating point, or a limit is not above zero.
    """
    _check_floating(matrix)
    if epsilon <= 0.0:
        raise ValueError("epsilon must be strictly positive")
    if maximum_iterations <= 0:
        raise ValueError("maximum_iterations must be strictly positive")

    def goes_on(step: Any, vector: Any, before: Any) -> Tensor:
        changed = norm_ops.norm(vector - before) > epsilon
        return comparison.logical_and(step < maximum_iterations, changed)

    def body(step: Any, vector: Any, before: Any) -> tuple[Any, ...]:
        # A product of matrices: its static shape is known, and the loop needs it.
        after = matmul.matmul(matrix, reshape.expand_dims(vector, 1))[:, 0]
        return step + 1, after / norm_ops.norm(after), vector

    ones = fill.ones_like(matrix[:, 0])
    vector = ones / norm_ops.norm(ones)
    first = body(constant(0), vector, vector)
    result: Tensor = while_loop(goes_on, body, loop_vars=first, name="power_method")[1]
    return result
