"""Keys and places in order are those of a stable argsort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.kernels.host.stable_order import are_distinct, stable_order


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
