"""Transforms of values of any size are NumPy's, with torch and in host memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

SHAPES = [(2, 3, 4, 6), (3, 16, 16, 17)]
COMPLEX = {
    "fft": np.fft.fft,
    "ifft2d": np.fft.ifft2,
    "fft3d": lambda x: np.fft.fftn(x, axes=(1, 2, 3)),
}


def run(op: Any, value: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        given = tf.placeholder(value.dtype, value.shape)
        return session.run(op(given), {given: value})


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", COMPLEX)
def test_complex(name: str, shape: tuple[int, ...]) -> None:
    random = np.random.RandomState(3)
    value = (random.randn(*shape) + 1j * random.randn(*shape)).astype(np.complex64)
    result = run(getattr(tf.signal, name), value)
    assert result.dtype == np.complex64
    np.testing.assert_allclose(result, COMPLEX[name](value), rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("length", [(4, 5), (3, 4)])
def test_real(shape: tuple[int, ...], length: tuple[int, int]) -> None:
    value = np.random.RandomState(4).randn(*shape).astype(np.float32)
    result = run(lambda x: tf.signal.rfft2d(x, length), value)
    assert result.dtype == np.complex64
    wanted = np.fft.rfft2(value, length)
    np.testing.assert_allclose(result, wanted, rtol=1e-4, atol=1e-4)
    back = run(lambda x: tf.signal.irfft2d(x, length), wanted.astype(np.complex64))
    assert back.dtype == np.float32
    np.testing.assert_allclose(back, np.fft.irfft2(wanted, length), atol=1e-4)
