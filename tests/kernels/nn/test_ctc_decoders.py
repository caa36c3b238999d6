"""Decoding a batch is decoding each of its sequences, by the definition."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def decoded(rows: Any, blank: int, merge: bool) -> list[int]:
    """The classes of one sequence [time, classes], step by step."""
    found, before = [], None
    for step in rows:
        best = int(np.argmax(step))
        if best != blank and not (merge and best == before):
            found.append(best)
        before = best
    return found


@pytest.mark.parametrize("merge", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(
    "lengths", [[12] * 5, [0, 12, 7, 1, 0], [0] * 5, []], ids=lambda x: str(sum(x))
)
def test_greedy(lengths: list[int], dtype: Any, merge: bool) -> None:
    random = np.random.RandomState(0)
    inputs = random.randint(0, 4, (12, len(lengths), 4)).astype(dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        [found], costs = session.run(
            tf.nn.ctc_greedy_decoder(
                inputs, np.array(lengths, np.int32), merge_repeated=merge
            )
        )
    parts = [inputs[:length, b] for b, length in enumerate(lengths)]
    rows = [decoded(part, 3, merge) for part in parts]
    assert found.values.tolist() == [label for row in rows for label in row]
    places = [[b, i] for b, row in enumerate(rows) for i in range(len(row))]
    assert found.indices.tolist() == places
    assert found.dense_shape.tolist() == [len(rows), max(map(len, rows), default=0)]
    sums = [-part.max(axis=1).sum() if len(part) else 0 for part in parts]
    np.testing.assert_array_equal(costs, np.array(sums, dtype).reshape(-1, 1))


def sums_of_paths(probabilities: Any) -> Counter[tuple[int, ...]]:
    """The probability of each sequence of labels: that of all paths [time] to it."""
    steps, classes = probabilities.shape
    found: Counter[tuple[int, ...]] = Counter()
    for path in itertools.product(range(classes), repeat=steps):
        runs = [label for label, _ in itertools.groupby(path)]
        labels = tuple(label for label in runs if label != classes - 1)
        found[labels] += np.prod(probabilities[range(steps), path])
    return found


@pytest.mark.parametrize("seed", range(5))
def test_a_beam_for_all_sequences_finds_the_likeliest(seed: int) -> None:
    inputs = np.random.RandomState(seed).randn(5, 2, 3).astype(np.float32) * 2
    with tf.Graph().as_default(), tf.Session() as session:
        paths, chances = session.run(
            tf.nn.ctc_beam_search_decoder(
                inputs, [5, 5], beam_width=200, top_paths=3, merge_repeated=False
            )
        )
    for b in range(2):
        exponentials = np.exp(inputs[:, b].astype(np.float64))
        probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
        likeliest = sums_of_paths(probabilities).most_common(3)
        for path, chance, (labels, wanted) in zip(
            paths, chances[b], likeliest, strict=True
        ):
            of_row = path.indices[:, 0] == b
            assert tuple(path.values[of_row]) == labels
            np.testing.assert_allclose(np.exp(chance), wanted, rtol=1e-5)


@pytest.mark.parametrize(
    ("width", "labels", "totals"),
    [
        (
            1,
            [[1, 1, 0, 2, 3, 2, 3, 0, 3, 2, 3, 3, 2, 1, 2, 3]],
            [[-6.7553], [-3.4221], [-4.9345]],
        ),
        (
            3,
            [
                [2, 1, 0, 2, 3, 2, 3, 0, 3, 2, 3, 3, 2, 1, 0, 3],
                [2, 1, 0, 2, 1, 2, 3, 0, 3, 2, 1, 3, 2, 1, 2, 3],
            ],
            [[-5.9731, -6.035], [-3.4221, -3.49], [-4.5435, -4.5912]],
        ),
        (
            8,
            [
                [2, 1, 0, 2, 3, 2, 3, 0, 3, 2, 3, 3, 2, 1, 0, 3],
                [2, 1, 0, 2, 1, 2, 3, 0, 3, 2, 1, 3, 2, 1, 2, 3],
            ],
            [[-5.7694, -5.8313], [-3.4221, -3.49], [-4.5388, -4.5876]],
        ),
    ],
)
def test_a_narrow_beam_loses_what_tensorflow_loses(
    width: int, labels: list[list[int]], totals: list[list[float]]
) -> None:
    inputs = (np.random.RandomState(0).rand(9, 3, 5) * 4).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        found, chances = session.run(
            tf.nn.ctc_beam_search_decoder(
                inputs,
                np.int32([9, 5, 8]),
                beam_width=width,
                top_paths=len(labels),
                merge_repeated=False,
            )
        )
    assert [path.values.tolist() for path in found] == labels
    np.testing.assert_allclose(chances, totals, atol=1e-3)
