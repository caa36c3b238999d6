"""Comparing in vectors gives what comparing one element at a time gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tensorloom as tf
from tensorloom.kernels.torch.math import vectorized_comparisons

DTYPES = ["float32", "float64", "int8", "uint8", "int16", "int32", "int64", "bool"]
COMPARISONS = ["less", "less_equal", "greater", "greater_equal", "equal", "not_equal"]
# Few, so many that NumPy takes over, and so many that it does not any more.
SIZES = [0, 5, 5000, (1 << 20) + 8]


def _values(dtype: str, shape: Any, seed: int) -> Any:
    random = np.random.RandomState(seed)
    values = random.randint(-4, 4, shape)
    if dtype in ("float32", "float64"):
        special = [np.nan, np.inf, -np.inf, -0.0, *range(4)]
        return np.array(special, dtype)[values + 4]
    return values.astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
def test_comparisons(dtype: str, size: int) -> None:
    x, y = (_values(dtype, size, seed) for seed in (1, 2))
    for name in COMPARISONS:
        found = getattr(vectorized_comparisons, name)(
            torch.from_numpy(x), torch.from_numpy(y)
        )
        assert found.dtype is torch.bool
        np.testing.assert_array_equal(found.numpy(), getattr(np, name)(x, y))


@pytest.mark.parametrize(
    ("first", "second"), [((80, 70), (70,)), ((), (80, 70)), ((80, 1), (1, 70))]
)
def test_shapes_that_broadcast(first: Any, second: Any) -> None:
    x, y = _values("float32", first, 1), _values("float32", second, 2)
    found = vectorized_comparisons.less(torch.tensor(x), torch.tensor(y))
    np.testing.assert_array_equal(found.numpy(), np.less(x, y))


def test_shapes_that_do_not_fit_are_an_error_of_the_op() -> None:
    x, y = (tf.placeholder(tf.float32, [None]) for _ in range(2))
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError):
        sess.run(tf.less(x, y), {x: np.zeros(5000), y: np.zeros(4999)})


@pytest.mark.parametrize("name", ["is_nan", "is_inf", "is_finite"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_tests_of_elements(name: str, dtype: str) -> None:
    for size in (5, 5000):
        x = _values("float32", (size, 2), 3).astype(dtype)
        wanted = getattr(np, name.replace("_", ""))(x)
        found = getattr(vectorized_comparisons, name)(torch.from_numpy(x))
        np.testing.assert_array_equal(found.numpy(), wanted)
        # What is not contiguous too.
        found = getattr(vectorized_comparisons, name)(torch.from_numpy(x).t())
        np.testing.assert_array_equal(found.numpy(), wanted.T)


@pytest.mark.parametrize("shape", [(0,), (7,), (9000,), (90, 100), (20, 30, 40), ()])
@pytest.mark.parametrize("share", [0.0, 0.01, 0.5, 1.0])
def test_places(shape: Any, share: float) -> None:
    is_there = torch.rand(shape) < share
    for value in (is_there, is_there.t() if is_there.dim() == 2 else is_there):
        found = vectorized_comparisons.places(value)
        assert found.dtype is torch.int64
        np.testing.assert_array_equal(found.numpy(), torch.nonzero(value).numpy())


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "float32", "float64"])
def test_truths_as_floats(dtype: str) -> None:
    truths = np.random.RandomState(0).rand(300, 20) < 0.5
    x = tf.placeholder(tf.bool, [None, 20])
    with tf.Session() as sess:
        found = sess.run(tf.cast(x, dtype), {x: truths})
    assert found.dtype == tf.as_dtype(dtype).as_numpy_dtype
    np.testing.assert_array_equal(found, truths.astype(found.dtype))


def test_floats_as_bytes() -> None:
    # As TensorFlow 1.15 has them (recorded).
    values = [256, 300.7, -1, -5.5, 1e10, 3e9, -3e9, 254.9, 70000.5, -70000.5]
    wanted = [0, 44, 255, 251, 0, 0, 0, 254, 112, 144]
    x = tf.placeholder(tf.float32, [None])
    with tf.Session() as sess:
        found = sess.run(tf.cast(x, tf.uint8), {x: np.tile(values, 500)})
    np.testing.assert_array_equal(found, np.tile(wanted, 500))
