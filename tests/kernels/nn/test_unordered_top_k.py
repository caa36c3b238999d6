"""The largest elements of rows with NaN, as TensorFlow 1.15 finds them."""

from __future__ import annotations

import numpy as np
import pytest

from tensorloom.kernels.host.nn.unordered_top_k import correct_rows, order_with_nan

# (row length, k, what TensorFlow 1.15 gave for the row of `_row`)
_RECORDED = [
    (5, 1, [2]),
    (5, 2, [1, 2]),
    (5, 4, [1, 2, 3, 0]),
    (5, 5, [2, 0, 1, 3, 4]),
    (8, 1, [2]),
    (8, 2, [1, 2]),
    (8, 4, [1, 2, 3, 5]),
    (8, 7, [1, 2, 3, 0, 4, 5, 6]),
    (8, 8, [2, 0, 1, 3, 4, 5, 6, 7]),
    (20, 1, [17]),
    (20, 2, [1, 17]),
    (20, 10, [1, 4, 7, 17, 14, 11, 8, 5, 2, 18]),
    (20, 20, [10, 19, 17, 18, 16, 14, 15, 13, 11, 8, 12, 9, 0, 7, 5, 6, 4, 2, 3, 1]),
    (
        40,
        20,
        [1, 15, 3, 4, 11, 5, 7, 8, 10, 13, 16, 17, 19, 39, 33, 27, 21, 38, 32, 9],
    ),
]


def _row(size: int) -> list[float]:
    numbers = np.arange(size) * 7 % size
    return np.where(np.arange(size) % 3 == 1, np.nan, numbers).tolist()


@pytest.mark.parametrize(("size", "count", "expected"), _RECORDED)
def test_the_order_is_tensorflows(size: int, count: int, expected: list[int]) -> None:
    assert order_with_nan(_row(size), count) == expected


@pytest.mark.parametrize("count", [1, 7, 39, 40])
def test_rows_without_nan_are_in_descending_order(count: int) -> None:
    row = (np.arange(40) * 7 % 13).astype(float).tolist()
    expected = sorted(range(40), key=lambda i: (-row[i], i))[:count]
    assert order_with_nan(row, count) == expected


@pytest.mark.parametrize("size", [1, 2, 17, 64, 500])
@pytest.mark.parametrize("share", [0.1, 0.5, 1.0])
def test_each_place_comes_once(size: int, share: float) -> None:
    rng = np.random.default_rng(size)
    row = np.where(rng.random(size) < share, np.nan, rng.integers(0, 9, size))
    for count in {1, size // 2 + 1, size}:
        order = order_with_nan(row.tolist(), count)
        assert len(set(order)) == len(order) == count
        assert all(0 <= place < size for place in order)


def test_rows_without_nan_stay_as_they_are() -> None:
    values = np.array([[1.0, 2.0, 3.0], [np.nan, 2.0, 3.0]])
    order, found = np.array([[2, 1], [0, 2]]), np.array([[3.0, 2.0], [np.nan, 3.0]])
    correct_rows(values, order, found)
    assert order[0].tolist() == [2, 1]
    np.testing.assert_array_equal(found[1], values[1][order[1]])
