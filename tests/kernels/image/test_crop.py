"""Crops made with torch are those of the host kernels, but for rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tensorloom as tf
from tensorloom.kernels.host.image import crop as host

SHAPE, CROP = (3, 20, 30, 5), (9, 7)


class _Node(dict[str, Any]):
    device = "/device:CPU:0"


def _boxes(random: np.random.RandomState, count: int) -> Any:
    # Some reach beyond the image, some are turned over.
    return (random.rand(count, 4) * 1.6 - 0.3).astype(np.float32)


@pytest.mark.parametrize("dtype", [np.uint8, np.int64, np.float16, np.float64])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
@pytest.mark.parametrize("crop", [CROP, (1, 1), (64, 33)])
def test_crops(dtype: Any, method: str, crop: tuple[int, int]) -> None:
    random = np.random.RandomState(0)
    image = (random.rand(*SHAPE) * 200).astype(dtype)
    boxes, indices = _boxes(random, 40), random.randint(0, 3, 40).astype(np.int32)
    attrs = {"method": method.encode(), "extrapolation_value": 0.5}
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(dtype, [None] * 4)
        crops = tf.image.crop_and_resize(
            fed, boxes, indices, crop, method=method, extrapolation_value=0.5
        )
        found = session.run(crops, {fed: image})
    compute = host.crop_and_resize(_Node(attrs))  # type: ignore[arg-type]
    expected = compute(image, boxes, indices, np.array(crop))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=0, atol=200 * 3e-7)


def test_groups_of_boxes(monkeypatch: pytest.MonkeyPatch) -> None:
    from tensorloom.kernels.torch.image import crop as image_crop_ops

    random = np.random.RandomState(0)
    image = random.rand(*SHAPE).astype(np.float32)
    boxes, indices = _boxes(random, 40), random.randint(0, 3, 40).astype(np.int32)

    def crops() -> Any:
        with tf.Graph().as_default(), tf.Session() as session:
            fed = tf.placeholder(tf.float32, [None] * 4)
            made = tf.image.crop_and_resize(fed, boxes, indices, (32, 32))
            return session.run(made, {fed: image})

    together = crops()
    monkeypatch.setattr(image_crop_ops, "_MOST_TAPS", 4 * 32 * 32 * 7)
    np.testing.assert_array_equal(crops(), together)


@pytest.mark.parametrize("dtype", [tf.float16, tf.float32, tf.float64])
@pytest.mark.parametrize("method", ["bilinear", "nearest"])
def test_gradient_of_the_image(dtype: tf.DType, method: str) -> None:
    random = np.random.RandomState(0)
    boxes, indices = _boxes(random, 40), random.randint(0, 3, 40).astype(np.int32)
    grads = random.rand(40, *CROP, SHAPE[3]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as session:
        fed = tf.placeholder(tf.float32, [None] * 4)
        found = session.run(
            tf.raw_ops.CropAndResizeGradImage(
                grads=fed,
                boxes=boxes,
                box_ind=indices,
                image_size=SHAPE,
                T=dtype,
                method=method,
            ),
            {fed: grads},
        )
    node = _Node({"method": method.encode(), "T": tf.float64})
    compute = host.crop_and_resize_grad_image(node)  # type: ignore[arg-type]
    expected = compute(grads, boxes, indices, np.array(SHAPE))
    assert found.dtype == dtype.as_numpy_dtype
    loose = 2e-3 if dtype == tf.float16 else 1e-6
    np.testing.assert_allclose(found, expected, rtol=loose, atol=loose * 10)
