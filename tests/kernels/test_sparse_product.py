"""Products of sparse and dense matrices, of few terms and of many."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "complex64"])
@pytest.mark.parametrize("count", [0, 5, 700])
@pytest.mark.parametrize("adjoint", [(False, False), (True, False), (False, True)])
def test_like_the_dense_product(
    dtype: str, count: int, adjoint: tuple[bool, bool]
) -> None:
    random = np.random.RandomState(0)
    places = np.stack([random.randint(0, 30, count), random.randint(0, 20, count)], 1)
    values = (random.randn(count) * 5).astype(dtype)
    dense = np.zeros([30, 20], dtype)
    np.add.at(dense, tuple(places.T), values)  # some come twice
    left = dense.conj().T if adjoint[0] else dense
    right = (random.randn(left.shape[1], 50) * 5).astype(dtype)
    fed: Any = right.conj().T if adjoint[1] else right
    product = tf.sparse.sparse_dense_matmul(
        tf.SparseTensor(places, values, [30, 20]), fed, *adjoint
    )
    with tf.Session() as sess:
        found = sess.run(product)
    np.testing.assert_allclose(found, left @ right, rtol=1e-4, atol=1e-3)
    assert found.dtype == right.dtype


@pytest.mark.parametrize("count", [5, 700])
def test_places_outside(count: int) -> None:
    places = tf.placeholder(tf.int64, [None, 2])
    values = tf.ones([count])
    product = tf.sparse.sparse_dense_matmul(
        tf.SparseTensor(places, values, [30, 20]), tf.ones([20, 50])
    )
    wrong = np.zeros([count, 2], np.int64)
    with tf.Session() as sess:
        for bad in ([30, 0], [0, 20], [-1, 0]):
            wrong[-1] = bad
            with pytest.raises(tf.errors.InvalidArgumentError):
                sess.run(product, {places: wrong})
