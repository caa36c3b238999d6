"""Corners where a kernel could do something sensible, and TensorFlow does another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf

VALUES = [1.5, 3.0, -7.3, 0.1]


def _run(fetch: Any, feed: dict[Any, Any] | None = None) -> Any:
    with tf.Session() as sess:
        return sess.run(fetch, feed)


@pytest.fixture(autouse=True)
def _graph() -> Any:
    with tf.Graph().as_default():
        yield


@pytest.mark.parametrize("count", [1, 5000])
@pytest.mark.parametrize(
    ("source", "target", "wanted"),
    [
        ("float64", "float32", [1.5, 3.0, -7.299999713897705, 0.09999999403953552]),
        ("float32", "float16", [1.5, 3.0, -7.296875, 0.0999755859375]),
        ("float32", "bfloat16", [1.5, 3.0, -7.28125, 0.099609375]),
        ("float64", "bfloat16", [1.5, 3.0, -7.3125, 0.10009765625]),
        ("float64", "complex64", [0.5, 2.0, -2.0, 0.03125]),
        ("complex128", "float32", [1.5, 3.0, -7.299999713897705, 0.09999999403953552]),
    ],
)
def test_cast_that_truncates(
    source: str, target: str, wanted: list[float], count: int
) -> None:
    x = tf.placeholder(source, [None])
    y = tf.cast(tf.raw_ops.Cast(x=x, DstT=target, Truncate=True), tf.complex128)
    result = _run(y, {x: np.array(VALUES * count, source)})
    np.testing.assert_array_equal(result, np.array(wanted * count))


def test_bytes_that_are_not_utf8_match_nothing() -> None:
    text = tf.constant([b"\xffab", b"ab"])
    assert _run(tf.strings.regex_full_match(text, ".*a.*")).tolist() == [False, True]
    replaced = _run(tf.strings.regex_replace(text, r"[^a]|\W", "-"))
    assert replaced.tolist() == [b"\xffa-", b"a-"]


@pytest.mark.parametrize("solve", [tf.linalg.inv, lambda m: tf.linalg.solve(m, m)])
def test_nan_is_not_invertible(solve: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        _run(solve(tf.constant(np.full([2, 2], np.nan))))


def test_requantizing_rounds_in_fixed_point() -> None:
    wide = tf.bitcast(tf.constant([-7000, 0, 4000, 99999], tf.int32), tf.qint32)
    narrow = tf.raw_ops.Requantize(
        input=wide,
        input_min=-300.0,
        input_max=300.0,
        requested_output_min=-0.001,
        requested_output_max=0.001,
        out_type=tf.quint8,
    )[0]
    assert _run(tf.bitcast(narrow, tf.uint8)).tolist() == [3, 128, 199, 255]


def test_zeros_and_sums_of_optionals() -> None:
    raw = tf.raw_ops
    some = raw.OptionalFromValue(components=[tf.constant([2.0, 3.0])])
    none = raw.OptionalNone()

    def value(optional: Any) -> Any:
        return raw.OptionalGetValue(
            optional=optional, output_types=[tf.float32], output_shapes=[[2]]
        )[0]

    assert _run(value(raw.ZerosLike(x=some))).tolist() == [0.0, 0.0]
    assert _run(value(raw.AddN(inputs=[some, some]))).tolist() == [4.0, 6.0]
    assert not _run(raw.OptionalHasValue(optional=raw.ZerosLike(x=none)))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot add optionals"):
        _run(value(raw.AddN(inputs=[some, none])))


@pytest.mark.parametrize("count", [1, 3000])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("op", ["ReluGrad", "Relu6Grad"])
def test_gradients_of_dead_units(op: str, dtype: str, count: int) -> None:
    """They are the gradient times zero: NaN where that is no finite number."""
    gradients = tf.placeholder(dtype, [None])
    features = tf.placeholder(dtype, [None])
    result = getattr(tf.raw_ops, op)(gradients=gradients, features=features)
    found = _run(
        result,
        {
            gradients: [np.nan, np.inf, 2.0, np.nan, 2.0, 3.0] * count,
            features: [-1.0, 0.0, -1.0, 1.0, np.nan, 1.0] * count,
        },
    )
    wanted = [np.nan, np.nan, 0.0, np.nan, 0.0, 3.0] * count
    np.testing.assert_array_equal(found, np.array(wanted, dtype))
