"""Reductions of sparse tensors."""

from __future__ import annotations

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
