"""Programs over linear algebra, sparse tensors, transforms and seeded samples.

Each returns the tensors to fetch. The same programs, run under TensorFlow 1.15.0, gave
the names and values in `recorded/numeric_programs.json`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import tensorloom as tf

_RNG = np.random.RandomState(0)
_A = _RNG.randn(2, 4, 4)
_SPD = _A @ _A.transpose(0, 2, 1) + 2 * np.eye(4)
_B = _RNG.randn(2, 4, 3)
_TALL, _WIDE = _RNG.randn(5, 3), _RNG.randn(2, 3, 4)
_DIAGONALS = _RNG.randn(2, 3, 4) + np.array([0, 4, 0])[:, None]
_SIGNAL = _RNG.randn(3, 4, 6).astype(np.float32)
_COMPLEX = (_RNG.randn(3, 4, 6) + 1j * _RNG.randn(3, 4, 6)).astype(np.complex64)
_TABLE = _RNG.randn(50, 3).astype(np.float32)
_INPUTS = _RNG.randn(2, 3).astype(np.float32)
_CLASSES = np.array([[1, 2], [30, 4]], np.int64)
_INDICES = np.array([[0, 1], [0, 3], [2, 0]], np.int64)
_VALUES = np.array([1.0, 2.0, 3.0])


def _with_gradients(build: Callable[..., Any], *inputs: Any) -> Callable[[], list[Any]]:
    def program() -> list[Any]:
        tensors = [tf.constant(x) for x in inputs]
        result = build(*tensors)
        results = list(result) if isinstance(result, (list, tuple)) else [result]
        return results + list(tf.gradients([tf.abs(y) for y in results], tensors))

    return program


def _sparse(values: Any = _VALUES) -> Any:
    return tf.SparseTensor(_INDICES, values, [3, 4])


def _of_sparse(build: Callable[[Any], Any]) -> Callable[[], list[Any]]:
    return _with_gradients(lambda values: build(_sparse(values)), _VALUES)


def _parts(sparse: Any) -> list[Any]:
    return [sparse.indices, sparse.values, sparse.dense_shape]


def _abs(tensors: Any) -> list[Any]:
    return [tf.abs(t) for t in tensors]


def _loss(function: Any, **options: Any) -> Callable[[], list[Any]]:
    def program() -> list[Any]:
        tf.set_random_seed(5)
        biases = tf.constant(_TABLE[:, 0])
        inputs, table = tf.constant(_INPUTS), tf.constant(_TABLE)
        labels = tf.constant(_CLASSES)
        return [function(table, biases, labels, inputs, 7, 50, num_true=2, **options)]

    return program


L, S, R, N, F = tf.linalg, tf.sparse, tf.random, tf.nn, tf.signal
PROGRAMS: dict[str, Callable[[], list[Any]]] = {
    "inverse": _with_gradients(lambda a: L.inv(a, adjoint=True), _SPD),
    "determinant": _with_gradients(L.det, _SPD),
    "log_determinant": _with_gradients(lambda a: list(L.slogdet(a)), _SPD),
    "logdet": _with_gradients(L.logdet, _SPD),
    "solve": _with_gradients(L.solve, _SPD, _B),
    "triangular_solve": _with_gradients(
        lambda a, b: L.triangular_solve(a, b, lower=False, adjoint=True), _SPD, _B
    ),
    "cholesky": _with_gradients(L.cholesky, _SPD),
    "cholesky_solve": _with_gradients(L.cholesky_solve, _SPD, _B),
    "eigenvalues": _with_gradients(L.eigvalsh, _SPD),
    "eigenvectors": _with_gradients(
        lambda a: [L.eigh(a)[0], tf.abs(L.eigh(a)[1])], _SPD
    ),
    "singular_values": _with_gradients(lambda a: L.svd(a, compute_uv=False), _TALL),
    "svd": _with_gradients(lambda a: _abs(L.svd(a)), _TALL),
    "svd_wide": _with_gradients(lambda a: _abs(L.svd(a)), _WIDE),
    "svd_full": _with_gradients(lambda a: _abs(L.svd(a, full_matrices=True)), _WIDE),
    "qr": _with_gradients(lambda a: _abs(L.qr(a)), _TALL),
    "lstsq": _with_gradients(lambda a: L.lstsq(a, np.ones((5, 2)), 0.1), _TALL),
    "lstsq_wide": _with_gradients(lambda a: L.lstsq(a, np.ones((2, 3, 2))), _WIDE),
    "lstsq_slow": lambda: [L.lstsq(_TALL, np.ones((5, 2)), fast=False)],
    "sqrtm": _with_gradients(L.sqrtm, _SPD),
    "expm": _with_gradients(L.expm, 0.1 * _SPD),
    "logm": lambda: [L.logm(_SPD.astype(np.complex128))],
    "lu": lambda: list(L.lu(_A)),
    "pinv": lambda: [L.pinv(_TALL), L.matrix_rank(_TALL), *L.normalize(_TALL)],
    "tridiagonal_solve": _with_gradients(L.tridiagonal_solve, _DIAGONALS, _B),
    "tridiagonal_matmul": _with_gradients(L.tridiagonal_matmul, _DIAGONALS, _B),
    "to_dense": _of_sparse(S.to_dense),
    "sparse_matmul": _of_sparse(lambda s: S.matmul(s, tf.constant(_A[0]))),
    "sparse_matmul_adjoint": _of_sparse(
        lambda s: S.matmul(s, tf.constant(_TALL), adjoint_a=True, adjoint_b=True)
    ),
    "sparse_reduce_sum": _of_sparse(lambda s: S.reduce_sum(s, 1, keepdims=True)),
    "sparse_reduce_max": lambda: [S.reduce_max(_sparse(), 0), S.reduce_max(_sparse())],
    "sparse_reduce_sparse": lambda: _parts(S.reduce_sum_sparse(_sparse(), 1)),
    "sparse_add": _of_sparse(lambda s: S.add(s, _sparse()).values),
    "sparse_add_dense": _of_sparse(lambda s: S.add(s, tf.ones([3, 4], tf.float64))),
    "sparse_add_threshold": lambda: _parts(S.add(_sparse(), _sparse(), threshold=3.0)),
    "sparse_softmax": _of_sparse(lambda s: S.softmax(s).values * s.values),
    "sparse_minimum": lambda: _parts(S.minimum(_sparse(), _sparse(-_VALUES))),
    "sparse_reorder": _of_sparse(lambda s: S.reorder(s).values * tf.constant(_VALUES)),
    "sparse_reshape": lambda: _parts(S.reshape(_sparse(), [2, -1])),
    "sparse_transpose": lambda: _parts(S.transpose(_sparse(), [1, 0])),
    "sparse_expand_dims": lambda: _parts(S.expand_dims(_sparse(), 1)),
    "sparse_eye": lambda: _parts(S.eye(3, 4)),
    "sparse_concat": lambda: _parts(S.concat(1, [_sparse(), _sparse()])),
    "sparse_split": lambda: [
        part
        for one in S.split(sp_input=_sparse(), num_split=3, axis=1)
        for part in _parts(one)
    ],
    "sparse_slice": _of_sparse(lambda s: S.slice(s, [0, 1], [2, 2]).values),
    "sparse_fill": _of_sparse(lambda s: S.fill_empty_rows(s, 7.0)[0].values),
    "sparse_retain": lambda: _parts(S.retain(_sparse(), [True, False, True])),
    "sparse_reset_shape": lambda: _parts(S.reset_shape(_sparse())),
    "sparse_from_dense": lambda: _parts(S.from_dense([[1, 0], [0, 3]])),
    "to_indicator": lambda: [S.to_indicator(_sparse(np.array([1, 4, 2])), 6)],
    "set_union": lambda: _parts(
        tf.sets.union(np.array([[1, 2, 2], [3, 4, 5]]), np.array([[2, 9], [7, 7]]))
    ),
    "set_intersection": lambda: _parts(
        tf.sets.intersection(
            tf.constant([[1, 2], [4, 4], [1, 2]]),
            _sparse(np.array([1, 2, 2], np.int32)),
        )
    ),
    "set_difference": lambda: _parts(
        tf.sets.difference(_sparse(np.array([1, 2, 3])), _sparse(np.array([1, 5, 3])))
    ),
    "set_size": lambda: [tf.sets.size(_sparse(np.array([1, 1, 2])))],
    "sparse_to_dense": lambda: [tf.sparse_to_dense([1, 3], [5], [7, 8])],
    "stateless_uniform": lambda: [
        R.stateless_uniform([7], [3, -5], dtype=d)
        for d in (tf.float16, tf.float32, tf.float64)
    ],
    "stateless_normal": lambda: [
        R.stateless_normal([7], [3, 5], dtype=d) for d in (tf.float32, tf.float64)
    ],
    "stateless_truncated": lambda: [R.stateless_truncated_normal([7], [3, 5])],
    "stateless_int": lambda: [R.stateless_uniform([2, 3], [1, 2], 0, 100, tf.int32)],
    "stateless_categorical": lambda: [
        R.stateless_categorical([[0.0, 1.0, 2.0]], 5, [1, 2])
    ],
    "uniform_sampler": lambda: list(
        N.uniform_candidate_sampler(_CLASSES, 2, 6, True, 50, seed=3)
    ),
    "log_uniform_sampler": lambda: list(
        N.log_uniform_candidate_sampler(_CLASSES, 2, 8, False, 50, seed=3)
    ),
    "unigram_sampler": lambda: list(
        N.fixed_unigram_candidate_sampler(
            *(_CLASSES % 5, 2, 4, True, 8),
            num_reserved_ids=2,
            unigrams=[1.0, 5.0, 2.0, 7.0, 3.0, 1.0],
            distortion=0.75,
            seed=3,
        )
    ),
    "all_sampler": lambda: list(N.all_candidate_sampler(_CLASSES, 2, 5, True)),
    "nce_loss": _loss(N.nce_loss, remove_accidental_hits=True),
    "sampled_softmax_loss": _loss(N.sampled_softmax_loss, seed=4),
    "fft": _with_gradients(F.fft, _COMPLEX),
    "ifft2d": _with_gradients(F.ifft2d, _COMPLEX),
    "fft3d": _with_gradients(F.fft3d, _COMPLEX),
    "rfft": _with_gradients(lambda x: F.rfft(x, [8]), _SIGNAL),
    "rfft2d": _with_gradients(F.rfft2d, _SIGNAL),
    "irfft": _with_gradients(lambda x: F.irfft(x, [10]), _COMPLEX),
    "irfft2d": _with_gradients(F.irfft2d, _COMPLEX),
}
