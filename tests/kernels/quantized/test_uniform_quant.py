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


# --- convolutions --------------------------------------------------------------------

_IMAGES = (np.arange(80) * 37 % 255 - 128).reshape(2, 2, 5, 4)
_FILTERS = (np.arange(12) * 53 % 255 - 128).reshape(2, 1, 3, 2)
# Images and results [batch, height, width, feature], filters HWIO.
_CHANNELS_LAST = b"\x10\x03\x1a\x02\x01\x02 \x02(\x032\x02\x00\x01@\x03J\x02\x01\x02"
_CONVOLVED = [
    [
        [[-433, 1927], [-998, -142], [-1131, 1950]],
        [[-1958, -5131], [-4746, -3371], [-2359, -562]],
    ],
    [
        [[-86, -467], [-523, -1430], [-356, -1503]],
        [[4329, -2222], [-775, -5520], [-2884, -2107]],
    ],
]


@pytest.mark.parametrize("channels_last", [False, True])
def test_convolution(channels_last: bool) -> None:
    images, filters, numbers = _IMAGES, _FILTERS, b""
    if channels_last:
        images, filters = images.transpose(0, 2, 3, 1), filters.transpose(2, 3, 1, 0)
        numbers = _CHANNELS_LAST
    found = _run(
        lambda: ops.UniformQuantizedConvolution(
            lhs=_quantized(images, "qint8"),
            rhs=_quantized(filters, "qint8"),
            Tout=tf.qint32,
            window_strides=[2, 2],
            padding="SAME",
            feature_group_count=2,
            dimension_numbers=numbers,
            **_of("lhs_", 0.5, 3),
            **_of("rhs_", [0.25, 0.75], [-2, 4]),
            **_of("output_", 1.5, 7),
            **_attrs("qint8", "lhs_"),
            **_attrs("qint8", "rhs_", 3 if channels_last else 0),
            **_attrs("qint32", "output_"),
        )
    )
    wanted = np.array(_CONVOLVED)
    assert found == (wanted.transpose(0, 2, 3, 1) if channels_last else wanted).tolist()


def _hybrid(**attrs: Any) -> Any:
    images = (np.arange(40) * 0.5 - 7).reshape(1, 2, 5, 4).astype(np.float32)
    return ops.UniformQuantizedConvolutionHybrid(
        lhs=images,
        rhs=_quantized(_FILTERS, "qint8"),
        Tout=tf.float32,
        **_of("rhs_", 0.25, -2),
        **_attrs("qint8", "rhs_"),
        **{"padding": "VALID", "feature_group_count": 2, **attrs},
    )


def test_hybrid_convolution() -> None:
    found = _run(
        lambda: _hybrid(
            padding="EXPLICIT", explicit_padding=[1, 0, 0, 0], lhs_dilation=[1, 2]
        )
    )
    assert np.shape(found) == (1, 2, 4, 6)
    wanted = [-71.691177, 77.216179, -64.502945, 66.108826, -55.670589, 56.588238]
    np.testing.assert_allclose(found[0][0][0], wanted, 1e-5)
    wanted = [-305.614716, 56.855885, -320.067657, 61.27206, -336.929413, 65.057358]
    np.testing.assert_allclose(found[0][1][3], wanted, 1e-5)


@pytest.mark.parametrize(
    ("attrs", "told"),
    [
        ({"padding": "FULL"}, "padding must be one of"),
        ({"padding": "EXPLICIT", "explicit_padding": [1]}, "explicit_padding needs 4"),
        ({"explicit_padding": [1, 1, 1, 1]}, "must be empty"),
        ({"window_strides": [1]}, "window_strides needs 2"),
        ({"rhs_dilation": [0, 1]}, "rhs_dilation needs 2 positive"),
        ({"feature_group_count": 1}, "features"),
        ({"batch_group_count": 2}, "must divide"),
        ({"dimension_numbers": b"input_batch: 1"}, "Error parsing"),
        ({"dimension_numbers": b"\x10\x01"}, "each of 4 dimensions once"),
    ],
)
def test_convolutions_that_do_not_fit(attrs: dict[str, Any], told: str) -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match=told):
        _hybrid(**attrs)


def test_a_window_that_is_larger_than_the_image_has_no_place() -> None:
    assert _run(lambda: _hybrid(rhs_dilation=[3, 1])) == [[[], []]]
