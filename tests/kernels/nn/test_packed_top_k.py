"""The largest elements of rows: the same places as of a stable sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tensorloom.kernels.host.nn.packed_top_k import largest_with_places


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "u1", "i4", "i8", "u8"])
@pytest.mark.parametrize(("size", "count"), [(400, 1), (400, 5), (400, 30), (1100, 32)])
def test_places(dtype: Any, size: int, count: int) -> None:
    random = np.random.RandomState(size + count)
    values = random.randint(0, 200, [2, 3, size]).astype(dtype)
    if np.dtype(dtype).kind == "f":
        values[values == 3] = -0.0
        values -= values.dtype.type(100)
    if dtype == "u8":
        values += np.uint64(2**63)
    found = largest_with_places(values, count)
    if found is None:  # left to others
        assert values.dtype.itemsize == 8
        return
    # Of equal ones the first: backwards, read backwards.
    ascending = values[..., ::-1].argsort(axis=-1, kind="stable")
    expected = size - 1 - ascending[..., : -count - 1 : -1]
    best, places = found
    np.testing.assert_array_equal(places, expected)
    assert best.dtype == values.dtype
    np.testing.assert_array_equal(best, np.take_along_axis(values, expected, -1))


@pytest.mark.parametrize("count", [1, 5, 200])
def test_nan_is_left_to_others(count: int) -> None:
    values = np.zeros([4, 400], np.float32)
    values[3, 399] = np.nan
    assert largest_with_places(values, count) is None
