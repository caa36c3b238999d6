"""What many nodes at once would gain and say, by their sums of gradients.

As Chen and Guestrin, "XGBoost", 2016: with the gradient g and the hessian h a node says
-g / (h + l2), and gains g^2 / (h + l2); of several classes by vectors and matrices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument

_Array = NDArray[Any]
_F = np.float32
_EPSILON: Final = _F(1e-6)
TREE_PER_CLASS, FULL_HESSIAN, DIAGONAL_HESSIAN = 1, 2, 3


class Sums(NamedTuple):
    """Gradients and hessians, float32 [nodes, ...]."""

    gradients: _Array
    hessians: _Array

    def __sub__(self, other: Sums) -> Sums:
        return Sums(self.gradients - other.gradients, self.hessians - other.hessians)

    def scaled(self, ratio: np.float32) -> Sums:
        """All of it times a number."""
        return Sums(self.gradients * ratio, self.hessians * ratio)

    def at(self, rows: Any) -> Sums:
        """Some of the nodes."""
        return Sums(self.gradients[rows], self.hessians[rows])

    def running(self) -> Sums:
        """The sums from the first node to each, added one by one."""
        return Sums(
            np.add.accumulate(self.gradients, axis=0),
            np.add.accumulate(self.hessians, axis=0),
        )

    def total(self) -> Sums:
        """The sum of all nodes, added one by one, as one node."""
        if not len(self.gradients):
            return Sums(
                np.zeros_like(self.gradients, shape=(1, *self.gradients.shape[1:])),
                np.zeros_like(self.hessians, shape=(1, *self.hessians.shape[1:])),
            )
        return self.running().at(slice(-1, None))

    def are_almost_zero(self) -> _Array:
        """bool [nodes]: gradient and hessian are shorter than 1e-6."""
        limit = np.float64(_EPSILON * _EPSILON)
        return (_squares(self.gradients) <= limit) & (_squares(self.hessians) <= limit)

    def magnitudes(self) -> _Array:
        """The lengths of the hessians, float32 [nodes]."""
        return np.sqrt(_squares(self.hessians)).astype(_F)


def _squares(values: _Array) -> _Array:
    """Sums of squares of each node, which are float32, in float64."""
    flat = values.reshape(len(values), -1)
    sums: _Array = (flat * flat).sum(axis=1, dtype=np.float64)
    return sums


class NodeStats(NamedTuple):
    """What nodes gain, float32 [nodes], and say, float32 [nodes, dimensions]."""

    gains: _Array
    weights: _Array
    # A node without weights makes a leaf without a value, which no split may have.
    have_weights: _Array


@dataclass(frozen=True)
class Regularization:
    """How nodes are judged.

    Raises:
      errors.InvalidArgumentError: the strategy is none of TensorFlow's.
    """

    l1: np.float32
    l2: np.float32
    min_node_weight: np.float32
    strategy: int

    def __post_init__(self) -> None:
        if self.strategy not in (TREE_PER_CLASS, FULL_HESSIAN, DIAGONAL_HESSIAN):
            raise invalid_argument("Wrong multiclass strategy passed.")

    def judge(self, sums: Sums) -> NodeStats:
        """What nodes gain and say.

        Raises:
          errors.InvalidArgumentError: the sums are of another rank than the strategy's.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            if self.strategy == TREE_PER_CLASS:
                return self._numbers(sums)
            self._check_ranks(sums)
            counts = ~sums.are_almost_zero() & ~(
                sums.magnitudes() <= self.min_node_weight
            )
            weights = np.zeros_like(sums.gradients)
            if self.strategy == DIAGONAL_HESSIAN:
                self._by_diagonals(sums, counts, weights)
            else:
                self._by_matrices(sums, counts, weights)
            gains = (-sums.gradients * weights).sum(axis=1, dtype=_F)
        return NodeStats(gains, weights, counts)

    def _check_ranks(self, sums: Sums) -> None:
        rank = 2 if self.strategy == DIAGONAL_HESSIAN else 3
        size = sums.gradients.shape[1:]
        if len(size) != 1 or sums.hessians.shape[1:] != size * (rank - 1):
            raise invalid_argument(
                f"Gradients of shape {list(sums.gradients.shape)}, hessians of shape "
                f"{list(sums.hessians.shape)} are not those of the multiclass strategy."
            )

    def _numbers(self, sums: Sums) -> NodeStats:
        g = sums.gradients.reshape(len(sums.gradients), -1)[:, 0]
        h = sums.hessians.reshape(len(sums.hessians), -1)[:, 0]
        counts = ~sums.are_almost_zero() & ~(h <= self.min_node_weight)
        if self.l1 > 0:
            counts &= abs(g) > self.l1
            g = np.where(g > 0, g - self.l1, g + self.l1)
        weights = np.where(counts, -g / (h + self.l2), _F(0)).astype(_F)
        gains = np.where(counts, weights * -g, _F(0)).astype(_F)
        return NodeStats(gains, weights[:, np.newaxis], np.ones(len(g), bool))

    def _by_diagonals(self, sums: Sums, counts: _Array, weights: _Array) -> None:
        regular = sums.hessians + self.l2
        invertible = (regular != 0).all(axis=1)
        easy = counts & invertible
        weights[easy] = -(_F(1) / regular[easy]) * sums.gradients[easy]
        for node in np.flatnonzero(counts & ~invertible):
            weights[node] = -_solve(np.diag(regular[node]), sums.gradients[node])

    def _by_matrices(self, sums: Sums, counts: _Array, weights: _Array) -> None:
        size = sums.gradients.shape[1]
        regular = sums.hessians + self.l2 * np.eye(size, dtype=_F)
        for node in np.flatnonzero(counts):
            # TensorFlow reads matrices by columns; a hessian is the same either way.
            weights[node] = -_solve(regular[node].T, sums.gradients[node])


def _solve(matrix: _Array, right: _Array) -> _Array:
    """x of matrix x = right; 0 for the columns that add nothing to the others.

    Columns are taken by their length beside those taken before, the longest first.
    """
    left = matrix.astype(np.float64)
    limit = np.finfo(_F).eps * len(matrix)
    chosen: list[int] = []
    longest = 0.0
    for _ in range(len(matrix)):
        lengths = np.linalg.norm(left, axis=0)
        column = int(np.argmax(lengths))
        longest = max(longest, float(lengths[column]))
        if lengths[column] <= limit * longest:
            break
        chosen.append(column)
        direction = left[:, column] / lengths[column]
        left -= np.outer(direction, direction @ left)
    found = np.zeros(len(matrix), _F)
    if chosen:
        found[chosen] = np.linalg.lstsq(
            matrix[:, chosen].astype(np.float64), right.astype(np.float64), rcond=None
        )[0]
    return found
