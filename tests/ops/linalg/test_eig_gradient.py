"""Gradients through the eigenvalues and eigenvectors of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

_MATRIX = np.diag([1.0, 4.0, 9.0]) + np.random.RandomState(0).randn(3, 3) * 0.2
# Of sum |v * [1, 2 + i, 3]| for the eigenvectors v, by TensorFlow 2.21.
_OF_VECTORS = [
    [0.0706, 0.6622, 0.3477],
    [0.2539, -0.0311, -0.6229],
    [0.1168, -0.5317, -0.0395],
]


def _gradient(dtype: str, loss: Any, compute_v: bool = True) -> Any:
    a = tf.constant(_MATRIX.astype(dtype))
    wide = tf.complex64 if dtype in ("float32", "complex64") else tf.complex128
    result = tf.raw_ops.Eig(input=a, compute_v=compute_v, Tout=wide)
    with tf.Session() as session:
        return session.run(tf.gradients(loss(*result), a)[0])


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("compute_v", [False, True])
def test_the_sum_of_squares_is_a_trace(dtype: str, compute_v: bool) -> None:
    if not compute_v:  # the sum of the eigenvalues is the trace
        found = _gradient(dtype, lambda e, v: tf.reduce_sum(tf.math.real(e)), False)
        np.testing.assert_allclose(found, np.eye(3), atol=1e-5)
        return
    found = _gradient(dtype, lambda e, v: tf.reduce_sum(tf.math.real(e * e)))
    np.testing.assert_allclose(found, 2 * _MATRIX.T, atol=1e-4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
def test_gradients_of_eigenvectors_are_tensorflows(dtype: str) -> None:
    weights = np.array([1, 2 + 1j, 3])

    def loss(e: Any, v: Any) -> Any:
        return tf.reduce_sum(tf.abs(v * tf.constant(weights, v.dtype)))

    np.testing.assert_allclose(_gradient(dtype, loss), _OF_VECTORS, atol=2e-4)
