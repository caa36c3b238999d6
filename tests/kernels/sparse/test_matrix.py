"""Sparse matrices in compressed rows: edges, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

Ops = tf.raw_ops


def _run(build: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as sess:
        return sess.run(build())


def _matrix(indices: Any, values: Any, shape: Any) -> Any:
    return Ops.SparseTensorToCSRSparseMatrix(
        indices=np.array(indices, np.int64).reshape(-1, len(shape)),
        values=np.array(values, np.float32),
        dense_shape=np.array(shape, np.int64),
    )


def _dense(matrix: Any) -> Any:
    return Ops.CSRSparseMatrixToDense(sparse_input=matrix, type=tf.float32)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (2, 0, 3), (2, 3)])
def test_without_elements(shape: tuple[int, ...]) -> None:
    def build() -> Any:
        matrix = _matrix([], [], shape)
        turned = Ops.SparseMatrixTranspose(input=matrix, type=tf.float32)
        product = Ops.SparseMatrixSparseMatMul(a=matrix, b=turned, type=tf.float32)
        dense = np.ones((*shape[:-2], shape[-1], 2), np.float32)
        return _dense(product), Ops.SparseMatrixMatMul(a=matrix, b=dense)

    sparse, dense = _run(build)
    np.testing.assert_array_equal(sparse, np.zeros((*shape[:-1], shape[-2])))
    np.testing.assert_array_equal(dense, np.zeros((*shape[:-1], 2)))


@pytest.mark.parametrize(
    ("indices", "shape"),
    [
        ([[0, 3]], (2, 3)),
        ([[-1, 0]], (2, 3)),
        ([[0, 0]], (-2, 3)),
        ([[0, 0]], (2**40, 3)),
        ([[0, 0, 0, 0]], (1, 1, 1, 1)),
    ],
)
def test_bad_elements(indices: Any, shape: Any) -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        _run(lambda: _dense(_matrix(indices, [1.0] * len(indices), shape)))


def test_no_matrix_at_all() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="is not valid"):
        _run(lambda: _dense(_matrix(np.zeros((0, 3)), [], (0, 2, 3))))


def test_one_factor_for_a_batch() -> None:
    one = [[0, 0, 1], [0, 1, 0]]
    both = [[0, 0, 0], [1, 0, 0], [1, 1, 1]]

    def build() -> Any:
        a = _matrix(one, [2.0, 3.0], (1, 2, 2))
        b = _matrix(both, [1.0, 4.0, 5.0], (2, 2, 2))
        return [
            _dense(Ops.SparseMatrixSparseMatMul(a=x, b=y, type=tf.float32))
            for x, y in ((a, b), (b, a))
        ]

    left, right = _run(build)
    np.testing.assert_array_equal(left, [[[0, 0], [3, 0]], [[0, 10], [12, 0]]])
    np.testing.assert_array_equal(right, [[[0, 2], [0, 0]], [[0, 8], [15, 0]]])


def test_too_large() -> None:
    with pytest.raises(tf.errors.OpError):
        _run(lambda: _dense(_matrix([], [], (2**31 - 1, 2**31 - 1, 2))))


def test_factors_that_do_not_fit() -> None:
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        _run(
            lambda: Ops.SparseMatrixMatMul(
                a=_matrix([[0, 0]], [1.0], (2, 3)), b=np.ones((2, 2), np.float32)
            )
        )


@pytest.mark.parametrize(
    ("index", "most", "rounds"), [(5, 3, 4), (-1, 3, 4), (1, -3, 4), (1, 3, 5)]
)
def test_indices_that_cannot_be_shuffled(index: int, most: int, rounds: int) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError):
        _run(
            lambda: Ops.RandomIndexShuffle(
                index=np.int64(index),
                seed=[1, 2, 3],
                max_index=np.int64(most),
                rounds=rounds,
            )
        )


@pytest.mark.parametrize("most", [1, 9, 999])
def test_shuffled_indices_are_a_permutation(most: int) -> None:
    places = _run(
        lambda: Ops.RandomIndexShuffle(
            index=np.arange(most + 1), seed=[1, 2, 3], max_index=np.int64(most)
        )
    )
    assert sorted(places.tolist()) == list(range(most + 1))
