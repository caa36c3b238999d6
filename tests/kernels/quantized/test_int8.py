"""Layers in eight bits: near to those in float32, by integers and by floats."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.registry.op_def_library import apply_op
from tensorloom.kernels.torch.quantized import int8


def _values(*shape: int) -> Any:
    count = int(np.prod(shape))
    return (np.sin(np.arange(count) * 1.3) * 0.9 + 0.2).reshape(shape).astype("f")


def _small(weights: Any, axes: tuple[int, ...]) -> tuple[Any, Any]:
    scales = np.abs(weights).max(axes, keepdims=True) / 127
    return np.rint(weights / scales).astype(np.int8), scales.reshape(-1)


def _run(op: str, x: Any, parts: Any, bias: Any, **attrs: Any) -> Any:
    low, high = min(x.min(), 0), max(x.max(), 0)
    scale = float((high - low) / 255)
    with tf.Graph().as_default(), tf.Session() as sess:
        given = tf.placeholder(tf.float32, [None, *x.shape[1:]])
        first = "a" if op == "_Int8MatMul" else "input"
        y = apply_op(
            op,
            name="y",
            **{first: given},
            weights=tf.constant(parts[0]),
            scales=tf.constant(parts[1]),
            bias=tf.constant(bias),
            input_scale=scale,
            input_zero_point=round(-low / scale),
            **attrs,
        )
        again = sess.run(y, {given: x[:1]})
        found = sess.run(y, {given: x})
        if not attrs.get("dynamic"):
            np.testing.assert_allclose(found[:1], again, rtol=1e-5, atol=1e-5)
        empty = sess.run(y, {given: x[:0]})
        assert empty.shape == (0, *found.shape[1:])
        assert y.shape.as_list()[1:] == list(found.shape[1:])
    return found


def _near(found: Any, expected: Any) -> None:
    assert found.shape == expected.shape
    assert np.abs(found - expected).max() <= 0.04 * np.abs(expected).max()


@pytest.fixture(params=["integers", "floats"], autouse=True)
def _kernels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "floats":
        monkeypatch.setattr(int8, "has_integer_kernels", lambda: False)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("activation", ["", "Relu", "Relu6"])
def test_product(dynamic: bool, activation: str) -> None:
    x, w, bias = _values(5, 48) - 0.3, _values(48, 7), _values(7)
    found = _run(
        "_Int8MatMul",
        x,
        _small(w, (0,)),
        bias,
        dynamic=dynamic,
        activation=activation.encode(),
    )
    expected = x @ w + bias
    ends = {"": (None, None), "Relu": (0.0, None), "Relu6": (0.0, 6.0)}[activation]
    if activation:
        expected = np.clip(expected, *ends)
    _near(found, expected)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (2, 1), (1, 2)])
@pytest.mark.parametrize("data_format", ["NHWC", "NCHW"])
def test_convolution(
    padding: str, stride: int, dilation: int, data_format: str
) -> None:
    x, w, bias = _values(2, 7, 8, 4), _values(3, 2, 4, 6), _values(6)
    if data_format == "NCHW":
        x = x.transpose(0, 3, 1, 2)
    axes = {"NHWC": [1, 2], "NCHW": [2, 3]}[data_format]
    strides, dilations = [1] * 4, [1] * 4
    for axis in axes:
        strides[axis], dilations[axis] = stride, dilation
    attrs = {
        "strides": strides,
        "padding": padding,
        "data_format": data_format,
        "dilations": dilations,
    }
    found = _run(
        "_Int8Conv2D", x, _small(w, (0, 1, 2)), bias, activation=b"Relu", **attrs
    )
    with tf.Graph().as_default(), tf.Session() as sess:
        made = tf.nn.conv2d(tf.constant(x), tf.constant(w), **attrs)
        expected = sess.run(tf.nn.relu(tf.nn.bias_add(made, bias, data_format)))
    _near(found, expected)


def test_depthwise_convolution() -> None:
    x, w, bias = _values(2, 7, 8, 4), _values(3, 3, 4, 2), _values(8)
    found = _run(
        "_Int8DepthwiseConv2d",
        x,
        _small(w, (0, 1)),
        bias,
        strides=[1, 2, 2, 1],
        padding="SAME",
    )
    with tf.Graph().as_default(), tf.Session() as sess:
        made = tf.nn.depthwise_conv2d(tf.constant(x), w, [1, 2, 2, 1], "SAME")
        expected = sess.run(made + bias)
    _near(found, expected)


@pytest.mark.parametrize(
    ("x", "weights", "scales", "message"),
    [
        ((2, 3), (4, 5), 5, "matrices that can be multiplied"),
        ((2, 4), (4, 5), 4, "expected one of each for 5 output channels"),
    ],
)
def test_what_does_not_fit(
    x: tuple[int, ...], weights: tuple[int, ...], scales: int, message: str
) -> None:
    with tf.Graph().as_default(), tf.Session() as sess:
        y = apply_op(
            "_Int8MatMul",
            name="y",
            a=tf.placeholder(tf.float32, name="x"),
            weights=tf.zeros(weights, tf.int8),
            scales=tf.ones([scales]),
            bias=tf.ones([scales]),
            input_scale=1.0,
            input_zero_point=0,
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(y, {"x:0": np.zeros(x)})
        wrong = apply_op(
            "_Int8MatMul",
            name="z",
            a=tf.zeros([1, 1]),
            weights=tf.zeros([1, 1], tf.int8),
            scales=tf.ones([1]),
            bias=tf.ones([1]),
            input_scale=0.0,
            input_zero_point=0,
        )
        with pytest.raises(tf.errors.InvalidArgumentError, match="positive scale"):
            sess.run(wrong)
