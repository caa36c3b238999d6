"""Convolution against a loop over windows, and its gradients by adjointness."""

from __future__ import annotations

from itertools import product
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tensorloom.kernels.torch.convolution import conv_products as products
from tensorloom.kernels.torch.convolution import depthwise_taps as taps
from tests.kernels.nn.nn_ops_calls import run

Array = np.ndarray[Any, Any]


def _pads(size: int, window: int, stride: int, dilation: int, padding: str) -> Any:
    """(outputs, zeros before, zeros after) along one axis."""
    effective = (window - 1) * dilation + 1
    if padding == "VALID":
        return (size - effective) // stride + 1, 0, 0
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + effective - size, 0)
    return outputs, total // 2, total - total // 2


def _convolve(
    image: Array, filters: Array, stride: int, dilation: int, padding: str
) -> Array:
    """NHWC image with HWIO filters; groups when the filter has fewer channels."""
    kh, kw, depth, outputs = filters.shape
    groups = image.shape[3] // depth
    rows, top, bottom = _pads(image.shape[1], kh, stride, dilation, padding)
    columns, left, right = _pads(image.shape[2], kw, stride, dilation, padding)
    padded = np.pad(image, ((0, 0), (top, bottom), (left, right), (0, 0)))
    result = np.zeros((len(image), rows, columns, outputs))
    per_group = outputs // groups
    for y, x in product(range(rows), range(columns)):
        window = padded[
            :,
            y * stride : y * stride + (kh - 1) * dilation + 1 : dilation,
            x * stride : x * stride + (kw - 1) * dilation + 1 : dilation,
        ]
        for group in range(groups):
            inputs = slice(group * depth, (group + 1) * depth)
            out = slice(group * per_group, (group + 1) * per_group)
            result[:, y, x, out] = np.tensordot(
                window[..., inputs], filters[..., out], 3
            )
    return result


CASES = st.fixed_dictionaries(
    {
        "size": st.tuples(st.integers(3, 7), st.integers(3, 7)),
        "window": st.tuples(st.integers(1, 4), st.integers(1, 4)),
        "stride": st.integers(1, 3),
        "dilation": st.integers(1, 2),
        "padding": st.sampled_from(["SAME", "VALID"]),
        "depth": st.integers(1, 3),
        "outputs": st.integers(1, 3),
        "seed": st.integers(0, 99),
    }
)


def _operands(case: dict[str, Any]) -> tuple[Array, Array]:
    rng = np.random.default_rng(case["seed"])
    image = rng.standard_normal((2, *case["size"], case["depth"]))
    shape = (*case["window"], case["depth"], case["outputs"])
    return image, rng.standard_normal(shape)


def _fits(case: dict[str, Any]) -> bool:
    return case["padding"] == "SAME" or all(
        size >= (window - 1) * case["dilation"] + 1
        for size, window in zip(case["size"], case["window"], strict=True)
    )


def _attrs(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "strides": [1, case["stride"], case["stride"], 1],
        "dilations": [1, case["dilation"], case["dilation"], 1],
        "padding": case["padding"].encode(),
        "data_format": b"NHWC",
    }


@settings(max_examples=80)
@given(CASES.filter(_fits), st.booleans())
def test_conv2d_and_its_gradients(case: dict[str, Any], by_product: bool) -> None:
    with mock.patch.object(products, "is_by_product", return_value=by_product):
        _check_conv2d(case)


def _check_conv2d(case: dict[str, Any]) -> None:
    image, filters = _operands(case)
    attrs = _attrs(case)
    (result,) = run("Conv2D", image, filters, **attrs)
    expected = _convolve(
        image, filters, case["stride"], case["dilation"], case["padding"]
    )
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)
    grad = np.random.default_rng(5).standard_normal(result.shape)
    _check_adjoint("Conv2D", image, filters, grad, result, attrs)


@settings(max_examples=40)
@given(CASES.filter(_fits))
def test_depthwise_and_its_gradients(case: dict[str, Any]) -> None:
    image, filters = _operands(case)
    attrs = _attrs(case)
    (result,) = run("DepthwiseConv2dNative", image, filters, **attrs)
    parts = [
        _convolve(
            image[..., i : i + 1],
            filters[:, :, i : i + 1],
            case["stride"],
            case["dilation"],
            case["padding"],
        )
        for i in range(case["depth"])
    ]
    expected = np.concatenate(parts, -1)
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-9)
    grad = np.random.default_rng(5).standard_normal(result.shape)
    _check_adjoint("DepthwiseConv2dNative", image, filters, grad, result, attrs)


BY_PRODUCT = [
    # (image, filters, stride): few windows and many channels
    ((1, 7, 7, 40), (3, 3, 40, 64), 1),
    ((2, 9, 8, 40), (3, 2, 40, 64), 2),
    ((3, 12, 11, 16), (1, 1, 16, 20), 1),
    ((3, 12, 11, 16), (1, 1, 16, 20), 2),
    ((1, 1, 1, 30), (3, 3, 30, 50), 1),
]


@pytest.mark.parametrize(("shape", "window", "stride"), BY_PRODUCT)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_small_images_with_many_channels(
    shape: Any, window: Any, stride: int, dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    image = rng.standard_normal(shape).astype(dtype)
    filters = rng.standard_normal(window).astype(dtype)
    attrs = _attrs({"stride": stride, "dilation": 1, "padding": "SAME"})
    sizes = [np.array(v.shape, np.int32) for v in (image, filters)]
    (y,) = run("Conv2D", image, filters, **attrs)
    calls = [
        ("Conv2D", (image, filters)),
        ("Conv2DBackpropInput", (sizes[0], filters, y)),
        ("Conv2DBackpropFilter", (image, sizes[1], y)),
    ]
    taken = mock.Mock(wraps=products.matrix_product)
    monkeypatch.setattr(products, "matrix_product", taken)
    found = [run(op, *inputs, **attrs)[0] for op, inputs in calls]
    assert taken.call_count == len(calls)
    monkeypatch.setattr(products, "is_by_product", lambda *_, **__: False)
    for (op, inputs), result in zip(calls, found, strict=True):
        (expected,) = run(op, *inputs, **attrs)
        assert result.dtype == dtype
        np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3)
        assert result.flags.c_contiguous


FEW_CHANNELS = [
    # (image, filters, stride, padding): words' vectors, then letters' pixels
    ((8, 20, 60, 1), (3, 60, 1, 32), 1, "VALID"),
    ((8, 21, 60, 1), (4, 60, 1, 32), 2, "VALID"),
    ((9, 28, 28, 1), (5, 5, 1, 16), 2, "SAME"),
    ((9, 28, 25, 3), (3, 3, 3, 32), 1, "SAME"),
]


@pytest.mark.parametrize(("shape", "window", "stride", "padding"), FEW_CHANNELS)
def test_gradients_of_images_with_few_channels_are_products(
    shape: Any, window: Any, stride: int, padding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    image = rng.standard_normal(shape).astype(np.float32)
    filters = rng.standard_normal(window).astype(np.float32)
    attrs = _attrs({"stride": stride, "dilation": 1, "padding": padding})
    taken = mock.Mock(wraps=products.matrix_product)
    monkeypatch.setattr(products, "matrix_product", taken)
    (y,) = run("Conv2D", image, filters, **attrs)
    assert not taken.call_count
    inputs = (np.array(shape, np.int32), filters, y)
    (result,) = run("Conv2DBackpropInput", *inputs, **attrs)
    assert taken.call_count == 1
    monkeypatch.setattr(products, "is_by_product", lambda *_, **__: False)
    (expected,) = run("Conv2DBackpropInput", *inputs, **attrs)
    np.testing.assert_allclose(result, expected, rtol=1e-3, atol=1e-3)


BY_TAPS = [
    # (image, filters, stride, dilation, padding)
    ((2, 20, 17, 9), (3, 3, 9, 1), 1, 1, "SAME"),
    ((2, 20, 17, 9), (3, 2, 9, 2), 1, 1, "VALID"),
    ((2, 40, 37, 9), (3, 3, 9, 1), 2, 1, "SAME"),
    ((2, 40, 38, 5), (2, 4, 5, 3), 3, 1, "SAME"),
    ((2, 40, 38, 9), (1, 1, 9, 1), 2, 1, "VALID"),
    ((2, 30, 27, 5), (3, 3, 5, 2), 1, 2, "SAME"),
    ((2, 60, 57, 5), (3, 3, 5, 1), 2, 2, "VALID"),
]


@pytest.mark.parametrize(("shape", "window", "stride", "dilation", "padding"), BY_TAPS)
def test_large_depthwise_ones_of_doubles(
    shape: Any, window: Any, stride: int, dilation: int, padding: str
) -> None:
    rng = np.random.default_rng(0)
    image, filters = rng.standard_normal(shape), rng.standard_normal(window)
    case = {"stride": stride, "dilation": dilation, "padding": padding}
    attrs = _attrs(case)
    (result,) = run("DepthwiseConv2dNative", image, filters, **attrs)
    assert result.size >= taps._FEWEST_ELEMENTS
    parts = [
        _convolve(
            image[..., i : i + 1], filters[:, :, i : i + 1], stride, dilation, padding
        )
        for i in range(shape[-1])
    ]
    np.testing.assert_allclose(result, np.concatenate(parts, -1), rtol=1e-9, atol=1e-9)
    grad = np.random.default_rng(5).standard_normal(result.shape)
    _check_adjoint("DepthwiseConv2dNative", image, filters, grad, result, attrs)


def _check_adjoint(
    op: str,
    image: Array,
    filters: Array,
    grad: Array,
    result: Array,
    attrs: dict[str, Any],
) -> None:
    """The op is linear in each operand; its gradients are the transposes."""
    sizes = [np.array(v.shape, np.int32) for v in (image, filters)]
    (dx,) = run(f"{op}BackpropInput", sizes[0], filters, grad, **attrs)
    (dw,) = run(f"{op}BackpropFilter", image, sizes[1], grad, **attrs)
    assert dx.shape == image.shape
    assert dw.shape == filters.shape
    total = (result * grad).sum()
    np.testing.assert_allclose((dx * image).sum(), total, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose((dw * filters).sum(), total, rtol=1e-8, atol=1e-8)


def test_channels_in_groups() -> None:
    rng = np.random.default_rng(0)
    image, filters = (
        rng.standard_normal((1, 4, 4, 4)),
        rng.standard_normal((2, 2, 2, 6)),
    )
    attrs = {"strides": [1, 1, 1, 1], "padding": b"SAME"}
    (result,) = run("Conv2D", image, filters, **attrs)
    np.testing.assert_allclose(result, _convolve(image, filters, 1, 1, "SAME"))


def test_both_layouts_agree() -> None:
    rng = np.random.default_rng(0)
    image = rng.standard_normal((2, 5, 6, 3)).astype(np.float32)
    filters = rng.standard_normal((3, 2, 3, 4)).astype(np.float32)
    (last,) = run("Conv2D", image, filters, strides=[1, 2, 1, 1], padding=b"SAME")
    (first,) = run(
        "Conv2D",
        np.ascontiguousarray(image.transpose(0, 3, 1, 2)),
        filters,
        strides=[1, 1, 2, 1],
        padding=b"SAME",
        data_format=b"NCHW",
    )
    np.testing.assert_allclose(first.transpose(0, 2, 3, 1), last, rtol=1e-5, atol=1e-5)


def test_explicit_padding() -> None:
    image = np.ones((1, 3, 3, 1), np.float32)
    filters = np.ones((2, 2, 1, 1), np.float32)
    (result,) = run(
        "Conv2D",
        image,
        filters,
        strides=[1, 1, 1, 1],
        padding=b"EXPLICIT",
        explicit_paddings=[0, 0, 1, 0, 0, 2, 0, 0],
    )
    assert result[0, :, :, 0].tolist() == [
        [2, 2, 1, 0],
        [4, 4, 2, 0],
        [4, 4, 2, 0],
    ]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_dtypes(dtype: str) -> None:
    image = np.arange(18).reshape(1, 3, 3, 2).astype(dtype)
    filters = np.ones((1, 1, 2, 1), dtype)
    (result,) = run("Conv2D", image, filters, strides=[1, 1, 1, 1], padding=b"VALID")
    assert result.dtype == dtype
    np.testing.assert_array_equal(result[..., 0], image.sum(-1))


def test_no_elements() -> None:
    attrs = {"strides": [1, 1, 1, 1], "padding": b"SAME"}
    filters = np.ones((1, 1, 3, 2), np.float32)
    (result,) = run("Conv2D", np.ones((0, 3, 3, 3), np.float32), filters, **attrs)
    assert result.shape == (0, 3, 3, 2)
    sizes = np.array([1, 1, 3, 2], np.int32)
    (grad,) = run(
        "Conv2DBackpropFilter",
        np.ones((0, 3, 3, 3), np.float32),
        sizes,
        np.ones((0, 3, 3, 2), np.float32),
        **attrs,
    )
    np.testing.assert_array_equal(grad, np.zeros((1, 1, 3, 2)))


def _floats(*shape: int) -> Array:
    return np.zeros(shape, np.float32)


def _sizes(*values: int) -> Array:
    return np.array(values, np.int32)


# The messages are those of TensorFlow 1.15.0.
BAD: list[tuple[str, tuple[Array, ...], str]] = [
    (
        "Conv2D",
        (_floats(2, 3, 3), _floats(1, 1, 3, 2)),
        "input must be 4-dimensional[2,3,3]",
    ),
    (
        "Conv2D",
        (_floats(2, 3, 3, 3), _floats(1, 3, 2)),
        "filter must be 4-dimensional: [1,3,2]",
    ),
    (
        "Conv2D",
        (_floats(2, 3, 3, 3), _floats(1, 1, 2, 2)),
        "input depth must be evenly divisible by filter depth: 3 vs 2",
    ),
    (
        "Conv2DBackpropInput",
        (_sizes(1, 3, 3), _floats(3, 3, 2, 4), _floats(1, 3, 3, 4)),
        "Conv2DCustomBackpropInput: input must be 4-dimensional",
    ),
    (
        "Conv2DBackpropInput",
        (_sizes(1, 3, 3, 2), _floats(3, 3, 2, 4), _floats(1, 3, 3, 5)),
        "Conv2DCustomBackpropInput: filter and out_backprop must have the same "
        "out_depth",
    ),
    (
        "Conv2DBackpropInput",
        (_sizes(1, -3, 3, 2), _floats(3, 3, 2, 4), _floats(1, 3, 3, 4)),
        "Dimension -3 must be >= 0",
    ),
    (
        "Conv2DBackpropInput",
        (_sizes(1, 2**30, 2**30, 2), _floats(3, 3, 2, 4), _floats(1, 3, 3, 4)),
        "Conv2DCustomBackpropInput: Size of out_backprop doesn't match computed: "
        "actual = 3, computed = 1073741824 spatial_dim: 1 input: 1073741824 filter: 3 "
        "output: 3 stride: 1 dilation: 1",
    ),
    (
        "Conv2DBackpropFilter",
        (_floats(1, 5, 3, 2), _sizes(3, 3, 2, 4), _floats(1, 3, 3, 4)),
        "Conv2DCustomBackpropFilter: Size of out_backprop doesn't match computed: "
        "actual = 3, computed = 5 spatial_dim: 1 input: 5 filter: 3 output: 3 "
        "stride: 1 dilation: 1",
    ),
    (
        "DepthwiseConv2dNative",
        (_floats(1, 3, 3, 2), _floats(2, 2, 3, 2)),
        "input and filter must have the same depth: 2 vs 3",
    ),
]


@pytest.mark.parametrize(("op", "inputs", "message"), BAD)
def test_bad_shapes(op: str, inputs: tuple[Array, ...], message: str) -> None:
    with pytest.raises(errors.InvalidArgumentError) as caught:
        run(op, *inputs, strides=[1, 1, 1, 1], padding=b"SAME")
    assert caught.value.message == message


def test_strides_over_the_batch() -> None:
    with pytest.raises(errors.InvalidArgumentError, match="batch and depth"):
        run(
            "Conv2D",
            _floats(1, 3, 3, 1),
            _floats(1, 1, 1, 1),
            strides=[2, 1, 1, 1],
            padding=b"SAME",
        )
