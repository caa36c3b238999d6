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
