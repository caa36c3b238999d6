"""The largest elements and the unique ones, found by keys and tables of integers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

DTYPES = [
    *("float16", "bfloat16", "float32", "float64"),
    *("int8", "uint8", "int16", "uint16", "int32", "int64"),
]
SHAPES = [(3, 7), (40, 60), (1, 2000), (200, 100), (9000,), (3, 4, 500)]


def _values(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """Few different values, so that many are equal; zeros of both signs."""
    random = np.random.RandomState(0)
    values = np.round(random.randn(*shape) * 20) * (-0.0 if "u" not in dtype else 1)
    values += np.round(random.randn(*shape) * 20)
    return values.astype(tf.as_dtype(dtype).as_numpy_dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("known", [False, True])
def test_of_equal_elements_the_first(
    dtype: str, shape: tuple[int, ...], known: bool
) -> None:
    x = _values(dtype, shape)
    # Of equal keys a stable sort keeps the order; negation is exact in float64.
    order = np.argsort(-x.astype(np.float64), axis=-1, kind="stable")
    fed = tf.placeholder(dtype, shape if known else [None] * len(shape))
    for count in (0, 1, 2, shape[-1] // 2, shape[-1]):
        found = tf.nn.top_k(fed, count)
        with tf.Session() as sess:
            values, places = sess.run(list(found), {fed: x})
        np.testing.assert_array_equal(places, order[..., :count])
        expected = np.take_along_axis(x, order[..., :count], -1)
        np.testing.assert_array_equal(values, expected)
        assert values.dtype == x.dtype
        assert places.dtype == np.int32


@pytest.mark.parametrize("dtype", ["int64", "float64", "float32", "bfloat16"])
@pytest.mark.parametrize("shape", [(2000,), (3, 700), (2, 40)])
def test_equal_elements_of_wide_ones(dtype: str, shape: tuple[int, ...]) -> None:
    """Too far apart for one integer with their place, or with a NaN among them."""
    x = np.random.RandomState(0).randint(0, 9, shape).astype(np.float64)
    if dtype == "int64":
        x.flat[0], x.flat[1] = -(2.0**62), 2.0**62
    row = x.reshape(-1, shape[-1])[-1]
    order = np.argsort(-x, axis=-1, kind="stable")
    if dtype in ("float32", "bfloat16"):
        x.flat[5] = np.nan
    value = x.astype(tf.as_dtype(dtype).as_numpy_dtype)
    fed = tf.placeholder(dtype, [None] * len(shape))
    for count in (3, 9):
        with tf.Session() as sess:
            values, places = sess.run(list(tf.nn.top_k(fed, count)), {fed: value})
        assert values.dtype == value.dtype
        if dtype in ("int64", "float64"):
            np.testing.assert_array_equal(places, order[..., :count])
        elif len(shape) > 1:  # rows without NaN
            np.testing.assert_array_equal(places[-1], order[-1, :count])
            np.testing.assert_array_equal(values[-1], row[order[-1, :count]])
        found = np.take_along_axis(value, places, -1).astype(np.float64)
        np.testing.assert_array_equal(values.astype(np.float64), found)


@pytest.mark.parametrize("values", [[-(2**63), 2**63 - 1], [2**62, 2**62 - 1]])
def test_the_ends_of_int64(values: list[int]) -> None:
    x = np.array(values * 1000)
    fed = tf.placeholder(tf.int64, [None])
    with tf.Session() as sess:
        places = sess.run(tf.nn.top_k(fed, 3).indices, {fed: x})
    first = int(np.argmax(values))
    assert places.tolist() == [first, first + 2, first + 4]


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("known", [False, True])
def test_nan_is_found_by_another_way(sign: int, known: bool) -> None:
    x = np.arange(4000, dtype=np.float32).reshape(2, 2000)
    x[1, 0] = np.copysign(np.float32("nan"), sign)
    fed = tf.placeholder(tf.float32, x.shape if known else None)
    with tf.Session() as sess:
        values, places = sess.run(list(tf.nn.top_k(fed, 2)), {fed: x})
    assert places[0].tolist() == [1999, 1998]
    np.testing.assert_array_equal(values, np.take_along_axis(x, places, -1))


@pytest.mark.parametrize("extreme", [np.inf, -np.inf])
def test_infinities(extreme: float) -> None:
    x = np.full((2, 1000), extreme, np.float32)
    x[:, 500] = 1.0
    fed = tf.placeholder(tf.float32, [None, None])
    with tf.Session() as sess:
        places = sess.run(tf.nn.top_k(fed, 2).indices, {fed: x})
    assert places.tolist() == [[0, 1] if extreme > 0 else [500, 0]] * 2


@pytest.mark.parametrize("dtype", [*DTYPES[4:], "bool"])
@pytest.mark.parametrize("spread", [3, 100, 10**5, 10**6])
@pytest.mark.parametrize("count", [1, 50, 30000])
def test_unique_in_order_of_appearance(dtype: str, spread: int, count: int) -> None:
    random = np.random.RandomState(0)
    x = (random.randint(-spread, spread, count) * 3).astype(dtype)
    listed = list(dict.fromkeys(x.tolist()))
    fed = tf.placeholder(dtype, [None])
    with tf.Session() as sess:
        y, index, counts = sess.run(list(tf.unique_with_counts(fed)), {fed: x})
        plain = sess.run(list(tf.unique(fed, tf.int64)), {fed: x})
    assert y.tolist() == plain[0].tolist() == listed
    np.testing.assert_array_equal(y[index], x)
    np.testing.assert_array_equal(plain[1], index)
    assert counts.tolist() == [x.tolist().count(v) for v in listed[:20]] + [
        int((x == v).sum()) for v in listed[20:]
    ]
    assert (index.dtype, counts.dtype, plain[1].dtype) == (np.int32, np.int32, np.int64)


@pytest.mark.parametrize("dtype", ["int64", "uint64"])
def test_unique_at_the_ends_of_a_dtype(dtype: str) -> None:
    ends = np.iinfo(dtype)
    x = np.array([ends.max, ends.max - 1, ends.max, ends.min], dtype)
    close = x[:3]
    fed = tf.placeholder(dtype, [None])
    with tf.Session() as sess:
        for values, wanted in ((x, [0, 1, 0, 2]), (close, [0, 1, 0])):
            y, index = sess.run(list(tf.unique(fed)), {fed: values})
            assert index.tolist() == wanted
            np.testing.assert_array_equal(y[index], values)


_NAN = float("nan")


# Recorded from TensorFlow 1.15 and 2.21.
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_unique_numbers_and_rows_with_signed_zeros_and_nan(dtype: str) -> None:
    numbers = [_NAN, 0.0, -0.0, _NAN, 1.0, -0.0, _NAN, 0.0]
    fed, rows = tf.placeholder(dtype, [None]), tf.placeholder(dtype, [None, 2])
    by_rows = tf.raw_ops.UniqueWithCountsV2(x=rows, axis=[0])
    with tf.Session() as sess:
        y, index, counts = sess.run(list(tf.unique_with_counts(fed)), {fed: numbers})
        pairs = sess.run(by_rows, {rows: [[3.0, value] for value in numbers]})
    assert index.tolist() == pairs.idx.tolist() == [0, 1, 1, 2, 3, 1, 4, 1]
    assert counts.tolist() == pairs.count.tolist() == [1, 4, 1, 1, 1]
    np.testing.assert_array_equal(y.astype(float), [_NAN, 0.0, _NAN, 1.0, _NAN])
    assert not np.signbit(y.astype(float)[1])
    np.testing.assert_array_equal(pairs.y.astype(float)[:, 1], y.astype(float))


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "bool", "string"])
@pytest.mark.parametrize("shape", [(200, 3), (50, 2, 2), (40, 1), (4, 0), (0, 3)])
@pytest.mark.parametrize("axis", [0, 1])
def test_unique_slices(dtype: str, shape: tuple[int, ...], axis: int) -> None:
    numbers = np.random.RandomState(0).randint(0, 2, shape)
    x = numbers.astype("S").astype(object) if dtype == "string" else numbers
    fed = tf.placeholder(dtype, shape)
    with tf.Session() as sess:
        y, index = sess.run(tf.raw_ops.UniqueV2(x=fed, axis=[axis]), {fed: x})
    slices = [part.tobytes() for part in np.moveaxis(numbers, axis, 0)]
    listed = list(dict.fromkeys(slices))
    assert index.tolist() == [listed.index(part) for part in slices]
    expected = np.take(x, [slices.index(part) for part in listed], axis)
    np.testing.assert_array_equal(y, expected)
