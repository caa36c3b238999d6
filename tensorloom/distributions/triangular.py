"""Triangular and banded matrices from vectors, and rotated axes."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tensorloom.framework.graph.graph import Tensor, name_scope
from tensorloom.framework.types import dtypes
from tensorloom.framework.types.constant_value import constant_value
from tensorloom.framework.types.tensor_conversion import convert_to_tensor
from tensorloom.ops.array import array_ops
from tensorloom.ops.debugging import check_type
from tensorloom.ops.math import math_ops


def fill_triangular(x: Any, upper: bool = False, name: str | None = None) -> Tensor:
    """A triangular matrix of the elements of a vector, filled in a spiral.

    Args:
      x: [..., n (n + 1) / 2].
      upper: whether the part above the diagonal is filled, not the part below.

    Returns:
      [..., n, n].

    Raises:
      ValueError: no triangle has so many elements.
    """
    with name_scope(name, "fill_triangular", values=[x]):
        x = convert_to_tensor(x, name="x")
        count = x.shape.with_rank_at_least(1).as_list()[-1] if x.shape.ndims else None
        size: Any
        if count is None:
            total = math_ops.cast(array_ops.shape(x)[-1] * 2, dtypes.float32)
            size = math_ops.cast(math_ops.sqrt(0.25 + total), dtypes.int32)
        else:
            size = int(math.sqrt(0.25 + 2.0 * count) - 0.5)
            if size * (size + 1) != 2 * count:
                raise ValueError(
                    f"Input right-most shape ({count}) does not correspond to a "
                    "triangular matrix."
                )
        backwards = array_ops.reverse(x, axis=[-1])
        # All elements and, backwards, those that fill up the square.
        if upper:
            parts = [x, array_ops.reverse(x[..., size:], axis=[-1])]
        else:
            parts = [x[..., size:], backwards]
        shape = array_ops.concat([array_ops.shape(x)[:-1], [size, size]], axis=0)
        square = array_ops.reshape(array_ops.concat(parts, axis=-1), shape)
        below, above = (0, -1) if upper else (-1, 0)
        triangle = array_ops.matrix_band_part(square, below, above)
        if x.shape.ndims is not None:
            side = None if count is None else size
            triangle.set_shape([*x.shape.as_list()[:-1], side, side])
        return triangle


def fill_triangular_inverse(
    x: Any, upper: bool = False, name: str | None = None
) -> Tensor:
    """The vector of which `fill_triangular` makes a matrix.

    Args:
      x: [..., n, n].

    Returns:
      [..., n (n + 1) / 2].
    """
    with name_scope(name, "fill_triangular_inverse", values=[x]):
        x = convert_to_tensor(x, name="x")
        side = x.shape.with_rank_at_least(2).as_list()[-1] if x.shape.ndims else None
        size = array_ops.shape(x)[-1] if side is None else side
        if upper:
            first, square = x[..., 0, :], x[..., 1:, :]
        else:
            first = array_ops.reverse(x[..., -1, :], axis=[-1])
            square = x[..., :-1, :]
        # Each element stands in one of both halves; the other has a zero there.
        whole = square + array_ops.reverse(square, axis=[-1, -2])
        batch = array_ops.shape(x)[:-2]
        flat = array_ops.reshape(
            whole, array_ops.concat([batch, [size * (size - 1)]], axis=0)
        )
        rest = flat[..., : size * (size - 1) // 2]
        made = array_ops.concat([first, rest], axis=-1)
        if x.shape.ndims is not None:
            count = None if side is None else side * (side + 1) // 2
            made.set_shape([*x.shape.as_list()[:-2], count])
        return made


def tridiag(
    below: Any = None, diag: Any = None, above: Any = None, name: str | None = None
) -> Tensor:
    """A matrix of three diagonals; what is None is zero.

    Args:
      below, above: [..., n - 1].
      diag: [..., n].

    Raises:
      ValueError: all are None.
    """
    with name_scope(name, "tridiag", [below, diag, above]):
        parts = []
        if below is not None:
            padded = _with_zeros(convert_to_tensor(below, name="below"))
            parts.append(array_ops.matrix_diag(padded)[..., :-1, 1:])
        if diag is not None:
            parts.append(array_ops.matrix_diag(convert_to_tensor(diag, name="diag")))
        if above is not None:
            padded = _with_zeros(convert_to_tensor(above, name="above"))
            parts.append(array_ops.matrix_diag(padded)[..., 1:, :-1])
        if not parts:
            raise ValueError("Must specify at least one of `below`, `diag`, `above`.")
        total: Tensor = sum(parts[1:], parts[0])
        return total


def _with_zeros(x: Tensor) -> Tensor:
    """The vectors with a zero before and behind."""
    shape = array_ops.concat([array_ops.shape(x)[:-1], [1]], axis=0)
    zero = array_ops.zeros(shape, dtype=x.dtype)
    return array_ops.concat([zero, x, zero], axis=-1)


def matrix_diag_transform(
    matrix: Any,
    transform: Callable[[Tensor], Tensor] | None = None,
    name: str | None = None,
) -> Any:
    """The matrix with a function of its diagonal as the diagonal.

    Args:
      matrix: [..., n, n].
    """
    with name_scope(name, "matrix_diag_transform", [matrix]):
        matrix = convert_to_tensor(matrix, name="matrix")
        if transform is None:
            return matrix
        diagonal = transform(array_ops.matrix_diag_part(matrix))
        return array_ops.matrix_set_diag(matrix, diagonal)


def rotate_transpose(x: Any, shift: Any, name: str = "rotate_transpose") -> Any:
    """Moves the axes to the right in a circle, to the left by a negative shift.

    Raises:
      TypeError: the shift is no integer.
    """
    with name_scope(name, values=[x, shift]):
        x = convert_to_tensor(x, name="x")
        shift = convert_to_tensor(shift, name="shift")
        check_type.assert_integer(shift)
        known, rank = constant_value(shift), x.shape.ndims
        if rank is not None and known is not None:
            if rank < 2 or int(known) % rank == 0:
                return x
            return array_ops.transpose(x, np.roll(np.arange(rank), int(known)))
        axes = math_ops.range(array_ops.rank(x))
        first = math_ops.floormod(
            -math_ops.cast(shift, dtypes.int32), array_ops.rank(x)
        )
        order = array_ops.concat([axes[first:], axes[:first]], axis=0)
        return array_ops.transpose(x, order)
