"""Linear operators, beside the dense matrices that they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

L: Any = tf.linalg
_rng = np.random.default_rng(3)
_SPD = np.stack([a @ a.T + 3 * np.eye(3) for a in _rng.normal(size=(2, 3, 3))])
_ANY = _rng.normal(size=(3, 3)) + 4 * np.eye(3)
_DIAG = _rng.random((2, 3)) + 1
_TALL = _rng.normal(size=(3, 2))


def _full(matrix: Any, **hints: Any) -> Any:
    return L.LinearOperatorFullMatrix(matrix, **hints)


def _kron(a: Any, b: Any) -> Any:
    return np.einsum("...ij,...kl->...ikjl", a, b).reshape(*a.shape[:-2], 9, 9)


def _blocks(a: Any, b: Any) -> Any:
    out = np.zeros((2, 6, 6))
    out[:, :3, :3], out[:, 3:, 3:] = a, b
    return out


def _dft(size: int) -> Any:
    return np.fft.fft(np.eye(size))


_SPECTRUM = np.array([6.0, 4.0, 2.0, 3.0]) + 1j
_AXIS = np.array([1.0, 2.0, 2.0])
OPERATORS: dict[str, tuple[Callable[[], Any], Any]] = {
    "full": (lambda: _full(_SPD), _SPD),
    "positive definite": (
        lambda: _full(_SPD, is_self_adjoint=True, is_positive_definite=True),
        _SPD,
    ),
    "diag": (lambda: L.LinearOperatorDiag(_DIAG), _DIAG[..., None] * np.eye(3)),
    "triangular": (lambda: L.LinearOperatorLowerTriangular(_ANY), np.tril(_ANY)),
    "identity": (
        lambda: L.LinearOperatorIdentity(3, batch_shape=[2], dtype=tf.float64),
        np.stack([np.eye(3)] * 2),
    ),
    "scaled": (
        lambda: L.LinearOperatorScaledIdentity(3, np.array([2.0, 3.0])),
        np.array([2.0, 3.0])[:, None, None] * np.eye(3),
    ),
    "adjoint": (lambda: L.LinearOperatorAdjoint(_full(_ANY)), _ANY.T),
    "inversion": (lambda: L.LinearOperatorInversion(_full(_ANY)), np.linalg.inv(_ANY)),
    "composition": (
        lambda: L.LinearOperatorComposition([_full(_ANY), _full(_SPD)]),
        _ANY @ _SPD,
    ),
    "kronecker": (
        lambda: L.LinearOperatorKronecker([_full(_SPD), _full(_ANY)]),
        _kron(_SPD, np.stack([_ANY] * 2)),
    ),
    "blocks": (
        lambda: L.LinearOperatorBlockDiag([_full(_ANY), _full(_SPD)]),
        _blocks(_ANY, _SPD),
    ),
    "circulant": (
        lambda: L.LinearOperatorCirculant(_SPECTRUM, input_output_dtype=tf.complex128),
        np.linalg.inv(_dft(4)) @ np.diag(_SPECTRUM) @ _dft(4),
    ),
    "householder": (
        lambda: L.LinearOperatorHouseholder(_AXIS),
        np.eye(3) - 2 * np.outer(_AXIS, _AXIS) / 9,
    ),
    "low rank": (
        lambda: L.LinearOperatorLowRankUpdate(_full(_ANY), _TALL, v=_TALL + 0.1),
        _ANY + _TALL @ (_TALL + 0.1).T,
    ),
    "toeplitz": (
        lambda: L.LinearOperatorToeplitz(
            np.array([5.0, 2.0, 3.0]), np.array([5.0, -2.0, 1.0])
        ),
        np.array([[5.0, -2.0, 1.0], [2.0, 5.0, -2.0], [3.0, 2.0, 5.0]]),
    ),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operator_is_its_matrix(name: str) -> None:
    make, dense = OPERATORS[name]
    size = dense.shape[-1]
    x = np.arange(2.0 * size).reshape(size, 2).astype(dense.dtype) + 1
    adjoint = np.conj(np.swapaxes(dense, -1, -2))
    sign, log = np.linalg.slogdet(dense)
    with tf.Graph().as_default(), tf.Session() as session:
        operator = make()
        assert operator.shape.as_list() == list(dense.shape)
        got = session.run(
            {
                "dense": operator.to_dense(),
                "product": operator.matmul(x),
                "adjoint product": operator.matmul(x, adjoint=True),
                "vector": operator.matvec(x[:, 0]),
                "solution": operator.solve(x),
                "adjoint solution": operator.solve(x, adjoint=True),
                "determinant": operator.determinant(),
                "log": operator.log_abs_determinant(),
                "trace": operator.trace(),
                "diagonal": operator.diag_part(),
                "inverse": operator.inverse().to_dense(),
                "H": operator.H.to_dense(),
                "sum": operator.add_to_tensor(np.ones(dense.shape, dense.dtype)),
                "shape": operator.shape_tensor(),
            }
        )
    expected = {
        "dense": dense,
        "product": dense @ x,
        "adjoint product": adjoint @ x,
        "vector": dense @ x[:, 0],
        "solution": np.linalg.inv(dense) @ x,
        "adjoint solution": np.linalg.inv(adjoint) @ x,
        "determinant": sign * np.exp(log),
        "log": log,
        "trace": np.trace(dense, axis1=-2, axis2=-1),
        "diagonal": np.diagonal(dense, axis1=-2, axis2=-1),
        "inverse": np.linalg.inv(dense),
        "H": adjoint,
        "sum": dense + 1,
        "shape": dense.shape,
    }
    for what, value in expected.items():
        np.testing.assert_allclose(got[what], value, rtol=1e-8, atol=1e-8, err_msg=what)


def test_products_of_operators() -> None:
    with tf.Graph().as_default():
        diagonal = L.LinearOperatorDiag(_DIAG)
        identity = L.LinearOperatorIdentity(3, dtype=tf.float64)
        assert isinstance(diagonal.matmul(diagonal), L.LinearOperatorDiag)
        assert identity.matmul(diagonal) is diagonal
        composed = _full(_ANY).matmul(diagonal)
        assert isinstance(composed, L.LinearOperatorComposition)


def test_circulant_of_a_wider_spectrum() -> None:
    """The product is computed in the spectrum's type, whatever the operator's is."""
    with tf.Graph().as_default(), tf.Session() as session:
        operator = L.LinearOperatorCirculant(np.array([1 + 2j, 3 - 1j]))
        assert operator.dtype == tf.complex64
        value = session.run(operator.to_dense())
    np.testing.assert_allclose(value, [[2 + 0.5j, -1 + 1.5j], [-1 + 1.5j, 2 + 0.5j]])


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception]]] = {
    "scalar diagonal": (lambda: L.LinearOperatorDiag(3.0), ValueError),
    "hints": (
        lambda: _full(_ANY, is_positive_definite=True, is_non_singular=False),
        ValueError,
    ),
    "dimensions": (lambda: _full(_ANY).matmul(np.ones((4, 2))), ValueError),
    "no operators": (lambda: L.LinearOperatorComposition([]), ValueError),
    "negative": (lambda: L.LinearOperatorIdentity(-1), ValueError),
    "not square": (lambda: _full(_TALL).determinant(), NotImplementedError),
    "cholesky": (lambda: _full(_ANY).cholesky(), ValueError),
    "singular": (
        lambda: L.LinearOperatorZeros(3).solve(np.ones((3, 1))),
        NotImplementedError,
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str) -> None:
    make, kind = MISTAKES[name]
    with tf.Graph().as_default(), pytest.raises(kind):
        make()


def test_a_triangle_is_cut_out_where_it_is_asked_for() -> None:
    with tf.Graph().as_default() as graph:
        operator = L.LinearOperatorLowerTriangular(np.ones([2, 2], np.float32))
        before = len(graph.get_operations())
        name = operator.to_dense().name
    assert before == 1
    assert name == "LinearOperatorLowerTriangular/to_dense/MatrixBandPart:0"
