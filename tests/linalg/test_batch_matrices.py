"""Batches of matrices broadcast to each other."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.linalg import batch_matrices


def _run(tensors: Any, feeds: Any = None) -> Any:
    with tf.Session() as sess:
        return sess.run(tensors, feeds)


def test_broadcasting() -> None:
    with tf.Graph().as_default():
        a, b = tf.ones([2, 1, 3, 3]), tf.ones([5, 3, 1])
        first, second = batch_matrices.broadcast_matrix_batch_dims([a, b])
        assert first.shape.as_list() == [2, 5, 3, 3]
        assert _run(second).shape == (2, 5, 3, 1)
        unknown = tf.placeholder(tf.float32)
        both = batch_matrices.broadcast_matrix_batch_dims([a, unknown])
        feeds = {unknown: np.ones((5, 3, 1))}
        assert [value.shape for value in _run(both, feeds)] == [
            (2, 5, 3, 3),
            (2, 5, 3, 1),
        ]
        with pytest.raises(ValueError, match="at least two dimensions"):
            batch_matrices.broadcast_matrix_batch_dims([tf.ones([3])])


def test_solving() -> None:
    matrix = np.array([[2.0, 0.0], [1.0, 4.0]])
    rhs = np.arange(6.0).reshape(3, 2, 1)
    expected = np.linalg.solve(matrix, rhs)
    with tf.Graph().as_default():
        found = _run(
            [
                batch_matrices.matrix_solve_with_broadcast(matrix, rhs),
                batch_matrices.matrix_triangular_solve_with_broadcast(matrix, rhs),
            ]
        )
        factor = np.linalg.cholesky(matrix @ matrix.T)
        other = _run(batch_matrices.cholesky_solve_with_broadcast(factor, rhs))
    for value in found:
        np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(other, np.linalg.solve(matrix @ matrix.T, rhs))


def test_assertions() -> None:
    with tf.Graph().as_default():
        good = batch_matrices.assert_no_entries_with_modulus_zero(tf.constant([1.0]))
        real = batch_matrices.assert_zero_imag_part(tf.constant([1.0 + 0.0j]))
        _run([good, real])
        bad = batch_matrices.assert_zero_imag_part(
            tf.placeholder(tf.complex64, name="z")
        )
        with pytest.raises(tf.errors.InvalidArgumentError):
            _run(bad, {"z:0": [1j]})


@pytest.mark.parametrize(
    ("own", "hint", "result"),
    [(None, True, True), (False, None, False), (None, None, None)],
)
def test_hints(own: Any, hint: Any, result: Any) -> None:
    operator = SimpleNamespace(is_square=own)
    use = batch_matrices.use_operator_or_provided_hint_unless_contradicting
    assert use(operator, "is_square", hint, "no") is result
    with pytest.raises(ValueError, match="no"):
        use(SimpleNamespace(is_square=True), "is_square", False, "no")
