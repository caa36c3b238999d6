"""Quantile sketches: exact while small, of bounded error when compressed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tensorloom.kernels.host.boosted_trees import weighted_quantiles as sketches


@given(st.lists(st.integers(0, 50), min_size=1, max_size=300))
def test_quantiles_have_ranks_within_the_error(numbers: list[int]) -> None:
    epsilon = 0.1
    stream = sketches.QuantileStream(epsilon, 1000)
    stream.push_values(np.array(numbers, np.float32), np.ones(len(numbers), np.float32))
    entries = stream.finish()
    assert entries[-1].max_rank == len(numbers)
    ordered = np.sort(numbers)
    for index, value in enumerate(sketches.quantiles(entries, 4)):
        low = np.searchsorted(ordered, value, "left")
        high = np.searchsorted(ordered, value, "right")
        wanted = index * len(numbers) / 4
        slack = 2 * epsilon * len(numbers) + 1
        assert low - slack <= wanted <= high + slack


def test_merging_equals_pushing_everything() -> None:
    first = sketches.from_values(np.float32([1]), np.float32([2]))
    second = sketches.from_values(np.float32([3, 1]), np.float32([1, 1]))
    merged = sketches.merge(first, second)
    assert [tuple(map(float, entry)) for entry in merged] == [
        (1.0, 3.0, 0.0, 3.0),
        (3.0, 1.0, 3.0, 4.0),
    ]


@pytest.mark.parametrize("count", [-1, 0, 1])
def test_boundaries_of_few_parts(count: int) -> None:
    entries = sketches.from_values(
        np.arange(9, dtype=np.float32), np.ones(9, np.float32)
    )
    assert sketches.boundaries(entries, count) == [0, 5, 8]


def test_boundaries_of_no_weight() -> None:
    nothing = sketches.Entry(*np.float32([1, 0, 0, 0]))
    assert sketches.boundaries([nothing], 3) == [1]
