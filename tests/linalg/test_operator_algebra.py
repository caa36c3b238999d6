"""Sums of linear operators, functions that programs register, complex reflections."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tensorloom.python.ops.linalg import linear_operator_addition as addition
from tensorloom.python.ops.linalg import linear_operator_algebra as algebra

import tensorloom as tf

_L = tf.linalg
_DIAGONAL = np.array([1.0, 2.0])
_LOWER = np.array([[1.0, 0.0], [3.0, 4.0]])
_FULL = np.array([[1.0, 5.0], [6.0, 2.0]])


def _dense(operators: Any) -> Any:
    with tf.Session() as session:
        return sum(session.run(operator.to_dense()) for operator in operators)


@pytest.mark.parametrize(
    ("make", "kind", "wanted"),
    [
        (
            lambda: [
                _L.LinearOperatorIdentity(2, dtype=tf.float64),
                _L.LinearOperatorScaledIdentity(2, tf.constant(3.0, tf.float64)),
            ],
            _L.LinearOperatorScaledIdentity,
            4 * np.eye(2),
        ),
        (
            lambda: [
                _L.LinearOperatorDiag(_DIAGONAL),
                _L.LinearOperatorIdentity(2, dtype=tf.float64),
            ],
            _L.LinearOperatorDiag,
            np.diag(_DIAGONAL + 1),
        ),
        (
            lambda: [
                _L.LinearOperatorLowerTriangular(_LOWER),
                _L.LinearOperatorDiag(_DIAGONAL),
            ],
            _L.LinearOperatorLowerTriangular,
            _LOWER + np.diag(_DIAGONAL),
        ),
        (
            lambda: [
                _L.LinearOperatorDiag(_DIAGONAL),
                _L.LinearOperatorFullMatrix(_FULL),
                _L.LinearOperatorLowerTriangular(_LOWER),
            ],
            _L.LinearOperatorFullMatrix,
            _FULL + _LOWER + np.diag(_DIAGONAL),
        ),
    ],
)
def test_sums(make: Any, kind: type, wanted: Any) -> None:
    (total,) = addition.add_operators(make())
    assert type(total) is kind
    np.testing.assert_allclose(_dense([total]), wanted)


def test_sums_of_some() -> None:
    operators = [
        _L.LinearOperatorDiag(_DIAGONAL, name="a"),
        _L.LinearOperatorFullMatrix(_FULL),
        _L.LinearOperatorDiag(_DIAGONAL, is_positive_definite=True, name="b"),
    ]
    tiers = [[addition._AddAndReturnDiag()]]
    left = addition.add_operators(operators, addition_tiers=tiers)
    assert {operator.name for operator in left} == {
        "Add/a__b/",
        "LinearOperatorFullMatrix",
    }
    np.testing.assert_allclose(_dense(left), _FULL + 2 * np.diag(_DIAGONAL))


@pytest.mark.parametrize(
    ("operators", "error", "told"),
    [
        ([], ValueError, "at least one operator"),
        ([_FULL], TypeError, "only LinearOperator instances"),
        (
            [_L.LinearOperatorDiag([1.0, 2.0]), _L.LinearOperatorDiag([1.0, 2.0, 3.0])],
            ValueError,
            "same domain dimension",
        ),
    ],
)
def test_no_sums(operators: Any, error: type[Exception], told: str) -> None:
    with pytest.raises(error, match=told):
        addition.add_operators(operators)


class Special(_L.LinearOperator):  # type: ignore[misc]
    def _shape(self) -> Any:
        return tf.TensorShape([2, 2])


class MoreSpecial(Special):
    pass


def test_registered_functions() -> None:
    algebra.RegisterAdjoint(Special)(lambda a: "adjoint")
    algebra.RegisterInverse(Special)(lambda a: "inverse")
    algebra.RegisterCholesky(Special)(lambda a: "cholesky")
    algebra.RegisterMatmul(Special, Special)(lambda a, b: "product")
    algebra.RegisterMatmul(MoreSpecial, Special)(lambda a, b: "nearer product")
    algebra.RegisterSolve(Special, Special)(lambda a, b: "solution")
    hints = {"is_self_adjoint": False}
    one, other = Special(tf.float32, **hints), MoreSpecial(tf.float32, **hints)
    assert one.adjoint() == other.adjoint() == "adjoint"
    assert other.inverse() == "inverse"
    definite = Special(tf.float32, is_self_adjoint=True, is_positive_definite=True)
    assert definite.cholesky() == "cholesky"
    assert one.matmul(other) == "product"
    assert other.matmul(other) == "nearer product"
    assert one.solve(one) == "solution"
    with pytest.raises(ValueError, match="already been registered"):
        algebra.RegisterAdjoint(Special)(lambda a: "again")
    with pytest.raises(TypeError, match="must be callable"):
        algebra.RegisterSolve(MoreSpecial, Special)("nothing")


def test_complex_reflection() -> None:
    axis = np.array([1 + 2j, 3 - 1j, 0.5j])
    operator = _L.LinearOperatorHouseholder(axis)
    with tf.Session() as session:
        matrix, diagonal = session.run([operator.to_dense(), operator.diag_part()])
    unit = axis / np.linalg.norm(axis)
    wanted = np.eye(3) - 2 * np.outer(unit, unit.conj())
    np.testing.assert_allclose(matrix, wanted, atol=1e-12)
    np.testing.assert_allclose(diagonal, np.diag(wanted), atol=1e-12)
