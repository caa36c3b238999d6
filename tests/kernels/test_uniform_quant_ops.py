"""Uniformly quantized tensors as TensorFlow 2.21 has them (recorded)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tensorloom as tf

ops = tf.raw_ops
_PLAIN = {"qint8": "int8", "quint8": "uint8", "qint32": "int32"}
_LIMITS = {"qint8": (-128, 127), "quint8": (0, 255), "qint32": (-(2**31), 2**31 - 1)}


def _attrs(kind: str, prefix: str = "", axis: int = -1) -> dict[str, Any]:
    least, greatest = _LIMITS[kind]
    return {
        f"{prefix}quantization_axis": axis,
        f"{prefix}quantization_min_val": least,
        f"{prefix}quantization_max_val": greatest,
    }


def _of(prefix: str, scales: Any, zero_points: Any) -> dict[str, Any]:
    return {f"{prefix}scales": scales, f"{prefix}zero_points": zero_points}


def _quantized(values: Any, kind: str) -> Any:
    return tf.bitcast(np.array(values, _PLAIN[kind]), tf.as_dtype(kind))


def _run(build: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        found = build()
        if found.dtype.name in _PLAIN:
            found = tf.bitcast(found, tf.as_dtype(_PLAIN[found.dtype.name]))
        return session.run(found).tolist()


_FLOATS = [0.25, 0.75, -0.25, -0.5, -0.75, 100.0, -100.0, math.nan, math.inf]


@pytest.mark.parametrize(
    ("kind", "zero_point", "expected"),
    [
        ("qint8", 3, [4, 5, 3, 2, 2, 127, -128, -128, -128]),
        ("quint8", 3, [4, 5, 3, 2, 2, 203, 0, 0, 0]),
        ("qint32", 3, [4, 5, 3, 2, 2, 203, -197, 3 - 2**31, 3 - 2**31]),
        ("qint8", 300, [127, 127, 127, 127, 127, 127, 100, -128, -128]),
    ],
)
def test_quantize(kind: str, zero_point: int, expected: list[int]) -> None:
    attrs = {"Tout": tf.as_dtype(kind), **_attrs(kind)}
    build = lambda: ops.UniformQuantize(
        input=_FLOATS, **_of("", 0.5, zero_point), **attrs
    )
    assert _run(build) == expected


def test_quantize_along_an_axis() -> None:
    def quantized(scales: Any, zero_points: Any, axis: int) -> Any:
        return _run(
            lambda: ops.UniformQuantize(
                input=[[1.0, 2.0], [3.0, 4.5]],
                Tout=tf.qint8,
                **_of("", scales, zero_points),
                **_attrs("qint8", axis=axis),
            )
        )

    assert quantized([0.5, 0.3], [3, -1], 1) == [[5, 6], [9, 14]]
    for wrong in [([0.5, 0.3, 1.0], [3, -1, 1], 1), ([0.5, 0.3], [3, -1], -1)]:
        with pytest.raises(tf.errors.InvalidArgumentError):
            quantized(*wrong)


def test_dequantize() -> None:
    def dequantized(values: Any, kind: str, scales: Any, points: Any, axis: int) -> Any:
        return _run(
            lambda: ops.UniformDequantize(
                input=_quantized(values, kind),
                Tout=tf.float32,
                **_of("", scales, points),
                **_attrs(kind, axis=axis),
            )
        )

    # The difference to the zero point wraps around.
    found = dequantized([-(2**31), 0, 5], "qint32", 0.3, 3, -1)
    assert found == [644245120.0, -0.9000000357627869, 0.6000000238418579]
    found = dequantized([[-128, 0], [5, 127]], "qint8", [0.3, 0.7], [3, -4], 0)
    assert found[1] == [6.299999713897705, 91.69999694824219]


@pytest.mark.parametrize(
    ("given", "wanted", "axes", "expected"),
    [
        # Halves are rounded up.
        ((0.25, 1), (0.5, 2), (-1, -1), [[2, 3, 3], [4, 127, -128]]),
        ((0.3, 1), (0.7, 2), (-1, -1), [[2, 2, 3], [3, 127, -128]]),
        (([0.25, 0.5], [1, 0]), (0.5, 2), (0, -1), [[2, 3, 3], [6, 127, -128]]),
        ((0.25, 1), ([0.5, 0.25], [2, 0]), (-1, 0), [[2, 3, 3], [3, 127, -128]]),
    ],
)
def test_requantize(given: Any, wanted: Any, axes: Any, expected: Any) -> None:
    build = lambda: ops.UniformRequantize(
        input=_quantized([[1, 2, 3], [4, 1000, -1000]], "qint32"),
        Tout=tf.qint8,
        **_of("input_", *given),
        **_of("output_", *wanted),
        **_attrs("qint32", "input_", axes[0]),
        **_attrs("qint8", "output_", axes[1]),
    )
    assert _run(build) == expected


@pytest.mark.parametrize("sides", [("lhs", "rhs"), ("rhs", "lhs")])
def test_add(sides: tuple[str, str]) -> None:
    matrix, vector = sides
    build = lambda: ops.UniformQuantizedAdd(
        **{matrix: _quantized([[1, 2, 3], [4, 5, 6]], "qint32")},
        **{vector: _quantized([10, 20, 30], "qint32")},
        **_of(f"{matrix}_", [0.5, 0.4, 0.3], [1, 2, 3]),
        **_of(f"{vector}_", [0.3, 0.2, 0.1], [2, 1, 0]),
        **_of("output_", [0.2, 0.3, 0.4], [3, 2, 1]),
        **_attrs("qint32", f"{matrix}_", 1),
        **_attrs("qint32", f"{vector}_", 0),
        **_attrs("qint32", "output_", 1),
    )
    assert _run(build) == [[15, 15, 9], [22, 19, 11]]


def test_clip() -> None:
    build = lambda: ops.UniformQuantizedClipByValue(
        operand=_quantized([[-5, 0], [5, 10]], "qint32"),
        min=_quantized([-2, 1], "qint32"),
        max=_quantized([6, 7], "qint32"),
        **_of("", [0.5, 1.0], [1, 2]),
        **_attrs("qint32", axis=1),
    )
    assert _run(build) == [[-2, 1], [5, 7]]


def test_products() -> None:
    left, right = [[1, 2], [3, -4]], [[5, 6, 7], [8, 9, -128]]
    second = _of("rhs_", [0.3, 0.2, 0.1], [2, 1, 0])
    build = lambda: ops.UniformQuantizedDot(
        lhs=_quantized(left, "qint8"),
        rhs=_quantized(right, "qint8"),
        Tout=tf.qint32,
        **_of("lhs_", 0.5, 1),
        **second,
        **_of("output_", 0.2, 3),
        **_attrs("qint8", "lhs_"),
        **_attrs("qint8", "rhs_", 1),
        **_attrs("qint32", "output_"),
    )
    assert _run(build) == [[8, 7, -29], [-15, -12, 167]]
    # Rows are quantized, each to its own range.
    build = lambda: ops.UniformQuantizedDotHybrid(
        lhs=[[1.0, 2.3], [3.0, -4.1], [0.0, 0.0]],
        rhs=_quantized(right, "qint8"),
        Tout=tf.float32,
        **second,
        **_attrs("qint8", "rhs_", 1),
    )
    expected = [[5.041059, 4.681177, -28.739176], [-4.660941, -3.541647, 54.494587]]
    assert _run(build) == [pytest.approx(row) for row in expected] + [[0.0] * 3]
