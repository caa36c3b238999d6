"""SparseToDense of few and of many values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _run(indices: Any, shape: Any, values: Any, default: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        places = tf.placeholder(tf.int64, [None, 2])
        dense = tf.sparse_to_dense(places, shape, values, default)
        return session.run(dense, {places: indices})


@pytest.mark.parametrize("rows", [3, 70])
@pytest.mark.parametrize("dtype", [np.int64, np.float32, np.int16, object])
def test_values_and_default(rows: int, dtype: Any) -> None:
    indices = np.argwhere(np.random.RandomState(0).rand(rows, 4) < 0.6)
    values = np.arange(len(indices)).astype(dtype)
    default: Any = dtype(-1) if dtype is not object else b"none"
    if dtype is object:
        values = np.array([b"%d" % n for n in range(len(indices))], object)
    expected = np.full((rows, 4), default, dtype)
    expected[tuple(indices.T)] = values
    found = _run(indices, [rows, 4], values, default)
    assert found.tolist() == expected.tolist()
    assert found.dtype == dtype


@pytest.mark.parametrize("rows", [3, 70])
@pytest.mark.parametrize(
    ("last", "message"),
    [
        ([0, 1], "out of order"),
        (None, "is repeated"),
        ([0, 2], "out of bounds"),
        ([-1, 0], "out of bounds"),
    ],
)
def test_places_that_cannot_be(rows: int, last: Any, message: str) -> None:
    indices = [[row, 0] for row in range(rows)]
    indices.append(last or indices[-1])
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _run(indices, [rows, 2], np.arange(len(indices)), -1)
