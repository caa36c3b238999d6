"""Truncated normal values are TensorFlow's, bit for bit, in pieces and as a whole."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.philox import Stream
from tensorloom.kernels.host.random_truncated import Bounds, truncated_samples

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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("numbers", BOUNDS)
@pytest.mark.parametrize(
    ("count", "piece"), [(0, 7), (6, 7), (7, 7), (500, 33), (9000, 100), (40000, 9000)]
)
def test_pieces(dtype: Any, numbers: Any, count: int, piece: int) -> None:
    bounds = Bounds(*map(dtype, numbers))
    given, after = truncated_samples(Stream(3, 5 << 64), count, bounds, piece)
    stream = Stream(3, 5 << 64)
    for begin in range(0, count, piece):
        part = given[begin : begin + piece]
        expected, stream = truncated_samples(stream, len(part), bounds)
        np.testing.assert_array_equal(part, expected)
    assert after.start == stream.start
