"""Selecting by bits gives what selecting by branches gives, of every dtype."""

from __future__ import annotations

import numpy as np
import pytest

import tensorloom as tf

DTYPES = [
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128", "bool"),
    *("int8", "uint8", "int16", "uint16", "int32", "int64"),
]
SIZES = [0, 20, 3000, 9000, 40000]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("known", [False, True])
def test_every_dtype(dtype: str, size: int, known: bool) -> None:
    random = np.random.RandomState(size)
    to = tf.as_dtype(dtype)
    x, y = ((random.randn(size) * 9).astype(to.as_numpy_dtype) for _ in range(2))
    cond = random.rand(size) < 0.5
    shape = [size if known else None]
    feeds = [tf.placeholder(t, shape) for t in (tf.bool, to, to)]
    chosen = [tf.where(*feeds), tf.where_v2(*feeds)]
    with tf.Session() as sess:
        for found in sess.run(chosen, dict(zip(feeds, (cond, x, y), strict=True))):
            np.testing.assert_array_equal(found, np.where(cond, x, y))
            assert found.dtype == x.dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("chance", [0.0, 0.2, 0.8, 1.0])
@pytest.mark.parametrize("shape", [(40, 300), (8, 10, 200)])
def test_a_condition_for_each_row(
    dtype: str, chance: float, shape: tuple[int, ...]
) -> None:
    random = np.random.RandomState(0)
    to = tf.as_dtype(dtype)
    x, y = ((random.randn(*shape) * 9).astype(to.as_numpy_dtype) for _ in range(2))
    cond = random.rand(*shape[:-1], 1) < chance
    fed = [tf.placeholder_with_default(v, v.shape) for v in (cond, x, y)]
    tiled = tf.tile(fed[0], [1] * (len(shape) - 1) + [shape[-1]])
    with tf.Session() as sess:
        found = sess.run([tf.where_v2(*fed), tf.where(tiled, *fed[1:])])
        for one in found:
            np.testing.assert_array_equal(one, np.where(cond, x, y))
            assert one.dtype == x.dtype
        after = sess.run(fed[1:])
    np.testing.assert_array_equal(after[0], x)
    np.testing.assert_array_equal(after[1], y)


@pytest.mark.parametrize("size", [3000, 9000, 40000])
def test_bits_that_no_comparison_shows(size: int) -> None:
    x = np.resize(np.array([np.nan, -0.0, np.inf], np.float32), size)
    y = np.resize(np.array([0.0, -np.inf], np.float32), size)
    cond = np.random.RandomState(0).rand(size) < 0.5
    with tf.Session() as sess:
        found = sess.run(
            tf.where(*(tf.placeholder_with_default(v, [None]) for v in (cond, x, y)))
        )
    wanted = np.where(cond, x, y)
    np.testing.assert_array_equal(found.view(np.int32), wanted.view(np.int32))


ZERO_WINS = {
    "float16": ["xdivy", "xlogy"],
    "bfloat16": ["xdivy"],
    "float32": ["xdivy", "xlogy", "div_no_nan", "multiply_no_nan"],
    "float64": ["xdivy", "xlogy", "div_no_nan", "multiply_no_nan"],
    "complex64": ["xdivy", "xlogy"],
    "complex128": ["xdivy", "xlogy"],
}


@pytest.mark.parametrize(
    ("dtype", "op"), [(dtype, op) for dtype, ops in ZERO_WINS.items() for op in ops]
)
@pytest.mark.parametrize("shapes", [((20000,), (20000,)), ((200, 100), (100,))])
def test_where_zero_wins(
    dtype: str, op: str, shapes: tuple[tuple[int, ...], ...]
) -> None:
    random = np.random.RandomState(0)
    to = tf.as_dtype(dtype)
    x, y = (random.randint(0, 3, shape).astype(to.as_numpy_dtype) for shape in shapes)
    function = {
        "xdivy": tf.math.xdivy,
        "xlogy": tf.math.xlogy,
        "div_no_nan": tf.div_no_nan,
        "multiply_no_nan": tf.math.multiply_no_nan,
    }[op]
    first, second = tf.placeholder(to, [None] * x.ndim), tf.placeholder(to, [None])
    with tf.Session() as sess:
        found = sess.run(function(first, second), {first: x, second: y})
    a, b = (v.astype(np.complex128 if to.is_complex else np.float64) for v in (x, y))
    zero = b if op.endswith("nan") else a
    with np.errstate(all="ignore"):
        plain = {"xlogy": a * np.log(b), "multiply_no_nan": a * b}.get(op, a / b)
    expected = np.where(zero == 0, 0, plain)
    assert found.dtype == x.dtype
    if to.is_complex:  # by zero it is infinite or NaN, as the system likes
        kept = (a == 0) | (b != 0)
        found, expected = found[kept], expected[kept]
    np.testing.assert_allclose(
        found.astype(expected.dtype), expected, rtol=1e-2 if to.size == 2 else 1e-6
    )


@pytest.mark.parametrize("side", [60, 100, 300])
def test_parts_and_other_layouts(side: int) -> None:
    random = np.random.RandomState(0)
    x, y = random.randn(2, side, side).astype(np.float32)
    cond = random.rand(side, side) < 0.5
    rows = random.rand(side) < 0.5
    with tf.Session() as sess:
        found = sess.run(
            [
                tf.where(cond, tf.transpose(x), y),
                tf.where(tf.transpose(cond), x, tf.constant(y)[::-1]),
                tf.where(rows, x, y),
                tf.where_v2(cond, x, 0.0),
                tf.where_v2(rows, x, y),
            ]
        )
    wanted = [
        np.where(cond, x.T, y),
        np.where(cond.T, x, y[::-1]),
        np.where(rows[:, None], x, y),
        np.where(cond, x, 0),
        np.where(rows, x, y),
    ]
    for got, expected in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("shape", [(3,), (200, 300), (40, 50, 60), (0, 4), (4, 0)])
@pytest.mark.parametrize("keep", [False, True])
def test_all_and_any(shape: tuple[int, ...], keep: bool) -> None:
    random = np.random.RandomState(0)
    for chance in (0.0, 0.01, 0.99, 1.0):
        x = random.rand(*shape) < chance
        fed = tf.placeholder(tf.bool, [None] * len(shape))
        for axis in [None, 0, -1, list(range(len(shape)))]:
            reduced = [f(fed, axis, keep) for f in (tf.reduce_all, tf.reduce_any)]
            with tf.Session() as sess:
                found = sess.run(reduced, {fed: x})
            at = tuple(axis) if isinstance(axis, list) else axis
            np.testing.assert_array_equal(found[0], x.all(at, keepdims=keep))
            np.testing.assert_array_equal(found[1], x.any(at, keepdims=keep))
