"""`MutableDenseHashTable`, laid out as TensorFlow 1.15 saves it (recorded)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework import errors

DenseHashTable = tf.lookup.experimental.DenseHashTable


def table(key: Any, value: Any, default: Any, empty: Any, deleted: Any) -> Any:
    return DenseHashTable(key, value, default, empty, deleted, initial_num_buckets=8)


def test_buckets_of_numbers() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = table(tf.int64, tf.int64, -1, -1, -2)
        numbers = [1, 9, 17, 4, 100, 7, 8]
        sess.run(a.insert(numbers, [10 * n for n in numbers]))
        sess.run(a.remove(tf.constant([9], tf.int64)))
        keys, values = sess.run(a.export())
        expected = [-1, 1, 17, -1, 4, 100, -1, 7, 8, *[-1] * 7]
        assert keys.tolist() == [[key] for key in expected]
        assert values[:5].tolist() == [[0], [10], [170], [0], [40]]


def test_buckets_of_strings_and_of_vectors() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        b = table(tf.string, tf.float32, [0.0, 0.0], "", "DEL")
        sess.run(b.insert(["x", "zzz"], [[1, 2], [5, 6]]))
        keys, values = sess.run(b.export())
        assert keys[:, 0].tolist() == [b"x", b"", b"", b"zzz", b"", b"", b"", b""]
        assert values[[0, 3]].tolist() == [[1, 2], [5, 6]]
        c = table(tf.int64, tf.int64, -1, [0, 0], [-1, -1])
        sess.run(c.insert([[1, 2], [3, 4]], [12, 34]))
        assert sess.run(c.lookup([[1, 2], [3, 4], [5, 6]])).tolist() == [12, 34, -1]
        keys, _ = sess.run(c.export())
        expected = np.zeros((8, 2), int)
        expected[[3, 7]] = [[1, 2], [3, 4]]
        assert keys.tolist() == expected.tolist()


def test_import_takes_buckets() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = table(tf.int64, tf.float32, -1.0, -1, -2)
        sess.run(
            tf.raw_ops.LookupTableImportV2(
                table_handle=a.resource_handle,
                # As they are restored: of a known rank they would be refused.
                keys=tf.placeholder_with_default(
                    np.int64([[5], [-1], [-2], [7]]), None
                ),
                values=tf.placeholder_with_default(
                    np.float32([[0.5], [0.0], [9.0], [0.7]]), None
                ),
            )
        )
        assert sess.run(a.size()) == 2
        found = sess.run(a.lookup(tf.constant([5, 6, 7], tf.int64)))
        assert found.tolist() == [0.5, -1.0, np.float32(0.7)]


@pytest.mark.parametrize(
    ("empty", "deleted", "buckets", "message"),
    [
        (1, 1, 8, "cannot be equal"),
        (1, 2, 7, "power of 2"),
        ([1], 2, 8, "must have same shape"),
    ],
)
def test_bad_tables(empty: Any, deleted: Any, buckets: int, message: str) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        bad = DenseHashTable(
            tf.int64, tf.int64, 0, empty, deleted, initial_num_buckets=buckets
        )
        with pytest.raises(errors.InvalidArgumentError, match=message):
            sess.run(bad.size())


def test_bad_keys() -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        a = table(tf.int64, tf.int64, -1, -1, -2)
        with pytest.raises(errors.InvalidArgumentError, match="empty_key"):
            sess.run(a.insert([-1], [1]))
        c = table(tf.int64, tf.int64, -1, [0, 0], [-1, -1])
        with pytest.raises(errors.InvalidArgumentError, match="must end with"):
            sess.run(c.lookup([[1, 2, 3]]))


@pytest.mark.parametrize(
    ("empty", "keys", "message"),
    [
        (-1, [[5], [7]], None),
        (-1, [[5, 7]], r"Expected key shape \[1\] got \[1,2\]"),
        ([0, 0], [5, 7], r"Expected key shape \[2,2\] got \[2\]"),
        ([0, 0], [[[5, 7], [1, 2]]], r"Expected key shape \[1,2\] got \[1,2,2\]"),
    ],
)
def test_keys_are_one_list(empty: Any, keys: Any, message: str | None) -> None:
    """As TensorFlow 1.15 and 2.21 have it."""
    deleted = np.full_like(empty, -2)
    with tf.Graph().as_default(), tf.Session() as sess:
        found = table(tf.int64, tf.int64, -7, np.int64(empty), deleted)
        fed = tf.placeholder(tf.int64, None)
        if message is None:
            assert sess.run(found.lookup(fed), {fed: keys}).tolist() == [[-7], [-7]]
            return
        for op in (found.lookup(fed), found.remove(fed)):
            with pytest.raises(errors.InvalidArgumentError, match=message):
                sess.run(op, {fed: keys})
