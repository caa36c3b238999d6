"""`ComputeBatchSize`: what TensorFlow 2.21 tells of pipelines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import tensorloom as tf
from tensorloom.compat.data.distribute import rebatch_dataset


def _range() -> Any:
    return tf.data.Dataset.range(10)


def _joined(*datasets: Any) -> Any:
    return tf.data.Dataset.zip(datasets)


#: By name: a dataset and the size of its batches.
CASES: dict[str, tuple[Callable[[], Any], int]] = {
    "not batched": (_range, -1),
    "batch": (lambda: _range().batch(3), 3),
    "without remainder": (lambda: _range().batch(3, drop_remainder=True), 3),
    "batches of batches": (lambda: _range().batch(3).batch(2), 2),
    "padded": (lambda: _range().padded_batch(5, padded_shapes=[]), 5),
    "map and batch": (
        lambda: _range().apply(tf.data.experimental.map_and_batch(lambda x: x, 6)),
        6,
    ),
    "map": (lambda: _range().batch(3).map(lambda x: x), -1),
    "unbatch": (lambda: _range().batch(4).unbatch(), -1),
    "filter": (lambda: _range().batch(4).filter(lambda x: True), 4),
    "prefetch": (lambda: _range().batch(4).prefetch(1), 4),
    "shuffle": (lambda: _range().batch(4).shuffle(3), 4),
    "repeat": (lambda: _range().batch(4).repeat(2), 4),
    "take": (lambda: _range().batch(4).take(2), 4),
    "skip": (lambda: _range().batch(4).skip(1), 4),
    "shard": (lambda: _range().batch(3).shard(2, 0), 3),
    "cache": (lambda: _range().batch(3).cache(), 3),
    "options": (lambda: _range().batch(3).with_options(tf.data.Options()), 3),
    "equal ones": (lambda: _joined(_range().batch(3), _range().batch(3)), 3),
    "others": (lambda: _joined(_range().batch(3), _range().batch(2)), -1),
    "one after the other": (
        lambda: _range().batch(3).concatenate(_range().batch(3)),
        3,
    ),
    "windows": (lambda: _range().window(3), -1),
    "flat map": (lambda: _range().flat_map(lambda x: _range().batch(2)), -1),
    "one tensor": (lambda: tf.data.Dataset.from_tensors([1, 2]), -1),
}


@pytest.mark.parametrize("name", CASES)
def test_batch_size(name: str) -> None:
    make, wanted = CASES[name]
    found = tf.raw_ops.ComputeBatchSize(input_dataset=make()._variant_tensor)
    assert found.dtype == tf.int64
    assert found.shape == []
    with tf.Session() as sess:
        assert sess.run(found) == wanted


def test_what_is_no_dataset() -> None:
    found = tf.raw_ops.ComputeBatchSize(input_dataset=tf.raw_ops.OptionalNone())
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(found)


def test_a_batch_for_each_replica() -> None:
    """Each component by its own size; a replica may get an empty batch."""
    batches = tf.data.Dataset.zip(
        (tf.data.Dataset.range(6).batch(6), tf.data.Dataset.range(3).batch(3))
    )
    element = rebatch_dataset(batches, 4).make_one_shot_iterator().get_next()
    with tf.Session() as session:
        found = [[c.tolist() for c in session.run(element)] for _ in range(4)]
    assert found == [[[0, 1], [0]], [[2, 3], [1]], [[4, 5], [2]], [[], []]]
