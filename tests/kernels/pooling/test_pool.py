"""Pooling against a loop over windows, and its gradients."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tensorloom.framework import errors
from tests.kernels.nn.nn_ops_calls import run

Array = np.ndarray[Any, Any]
Window = tuple[slice, slice]


def _windows(
    size: tuple[int, int], window: tuple[int, int], stride: int, padding: str
) -> tuple[tuple[int, int], dict[tuple[int, int], Window]]:
    """Output size, and which rows and columns each output sees."""
    starts = []
    for length, width in zip(size, window, strict=True):
        if padding == "VALID":
            count, before = (length - width) // stride + 1, 0
        else:
            count = -(-length // stride)
            before = max((count - 1) * stride + width - length, 0) // 2
        starts.append([i * stride - before for i in range(count)])
    seen = {
        (y, x): (
            slice(max(top, 0), top + window[0]),
            slice(max(left, 0), left + window[1]),
        )
        for (y, top), (x, left) in product(enumerate(starts[0]), enumerate(starts[1]))
    }
    return (len(starts[0]), len(starts[1])), seen


CASES = st.fixed_dictionaries(
    {
        "size": st.tuples(st.integers(3, 7), st.integers(3, 7)),
        "window": st.tuples(st.integers(1, 3), st.integers(1, 3)),
        "stride": st.integers(1, 4),
        "padding": st.sampled_from(["SAME", "VALID"]),
        "seed": st.integers(0, 99),
    }
)


def _attrs(case: dict[str, Any]) -> dict[str, Any]:
    return {
        "ksize": [1, *case["window"], 1],
        "strides": [1, case["stride"], case["stride"], 1],
        "padding": case["padding"].encode(),
        "data_format": b"NHWC",
    }


@settings(max_examples=60)
@given(CASES)
def test_max_pool_and_its_gradient(case: dict[str, Any]) -> None:
    # Few distinct values: most windows have ties, and the first maximum counts.
    rng = np.random.default_rng(case["seed"])
    image = rng.integers(0, 3, (2, *case["size"], 2)).astype(np.float32)
    size, windows = _windows(
        case["size"], case["window"], case["stride"], case["padding"]
    )
    attrs = _attrs(case)
    (result,) = run("MaxPool", image, **attrs)
    grad = rng.standard_normal((2, *size, 2)).astype(np.float32)
    expected, expected_grad = np.empty_like(grad), np.zeros_like(image)
    for (y, x), (rows, columns) in windows.items():
        for n, channel in product(range(2), range(2)):
            part = image[n, rows, columns, channel]
            expected[n, y, x, channel] = part.max()
            place = np.unravel_index(part.argmax(), part.shape)
            expected_grad[n, rows, columns, channel][place] += grad[n, y, x, channel]
    np.testing.assert_array_equal(result, expected)
    (back,) = run("MaxPoolGrad", image, result, grad, **attrs)
    np.testing.assert_allclose(back, expected_grad, rtol=1e-5, atol=1e-6)
    (second,) = run("MaxPoolGradGrad", image, result, image, **attrs)
    np.testing.assert_array_equal(second, result)


@settings(max_examples=60)
@given(CASES)
def test_avg_pool_and_its_gradient(case: dict[str, Any]) -> None:
    rng = np.random.default_rng(case["seed"])
    image = rng.standard_normal((2, *case["size"], 2))
    size, windows = _windows(
        case["size"], case["window"], case["stride"], case["padding"]
    )
    attrs = _attrs(case)
    (result,) = run("AvgPool", image, **attrs)
    grad = rng.standard_normal((2, *size, 2))
    expected, expected_grad = np.empty_like(grad), np.zeros_like(image)
    for (y, x), (rows, columns) in windows.items():
        part = image[:, rows, columns]
        expected[:, y, x] = part.mean((1, 2))
        count = part.shape[1] * part.shape[2]
        expected_grad[:, rows, columns] += grad[:, y, x][:, None, None] / count
    np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-12)
    shape = np.array(image.shape, np.int32)
    (back,) = run("AvgPoolGrad", shape, grad, **attrs)
    np.testing.assert_allclose(back, expected_grad, rtol=1e-9, atol=1e-12)


def test_indices_ride_along_only_with_their_input() -> None:
    """A pool output used with another input is not taken for that input's."""
    attrs = {
        "ksize": [1, 2, 2, 1],
        "strides": [1, 2, 2, 1],
        "padding": b"VALID",
    }
    image = np.array([[0, 1], [0, 0]], np.float32).reshape(1, 2, 2, 1)
    (output,) = run("MaxPool", image, **attrs)
    other = np.array([[0, 0], [1, 0]], np.float32).reshape(1, 2, 2, 1)
    (back,) = run("MaxPoolGrad", other, output, np.ones_like(output), **attrs)
    assert back.reshape(-1).tolist() == [0, 0, 1, 0]


def test_windows_over_channels() -> None:
    image = np.array([3, 1, 5, 2], np.float32).reshape(1, 1, 1, 4)
    attrs = {"ksize": [1, 1, 1, 2], "strides": [1, 1, 1, 2], "padding": b"VALID"}
    (result,) = run("MaxPool", image, **attrs)
    assert result.reshape(-1).tolist() == [3, 5]
    (back,) = run("MaxPoolGrad", image, result, result, **attrs)
    assert back.reshape(-1).tolist() == [3, 0, 5, 0]


def test_argmax_indices() -> None:
    image = np.arange(16, dtype=np.float32).reshape(2, 2, 2, 2)
    attrs = {"ksize": [1, 2, 2, 1], "strides": [1, 2, 2, 1], "padding": b"SAME"}
    values, index = run(
        "MaxPoolWithArgmax",
        image,
        Targmax="int64",
        include_batch_in_index=False,
        **attrs,
    )
    assert index.reshape(-1).tolist() == [6, 7, 6, 7]
    _, index = run(
        "MaxPoolWithArgmax",
        image,
        Targmax="int32",
        include_batch_in_index=True,
        **attrs,
    )
    assert index.dtype == np.int32
    assert index.reshape(-1).tolist() == [6, 7, 14, 15]
    (back,) = run(
        "MaxPoolGradWithArgmax",
        image,
        values,
        index,
        include_batch_in_index=True,
        **attrs,
    )
    assert back.reshape(-1)[[6, 7, 14, 15]].tolist() == [6, 7, 14, 15]
    assert np.count_nonzero(back) == 4


@pytest.mark.parametrize(
    ("attrs", "kind", "message"),
    [
        (
            {"ksize": [2, 2, 2, 1]},
            errors.UnimplementedError,
            "Pooling is not yet supported on the batch dimension.",
        ),
        (
            {"ksize": [1, 1, 1, 2]},
            errors.UnimplementedError,
            "Depthwise max pooling requires the depth window to equal the depth stride",
        ),
        (
            {"ksize": [1, 5, 1, 1], "padding": b"VALID"},
            errors.InvalidArgumentError,
            "Computed output size would be negative: -3 [input_size: 1, "
            "effective_filter_size: 5, stride: 1]",
        ),
        (
            {"ksize": [1, 0, 1, 1]},
            errors.InvalidArgumentError,
            "Sliding window ksize must be positive, got [1, 0, 1, 1]",
        ),
    ],
)
def test_bad_windows(
    attrs: dict[str, Any], kind: type[Exception], message: str
) -> None:
    full = {"strides": [1, 1, 1, 1], "padding": b"SAME", **attrs}
    with pytest.raises(kind) as caught:
        run("MaxPool", np.zeros((1, 1, 2, 4), np.float32), **full)
    assert caught.value.message == message  # type: ignore[attr-defined]
