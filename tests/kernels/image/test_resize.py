"""Resizing: sums by NumPy, other devices, and any number of threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.framework.runtime import intra_op
from tensorloom.kernels.host.image import resize as host

SIZES = [
    ((1, 75, 100, 3), (44, 44)),
    ((5, 30, 40, 3), (61, 17)),
    ((30, 50, 60, 3), (20, 90)),
    ((0, 30, 40, 3), (61, 17)),
    ((0, 8, 8, 8), (16, 5)),
    ((3, 100, 70, 1), (20, 200)),
    ((2, 9, 9, 40), (9, 9)),
    ((2, 9, 9, 40), (18, 7)),
]
FLAGS = [(False, False), (True, False), (False, True)]


class _Node(dict[str, Any]):
    device = "/device:CPU:0"
    op = "ResizeBilinear"


def _resized(op: str, images: Any, size: Any, **attrs: bool) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(images.dtype, [None] * 4)
        result = getattr(tf.raw_ops, op)(images=fed, size=size, **attrs)
        return session.run(result, {fed: images})


def _bilinear(images: Any, size: Any, align: bool, centers: bool) -> Any:
    """TensorFlow's formula, in float32."""
    value = images.astype(np.float32)
    if size == images.shape[1:3]:
        return value
    for axis in (2, 1):
        before, after, share = host.between(
            images.shape[axis], size[axis - 1], align, centers
        )
        start, end = value.take(before, axis), value.take(after, axis)
        share = share[:, None] if axis == 2 else share[:, None, None]
        value = start + (end - start) * share
    return value


def _weighted(op: str, images: Any, size: Any, align: bool, centers: bool) -> Any:
    value = images.astype(np.float64)
    if size == images.shape[1:3] and op != "ResizeArea":
        return value
    for axis in (1, 2):
        value = np.moveaxis(value, axis, 0)
        matrix = _matrix(op, value.shape[0], size[axis - 1], align, centers)
        value = np.moveaxis(np.tensordot(matrix, value, 1), 0, axis)
    return value


def _matrix(op: str, old: int, new: int, align: bool, centers: bool) -> Any:
    """The weights of old positions [new, old]."""
    positions, weights = host.WEIGHTS[op](old, new, align, centers)
    matrix = np.zeros((new, old))
    np.add.at(matrix, (np.arange(new)[:, None], positions), weights)
    return matrix


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.float64])
def test_bilinear(dtype: Any, flags: tuple[bool, bool]) -> None:
    random = np.random.RandomState(0)
    attrs = {"align_corners": flags[0], "half_pixel_centers": flags[1]}
    for shape, size in SIZES:
        images = (random.rand(*shape) * 200).astype(dtype)
        found = _resized("ResizeBilinear", images, size, **attrs)
        assert found.dtype == np.float32
        np.testing.assert_array_equal(found, _bilinear(images, size, *flags))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32])
def test_fewer_rows_of_one_colour_keep_it(dtype: Any) -> None:
    images = np.full((2, 75, 100, 3), 173, dtype)
    found = _resized("ResizeBilinear", images, [31, 47])
    np.testing.assert_array_equal(found, np.full((2, 31, 47, 3), 173, np.float32))


@pytest.mark.parametrize("flags", FLAGS)
def test_bilinear_by_torch(flags: tuple[bool, bool]) -> None:
    import torch

    from tensorloom.kernels.torch.image.resize import resize_bilinear

    class Node(_Node):
        torch_device = torch.device("cpu")

    attrs = {"align_corners": flags[0], "half_pixel_centers": flags[1]}
    for shape, size in SIZES:
        images = np.random.RandomState(0).rand(*shape).astype(np.float32)
        found = resize_bilinear(Node(attrs))(torch.from_numpy(images), np.array(size))
        np.testing.assert_array_equal(found.numpy(), _bilinear(images, size, *flags))


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
    both = flags["align_corners"], flags.get("half_pixel_centers", False)
    for shape, size in [*SIZES, ((1, 7, 300, 1), (400, 700)), ((2, 9, 9, 4), (1, 1))]:
        images = (random.rand(*shape) * 200).astype(dtype)
        found = _resized(op, images, size, **flags)
        assert found.dtype == np.float32
        expected = _weighted(op, images, size, *both)
        np.testing.assert_allclose(found, expected, rtol=0, atol=200 * 2e-6)


# Recorded from TensorFlow 1.15.
@pytest.mark.parametrize("channels", [1, 3, 9])
@pytest.mark.parametrize(
    ("old", "size"), [((1, 1), (3, 3)), ((3, 1), (1, 4)), ((1, 3), (4, 3))]
)
def test_areas_of_a_single_pixel_with_corners_aligned(
    old: tuple[int, int], size: tuple[int, int], channels: int
) -> None:
    images = np.ones((2, *old, channels), np.float32)
    found = _resized("ResizeArea", images, size, align_corners=True)
    assert found.shape == (2, *size, channels)
    assert np.isnan(found).all()


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeBicubic"])
def test_gradients_are_the_transpose(op: str, flags: tuple[bool, bool]) -> None:
    random = np.random.RandomState(0)
    attrs = {"align_corners": flags[0], "half_pixel_centers": flags[1]}
    for shape, size in SIZES:
        grads = random.rand(shape[0], *size, shape[3]).astype(np.float32)
        image = np.zeros(shape, np.float32)
        with tf.Graph().as_default(), tf.Session() as session:
            gradient = getattr(tf.raw_ops, f"{op}Grad")
            found = session.run(gradient(grads=grads, original_image=image, **attrs))
        rows = _matrix(op, shape[1], size[0], *flags)
        columns = _matrix(op, shape[2], size[1], *flags)
        expected = np.einsum("yh,byxc,xw->bhwc", rows, grads, columns, optimize=True)
        np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("op", ["ResizeBilinear", "ResizeBicubic"])
@pytest.mark.parametrize(
    ("grads", "image"),
    [
        ((1, 2, 2, 1), (1, 0, 2, 1)),
        ((1, 2, 2, 1), (1, 2, 0, 1)),
        ((1, 0, 2, 1), (1, 2, 2, 1)),
    ],
)
def test_gradients_of_nothing(op: str, grads: Any, image: Any) -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        fed = [tf.placeholder(tf.float32, [None] * 4) for _ in range(2)]
        gradient = getattr(tf.raw_ops, f"{op}Grad")(grads=fed[0], original_image=fed[1])
        values = {fed[0]: np.ones(grads), fed[1]: np.ones(image)}
        with pytest.raises(tf.errors.InvalidArgumentError, match="non-zero size"):
            session.run(gradient, values)


@pytest.mark.parametrize("flags", FLAGS)
@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.float16, np.float64])
def test_gradients_of_nearest(dtype: Any, flags: tuple[bool, bool]) -> None:
    random = np.random.RandomState(0)
    attrs = {"align_corners": flags[0], "half_pixel_centers": flags[1]}
    for shape, size in SIZES:
        grads = random.randint(0, 9, (shape[0], *size, shape[3])).astype(dtype)
        with tf.Graph().as_default(), tf.Session() as session:
            op = tf.raw_ops.ResizeNearestNeighborGrad
            found = session.run(op(grads=grads, size=list(shape[1:3]), **attrs))
        rows = _matrix("ResizeNearestNeighbor", shape[1], size[0], *flags)
        columns = _matrix("ResizeNearestNeighbor", shape[2], size[1], *flags)
        expected = np.einsum("yh,byxc,xw->bhwc", rows, grads, columns, optimize=True)
        assert found.dtype == dtype
        # Whole numbers are exact, and bytes wrap around.
        whole = expected.astype(np.int64).astype(dtype)
        np.testing.assert_array_equal(found, whole)


@pytest.mark.parametrize(
    "op", ["ResizeBilinear", "ResizeBicubic", "ResizeArea", "ResizeNearestNeighborGrad"]
)
def test_any_number_of_threads(op: str, monkeypatch: pytest.MonkeyPatch) -> None:
    images = np.random.RandomState(0).rand(5, 80, 100, 3).astype(np.float32)
    node = _Node(align_corners=False, half_pixel_centers=False, T=tf.float32)
    node.op = op
    kernels: dict[str, Any] = {
        "ResizeBilinear": host.resize_bilinear,
        "ResizeNearestNeighborGrad": host.resize_nearest_neighbor_grad,
    }
    results = []
    for count in (1, 2, 5):
        monkeypatch.setattr(intra_op, "_count", lambda count=count: count)
        kernel = kernels.get(op, host.resize)(node)
        results.append(kernel(images, np.array([90, 130])))
    np.testing.assert_array_equal(results[0], results[1])
    np.testing.assert_array_equal(results[0], results[2])
