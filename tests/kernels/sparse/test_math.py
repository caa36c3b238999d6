"""Reductions of sparse tensors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_maxima_pass_over_nan(dtype: str) -> None:
    """As TensorFlow's; where nothing else is stored, they are -inf."""
    values = np.array([np.nan, 1, 2, np.nan, np.nan], dtype)
    indices = [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]]
    sparse = tf.SparseTensor(indices, values, [4, 2])
    with tf.Session() as sess:
        dense = sess.run(tf.sparse_reduce_max(sparse, 1))
        found = sess.run(tf.sparse_reduce_max_sparse(sparse, 1))
    np.testing.assert_array_equal(dense, [1, 2, -np.inf, 0])
    np.testing.assert_array_equal(found.values, [1, 2, -np.inf])


@pytest.mark.parametrize("dtype", ["float32", "uint16"])
@pytest.mark.parametrize(
    ("shape", "dense", "fits"),
    [
        ((0, 6), (1, 6), False),
        ((0, 6), (0, 6), True),
        ((0, 6), (), True),
        ((0, 6), (6,), True),
        ((2, 0), (2, 1), False),
        ((2, 3), (2, 1), True),
        ((2, 3), (1, 2, 3), False),
    ],
)
def test_dense_sides(
    dtype: str, shape: tuple[int, ...], dense: tuple[int, ...], fits: bool
) -> None:
    """What TensorFlow takes: a size of 1 does not meet a size of 0."""
    product = tf.raw_ops.SparseDenseCwiseMul(
        sp_indices=np.zeros((0, 2), np.int64),
        sp_values=tf.placeholder_with_default(np.zeros(0, dtype), [None]),
        sp_shape=np.array(shape, np.int64),
        dense=np.ones(dense, dtype),
    )
    with tf.Session() as sess:
        if fits:
            assert sess.run(product).shape == (0,)
        else:
            with pytest.raises(tf.errors.InvalidArgumentError, match="incompatible"):
                sess.run(product)


def _parts(indices: list[list[int]], prefix: str, scale: float) -> dict[str, Any]:
    """A matrix of 2 x 2 whose elements are `scale`, twice that, ..."""
    return {
        f"{prefix}_indices": np.array(indices, np.int64).reshape(-1, 2),
        f"{prefix}_values": scale * np.arange(1, len(indices) + 1, dtype=np.float32),
        f"{prefix}_shape": np.int64([2, 2]),
    }


@pytest.mark.parametrize(
    ("a", "b", "indices", "sums", "maxima"),
    [
        pytest.param(
            [[0, 0], [1, 1]],
            [[0, 1], [1, 1]],
            [[0, 0], [0, 1], [1, 1]],
            *([1, 10, 22], [1, 10, 20]),
            id="in order",
        ),
        pytest.param([], [[0, 0]], [[0, 0]], [10], [10], id="one is empty"),
        pytest.param(
            [[1, 0], [0, 0], [0, 1]],
            [[0, 0], [1, 0]],
            [[0, 0], [1, 0], [0, 0], [0, 1]],
            *([10, 21, 2, 3], [10, 20, 2, 3]),
            id="out of order",
        ),
        pytest.param(
            [[0, 0], [0, 0], [1, 0]],
            [[0, 0], [0, 0], [1, 1]],
            [[0, 0], [0, 0], [1, 0], [1, 1]],
            *([11, 22, 3, 30], [10, 20, 3, 30]),
            id="twice",
        ),
    ],
)
def test_what_two_matrices_have_as_tensorflow_merges_it(
    a: list[list[int]],
    b: list[list[int]],
    indices: list[list[int]],
    sums: list[float],
    maxima: list[float],
) -> None:
    parts = _parts(a, "a", 1.0) | _parts(b, "b", 10.0)
    with tf.Session() as sess:
        total = sess.run(tf.raw_ops.SparseAdd(**parts, thresh=np.float32(0)))
        most = sess.run(tf.raw_ops.SparseSparseMaximum(**parts))
    assert total.sum_indices.tolist() == indices
    assert total.sum_values.tolist() == sums
    assert most.output_indices.tolist() == indices
    assert most.output_values.tolist() == maxima


@pytest.mark.parametrize(
    ("a", "expected"),
    [
        ([[0, 0], [1, 1]], [1, 4]),
        ([[1, 0], [0, 0], [0, 1]], [3, 0, 0]),
        ([[0, 0], [0, 0], [1, 0]], [1, 0, 3]),
        ([], []),
    ],
)
def test_gradients_of_sums_as_tensorflow_finds_them(
    a: list[list[int]], expected: list[float]
) -> None:
    every = np.int64([[0, 0], [0, 1], [1, 0], [1, 1]])
    gradients = tf.raw_ops.SparseAddGrad(
        backprop_val_grad=np.float32([1, 2, 3, 4]),
        a_indices=np.array(a, np.int64).reshape(-1, 2),
        b_indices=every[:1],
        sum_indices=every,
    )
    with tf.Session() as sess:
        found = sess.run(gradients)
    assert found[0].tolist() == expected
    assert found[1].tolist() == [1]


@pytest.mark.parametrize("count", [5, 5000])
def test_dense_tensors_of_few_and_many_elements(count: int) -> None:
    random = np.random.RandomState(0)
    numbers = np.sort(random.choice(4 * count, count, replace=False))
    indices = np.stack(np.unravel_index(numbers, (count, 4)), 1)
    values = random.rand(count).astype(np.float32)
    fed = tf.placeholder(tf.int64, [None, 2])
    sparse = tf.SparseTensor(fed, values, [count, 4])
    dense = tf.sparse.to_dense(sparse)
    added = tf.sparse.add(sparse, tf.ones([count, 4]))
    expected = np.zeros((count, 4), np.float32)
    expected[tuple(indices.T)] = values
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(dense, {fed: indices}), expected)
        np.testing.assert_array_equal(sess.run(added, {fed: indices}), expected + 1)
        for bad in ([count, 0], [0, 4], [0, -1], indices[-2]):
            wrong = indices.copy()
            wrong[-1] = bad
            with pytest.raises(tf.errors.InvalidArgumentError, match="indices"):
                sess.run(dense, {fed: wrong})


@pytest.mark.parametrize("dtype", ["float32", "string"])
@pytest.mark.parametrize(
    ("indices", "filled", "empty", "places"),
    [
        ([[0, 1], [2, 0]], [[0, 1], [1, 0], [2, 0]], [False, True, False], [0, 2]),
        (
            [[2, 0], [0, 1], [2, 1]],
            [[0, 1], [1, 0], [2, 0], [2, 1]],
            [False, True, False],
            [2, 0, 3],
        ),
        ([], [[0, 0], [1, 0], [2, 0]], [True, True, True], []),
        ([[0, 0], [1, 0], [2, 0]], [[0, 0], [1, 0], [2, 0]], [False] * 3, [0, 1, 2]),
    ],
)
def test_rows_filled(
    dtype: str,
    indices: list[list[int]],
    filled: list[list[int]],
    empty: list[bool],
    places: list[int],
) -> None:
    is_text = dtype == "string"
    given = [b"%d" % i if is_text else float(i) for i in range(len(indices))]
    default = b"none" if is_text else -1.0
    with tf.Session() as sess:
        found = sess.run(
            tf.raw_ops.SparseFillEmptyRows(
                indices=np.array(indices, np.int64).reshape(-1, 2),
                values=tf.constant(given, dtype, [len(given)]),
                dense_shape=np.int64([3, 2]),
                default_value=tf.constant(default, dtype),
            )
        )
    assert found.output_indices.tolist() == filled
    assert found.empty_row_indicator.tolist() == empty
    assert found.reverse_index_map.tolist() == places
    values = [default] * len(filled)
    for place, value in zip(places, given, strict=True):
        values[place] = value
    assert found.output_values.tolist() == values


@pytest.mark.parametrize("bad", [3, -1])
def test_rows_outside_are_not_filled(bad: int) -> None:
    indices = tf.placeholder_with_default(np.int64([[1, 0], [bad, 0]]), [None, 2])
    op = tf.raw_ops.SparseFillEmptyRows(
        indices=indices,
        values=np.float32([1, 2]),
        dense_shape=np.int64([3, 2]),
        default_value=np.float32(0),
    )
    message = rf"indices\(1, 0\) is invalid: {bad} >= 3"
    with (
        tf.Session() as sess,
        pytest.raises(tf.errors.InvalidArgumentError, match=message),
    ):
        sess.run(op)


@pytest.mark.parametrize("is_sorted", [True, False])
@pytest.mark.parametrize("spread", [1, 2**61])
def test_elements_in_order(is_sorted: bool, spread: int) -> None:
    """Near ones and such as are too far apart for one number."""
    random = np.random.RandomState(0)
    rows = random.randint(0, 3, (40, 3)) * spread
    order = np.lexsort(rows.T[::-1])
    given = rows[order] if is_sorted else rows
    with tf.Session() as sess:
        found = sess.run(
            tf.raw_ops.SparseReorder(
                input_indices=given,
                input_values=np.arange(40),
                input_shape=np.int64([3 * spread - 1] * 3),
            )
        )
    np.testing.assert_array_equal(found.output_indices, rows[order])
    places = np.arange(40) if is_sorted else order
    np.testing.assert_array_equal(found.output_values, places)
