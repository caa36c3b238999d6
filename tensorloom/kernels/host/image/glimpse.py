"""Host kernels of glimpses: windows of images with noise around the images."""

from __future__ import annotations

from typing import Any

import numpy as np

from tensorloom.framework.errors import invalid_argument
from tensorloom.framework.registry.op_kernel import (
    Compute,
    OpKernelConstruction,
    host_kernel,
)
from tensorloom.kernels.host.math.errors import shape_text


def _check(images: Any, size: Any, offsets: Any) -> None:
    if images.ndim != 4:
        raise invalid_argument(
            "input must be 4-dimensional (batch_size, height, width, depth)"
            f"{shape_text(images.shape)}"
        )
    if np.ndim(size) != 1 or len(size) != 2:
        raise invalid_argument("input must be a vector of size 2 (height, width)")
    if min(size) < 0:
        raise invalid_argument("Glimpse sizes must not be negative")
    if offsets.ndim != 2:
        raise invalid_argument(f"input must be a matrix{shape_text(offsets.shape)}")
    if len(offsets) != len(images):
        raise invalid_argument("first dimension should be batch")
    if offsets.shape[1] != 2:
        raise invalid_argument("second dimension should be of size 2 (y,x)")


def _starts(
    offsets: Any, side: int, window: int, centered: bool, normalized: bool, v2: bool
) -> Any:
    """The first pixels of the windows along one axis.

    The two ops differ: in the first one offsets are of the window's middle, and those
    from the middle of the image count half, whether they are pixels or not.
    """
    places = offsets.astype(np.float32)
    half_side, half_window = np.float32(side) / 2, np.float32(window) / 2
    if normalized:
        places = places * np.float32(side)
    if not v2:
        if centered:
            places = places / 2 + half_side
        places = places - half_window
    elif centered and normalized:
        places = places / 2 + half_side - half_window
    elif centered:
        places = places + half_side
    return np.trunc(np.clip(np.nan_to_num(places), -(2.0**31), 2.0**31)).astype(
        np.int64
    )


def _noise(kind: bytes, image: Any, shape: tuple[int, ...]) -> Any:
    """Without a seed in TensorFlow too: only its distribution is the same."""
    random = np.random.default_rng()
    if kind == b"zero" or not image.size:
        return np.zeros(shape, np.float32)
    if kind == b"gaussian":
        noise = random.normal(image.mean(), image.std(), shape)
        return np.clip(noise, image.min(), image.max()).astype(np.float32)
    low, high = image.min(), image.max()
    return random.uniform(low, high, shape).astype(np.float32)


def _noise_kind(c: OpKernelConstruction) -> bytes:
    kind: bytes = c["noise"]
    if c.op == "ExtractGlimpseV2" and kind not in (b"uniform", b"gaussian", b"zero"):
        raise invalid_argument(
            f"The noise could only be uniform, gaussian, or zero, got {kind.decode()}"
        )
    if kind not in (b"uniform", b"zero"):
        kind = b"gaussian"
    if c["uniform_noise"] and kind != b"uniform":
        raise invalid_argument(
            "The uniform_noise and noise should not be specified at the same time"
        )
    return kind


@host_kernel(["ExtractGlimpse", "ExtractGlimpseV2"], large=True)
def extract_glimpse(c: OpKernelConstruction) -> Compute:
    """Windows, one an image."""
    centered, normalized = c["centered"], c["normalized"]
    v2 = c.op == "ExtractGlimpseV2"
    kind = _noise_kind(c)

    def compute(images: Any, size: Any, offsets: Any) -> Any:
        _check(images, size, offsets)
        batch, rows, columns, depth = images.shape
        height, width = (int(x) for x in size)
        tops = _starts(offsets[:, 0], rows, height, centered, normalized, v2)
        lefts = _starts(offsets[:, 1], columns, width, centered, normalized, v2)
        glimpses = np.empty((batch, height, width, depth), np.float32)
        for image, glimpse, top, left in zip(
            images, glimpses, tops.tolist(), lefts.tolist(), strict=True
        ):
            _fill(image, glimpse, top, left, kind)
        return glimpses

    return compute


def _fill(image: Any, glimpse: Any, top: int, left: int, kind: bytes) -> None:
    rows, columns = image.shape[:2]
    height, width = glimpse.shape[:2]
    first, last = max(top, 0), min(top + height, rows)
    begin, end = max(left, 0), min(left + width, columns)
    if last - first < height or end - begin < width:
        glimpse[...] = _noise(kind, image, glimpse.shape)
    if first < last and begin < end:
        inside = (slice(first - top, last - top), slice(begin - left, end - left))
        glimpse[inside] = image[first:last, begin:end]
