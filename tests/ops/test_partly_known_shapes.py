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


@pytest.mark.parametrize(
    ("image", "filters", "wanted"),
    [
        ([None, 5, 5, 1], [2, 2, None], [None, 3, 5, None]),
        ([1, None, 5, 1], [2, 2, 1], [1, None, None, 1]),
        ([1, 5, 5, 4], None, [1, None, None, None]),
        ([1, 5, 5, None], [2, 2, 1], [1, 3, 5, 1]),
    ],
)
def test_dilation(image: Shape, filters: Shape, wanted: Shape) -> None:
    strides, rates = [1, 2, 1, 1], [1, 1, 2, 1]
    found = tf.nn.dilation2d(given(image), given(filters), strides, rates, "SAME")
    assert str(found.shape) == str(tf.TensorShape(wanted))


_X = "tf.placeholder(tf.float32, [None, 3])"
#: A vector, and the shape that `constant_value_as_shape` tells.
VECTORS = [
    ("k", (2, 3)),
    ("k * 2", (None, None)),
    ("tf.identity(k)", (None, None)),
    ("tf.cast(k, tf.int64)", (2, 3)),
    (f"tf.shape({_X})", (None, 3)),
    (f"tf.shape_n([{_X}])[0]", (None, None)),
    ("tf.stack([5, k[0]])", (5, None)),
    (f"tf.concat([k + 1, tf.shape({_X})], 0)", (None, None, None, 3)),
    (f"tf.shape({_X})[1:]", (3,)),
    ("tf.constant([-2, 2])", (None, 2)),
    ("tf.fill([2], k[0])", (None, None)),
    ("tf.constant(-1)", None),
]


@pytest.mark.parametrize(("vector", "wanted"), VECTORS)
def test_constant_value_as_shape(vector: str, wanted: Any) -> None:
    tensor = eval(vector, {"tf": tf, "k": tf.constant([2, 3])})
    found = tf.contrib.util.constant_value_as_shape(tensor)
    assert str(found) == str(tf.TensorShape(wanted))


@pytest.mark.parametrize(
    "value", [3, [1.5, 2.0], [[1, 2]]], ids=["scalar", "floats", "matrix"]
)
def test_constant_value_as_shape_refuses(value: Any) -> None:
    with pytest.raises(ValueError, match=r"[Ss]hape"):
        tf.contrib.util.constant_value_as_shape(tf.constant(value))


def _in_loop(make: Callable[[], Any]) -> None:
    tf.while_loop(lambda i: i < 1, lambda i: (make(), i + 1)[1], [0])


def _in_branch(make: Callable[[], Any]) -> None:
    tf.cond(tf.placeholder(tf.bool, []), lambda: (make(), 1)[1], lambda: 0)


def _in_function(make: Callable[[], Any]) -> None:
    tf.function(lambda: (make(), 1)[1])()


def _in_two_loops(make: Callable[[], Any]) -> None:
    _in_loop(lambda: _in_loop(make))


#: What is made of constants k = [2, 3], n = 7 and k2 = k * 2 outside: its shapes in
#: a loop, a branch, a function and two loops.
MADE_OF_OUTSIDE = [
    ("tf.zeros(k)", "(2, 3)", "(2, 3)", "(2, 3)", "(2, 3)"),
    ("tf.reshape(x, k)", "(2, 3)", "(2, 3)", "(2, 3)", "(2, 3)"),
    ("tf.random_uniform(k)", "(2, 3)", "(2, 3)", "(2, 3)", "(2, 3)"),
    ("tf.random_normal(k)", "(2, 3)", "(2, 3)", "(2, 3)", "(2, 3)"),
    ("tf.random.stateless_uniform(k, k)", "(2, 3)", "(2, 3)", "(2, 3)", "(2, 3)"),
    ("tf.random_gamma(k, [1.0, 2.0])", *["(2, 3, 2)"] * 4),
    ("tf.random_poisson([1.0, 2.0], k)", *["(2, 3, 2)"] * 4),
    ("tf.random_gamma(k2, [1.0, 2.0])", *["(4, 6, 2)"] * 2, "(?, ?, 2)", "(4, 6, 2)"),
    ("tf.random_gamma(k + 1, [1.0, 2.0])", *["(?, ?, 2)"] * 4),
    ("tf.tile(tf.ones([6, 1]), k)", "(12, 3)", "(12, 3)", "(?, ?)", "(12, 3)"),
    ("tf.zeros(k2)", "(4, 6)", "(4, 6)", "(?, ?)", "(4, 6)"),
    ("tf.zeros(k + 1)", "(?, ?)", "(?, ?)", "(?, ?)", "(?, ?)"),
    ("tf.range(n)", "(7,)", "(7,)", "(?,)", "(7,)"),
    ("tf.zeros(tf.stack([n, 2]))", "(7, 2)", "(?, 2)", "(?, 2)", "(?, 2)"),
    ("tf.ones(tf.concat([k, [1]], 0))", *["(2, 3, 1)", "(?, ?, 1)"] * 2),
    ("tf.zeros(k[:1])", "(2,)", "(?,)", "(2,)", "(?,)"),
    (
        "tf.sparse_tensor_dense_matmul(s, tf.eye(3))",
        *["(3, 3)"] * 2,
        "(?, 3)",
        "(3, 3)",
    ),
]


@pytest.mark.parametrize("row", MADE_OF_OUTSIDE, ids=lambda row: row[0])
def test_shapes_of_what_is_made_of_constants_outside(row: tuple[str, ...]) -> None:
    source, *wanted = row
    k = tf.constant([2, 3])
    names = {
        **{"tf": tf, "k": k, "k2": k * 2, "n": tf.constant(7)},
        "x": tf.placeholder(tf.float32),
        "s": tf.SparseTensor([[0, 1]], [2.0], [3, 3]),
    }
    found: list[str] = []

    def make() -> None:
        found.append(str(eval(source, names).shape))

    for place in (_in_loop, _in_branch, _in_function, _in_two_loops):
        place(make)
    assert found == wanted


@pytest.mark.parametrize("is_constant", [True, False])
def test_sizes_that_enter_a_loop(is_constant: bool) -> None:
    """As in graphs with classic loops."""
    size = tf.raw_ops.Enter(
        data=tf.constant(2), frame_name="loop", is_constant=is_constant
    )
    reshaped = tf.reshape(given(None), tf.stack([size, 3]))
    assert str(reshaped.shape) == "(2, 3)"
    assert str(tf.range(size).shape) == "(2,)"
    assert str(tf.one_hot([1], size).shape) == "(1, 2)"
    assert str(tf.expand_dims(tf.zeros([4, 5]), size).shape) == "(4, 5, 1)"
    assert str(tf.range(size * 2).shape) == "(?,)"  # TensorFlow asks no further
