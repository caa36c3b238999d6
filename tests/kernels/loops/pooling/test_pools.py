"""Pools of quantized images, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf


def _pooled(op: str, images: Any, window: int, stride: int, padding: str) -> Any:
    """The maxima or means, and where padding begins."""
    batch, *sizes, channels = images.shape
    if padding == "SAME":
        outputs = [-(-size // stride) for size in sizes]
    else:
        outputs = [(size - window) // stride + 1 for size in sizes]
    result = np.empty((batch, *outputs, channels), images.dtype)
    before = [0, 0]
    if padding == "SAME":
        before = [
            max((new - 1) * stride + window - old, 0) // 2
            for new, old in zip(outputs, sizes, strict=True)
        ]
    for y, x in np.ndindex(*outputs):
        top, left = y * stride - before[0], x * stride - before[1]
        part = images[
            :, max(top, 0) : top + window, max(left, 0) : left + window
        ].astype(np.int64)
        if op == "QuantizedMaxPool":
            result[:, y, x] = part.max((1, 2))
        else:
            result[:, y, x] = np.trunc(part.mean((1, 2)))
    return result


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("window", "stride"), [(2, 2), (3, 2), (3, 1), (1, 2)])
@pytest.mark.parametrize("dtype", [tf.quint8, tf.qint8, tf.qint32])
@pytest.mark.parametrize("op", ["QuantizedMaxPool", "QuantizedAvgPool"])
def test_quantized_pools(
    op: str, dtype: Any, window: int, stride: int, padding: str
) -> None:
    ends = (0, 255) if dtype == tf.quint8 else (-128, 128)
    plain = {tf.quint8: np.uint8, tf.qint8: np.int8, tf.qint32: np.int32}[dtype]
    images = np.random.RandomState(0).randint(*ends, (2, 9, 12, 5)).astype(plain)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(plain, [None, None, None, 5])
        pooled = getattr(tf.raw_ops, op)(
            input=tf.bitcast(fed, dtype),
            min_input=-1.0,
            max_input=1.0,
            ksize=[1, window, window, 1],
            strides=[1, stride, stride, 1],
            padding=padding,
        )
        found = session.run(tf.bitcast(pooled[0], plain), {fed: images})
    expected = _pooled(op, images, window, stride, padding)
    np.testing.assert_array_equal(found, expected)
