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
@pytest.mark.parametrize(
    ("bad", "adjoint", "message"),
    [
        ((30, 0), False, r"m \(30\) from index\[{0},0\] out of bounds \(>=30\)"),
        ((0, 20), False, r"k \(20\) from index\[{0},1\] out of bounds \(>=20\)"),
        ((-1, 0), False, r"m \(-1\) from index\[{0},0\] out of bounds \(>=30\)"),
        ((30, 20), False, r"k \(20\) from index\[{0},1\] out of bounds \(>=20\)"),
        ((30, 0), True, r"k \(30\) from index\[{0},0\] out of bounds \(>=30\)"),
    ],
)
def test_places_outside(
    count: int, bad: tuple[int, int], adjoint: bool, message: str
) -> None:
    places = tf.placeholder(tf.int64, [None, 2])
    product = tf.sparse.sparse_dense_matmul(
        tf.SparseTensor(places, tf.ones([count]), [30, 20]),
        tf.ones([30 if adjoint else 20, 50]),
        adjoint_a=adjoint,
    )
    wrong = np.zeros([count, 2], np.int64)
    wrong[-1] = bad
    with tf.Session() as sess:
        message = message.format(count - 1)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(product, {places: wrong})
