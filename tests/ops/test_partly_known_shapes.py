"""Static shapes where the shape of one input is unknown; TensorFlow 1.15's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf

Shape = list[int | None] | None


def given(shape: Shape, dtype: Any = tf.float32) -> Any:
    return tf.placeholder(dtype, shape)


@pytest.mark.parametrize(
    ("condition", "values", "wanted"),
    [
        ([2, 3], None, None),
        ([2, 3], [None, None], [2, 3]),
        ([None, 3], [2, None], [2, 3]),
        ([2], [None], [None]),
        ([2], [None, 3], [None, 3]),
        (None, [2, None], [2, None]),
        ([2, 3, 4], [None, None, None], [2, 3, 4]),
    ],
)
def test_where(condition: Shape, values: Shape, wanted: Shape) -> None:
    found = tf.where(given(condition, tf.bool), given(values), given(values))
    assert str(found.shape) == str(tf.TensorShape(wanted))


@pytest.mark.parametrize(
    ("condition", "values", "message"),
    [
        ([0], [2, None], r"Dimension 0 in both shapes must be equal, but are 0 and 2"),
        ([2, 3], [2], "Shapes must be equal rank, but are 1 and 2"),
        ([2, 3], [2, 4], "Dimension 1 in both shapes must be equal, but are 4 and 3"),
    ],
)
def test_where_refuses(condition: Shape, values: Shape, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.where(given(condition, tf.bool), given(values), given(values))


def _least_squares(matrix: Any, rhs: Any) -> Any:
    return tf.raw_ops.MatrixSolveLs(matrix=matrix, rhs=rhs, l2_regularizer=0.0)


@pytest.mark.parametrize(
    ("solve", "matrix", "rhs", "wanted"),
    [
        (tf.matrix_solve, None, [2, 4, 3], [2, 4, 3]),
        (tf.matrix_solve, [None, 4, 4], None, [None, 4, None]),
        (tf.matrix_triangular_solve, None, [4, None], [4, None]),
        (tf.matrix_triangular_solve, [None, None], None, [None, None]),
        (_least_squares, None, [2, 4, 3], [2, None, 3]),
        (_least_squares, [2, 4, 5], None, [2, 5, None]),
        (tf.matrix_solve, None, None, None),
    ],
)
def test_solutions(
    solve: Callable[..., Any], matrix: Shape, rhs: Shape, wanted: Shape
) -> None:
    found = solve(given(matrix), given(rhs))
    assert str(found.shape) == str(tf.TensorShape(wanted))


@pytest.mark.parametrize(
    ("dense_shape", "size", "wanted"),
    [([2, 4], 5, [2, 5]), ([4], 5, [5]), ([2, 4], None, None), (None, 5, None)],
)
def test_counts_in_rows(dense_shape: Any, size: int | None, wanted: Shape) -> None:
    found = tf.raw_ops.SparseBincount(
        indices=given(None, tf.int64),
        values=given(None, tf.int32),
        dense_shape=given([2], tf.int64) if dense_shape is None else dense_shape,
        size=given([], tf.int32) if size is None else size,
        weights=tf.constant([], tf.float32),
    )
    assert str(found.shape) == str(tf.TensorShape(wanted))
