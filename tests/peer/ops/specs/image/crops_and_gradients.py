"""Specs of AdjustContrast, CropAndResizeGradBoxes, ..."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tests.peer.ops.draw import K
from tests.peer.ops.spec import Tolerance, call, spec

if TYPE_CHECKING:
    from tests.peer.ops.draw import Draw


def _crops(d: Draw) -> tuple[Any, Any]:
    corners = np.sort(d.rng.uniform(0, 1, (3, 2, 2)), 1).astype(np.float32)
    return corners.reshape(3, 4), d.rng.integers(0, 2, 3).astype(np.int32)


def _crop_gradient_image(d: Draw) -> Any:
    back = d.array((3, 4, 5, 2), dtype="float32")
    method = d.choice(("bilinear", "nearest"))
    size = K([2, 6, 7, 2], "int32")
    return call(back, *_crops(d), size, method=method)


def _crop_gradient_boxes(d: Draw) -> Any:
    image = d.array((2, 6, 7, 2))
    return call(d.array((3, 4, 5, 2), dtype="float32"), image, *_crops(d))


spec(
    "CropAndResizeGradImage",
    _crop_gradient_image,
    tolerance=Tolerance(1e-4, 1e-5, "sums in another order", widened=4),
    mutate=("rank", "dtype"),
)


spec(
    "CropAndResizeGradBoxes",
    _crop_gradient_boxes,
    tolerance=Tolerance(1e-4, 1e-5, "sums in another order"),
    mutate=("rank", "dtype"),
)


def _glimpse(d: Draw) -> Any:
    # Random noise is compared by shape only: a glimpse inside the image has none.
    image = d.array((2, 7, 8, 2), dtype="float32")
    return call(
        image,
        K([3, 4], "int32"),
        np.array([[0.1, -0.1], [0.0, 0.2]], np.float32),
        centered=True,
        normalized=True,
    )


spec("ExtractGlimpse", _glimpse, types=(), mutate=("rank", "dtype"))


def _projective(d: Draw) -> Any:
    row = [1.1, 0.1, 0.2, -0.1, 0.9, 0.3, 0.01, 0.02]
    rows = np.array([row] * d.integer(1, 2), np.float32)
    images = d.array((2, 5, 6, 2))
    size = K([d.integer(3, 7), 4], "int32")
    return call(images, rows, size, interpolation=d.choice(("NEAREST", "BILINEAR")))


spec(
    "ImageProjectiveTransformV2",
    _projective,
    tolerance=Tolerance(1e-4, 1e-5, "interpolation"),
    mutate=("rank", "dtype"),
)


def _scale_gradient(d: Draw) -> Any:
    return call(
        d.array((2, 4, 5, 2)),
        d.array((2, 6, 7, 2)),
        np.array([0.8, 0.7], np.float32),
        np.array([0.5, -0.3], np.float32),
        kernel_type=d.choice(("lanczos3", "triangle", "keyscubic", "box")),
        antialias=d.maybe(0.5),
    )


spec(
    "ScaleAndTranslateGrad",
    _scale_gradient,
    gradient=False,
    tolerance=Tolerance(1e-4, 1e-5, "sums in another order"),
    mutate=("rank", "dtype"),
)


spec(
    "AdjustContrast",
    lambda d: (d.array((2, 4, 3, 2)), np.float32(1.5), np.float32(-3), np.float32(6)),
    gradient=False,
    mutate=("dtype",),
    producer=1,
)


def _random_crop(d: Draw) -> Any:
    return call(d.array((6, 7, 3)), K([4, 5], "int64"), seed=3, seed2=5)


spec(
    "RandomCrop",
    _random_crop,
    types=["uint8", "float32", "int64"],
    mutate=("dtype",),
    producer=7,
    known={"values": "the random corner is another; graphs lost the op with version 8"},
)
