"""Collective operations of one process, and what they refuse."""

from __future__ import annotations

import pytest

import tensorloom as tf
from tensorloom.ops.collective import builders


def test_two_devices_reduce_and_gather() -> None:
    results = []
    with tf.Graph().as_default():
        for number, value in enumerate(([1.0, 2.0], [3.0, 4.0])):
            with tf.device(f"/cpu:{number}"):
                tensor = tf.constant(value)
                results += [
                    builders.all_reduce(tensor, 2, 1, 1, "Add", "Div"),
                    builders.all_gather(tensor, 2, 1, 2),
                ]
        config = tf.ConfigProto(device_count={"CPU": 2})
        with tf.Session(config=config) as sess:
            means, rows, other_means, other_rows = sess.run(results)
    assert means.tolist() == other_means.tolist() == [2.0, 3.0]
    assert rows.tolist() == other_rows.tolist() == [1.0, 2.0, 3.0, 4.0]


def test_what_is_refused() -> None:
    with tf.Graph().as_default():
        tensor = tf.constant([1.0])
        with pytest.raises(ValueError, match="Device assignment required"):
            builders.all_reduce(tensor, 2, 1, 1, "Add", "Id")
        with tf.device("/cpu:0"):
            placed = tf.constant([1.0])
        with pytest.raises(ValueError, match="must be at least 2; it is 1"):
            builders.all_gather(placed, 1, 1, 1)
        with pytest.raises(ValueError, match="Shape of broadcast tensor"):
            builders.broadcast_send(placed, [2], tf.float32, 2, 1, 1)
        with pytest.raises(ValueError, match="Type of broadcast tensor"):
            builders.broadcast_send(placed, [1], tf.int32, 2, 1, 1)
        assert builders.broadcast_recv([1], tf.float32, 2, 1, 1).dtype == tf.float32
