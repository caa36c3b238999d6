"""A batch of examples, dense and sparse features together."""

from __future__ import annotations

import re
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tensorloom.framework.errors import invalid_argument
from tensorloom.kernels.host.random.philox import Generator, unwanted_words

_Array = NDArray[Any]
CATEGORICAL: Final = 1
# Of a split: InequalityTest's types, and equality with a category.
LESS_OR_EQUAL, LESS_THAN, GREATER_OR_EQUAL, GREATER_THAN, EQUAL = range(5)


class Spec:
    """What the columns of the input are: the ops' attribute `input_spec`."""

    def __init__(self, text: str) -> None:
        found = re.fullmatch(
            r"dense_features_size: (\d+) dense: \[(.*)\] sparse: \[(.*)\]", text
        )
        if found is None:
            raise invalid_argument(f"Not an input_spec of a forest: {text!r}")
        self.dense_size = int(found[1])
        self.dense_types: list[int] = []
        for kind, size in _columns(found[2]):
            self.dense_types += [kind] * size
        sparse = _columns(found[3])
        self.sparse_type = sparse[0][0] if sparse else 0


def _columns(text: str) -> list[tuple[int, int]]:
    """The (type, size) of each column."""
    columns = re.findall(r"original_type: (-?\d+) size: (-?\d+)\}", text)
    return [(int(kind), int(size)) for kind, size in columns]


class Inputs:
    """The features of a batch: a matrix, a sparse matrix beside it, or one of both."""

    def __init__(
        self, spec: Spec, dense: Any, indices: Any, values: Any, shape: Any
    ) -> None:
        self._spec = spec
        self._dense = dense if np.ndim(dense) == 2 else None
        self._cells: dict[tuple[int, int], float] = {}
        self._of_row: dict[int, list[int]] = {}
        sparse_rows = 0
        if np.ndim(indices) == 2:
            sparse_rows = int(shape[0]) if len(shape) else 0
            for (row, column), value in zip(
                np.asarray(indices).tolist(), np.asarray(values).tolist(), strict=True
            ):
                self._cells.setdefault((row, column), value)
                self._of_row.setdefault(row, []).append(column)
        self.count = len(self._dense) if self._dense is not None else sparse_rows
        # Features can be bagged: then there are fewer than the specification says.
        columns = 0 if self._dense is None else self._dense.shape[1]
        self._dense_size = min(spec.dense_size, columns)

    def at(self, rows: _Array, features: _Array) -> _Array:
        """The values of pairs of example and feature; the arguments broadcast.

        Raises:
          errors.InvalidArgumentError: a dense feature is not there.
        """
        rows, features = np.broadcast_arrays(rows, features)
        is_sparse = features >= self._spec.dense_size
        if not is_sparse.any():
            self._check(features)
            assert self._dense is not None
            found: _Array = self._dense[rows, features]
            return found
        result = np.zeros(rows.shape, np.float32)
        self._check(features[~is_sparse])
        if self._dense is not None:
            result[~is_sparse] = self._dense[rows[~is_sparse], features[~is_sparse]]
        pairs = zip(rows[is_sparse].tolist(), features[is_sparse].tolist(), strict=True)
        result[is_sparse] = [self._cells.get(pair, 0.0) for pair in pairs]
        return result

    def _check(self, features: _Array) -> None:
        if features.size and features.max() >= self._dense_size:
            raise invalid_argument(
                f"A tree splits feature {features.max()}, of {self._dense_size}."
            )

    def sample(self, row: int, draws: Draws) -> tuple[int, float, bool] | None:
        """A random feature of an example: (feature, value, whether a category).

        None if the example has no features.
        """
        columns = self._of_row.get(row, [])
        total = self._dense_size + len(columns)
        if not total:
            return None
        chosen = draws.below(total)
        if chosen < self._dense_size:
            feature, kind = chosen, self._spec.dense_types[chosen]
        else:
            # Behind the dense features, as TensorFlow numbers them.
            feature = columns[chosen - self._dense_size] + self._spec.dense_size
            kind = self._spec.sparse_type
        value = float(self.at(np.array([row]), np.array([feature]))[0])
        return feature, value, kind == CATEGORICAL


class Draws:
    """Random numbers, one after the other, from a seed; 0 is a seed that varies."""

    def __init__(self, seed: int) -> None:
        self._generator = Generator(seed, 0)
        self._words: list[int] = []

    def below(self, limit: int) -> int:
        """A number of 0 to `limit` - 1."""
        unwanted = unwanted_words(limit)
        while True:
            if not self._words:
                self._words = self._generator.reserve(64).words(256)[::-1].tolist()
            word = self._words.pop()
            if word >= unwanted:
                return int(word) % limit


def goes_left(values: _Array, tests: _Array, thresholds: _Array) -> _Array:
    """Whether each value passes its test."""
    first = tests.flat[0] if tests.size else LESS_OR_EQUAL
    if (tests == first).all():
        passes: _Array = _COMPARE[first](values, thresholds)
        return passes
    choices = [compare(values, thresholds) for compare in _COMPARE]
    chosen: _Array = np.choose(np.broadcast_to(tests, values.shape), choices)
    return chosen


_COMPARE: Final[list[Any]] = [
    np.less_equal,
    np.less,
    np.greater_equal,
    np.greater,
    np.equal,
]
