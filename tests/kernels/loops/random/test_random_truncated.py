"""Truncated normal values are TensorFlow's, bit for bit, in pieces and as a whole."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.random.philox import Stream
from tensorloom.kernels.loops.random.random_truncated import Bounds, truncated_samples

BOUNDS = [(0, 1, -1, 2), (0, 1, 2, 9), (0, 1, 2, 2.1), (5, 2, -np.inf, 3)]


def _two_steps(shape: list[int], *parameters: Any) -> Any:
    """The checksum of the values of two steps."""
    drawn = tf.raw_ops.ParameterizedTruncatedNormal(
        **dict(zip(("means", "stdevs", "minvals", "maxvals"), parameters, strict=True)),
        shape=shape,
        seed=3,
        seed2=5,
    )
    with tf.Session() as sess:
        return zlib.crc32(np.stack([sess.run(drawn) for _ in range(2)]).tobytes())


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("float32", [0xE18FA1AA, 0xF707BA8C, 0x397DAB9B, 0x20AA120F]),
        ("float64", [0x75512F2D, 0x11BF5AD5, 0x99D13657, 0x76EEBCA9]),
        ("float16", [0xD0FE547A, 0x63E5474D, 0xB99B3EF2, 0x120F7528]),
    ],
)
def test_one_distribution(dtype: str, expected: list[int]) -> None:
    numbers = [[np.dtype(dtype).type(v) for v in bounds] for bounds in BOUNDS]
    assert [_two_steps([101], *bounds) for bounds in numbers] == expected


def test_batches_some_of_which_are_alike() -> None:
    random = np.random.RandomState(0)
    low = random.randn(40)
    high = low + random.rand(40) * 3 + 0.01
    low[3:9], high[3:9] = low[3], high[3]
    parameters = [v.astype(np.float32) for v in (np.zeros(40), np.ones(40), low, high)]
    # Recorded from TensorFlow 1.15.
    assert _two_steps([40, 33], *parameters) == 0x1CC23E6E


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("total", [0, 6, 7, 500])
def test_a_distribution_for_all_is_that_of_each_batch(dtype: Any, total: int) -> None:
    for numbers in BOUNDS:
        one = Bounds(*(np.array([v], dtype) for v in numbers))
        each = Bounds(*(np.repeat(v, -(-total // 7)) for v in one))
        stream = Stream(3, (5 << 64) + 2**64 - 9)
        values = truncated_samples(stream, one, 7, total)
        assert values.dtype == dtype
        whole = truncated_samples(stream, each, 7, -(-total // 7) * 7)
        np.testing.assert_array_equal(values, whole[:total])


@pytest.mark.parametrize(
    ("bounds", "message"),
    [
        ((0, 0, 1, 2), "Invalid parameters"),
        ((0, 1, 2, 2), "Invalid parameters"),
        ((0, 1, -np.inf, np.inf), "Invalid parameters"),
        ((np.inf, 1, 0, 1), "exponential rejection sampler failed"),
    ],
)
def test_errors(bounds: Any, message: str) -> None:
    one = Bounds(*(np.array([v], np.float32) for v in bounds))
    with pytest.raises(tf.errors.OpError, match=message):
        truncated_samples(Stream(3, 5), one, 10, 10)
