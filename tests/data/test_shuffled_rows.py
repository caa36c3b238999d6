"""Rows that are shuffled many at a time have the order of one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from tensorloom.framework.types import dtypes
from tensorloom.framework.types.tensor_shape import TensorShape
from tensorloom.kernels.host.data.pipeline import shuffle
from tensorloom.kernels.host.data.pipeline.dataset import DatasetIterator, RowDataset
from tensorloom.kernels.host.data.pipeline.sources import RandomWords


class _Numbers(RowDataset):
    def __init__(self, count: int) -> None:
        super().__init__([dtypes.int64], [TensorShape([])])
        self._count = count

    @property
    def rows(self) -> int:
        return self._count

    def row(self, index: int) -> tuple[int]:
        return (index,)

    def gather(self, indices: np.ndarray) -> list[np.ndarray]:
        return [np.asarray(indices)]


def _shuffled(rows: int, size: int, count: int) -> DatasetIterator:
    draw = shuffle._Draw(RandomWords(3, 4), size, count)
    return shuffle._ShuffledRows(_Numbers(rows), draw)


@pytest.mark.parametrize("batch", [1, 3, 100])
@pytest.mark.parametrize(
    ("rows", "size", "count"),
    [
        (0, 5, 1),
        (1, 1, 1),
        (7, 1, 3),
        (10, 4, 1),
        (10, 10, 1),
        (10, 11, 2),
        (10, 4, 3),
        (3, 40, 5),
        (5000, 3000, 1),
        (50, 2**63 - 1, 1),
    ],
)
def test_order(rows: int, size: int, count: int, batch: int) -> None:
    single = [element[0] for element in _shuffled(rows, size, count)]
    many, taken = _shuffled(rows, size, count), []
    while len((part := many.take(batch))[0]):
        taken += part[0].tolist()
    assert taken == single
    assert sorted(taken) == sorted(list(range(rows)) * count)


@pytest.mark.parametrize("counts", [[5], [1, 2, 3], [1000, 1000, 100], [0, 4]])
def test_words_at_once(counts: list[int]) -> None:
    one, many = RandomWords(1, 2), RandomWords(1, 2)
    for count in counts:
        assert many.take(count) == [one.next() for _ in range(count)]
    assert many.next() == one.next()
