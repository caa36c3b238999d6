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
