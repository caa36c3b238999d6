"""`tf.contrib.constrained_optimization`, on problems whose solution is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.contrib.constrained_optimization import projections

co = tf.contrib.constrained_optimization


class _Problem(co.ConstrainedMinimizationProblem):  # type: ignore[name-defined,misc]
    """(w - 2)^2 where w is at most 1."""

    def __init__(self, proxy_shape: int = 1) -> None:
        self._w = tf.get_variable("w", initializer=0.0)
        self._proxy_shape = proxy_shape

    @property
    def objective(self) -> Any:
        return tf.square(self._w - 2.0)

    @property
    def constraints(self) -> Any:
        return tf.reshape(self._w - 1.0, [1])

    @property
    def proxy_constraints(self) -> Any:
        return tf.fill([self._proxy_shape], self._w - 1.0)


def _sgd() -> Any:
    return tf.train.GradientDescentOptimizer(0.1)


MAKERS = {
    "external": lambda: co.AdditiveExternalRegretOptimizer(_sgd()),
    "external, two": lambda: co.AdditiveExternalRegretOptimizer(_sgd(), _sgd(), 5.0),
    "swap": lambda: co.AdditiveSwapRegretOptimizer(_sgd()),
    "swap, multiplied": lambda: co.MultiplicativeSwapRegretOptimizer(
        _sgd(), tf.train.GradientDescentOptimizer(1.0), 0.01
    ),
}


@pytest.mark.parametrize("name", MAKERS)
def test_the_constraint_holds_in_the_end(name: str) -> None:
    train = MAKERS[name]().minimize(_Problem())
    w = tf.global_variables()[0]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        values = []
        for _ in range(120):
            sess.run(train)
            values.append(sess.run(w))
    assert abs(np.mean(values[60:]) - 1.0) < 0.1


def test_constraints_count_after_some_steps() -> None:
    step = tf.train.create_global_step()
    train = MAKERS["external"]().minimize(_Problem(), tf.constant(2, tf.int64), step)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        states = []
        for _ in range(4):
            sess.run(train)
            states.append(sess.run(tf.global_variables()[-1]))
        assert sess.run(step) == 4
    assert states[1] == 0.0


def test_a_problem_knows_its_constraints() -> None:
    assert _Problem().num_constraints == 1
    tf.reset_default_graph()
    with pytest.raises(ValueError, match="same shape"):
        _ = _Problem(proxy_shape=2).num_constraints


def test_projections() -> None:
    multipliers = projections.project_multipliers(tf.constant([0.5, -1.0, 1.5]), 1.0)
    matrix = projections.project_stochastic_matrix(
        tf.constant([[2.0, 0.5], [0.0, 0.5]])
    )
    vector = projections.maximal_eigenvector(tf.constant([[0.9, 0.5], [0.1, 0.5]]))
    with tf.Session() as sess:
        multipliers, matrix, vector = sess.run([multipliers, matrix, vector])
    np.testing.assert_allclose(multipliers, [0.0, 0.0, 1.0], atol=1e-6)
    np.testing.assert_allclose(matrix, [[1.0, 0.5], [0.0, 0.5]], atol=1e-6)
    np.testing.assert_allclose(vector[0] / vector[1], 5.0, rtol=1e-4)


OBJECTIVE = np.array([1.0, 0.5, 2.0, 0.2])
VIOLATIONS = np.array([[0.1, -0.2, -0.5, 0.3], [0.2, 0.4, -0.1, -0.3]])


def test_the_best_candidate() -> None:
    assert co.find_best_candidate_index(OBJECTIVE, VIOLATIONS) == 2
    assert co.find_best_candidate_index(OBJECTIVE, -np.abs(VIOLATIONS)) == 3
    assert co.find_best_candidate_index([1.0, 1.0], [[0.0, 0.0]]) == 1
    with pytest.raises(ValueError, match="n is the number of candidates"):
        co.find_best_candidate_index(OBJECTIVE, VIOLATIONS.T)


@pytest.mark.slow  # the import of scipy.optimize
def test_the_best_distribution_of_candidates() -> None:
    pytest.importorskip("scipy")
    found = co.find_best_candidate_distribution(OBJECTIVE, VIOLATIONS)
    np.testing.assert_allclose(found.sum(), 1.0)
    assert (VIOLATIONS @ found <= 1e-9).all()
    least = co.find_best_candidate_distribution([1.0, 2.0], [[1.0, 3.0]], 1e-3)
    np.testing.assert_allclose(least, [1.0, 0.0], atol=1e-3)
