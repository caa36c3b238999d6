"""The features of a batch of examples, as trees ask for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument

_Array = NDArray[Any]
# ("dense", column), ("sparse", column, dimension, whether a missing value goes to the
# left) or ("ids", column, ids: 0 where an example has one of them, else 1).
Question = tuple[Any, ...]


class BatchFeatures:
    """Dense numbers, sparse numbers and sparse categories.

    Args:
      counts: how many of each kind there are.
      inputs: the dense features, then indices, values and shapes of the sparse numbers,
        then those of the categories.

    Raises:
      errors.InvalidArgumentError: a feature has another shape than it must.
    """

    def __init__(self, counts: tuple[int, int, int], inputs: Sequence[_Array]) -> None:
        dense, floats, ids = counts
        self._dense = inputs[:dense]
        self._floats = _triples(inputs[dense:], floats)
        self._ids = _triples(inputs[dense + 3 * floats :], ids)
        self._answers: dict[Question, _Array] = {}
        self.batch_size = self._infer_batch_size()
        self._check()

    def _infer_batch_size(self) -> int:
        if self._dense:
            return int(np.shape(self._dense[0])[0]) if np.ndim(self._dense[0]) else 0
        for _, _, shape in [*self._floats, *self._ids]:
            return int(np.reshape(shape, -1)[0]) if np.size(shape) else 0
        raise invalid_argument("Must have at least one feature column.")

    def _check(self) -> None:
        size = self.batch_size
        for values in self._dense:
            if np.ndim(values) != 2:
                raise invalid_argument("Dense float feature must be a matrix.")
            if len(values) != size:
                raise invalid_argument(
                    "Dense float vector must have batch_size rows: "
                    f"{size} vs. {len(values)}"
                )
            if values.shape[1] != 1:
                raise invalid_argument(
                    "Dense float features may not be multivalent: dim_size(1) = "
                    f"{values.shape[1]}"
                )
        for kind, features in (("float", self._floats), ("int", self._ids)):
            for feature in features:
                self._check_sparse(f"Sparse {kind} feature", *feature)

    def _check_sparse(
        self, what: str, indices: _Array, values: _Array, shape: _Array
    ) -> None:
        for part, name, rank in (
            (indices, "indices", 2),
            (values, "values", 1),
            (shape, "shape", 1),
        ):
            if np.ndim(part) != rank:
                must = "a matrix" if rank == 2 else "a vector"
                raise invalid_argument(f"{what} {name} must be {must}.")
        if len(shape) != 2:
            raise invalid_argument(f"{what} column must be two-dimensional.")
        if shape[0] != self.batch_size:
            raise invalid_argument(f"{what} shape incompatible with batch size.")
        if indices.shape != (len(values), 2):
            raise invalid_argument(
                f"{what} has {len(values)} values, but indices of shape "
                f"{list(indices.shape)}."
            )
        rows = indices[:, 0]
        if len(rows) and not 0 <= rows.min() <= rows.max() < self.batch_size:
            raise invalid_argument(
                f"{what} has a value of example {rows.max()}, of {self.batch_size}."
            )

    def answers(self, questions: Sequence[Question]) -> _Array:
        """float64 [examples, questions]: what each example answers.

        Raises:
          errors.InvalidArgumentError: a question is about a feature that is not there.
        """
        table = np.empty((self.batch_size, max(len(questions), 1)), np.float64)
        for place, question in enumerate(questions):
            table[:, place] = self._answer(question)
        return table

    def _answer(self, question: Question) -> _Array:
        known = self._answers.get(question)
        if known is None:
            kind, column, *rest = question
            of_kind: Sequence[Any] = {
                "dense": self._dense,
                "sparse": self._floats,
                "ids": self._ids,
            }[kind]
            if not 0 <= column < len(of_kind):
                raise invalid_argument(
                    f"A tree splits {kind} feature {column}, of {len(of_kind)}."
                )
            if kind == "dense":
                known = of_kind[column][:, 0].astype(np.float64)
            elif kind == "sparse":
                known = self._sparse_numbers(of_kind[column], *rest)
            else:
                known = self._misses_all(of_kind[column], *rest)
            self._answers[question] = known
        return known

    def _sparse_numbers(self, feature: Any, dimension: int, goes_left: bool) -> _Array:
        """The numbers of a dimension; infinite where they are missing."""
        indices, values, shape = feature
        found = np.full(self.batch_size, -np.inf if goes_left else np.inf)
        if shape[1] <= 1:
            here = np.full(len(values), dimension == 0)
        else:
            here = indices[:, 1] == dimension
        # Of several numbers TensorFlow takes the first one of a single dimension.
        found[indices[here, 0][::-1]] = values[here][::-1]
        return found

    def _misses_all(self, feature: Any, ids: tuple[int, ...]) -> _Array:
        indices, values, _ = feature
        missing = np.ones(self.batch_size)
        missing[indices[np.isin(values, ids), 0]] = 0
        return missing


def _triples(inputs: Sequence[_Array], count: int) -> list[tuple[Any, Any, Any]]:
    """Indices, values and shapes come one kind after the other."""
    return [(inputs[i], inputs[count + i], inputs[2 * count + i]) for i in range(count)]
