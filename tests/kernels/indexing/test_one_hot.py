"""OneHot of each type of indices, in tensors."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64])
def test_indices_of_each_type(dtype: type) -> None:
    indices = tf.placeholder(dtype, [None])
    rows = tf.one_hot(indices, 300)
    numbers = np.arange(200, dtype=dtype)
    with tf.Session() as sess:
        found = sess.run(rows, {indices: numbers})
    np.testing.assert_array_equal(found, np.eye(300, dtype=np.float32)[:200])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shape", [(4,), (50, 3), (2, 3, 4), (3, 0), (0, 3)])
@pytest.mark.parametrize("depth", [3, 1000, 9000])
def test_counts_are_sums_of_rows(
    shape: tuple[int, ...], dtype: type, depth: int
) -> None:
    """Numbers outside count nowhere, and what comes twice counts twice."""
    numbers = np.random.RandomState(0).randint(-2, depth + 2, shape)
    numbers[..., 1:2] = numbers[..., :1]
    indices = tf.placeholder(tf.int64, [None] * len(shape))
    counts = tf.reduce_sum(tf.one_hot(indices, depth, dtype=dtype), axis=-2)
    metadata = tf.RunMetadata()
    options = tf.RunOptions(output_partition_graphs=True)
    with tf.Session() as sess:
        found = sess.run(counts, {indices: numbers}, options, metadata)
    expected = (numbers[..., None] == np.arange(depth)).sum(axis=-2)
    np.testing.assert_array_equal(found, expected.astype(dtype))
    assert "_CountedHot" in {n.op for g in metadata.partition_graphs for n in g.node}
