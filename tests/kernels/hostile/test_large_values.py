"""Kernels that take large values in parts, or in another way than small ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

LABELS = np.random.RandomState(5).randint(-2, 44, 300)


def run(tensor: Any, feeds: dict[Any, Any]) -> Any:
    with tf.Session() as session:
        return session.run(tensor, feeds)


@pytest.mark.parametrize("dtype", [np.float32, np.uint16, np.int64, np.bool_])
@pytest.mark.parametrize("axis", [-1, 0])
def test_one_hot_leaves_rows_of_labels_out_of_range_off(dtype: Any, axis: int) -> None:
    with tf.Graph().as_default():
        given = tf.placeholder(tf.int64, LABELS.shape)
        on, off = np.array([1, 0], dtype)
        result = run(tf.one_hot(given, 40, on, off, axis), {given: LABELS})
    wanted = (LABELS[:, None] == np.arange(40)).astype(dtype)
    assert result.dtype == dtype
    np.testing.assert_array_equal(result, wanted.T if axis == 0 else wanted)


@pytest.mark.parametrize("dtype", [np.float32, np.uint8])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_crops_together_are_those_one_by_one(dtype: Any, method: str) -> None:
    random = np.random.RandomState(6)
    images = (random.rand(2, 20, 30, 64) * 200).astype(dtype)
    boxes = (random.rand(25, 4) * 1.4 - 0.2).astype(np.float32)
    owners = random.randint(0, 2, 25).astype(np.int32)
    with tf.Graph().as_default():
        given = tf.placeholder(dtype, images.shape)

        def crop(some: slice) -> Any:
            return tf.image.crop_and_resize(
                given, boxes[some], owners[some], [9, 8], method, 3.0
            )

        one_by_one = [crop(slice(i, i + 1)) for i in range(len(boxes))]
        together, parts = run((crop(slice(None)), one_by_one), {given: images})
    np.testing.assert_array_equal(together, np.concatenate(parts))
