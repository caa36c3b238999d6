"""Dilation passes over NaN and takes what TensorFlow's loops take."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _expected(image: Any, filters: Any, stride: int) -> Any:
    """The largest of image + filter over each window, VALID; NaN is never larger."""
    high, wide, _ = filters.shape
    rows = range(0, image.shape[1] - high + 1, stride)
    columns = range(0, image.shape[2] - wide + 1, stride)
    result = np.full((len(image), len(rows), len(columns), image.shape[3]), -np.inf)
    for i, y in enumerate(rows):
        for j, x in enumerate(columns):
            sums = image[:, y : y + high, x : x + wide] + filters
            result[:, i, j] = np.fmax.reduce(sums, axis=(1, 2))
    return result


@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("special", [None, np.nan, np.inf])
def test_maxima(stride: int, special: float | None) -> None:
    random = np.random.RandomState(0)
    image = random.randn(2, 9, 8, 3).astype(np.float32)
    filters = random.randn(3, 2, 3).astype(np.float32)
    if special is not None:
        image[0, 4, 4] = special
    strides = [1, stride, stride, 1]
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, image.shape)
        found = session.run(
            tf.nn.dilation2d(fed, filters, strides, [1] * 4, "VALID"), {fed: image}
        )
    np.testing.assert_array_equal(found, _expected(image, filters, stride))
