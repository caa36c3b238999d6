"""Bands of matrices, of every dtype and in both memories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.linalg.matrix_diag import matrix_band

SHAPES = [
    *((0, 3), (3, 0), (1, 1), (3, 5), (5, 3), (70, 80), (80, 70)),
    *((500, 4, 5), (2, 3, 4, 5), (2, 70, 80), (0, 3, 3)),
]
DTYPES = [
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "bool"),
    *("int8", "uint8", "int16", "uint16", "int32", "int64"),
]


def _expected(x: Any, lower: int, upper: int) -> Any:
    rows, columns = np.arange(x.shape[-2])[:, None], np.arange(x.shape[-1])
    inside = (rows - columns <= lower) & (columns - rows <= upper)
    return np.where(inside, x, x.dtype.type(0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_bands(dtype: str, shape: tuple[int, ...]) -> None:
    random = np.random.RandomState(0)
    x = random.randint(1, 3, shape).astype(tf.as_dtype(dtype).as_numpy_dtype)
    rows, columns = shape[-2:]
    for lower in {0, 1, rows // 2, rows}:
        for upper in {0, 1, columns // 2, columns}:
            band = matrix_band(x, lower, upper)
            assert band.dtype == x.dtype
            np.testing.assert_array_equal(band, _expected(x, lower, upper))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("known", [False, True])
def test_of_tensors(dtype: str, known: bool) -> None:
    x = np.random.RandomState(0).randint(1, 3, (3, 30, 40))
    x = x.astype(tf.as_dtype(dtype).as_numpy_dtype)
    fed = tf.placeholder(dtype, x.shape if known else None)
    bands = [
        tf.matrix_band_part(fed, 2, 3),
        tf.matrix_band_part(fed, -1, 0),
        tf.matrix_band_part(tf.transpose(fed, [0, 2, 1]), 0, -1),
    ]
    with tf.Session() as sess:
        found = sess.run(bands, {fed: x})
    expected = [(x, 2, 3), (x, 30, 0), (x.transpose(0, 2, 1), 0, 30)]
    for band, arguments in zip(found, expected, strict=True):
        np.testing.assert_array_equal(band, _expected(*arguments))


def test_infinities_outside_are_zeros() -> None:
    x = np.full((90, 90), np.inf, np.float32)
    fed = tf.placeholder(tf.float32, [None, None])
    with tf.Session() as sess:
        band = sess.run(tf.matrix_band_part(fed, 0, 0), {fed: x})
    np.testing.assert_array_equal(band, _expected(x, 0, 0))
