"""The best of several solutions, or the best distribution over them, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.export import export


@export("contrib.constrained_optimization.find_best_candidate_distribution")
def find_best_candidate_distribution(
    objective_vector: Any, constraints_matrix: Any, epsilon: float = 0.0
) -> np.ndarray:
    """The distribution with the least expected objective that violates least.

    Paper: Lemma 3. At most m + 1 of its probabilities are not zero.

    Args:
      objective_vector: the objective of each solution, [n].
      constraints_matrix: the constraints of each, [m, n]; they should be zero or less.
      epsilon: how near the least violation has to be.

    Returns:
      [n], probabilities.

    Raises:
      ValueError: the shapes do not fit, or `epsilon` is negative.
    """
    if epsilon < 0.0:
        raise ValueError("epsilon must be nonnegative")
    found, _ = best_distribution(objective_vector, constraints_matrix)
    if found is not None:
        return found
    lower = 0.0
    # What the solution that violates least does.
    upper = float(np.min(np.amax(constraints_matrix, axis=0)))
    best, _ = best_distribution(objective_vector, constraints_matrix, upper)
    assert best is not None
    while True:
        middle = 0.5 * (lower + upper)
        if middle - lower <= epsilon or upper - middle <= epsilon:
            return best
        found, _ = best_distribution(objective_vector, constraints_matrix, middle)
        if found is None:
            lower = middle
        else:
            best, upper = found, middle


def best_distribution(
    objective_vector: Any, constraints_matrix: Any, maximum_violation: float = 0.0
) -> tuple[np.ndarray | None, str | None]:
    """The best distribution whose expected violation is at most this.

    Returns:
      The distribution and None, or None and why there is none.

    Raises:
      ValueError: the shapes do not fit, or the violation is negative.
    """
    if maximum_violation < 0.0:
        raise ValueError("maximum_violation must be nonnegative")
    constraints, solutions = _sizes(objective_vector, constraints_matrix)
    import scipy.optimize  # type: ignore[import-untyped]

    result = scipy.optimize.linprog(
        objective_vector,
        A_ub=constraints_matrix,
        b_ub=np.full((constraints, 1), maximum_violation),
        A_eq=np.ones((1, solutions)),
        b_eq=np.ones((1, 1)),
        bounds=(0, None),
    )
    return (result.x, None) if result.success else (None, result.message)


def _sizes(objective_vector: Any, constraints_matrix: Any) -> tuple[int, int]:
    constraints, solutions = np.shape(constraints_matrix)
    if np.shape(objective_vector) != (solutions,):
        raise ValueError(
            "objective_vector must have shape (n,), and constraints_matrix (m, n), "
            "where n is the number of candidates, and m is the number of constraints"
        )
    return constraints, solutions


@export("contrib.constrained_optimization.find_best_candidate_index")
def find_best_candidate_index(
    objective_vector: Any, constraints_matrix: Any, rank_objectives: bool = False
) -> int | None:
    """The solution whose worst rank is the best.

    Solutions are ranked by how much they violate each constraint; all that do not
    violate it are equal. Paper: the search of Section 5.2.

    Args:
      objective_vector: the objective of each solution, [n]. It decides between equals.
      constraints_matrix: the constraints of each, [m, n]; they should be zero or less.
      rank_objectives: whether the objective is a rank too.

    Raises:
      ValueError: the shapes do not fit.
    """
    _, solutions = _sizes(objective_vector, constraints_matrix)

    ranked = [np.maximum(0.0, row) for row in np.asarray(constraints_matrix)]
    if rank_objectives:
        ranked.append(np.asarray(objective_vector))
    worst = np.zeros(solutions, dtype=np.int64)
    for values in ranked:
        # Equals have the rank of the first of them.
        worst = np.maximum(worst, np.searchsorted(np.sort(values), values))
    best = None
    for index in range(solutions):
        key = (worst[index], objective_vector[index])
        # Of equals the last one, as in TensorFlow.
        if best is None or key <= (worst[best], objective_vector[best]):
            best = index
    return best
