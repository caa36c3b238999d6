"""Edit distances of many pairs are those of each pair alone."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def distance(a: list[Any], b: list[Any]) -> int:
    """Levenshtein's distance, by its definition: over the ends of both."""

    @cache
    def of_ends(i: int, j: int) -> int:
        if i == len(a) or j == len(b):
            return len(a) - i + len(b) - j
        replaced = of_ends(i + 1, j + 1) + (a[i] != b[j])
        return min(of_ends(i + 1, j) + 1, of_ends(i, j + 1) + 1, replaced)

    return of_ends(0, 0)


def sparse(rows: list[list[Any]], dtype: Any, mixed: bool = False) -> Any:
    """The rows as a sparse tensor; `mixed`: every third row comes first."""
    places = [(i, j) for i, row in enumerate(rows) for j in range(len(row))]
    if mixed:
        places.sort(key=lambda place: (place[0] % 3, place))
    values = [rows[i][j] for i, j in places]
    widest = max(map(len, rows))
    return tf.SparseTensorValue(
        np.array(places, np.int64).reshape(-1, 2),
        np.array(values, dtype),
        np.array([len(rows), max(widest, 1)], np.int64),
    )


def run(hypothesis: Any, truth: Any, normalize: bool) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        pair = (tf.SparseTensor.from_value(x) for x in (hypothesis, truth))
        return session.run(tf.edit_distance(*pair, normalize=normalize))


@pytest.mark.parametrize("dtype", [np.int64, np.float32, object])
@pytest.mark.parametrize(("pairs", "longest"), [(2, 4), (40, 12), (9, 60)])
def test_pairs(dtype: Any, pairs: int, longest: int) -> None:
    random = np.random.RandomState(pairs)

    def row() -> list[Any]:
        values = random.randint(0, 3, random.randint(0, longest + 1)).tolist()
        return [b"%d" % value for value in values] if dtype is object else values

    hypotheses, truths = ([row() for _ in range(pairs)] for _ in range(2))
    wanted = [distance(a, b) for a, b in zip(hypotheses, truths, strict=True)]
    given = sparse(hypotheses, dtype, mixed=True), sparse(truths, dtype)
    np.testing.assert_array_equal(run(*given, normalize=False), wanted)


def test_normalized() -> None:
    truths = [[1, 2, 3, 4], [], [], [5]]
    hypotheses = [[1, 3, 4], [7], [], []]
    given = sparse(hypotheses, np.int64), sparse(truths, np.int64)
    np.testing.assert_array_equal(run(*given, normalize=True), [0.25, np.inf, 0, 1])
