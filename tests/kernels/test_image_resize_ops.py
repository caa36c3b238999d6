"""Resizing over torch tensors gives the host kernel's values.

Bit for bit, but where integer images lose rows: these are mixed in another order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host import image_resize_ops as host

SIZES = [
    ((1, 75, 100, 3), (44, 44)),
    ((5, 30, 40, 3), (61, 17)),
    ((70, 50, 60, 3), (20, 90)),
    ((0, 30, 40, 3), (61, 17)),
    ((0, 8, 8, 8), (16, 5)),
    ((3, 100, 70, 1), (20, 200)),
    ((2, 9, 9, 40), (9, 9)),
]


class _Node(dict[str, Any]):
    device = "/device:CPU:0"
    op = "ResizeBilinear"


@pytest.mark.parametrize("flags", [(False, False), (True, False), (False, True)])
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.float64])
def test_bilinear(dtype: Any, flags: tuple[bool, bool]) -> None:
    random = np.random.RandomState(0)
    for shape, size in SIZES:
        images = (random.rand(*shape) * 200).astype(dtype)
        attrs = {"align_corners": flags[0], "half_pixel_centers": flags[1]}
        with tf.Graph().as_default(), tf.Session() as session:
            fed = tf.placeholder(dtype, [None] * 4)
            resized = tf.raw_ops.ResizeBilinear(images=fed, size=size, **attrs)
            found = session.run(resized, {fed: images})
        expected = host.resize_bilinear(_Node(attrs))(images, np.array(size))
        assert found.dtype == np.float32
        loses_rows = np.issubdtype(dtype, np.integer) and size[0] < shape[1]
        rounding = 200 * 2e-7 if loses_rows else 0
        np.testing.assert_allclose(found, expected, rtol=0, atol=rounding)


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_fewer_rows_of_one_colour_keep_it(dtype: Any) -> None:
    images = np.full((2, 75, 100, 3), 173, dtype)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(dtype, [None] * 4)
        found = session.run(tf.image.resize_bilinear(fed, [31, 47]), {fed: images})
    np.testing.assert_array_equal(found, np.full((2, 31, 47, 3), 173, np.float32))


@pytest.mark.parametrize("threads", [1, 2])
def test_bilinear_by_any_number_of_threads(threads: int) -> None:
    import torch

    from tensorloom.kernels.image_resize_ops import resize_bilinear

    class Node(_Node):
        device_type, torch_device = "CPU", torch.device("cpu")

    attrs = {"align_corners": False, "half_pixel_centers": True, "T": tf.uint8}
    images = np.random.RandomState(0).randint(0, 255, (2, 80, 100, 3), np.uint8)
    size = np.array([50, 60])
    expected = host.resize_bilinear(_Node(attrs))(images, size)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        found = resize_bilinear(Node(attrs))(torch.from_numpy(images), size)
    finally:
        torch.set_num_threads(before)
    np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=255 * 2e-7)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.float64])
@pytest.mark.parametrize(
    ("op", "flags"),
    [
        ("ResizeBicubic", {"align_corners": False, "half_pixel_centers": False}),
        ("ResizeBicubic", {"align_corners": True, "half_pixel_centers": False}),
        ("ResizeBicubic", {"align_corners": False, "half_pixel_centers": True}),
        ("ResizeArea", {"align_corners": False}),
        ("ResizeArea", {"align_corners": True}),
    ],
)
def test_weighted_sums(dtype: Any, op: str, flags: dict[str, bool]) -> None:
    random = np.random.RandomState(0)
    node = _Node(flags)
    node.op = op
    for shape, size in [*SIZES, ((1, 7, 300, 1), (400, 700)), ((2, 9, 9, 4), (1, 1))]:
        images = (random.rand(*shape) * 200).astype(dtype)
        with tf.Graph().as_default(), tf.Session() as session:
            fed = tf.placeholder(dtype, [None] * 4)
            resized = getattr(tf.raw_ops, op)(images=fed, size=size, **flags)
            found = session.run(resized, {fed: images})
        expected = host.resize(node)(images, np.array(size))  # type: ignore[arg-type]
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=0, atol=200 * 1e-6)
