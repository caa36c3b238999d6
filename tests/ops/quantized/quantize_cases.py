"""Quantization, one function a case; recorded in TensorFlow 1.15.0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

CASES: dict[str, Callable[[Any], Any]] = {}
_X = np.array([-2.0, -1.5, -0.3, 0.0, 0.24, 0.5, 1.0, 1.49, 3.0, 7.0], np.float32)
_RANGES = ((-2.0, 3.0), (0.0, 1.0), (0.0, 0.0), (0.5, 2.0), (-1.0, -0.5))
_BASES = {
    "qint8": "int8",
    "quint8": "uint8",
    "qint16": "int16",
    "quint16": "uint16",
    "qint32": "int32",
}


def _quantized(tf: Any, values: Any, dtype: str) -> Any:
    base = tf.constant(values, getattr(tf, _BASES[dtype]))
    return tf.bitcast(base, getattr(tf, dtype))


def _quantize() -> None:
    for dtype in _BASES:
        for mode in ("MIN_COMBINED", "MIN_FIRST", "SCALED"):
            for low, high in _RANGES:
                CASES[f"quantize {dtype} {mode} {low} {high}"] = (
                    lambda tf, d=dtype, m=mode, a=low, b=high: tf.quantize(
                        _X, a, b, getattr(tf, d), m
                    )
                )
            for low, high in ((-2.0, 3.0), (0.5, 2.0)):
                CASES[f"dequantize {dtype} {mode} {low}"] = (
                    lambda tf, d=dtype, m=mode, a=low, b=high: tf.dequantize(
                        _quantized(tf, [0, 1, 5, 100, 127], d), a, b, m
                    )
                )
    CASES["quantize to even"] = lambda tf: tf.quantize(
        _X, -2.0, 3.0, tf.quint8, "SCALED", "HALF_TO_EVEN"
    )
    CASES["to even in another mode"] = lambda tf: tf.quantize(
        _X, -2.0, 3.0, tf.quint8, "MIN_FIRST", "HALF_TO_EVEN"
    )
    CASES["a range in the wrong order"] = lambda tf: tf.quantize(
        _X, tf.placeholder_with_default(3.0, []), -2.0, tf.quint8
    )
    CASES["nothing to quantize"] = lambda tf: tf.quantize(_X[:0], 0.0, 1.0, tf.quint8)


def _fake_quantize() -> None:
    for bits in (2, 8, 16):
        for narrow in (False, True):
            for low, high in ((-6.0, 6.0), (0.3, 2.0), (-2.0, -0.5), (-0.1, 3.0)):
                CASES[f"fake {bits} {narrow} {low} {high}"] = (
                    lambda tf, *o, n=bits, w=narrow, a=low, b=high: _fake(
                        tf, a, b, n, w
                    )
                )
    CASES["fake without a range"] = lambda tf: _fake_vars(tf, 0.0, 0.0)
    CASES["fake of channels"] = _fake_channels
    CASES["fake of one bit"] = lambda tf: tf.fake_quant_with_min_max_args(_X, -1, 1, 1)
    CASES["fake over an empty range"] = lambda tf: tf.fake_quant_with_min_max_args(
        _X, 1, 1
    )
    value = np.array([0.1, 0.5, -0.7, 1.5, -3.0, 2.49999, 0.2], np.float32)
    for signed in (True, False):
        for bits in (2, 8):
            for given in (True, False):
                for mode in ("HALF_TO_EVEN", "HALF_UP"):
                    CASES[f"round trip {signed} {bits} {given} {mode}"] = (
                        lambda tf, s=signed, n=bits, g=given, m=mode: _round_trip(
                            tf, value, s, n, g, m
                        )
                    )


def _fake(tf: Any, low: float, high: float, bits: int, narrow: bool) -> Any:
    x = tf.constant(_X)
    y = tf.fake_quant_with_min_max_args(x, low, high, bits, narrow)
    return [y, tf.gradients(y * y, x), *_fake_vars(tf, low, high, bits, narrow)]


def _fake_vars(tf: Any, low: float, high: float, *options: Any) -> Any:
    inputs = [tf.constant(_X), tf.constant(low), tf.constant(high)]
    y = tf.fake_quant_with_min_max_vars(*inputs, *options)
    return [y, *tf.gradients(y * y, inputs)]


def _fake_channels(tf: Any) -> Any:
    x = tf.constant(np.stack([_X, _X * 2 - 1], 1))
    inputs = [x, tf.constant([-1.0, 0.2]), tf.constant([2.0, 3.0])]
    y = tf.fake_quant_with_min_max_vars_per_channel(*inputs)
    return [y, *tf.gradients(y * y, inputs)]


def _round_trip(tf: Any, value: Any, s: bool, n: int, g: bool, mode: str) -> Any:
    x = tf.constant(value)
    y = tf.quantization.quantize_and_dequantize(x, -1.0, 2.0, s, n, g, mode)
    return [y, tf.gradients(y * y, x)[0]]


def _arithmetic() -> None:
    rng = np.random.RandomState(0)
    a, b = rng.randint(0, 256, (3, 4)), rng.randint(0, 256, (4, 5))
    image, filters = (
        rng.randint(0, 256, (1, 5, 6, 2)),
        rng.randint(0, 256, (3, 2, 2, 3)),
    )
    wide = rng.randint(-(10**9), 10**9, (2, 3))
    window = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": "SAME"}
    for low, high in ((-2.0, 3.0), (0.0, 1.0)):
        builds: dict[str, Callable[..., Any]] = {
            "matmul": lambda tf, q, r, lo, hi: r.QuantizedMatMul(
                a=q(a), b=q(b), min_a=lo, max_a=hi, min_b=-1.0, max_b=2.0
            ),
            "conv2d": lambda tf, q, r, lo, hi: tf.nn.quantized_conv2d(
                q(image), q(filters), lo, hi, -1.0, 2.0, [1, 2, 2, 1], "SAME"
            ),
            "add": lambda tf, q, r, lo, hi: r.QuantizedAdd(
                x=q(a), y=q(a[0]), min_x=lo, max_x=hi, min_y=-1.0, max_y=2.0
            ),
            "mul": lambda tf, q, r, lo, hi: r.QuantizedMul(
                x=q(a), y=q(a[0]), min_x=lo, max_x=hi, min_y=-1.0, max_y=2.0
            ),
            "relu6": lambda tf, q, r, lo, hi: r.QuantizedRelu6(
                features=q(a), min_features=lo * 5, max_features=hi * 5
            ),
            "max_pool": lambda tf, q, r, lo, hi: tf.nn.quantized_max_pool(
                q(image), lo, hi, **window
            ),
            "avg_pool": lambda tf, q, r, lo, hi: tf.nn.quantized_avg_pool(
                q(image), lo, hi, **window
            ),
            "concat": lambda tf, q, r, lo, hi: tf.quantized_concat(
                0, [q(a), q(a)], [lo, -1.0], [hi, 2.0]
            ),
            "bias_add": lambda tf, q, r, lo, hi: r.QuantizedBiasAdd(
                input=q(a),
                bias=q(a[0]),
                min_input=lo,
                max_input=hi,
                min_bias=-1.0,
                max_bias=2.0,
                out_type=tf.qint32,
            ),
            "instance_norm": lambda tf, q, r, lo, hi: r.QuantizedInstanceNorm(
                x=q(image), x_min=lo, x_max=hi
            ),
            "shrink": lambda tf, q, r, lo, hi: r.QuantizeDownAndShrinkRange(
                input=_quantized(tf, wide, "qint32"),
                input_min=lo * 100,
                input_max=hi * 100,
                out_type=tf.quint8,
            ),
            "requantize": lambda tf, q, r, lo, hi: r.Requantize(
                input=_quantized(tf, wide, "qint32"),
                input_min=lo * 100,
                input_max=hi * 100,
                requested_output_min=-20.0,
                requested_output_max=30.0,
                out_type=tf.quint8,
            ),
        }
        for name, build in builds.items():
            CASES[f"{name} {low} {high}"] = lambda tf, f=build, lo=low, hi=high: f(
                tf, lambda v: _quantized(tf, v, "quint8"), tf.raw_ops, lo, hi
            )


for _fill in (_quantize, _fake_quantize, _arithmetic):
    _fill()
