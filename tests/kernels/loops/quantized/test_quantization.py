"""Floats and levels: what the compiled loops say is what torch's steps say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import tensorloom as tf
from tensorloom.framework.runtime import intra_op
from tensorloom.kernels.torch.quantized.fake_quant import (
    _fake_quantize,
    _gradients,
    _Nudged,
)

IMAGES = (3, 5, 7, 300)  # more than one row of the sums' channels, and a rest


def _values(*shape: int) -> Any:
    values = np.random.RandomState(0).randn(*shape).astype(np.float32) * 3
    values.flat[:6] = [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5]
    return values


def _run(op: str, *, values: dict[str, Any], **attrs: Any) -> list[Any]:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = {
            name: tf.placeholder(attrs.pop(f"dtype_{name}", x.dtype), x.shape)
            for name, x in values.items()
        }
        outputs = getattr(tf.raw_ops, op)(**fed, **attrs)
        outputs = list(outputs) if isinstance(outputs, tuple) else [outputs]
        feed = {fed[name]: x for name, x in values.items()}
        return list(session.run(outputs, feed))


def _nudged(low: Any, high: Any) -> tuple[Any, Any, Any]:
    scale = (high - low) / np.float32(255)
    zero = np.floor(np.clip(-low / scale, 0, 255) + np.float32(0.5))
    return -zero * scale, (255 - zero) * scale, scale


RANGES = {
    "one": (np.float32(-1.3), np.float32(2.1)),
    "many": (-np.linspace(0.1, 2, 300), np.linspace(0.2, 3, 300)),
}


def _bounds(name: str) -> Any:
    return [np.float32(x) for x in RANGES[name]]


@pytest.mark.parametrize("name", RANGES)
def test_fake_quantized(name: str) -> None:
    values, (low, high) = _values(*IMAGES), _bounds(name)
    op = "FakeQuantWithMinMaxVars" + ("PerChannel" if np.ndim(low) else "")
    (found,) = _run(op, values={"inputs": values, "min": low, "max": high})
    low, high, scale = _nudged(low, high)
    steps = np.clip(values, low, high) - low
    steps = steps / scale if np.ndim(scale) else steps * (1 / scale)
    expected = np.floor(steps + np.float32(0.5)) * scale + low
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", RANGES)
@pytest.mark.parametrize("rows", [1, 2, 400])
def test_gradient_of_fake_quantization(name: str, rows: int) -> None:
    values, (low, high) = _values(rows, 300), _bounds(name)
    # Whole numbers: their sums do not depend on the order.
    grads = np.random.RandomState(1).randint(-9, 9, values.shape).astype(np.float32)
    op = f"FakeQuantWithMinMaxVars{'PerChannel' if np.ndim(low) else ''}Gradient"
    found = _run(
        op, values={"gradients": grads, "inputs": values, "min": low, "max": high}
    )
    low, high, _ = _nudged(low, high)
    axes = 0 if np.ndim(low) else None
    np.testing.assert_array_equal(
        found[0], np.where((low <= values) & (values <= high), grads, 0)
    )
    np.testing.assert_array_equal(found[1], np.where(values < low, grads, 0).sum(axes))
    np.testing.assert_array_equal(found[2], np.where(values > high, grads, 0).sum(axes))


@pytest.mark.parametrize("shape", [(0, 300), (4, 0)])
def test_no_elements(shape: tuple[int, int]) -> None:
    bounds = {"min": -np.ones(shape[1], "f"), "max": np.ones(shape[1], "f")}
    grads = {"gradients": np.zeros(shape, "f"), "inputs": np.zeros(shape, "f")}
    op = "FakeQuantWithMinMaxVarsPerChannel"
    found = _run(op + "Gradient", values={**grads, **bounds})
    assert [x.tolist() for x in found[1:]] == [[0.0] * shape[1]] * 2
    (result,) = _run(op, values={"inputs": grads["inputs"], **bounds})
    assert result.shape == shape


# The steps between -3 and 3 as torch has them, for integers from 0 on.
def _combined(x: torch.Tensor, top: int) -> torch.Tensor:
    return ((x.clamp(-3, 3) + 3) * (top / 6) + 0.5).floor()


def _scaled(x: torch.Tensor, top: int) -> torch.Tensor:
    return _away(x.clamp(-3, 3) * np.float32(top / 3).item())


def _away(x: torch.Tensor) -> torch.Tensor:
    return torch.copysign((x.abs().double() + 0.5).floor(), x.double())


@pytest.mark.parametrize(
    ("mode", "dtype", "reference"),
    [
        ("MIN_COMBINED", "quint8", _combined),
        ("MIN_COMBINED", "quint16", _combined),
        ("SCALED", "quint8", _scaled),
    ],
)
def test_quantized(mode: str, dtype: str, reference: Any) -> None:
    values = _values(1000)
    values[6:20] = np.arange(-7, 7) / 2
    bounds = {"min_range": np.float32(-3), "max_range": np.float32(3)}
    to = getattr(tf, dtype)
    found, *_ = _run("QuantizeV2", values={"input": values, **bounds}, T=to, mode=mode)
    top = 2 ** (8 if dtype == "quint8" else 16) - 1
    expected = reference(torch.from_numpy(values), top).nan_to_num(0).clamp(0, top)
    np.testing.assert_array_equal(found.astype(np.int64), expected.numpy())


# What TensorFlow 1.15 says of these between -3 and 3, by mode, dtype and rounding.
GIVEN = [np.inf, -np.inf, 0.0, -0.0, 0.5, -0.5, 1.5, 2.9, -2.9, 1e-8]
AWAY = "HALF_AWAY_FROM_ZERO"
SAID = {
    ("MIN_COMBINED", "qint8", AWAY): [127, -128, -1, -1, 21, -22, 63, 123, -124, -1],
    ("MIN_FIRST", "quint8", AWAY): [255, 0, 128, 128, 149, 107, 192, 251, 5, 128],
    ("MIN_FIRST", "qint32", AWAY): [
        *(2147483520, -(2**31), 0, 0, 357913952, -357913952),
        *(1073741824, 2075900928, -2075900928, 7),
    ],
    ("SCALED", "qint8", AWAY): [127, -128, 0, 0, 21, -21, 64, 123, -123, 0],
    ("SCALED", "qint8", "HALF_TO_EVEN"): [127, -128, 0, 0, 21, -21, 64, 123, -123, 0],
    ("SCALED", "qint16", "HALF_TO_EVEN"): [
        *(32767, -32768, 0, 0, 5461, -5461, 16384, 31675, -31675, 0),
    ],
}


@pytest.mark.parametrize(("mode", "dtype", "rounding"), SAID)
def test_quantized_like_tensorflow(mode: str, dtype: str, rounding: str) -> None:
    values = {"input": np.array(GIVEN, np.float32)}
    bounds = {"min_range": np.float32(-3), "max_range": np.float32(3)}
    options = {"T": getattr(tf, dtype), "mode": mode, "round_mode": rounding}
    found, *_ = _run("QuantizeV2", values={**values, **bounds}, **options)
    assert found.tolist() == SAID[mode, dtype, rounding]


@pytest.mark.parametrize(
    ("dtype", "expected"),
    [
        ("quint8", [0, 0, 3, 30, 58, 86, 113, 141, 169, 196, 224, 252]),
        ("qint8", [-128, -128, -126, -98, -70, -43, -15, 13, 40, 68, 96, 124]),
    ],
)
def test_requantized_like_tensorflow(dtype: str, expected: list[int]) -> None:
    ranges = {
        "input_min": np.float32(-3000),
        "input_max": np.float32(3000),
        "requested_output_min": np.float32(-4),
        "requested_output_max": np.float32(5),
    }
    values = {"input": np.arange(-6, 6, dtype=np.int32) * 700000}
    options = {"dtype_input": tf.qint32, "out_type": getattr(tf, dtype)}
    found, *_ = _run("Requantize", values={**values, **ranges}, **options)
    assert found.tolist() == expected


@pytest.mark.parametrize("rounding", ["HALF_TO_EVEN", "HALF_UP"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_there_and_back(dtype: Any, rounding: str) -> None:
    values = np.array([-9, -2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 9, np.nan], dtype)
    bounds = {"input_min": dtype(-4), "input_max": dtype(3)}
    (found,) = _run(
        "QuantizeAndDequantizeV2",
        values={"input": values, **bounds},
        num_bits=3,
        range_given=True,
        round_mode=rounding,
    )
    even = rounding == "HALF_TO_EVEN"
    halves = [-2, -2, 0, 0, 2, 2] if even else [-2, -1, 0, 1, 2, 3]
    np.testing.assert_array_equal(found, np.array([-4, *halves, 3, np.nan], dtype))


@pytest.mark.parametrize("dtype", ["quint8", "qint8"])
def test_products(dtype: str) -> None:
    to = getattr(tf, dtype)
    random = np.random.RandomState(0)
    x, y = (random.randint(-128, 128, n).astype(np.int8) for n in [(4, 300), (300,)])
    x, y = (v.view(np.uint8 if dtype == "quint8" else np.int8) for v in (x, y))
    bounds = {
        f"{end}_{name}": v
        for name in "xy"
        for end, v in (("min", np.float32(-2)), ("max", np.float32(2)))
    }
    found, *_ = _run(
        "QuantizedMul",
        values={"x": x, "y": y, **bounds},
        dtype_x=to,
        dtype_y=to,
        Toutput=tf.qint32,
    )
    zero = 128 if dtype == "quint8" else 0
    expected = (x.astype(np.int64) - zero) * (y.astype(np.int64) - zero)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", RANGES)
def test_any_number_of_threads(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    to = _Nudged(*(torch.as_tensor(x) for x in _nudged(*_bounds(name))))
    random = np.random.RandomState(0)
    value, grad = (
        torch.from_numpy(random.randn(1403, 300).astype(np.float32)) for _ in range(2)
    )
    results = []
    for count in (1, 2, 5):
        monkeypatch.setattr(intra_op, "_count", lambda count=count: count)
        results.append((_fake_quantize(value, to), *_gradients(grad, value, to)))
    for first, *others in zip(*results, strict=True):
        for other in others:
            torch.testing.assert_close(first, other, rtol=0, atol=0)
    below = (grad.double() * (value < to.low)).reshape(-1, 300)
    expected = below.sum(0) if to.low.dim() else below.sum()
    torch.testing.assert_close(results[0][2], expected.float(), rtol=1e-4, atol=1e-4)
