"""Gradients of joined tensors that come as slices."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf


@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_negative_axes(axis: int) -> None:
    parts = [tf.constant(np.ones([2, 2], np.float32)) for _ in range(2)]
    joined = tf.concat(parts, axis)
    taken = tf.gather(joined, [1, 0, 1])
    gradients = tf.gradients(taken, parts)
    with tf.Session() as session:
        got = [session.run(tf.convert_to_tensor(each)) for each in gradients]
    counts = np.zeros([4 if axis % 2 == 0 else 2, 1])
    np.add.at(counts, [1, 0, 1], 1)
    wanted = np.split(np.broadcast_to(counts, joined.shape.as_list()), 2, axis)
    for mine, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(mine, other)
