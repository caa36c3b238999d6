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
@pytest.mark.parametrize(("pairs", "longest"), [(2, 4), (40, 12), (9, 60), (6, 90)])
def test_pairs(dtype: Any, pairs: int, longest: int) -> None:
    random = np.random.RandomState(pairs)

    def row() -> list[Any]:
        values = random.randint(0, 3, random.randint(0, longest + 1)).tolist()
        return [b"%d" % value for value in values] if dtype is object else values

    hypotheses, truths = ([row() for _ in range(pairs)] for _ in range(2))
    wanted = [distance(a, b) for a, b in zip(hypotheses, truths, strict=True)]
    given = sparse(hypotheses, dtype, mixed=True), sparse(truths, dtype)
    np.testing.assert_array_equal(run(*given, normalize=False), wanted)


# Elements far apart, and those that are equal as NumPy compares them.
@pytest.mark.parametrize(
    ("dtype", "elements"),
    [
        (np.int64, [-(2**63), 2**63 - 1, 0]),
        (np.int64, [-(2**63), 255 - 2**63, 256 - 2**63]),
        (np.uint64, [2**64 - 1, 2**64 - 2, 2**63]),
        (np.uint64, [2**64 - 1, 2**64 - 2, 2**64 - 3]),
        (np.uint8, [0, 255, 7]),
        (np.int8, [-128, 127, 0]),
        (np.int32, [-5, 65530, 65531]),
        (np.float64, [-0.0, 0.0, np.inf]),
    ],
)
def test_elements(dtype: Any, elements: list[Any]) -> None:
    random = np.random.RandomState(3)
    hypotheses, truths = (
        [[elements[i] for i in random.randint(0, 3, 25)] for _ in range(4)]
        for _ in range(2)
    )
    wanted = [distance(a, b) for a, b in zip(hypotheses, truths, strict=True)]
    given = sparse(hypotheses, dtype), sparse(truths, dtype)
    np.testing.assert_array_equal(run(*given, normalize=False), wanted)


def test_normalized() -> None:
    truths = [[1, 2, 3, 4], [], [], [5]]
    hypotheses = [[1, 3, 4], [7], [], []]
    given = sparse(hypotheses, np.int64), sparse(truths, np.int64)
    np.testing.assert_array_equal(run(*given, normalize=True), [0.25, np.inf, 0, 1])
