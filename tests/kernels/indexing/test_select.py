"""Rows taken apart by labels and by coordinates, and put together by indices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _run(fetches: Any, feeds: dict[Any, Any]) -> Any:
    with tf.Session() as sess:
        return sess.run(fetches, feeds)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "uint16", "bool"])
@pytest.mark.parametrize("inner", [(), (3,), (2, 2), (0,)])
def test_stitched_rows(dtype: str, inner: tuple[int, ...]) -> None:
    """Of equal indices the last row counts; rows that nobody puts are zeros here."""
    indices = [np.array([[3, 0], [3, 7]]), np.array(0), np.array([2, 2, 5])]
    random = np.random.RandomState(0)
    data = [
        random.randint(0, 9, (*index.shape, *inner)).astype(
            tf.as_dtype(dtype).as_numpy_dtype
        )
        for index in indices
    ]
    expected = np.zeros((8, *inner), data[0].dtype)
    for index, part in zip(indices, data, strict=True):
        rows = part.reshape((index.size, *inner))
        for i, row in zip(index.reshape(-1), rows, strict=True):
            expected[i] = row
    fed = [tf.placeholder(dtype, [None] * part.ndim) for part in data]
    stitched = tf.dynamic_stitch([i.astype(np.int32) for i in indices], fed)
    found = _run(stitched, dict(zip(fed, data, strict=True)))
    assert found.dtype == data[0].dtype
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("count", [1, 5, 9, 300, 70000])
@pytest.mark.parametrize("inner", [(), (3,)])
def test_partitions_keep_the_order(count: int, inner: tuple[int, ...]) -> None:
    random = np.random.RandomState(0)
    labels = random.randint(0, count, 5000).astype(np.int32)
    data = random.randn(5000, *inner).astype(np.float32)
    fed = [tf.placeholder(tf.float32, [None, *inner]), tf.placeholder(tf.int32, [None])]
    first_last = tf.dynamic_partition(*fed, count)
    some = sorted({0, count // 2, count - 1})
    found = _run(
        [first_last[i] for i in some], dict(zip(fed, (data, labels), strict=True))
    )
    for i, part in zip(some, found, strict=True):
        np.testing.assert_array_equal(part, data[labels == i])


@pytest.mark.parametrize("shape", [(50,), (30, 40), (5, 6, 7)])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_coordinates(shape: tuple[int, ...], dtype: str) -> None:
    random = np.random.RandomState(0)
    params = random.randn(*shape).astype(np.float32)
    fed = tf.placeholder(tf.float32, [None] * len(shape))
    for depth in range(len(shape) + 1):
        columns = [random.randint(0, size, (9, 500)) for size in shape[:depth]]
        indices = np.stack(columns, -1) if depth else np.empty((9, 500, 0))
        places = tf.placeholder(dtype, [None] * 3)
        found = _run(tf.gather_nd(fed, places), {fed: params, places: indices})
        expected = (
            params[tuple(columns)]
            if depth
            else np.broadcast_to(params, (9, 500, *shape))
        )
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("bad", [-1, 40])
def test_bad_coordinates_are_named(bad: int) -> None:
    fed = tf.placeholder(tf.float32, [None, None])
    indices = np.zeros((300, 2), np.int64)
    indices[200, 1] = bad
    with pytest.raises(tf.errors.InvalidArgumentError) as error:
        _run(tf.gather_nd(fed, indices), {fed: np.zeros((30, 40))})
    message = f"indices[200] = [0, {bad}] does not index into param shape [30,40]"
    assert message in str(error.value)


@pytest.mark.parametrize("size", [0, 1, 50, 5000])
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_inverse_permutations(size: int, dtype: str) -> None:
    order = np.random.RandomState(0).permutation(size).astype(dtype)
    fed = tf.placeholder(dtype, [None])
    inverse = _run(tf.invert_permutation(fed), {fed: order})
    assert inverse.dtype == order.dtype
    np.testing.assert_array_equal(inverse[order], np.arange(size))


@pytest.mark.parametrize("shape", [(50,), (5000,), (300, 4)])
@pytest.mark.parametrize("known", [False, True])
def test_shuffles_without_a_seed_differ(shape: tuple[int, ...], known: bool) -> None:
    rows = np.arange(np.prod(shape)).reshape(shape)
    fed = tf.placeholder(tf.int64, shape if known else None)
    shuffled = tf.random_shuffle(fed)
    with tf.Session() as sess:
        first, second = (sess.run(shuffled, {fed: rows}) for _ in range(2))
    for found in (first, second):
        np.testing.assert_array_equal(np.sort(found, axis=0), rows)
        if rows.ndim > 1:  # rows stay together
            assert bool((np.diff(found, axis=1) == 1).all())
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, rows)
