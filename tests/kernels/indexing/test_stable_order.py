"""Keys and places in order are those of a stable argsort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.kernels.host.indexing.stable_order import (
    are_distinct,
    find_repeats,
    stable_order,
)


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("count", [0, 1, 2, 7, 64, 1000])
def test_order(count: int, dtype: Any) -> None:
    random = np.random.RandomState(count)
    for most in (1, 5, 1 << 16, (1 << 16) + 1, 2**31 - 1):
        keys = random.randint(0, most, count).astype(dtype)
        given, places = stable_order(keys)
        np.testing.assert_array_equal(places, np.argsort(keys, kind="stable"))
        np.testing.assert_array_equal(given, keys[places])


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize(
    ("keys", "distinct"),
    [([], True), ([5], True), ([3, 1, 2], True), ([3, 1, 3], False), ([0, 0], False)],
)
def test_distinct(keys: list[int], distinct: bool, dtype: Any) -> None:
    given = np.array(keys, dtype)
    assert are_distinct(given) is distinct
    assert given.tolist() == keys


@pytest.mark.parametrize(
    ("keys", "repeats"),
    [
        ([], []),
        ([5], []),
        ([3, 1, 2], []),
        ([3, 1, 3, 0, 1, 3], [(4, 1), (2, 0), (5, 0)]),
        ([1 << 20, 1 << 20], [(1, 0)]),
    ],
)
@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_repeats_and_where_each_came_first(
    keys: list[int], repeats: list[tuple[int, int]], dtype: Any
) -> None:
    later, first = find_repeats(np.array(keys, dtype))
    assert list(zip(later.tolist(), first.tolist(), strict=True)) == repeats
